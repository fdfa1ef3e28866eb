/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/pcie.h"

#include "tests/unit/model_test.h"

#define L2_1500 1514.0
#define TCP_1500 1448.0

static const double speeds[] = { 2500, 5000, 8000, 16000, 32000, 64000 };
static const double widths[] = { 1, 2, 4, 8, 16 };
static const double payloads[] = { 128, 256, 512 };

static void lane_rates(void **state)
{
	static const double kernel[] = { 2000, 4000, 7876, 15753, 31507, 64000 };
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		assert_int_equal(pcie_generation(speeds[i]), i + 1);
		assert_near(pcie_lane_kernel_mbps(speeds[i]), kernel[i], 0);
	}
	assert_near(pcie_raw_bps(2500, 4) / 1e9, 8, 1e-9);
	assert_near(pcie_raw_bps(8000, 8) / 1e9, 63.015, 0.001);
	assert_near(pcie_raw_bps(64000, 1) / 1e9, 59.0, 0.001);
}

static void tax_of_acknowledgements(void **state)
{
	(void)state;
	assert_near(pcie_tlp_bps(8000, 8, 256) / 1e9, 57.88, 0.006);
	/* "Typical 3 % (x1), 8 % (x8), 10 % (x16)". */
	assert_near(pcie_dllp_tax(8000, 1, 256), 0.03, 0.005);
	assert_near(pcie_dllp_tax(8000, 8, 256), 0.08, 0.005);
	assert_near(pcie_dllp_tax(8000, 16, 256), 0.10, 0.005);
	/* The specification's tables: 73 and 48 symbols at 2.5 GT/s, 1071 for x1 and 1 kB. */
	assert_near(pcie_dllp_tax(2500, 4, 128), 16.0 / 73 + 4.0 / 1538, 1e-9);
	assert_near(pcie_dllp_tax(2500, 16, 128), 16.0 / 48 + 4.0 / 1538, 1e-9);
	assert_near(pcie_dllp_tax(2500, 1, 1024), 16.0 / 1071 + 4.0 / 1538, 1e-9);
	assert_near(pcie_dllp_tax(5000, 8, 512), 16.0 / 137 + 4.0 / 1538, 1e-9);
	/* Flits carry them anyway. */
	assert_near(pcie_dllp_tax(64000, 8, 256), 0, 0);
}

/* Published model: Gbit/s of layer-2 bytes, MPS 128, 256, 512, and the last printed digit. */
static const struct { double rate[3], digit; } table[5][5] = {
	{ { { 1.53, 1.71, 1.80 }, 0.01 }, { { 2.86, 3.29, 3.50 }, 0.01 },
	  { { 5.1, 6.1, 6.6 }, 0.1 }, { { 10.0, 12.1, 12.1 }, 0.1 },
	  { { 17.4, 22.1, 24.1 }, 0.1 } },
	{ { { 3.09, 3.43, 3.61 }, 0.01 }, { { 6.0, 6.7, 7.1 }, 0.1 },
	  { { 11.4, 12.8, 13.7 }, 0.1 }, { { 22.6, 25.5, 26.2 }, 0.1 },
	  { { 43.9, 49.4, 52.4 }, 0.1 } },
	{ { { 6.1, 6.8, 7.1 }, 0.1 }, { { 12.0, 13.3, 14.0 }, 0.1 }, { { 23.3, 25.9, 27.3 }, 0.1 },
	  { { 46.5, 51.5, 53.2 }, 0.1 }, { { 91.6, 101.1, 106.5 }, 0.1 } },
	{ { { 12.3, 13.5, 14.2 }, 0.1 }, { { 23.9, 26.5, 28.0 }, 0.1 },
	  { { 46.7, 51.7, 54.6 }, 0.1 }, { { 93.0, 103, 106 }, 1 }, { { 183, 202, 213 }, 1 } },
	{ { { 24.5, 27.1, 28.5 }, 0.1 }, { { 47.9, 53.0, 56.0 }, 0.1 },
	  { { 93.3, 103, 109 }, 1 }, { { 186, 206, 213 }, 1 }, { { 366, 405, 426 }, 1 } },
};

static void table_of_1500_byte_packets(void **state)
{
	size_t g, w, m;

	(void)state;
	for (g = 0; g < 5; g++)
		for (w = 0; w < 5; w++)
			for (m = 0; m < 3; m++) {
				struct pcie_link l = { speeds[g], widths[w], payloads[m], 512 };
				double want = table[g][w].rate[m], digit = table[g][w].digit;
				const struct pcie_device *d = &pcie_device_82599;
				double rx = pcie_receive_bps(&l, d, L2_1500) / 1e9;
				double tx = pcie_transmit_bps(&l, d, L2_1500) / 1e9;

				assert_near(rx, want, digit * 0.501);
				assert_within(tx, want, 0.02 + digit / want / 2);
			}
}

/* The published row for generation 6 copies generation 5's framing; flits do without. */
static void generation_6_is_better_than_the_guess(void **state)
{
	static const double guess[5][3] = {
		{ 47, 52, 55 }, { 92, 102, 107 }, { 179, 199, 210 }, { 357, 396, 409 },
		{ 704, 777, 818 },
	};
	size_t w, m;

	(void)state;
	for (w = 0; w < 5; w++)
		for (m = 0; m < 3; m++) {
			struct pcie_link l = { 64000, widths[w], payloads[m], 512 };
			double rx = pcie_receive_bps(&l, &pcie_device_82599, L2_1500) / 1e9;

			assert_true(rx > guess[w][m]);
			assert_true(rx < guess[w][m] * 1.17);
		}
}

static void goodput(double mtps, double width, double mps, double *low, double *high)
{
	struct pcie_link l = { mtps, width, mps, 512 };

	assert_true(pcie_goodput(&l, true, L2_1500, TCP_1500, low, high));
}

static void measured_links_lie_in_the_interval(void **state)
{
	double low, high;

	(void)state;
	goodput(8000, 1, 128, &low, &high);	/* Raspberry Pi 5 and AQC113 */
	assert_in_range((uint64_t)6.04e9, (uint64_t)low, (uint64_t)high);
	goodput(5000, 1, 128, &low, &high);	/* CM4 with dual 2.5G and with quad 1G */
	assert_in_range((uint64_t)3.04e9, (uint64_t)low, (uint64_t)high);
	assert_in_range((uint64_t)3.07e9, (uint64_t)low, (uint64_t)high);
	goodput(5000, 1, 512, &low, &high);
	assert_in_range((uint64_t)3.5e9, (uint64_t)low, (uint64_t)high);
}

static void worked_cards(void **state)
{
	static const struct { double mtps, width, mps, goodput, tolerance; } cards[] = {
		{ 8000, 8, 256, 49.2, 0.1 },	/* dual 40G: 24.6 a port */
		{ 8000, 16, 256, 96.7, 0.1 },	/* 100G: fits by 3 % */
		{ 8000, 16, 128, 87.6, 0.1 },	/* 100G: does not */
		{ 16000, 16, 256, 193, 0.6 },	/* dual 100G */
		{ 8000, 4, 128, 22.3, 0.05 }, { 8000, 4, 512, 26.1, 0.05 },
		{ 5000, 4, 128, 10.9, 0.05 }, { 5000, 4, 512, 13.1, 0.05 },
		/* "Stuck at 6 Gbit/s" has three spellings. */
		{ 2500, 4, 128, 4.9, 0.05 }, { 2500, 4, 512, 6.35, 0.05 },
		{ 5000, 2, 128, 5.7, 0.05 }, { 5000, 2, 512, 6.75, 0.05 },
		{ 8000, 1, 128, 5.9, 0.05 }, { 8000, 1, 512, 6.8, 0.05 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		struct pcie_link l = { cards[i].mtps, cards[i].width, cards[i].mps, 512 };

		assert_near(pcie_receive_bps(&l, &pcie_device_82599, L2_1500) / 1e9 * TCP_1500 /
			    L2_1500, cards[i].goodput, cards[i].tolerance);
	}
}

static void unknown_payload_size_makes_an_interval(void **state)
{
	struct pcie_link l = { 8000, 1, 0, 0 };
	double low, high, low128, high128, low512, high512;

	(void)state;
	assert_true(pcie_goodput(&l, true, L2_1500, TCP_1500, &low, &high));
	goodput(8000, 1, 128, &low128, &high128);
	goodput(8000, 1, 512, &low512, &high512);
	assert_near(low, low128, 1);
	assert_near(high, high512, 1);
	assert_true(low < high512 && high128 < high);
	assert_within(high128, low128 * 1.05, 1e-9);
}

static void completions_of_64_bytes_cost_a_quarter(void **state)
{
	struct pcie_device split = pcie_device_default, whole = pcie_device_default;
	struct pcie_link l = { 8000, 8, 256, 512 };

	(void)state;
	split.completion_bytes = 64;
	split.contiguous_reads = whole.contiguous_reads = true;
	/* 64/84 against 256/276 of the data, less descriptor and doorbell. */
	assert_near(pcie_transmit_bps(&l, &split, L2_1500) / pcie_tlp_bps(8000, 8, 256),
		    L2_1500 / (L2_1500 * 84 / 64 + 44), 1e-9);
	assert_true(pcie_transmit_bps(&l, &whole, L2_1500) >
		    1.2 * pcie_transmit_bps(&l, &split, L2_1500));
}

static void jumbo_frames_pay_less_per_packet(void **state)
{
	struct pcie_link l = { 8000, 4, 256, 512 };
	double low, high;

	(void)state;
	assert_true(pcie_goodput(&l, true, 9014, 8948, &low, &high));
	/* 0.993 of the layer-2 rate, which is close to MPS / (MPS + 24) of the TLP rate. */
	assert_within(low, pcie_tlp_bps(8000, 4, 256) * 0.993 * 256 / 280, 0.01);
}

static void unknown_links_have_no_rate(void **state)
{
	static const struct pcie_link links[] = {
		{ 0, 8, 256, 512 }, { 8000, 0, 256, 512 }, { 8000, 63, 256, 512 },
		{ 8000, 255, 256, 512 }, { 7999, 8, 256, 512 }, { NAN, 8, 256, 512 },
	};
	double low = -1, high = -1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		assert_false(pcie_goodput(&links[i], true, L2_1500, TCP_1500, &low, &high));
	assert_false(pcie_goodput(&(struct pcie_link){ 8000, 8, 256, 512 }, true, 0, 0, &low,
				  &high));
	assert_true(low < 0 && high < 0);
	assert_int_equal(pcie_generation(0), 0);
	assert_near(pcie_lane_kernel_mbps(12345), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lane_rates),
		cmocka_unit_test(tax_of_acknowledgements),
		cmocka_unit_test(table_of_1500_byte_packets),
		cmocka_unit_test(generation_6_is_better_than_the_guess),
		cmocka_unit_test(measured_links_lie_in_the_interval),
		cmocka_unit_test(worked_cards),
		cmocka_unit_test(unknown_payload_size_makes_an_interval),
		cmocka_unit_test(completions_of_64_bytes_cost_a_quarter),
		cmocka_unit_test(jumbo_frames_pay_less_per_packet),
		cmocka_unit_test(unknown_links_have_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
