/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/window.h"

#include "tests/unit/model_test.h"

static void worked_products(void **state)
{
	(void)state;
	assert_near(window_bdp_bytes(10e9, 0.010) / 1e6, 12.5, 1e-9);
	assert_near(window_bdp_bytes(10e9, 0.100) / 1e6, 125, 1e-9);
	assert_near(window_bdp_bytes(25e9, 0.050) / 1e6, 156, 0.5);
	assert_near(window_bdp_bytes(100e9, 0.001) / 1e6, 12.5, 1e-9);
}

/* Formula against what was measured, Gbit/s. */
static void measured_receive_windows(void **state)
{
	(void)state;
	/* SO_RCVBUF 256K at 10.5 ms: the window seen was 326880. */
	assert_near(window_bps(326880, 0.0105) / 1e9, 0.249, 0.0005);
	assert_within(window_bps(326880, 0.0105) / 1e9, 0.237, 0.06);
	/* tcp_rmem[2] of 1 MiB: 653952 of it became window, a share of 0.62. */
	assert_near(653952.0 / 1048576, 0.62, 0.005);
	assert_within(window_receive_bps(1048576, 0.6237, 0.0105) / 1e9, 0.494, 0.01);
	assert_within(window_receive_bps(1048576, 0.6237, 0.0105) / 1e9, 0.482, 0.04);
}

static void measured_send_buffers(void **state)
{
	(void)state;
	assert_within(window_send_bps(524288, 0.010) / 1e9, 0.313, 0.01);
	assert_within(window_send_bps(524288, 0.010) / 1e9, 0.321, 0.03);
	assert_near(window_send_bps(4194304, 0.0415) / 1e9, 0.606, 0.001);
	assert_within(window_send_bps(4194304, 0.0415) / 1e9, 0.586, 0.04);
}

static void what_four_mebibytes_allow(void **state)
{
	static const struct { double ms, gbps, tolerance; } caps[] = {
		{ 1, 25, 0.5 }, { 5, 5.0, 0.05 }, { 10, 2.5, 0.05 }, { 20, 1.26, 0.005 },
		{ 100, 0.25, 0.005 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		assert_near(window_send_bps(4194304, caps[i].ms / 1000) / 1e9, caps[i].gbps,
			    caps[i].tolerance);
	/* The buffer for a rate is the inverse: 10G at 20 ms needs 33 MB. */
	assert_within(window_send_bps(window_send_buffer(10e9, 0.02), 0.02), 10e9, 1e-9);
	assert_near(window_send_buffer(10e9, 0.02) / 1e6, 33.3, 0.05);
	assert_within(window_receive_bps(window_receive_buffer(10e9, 0.5, 0.02), 0.5, 0.02), 10e9,
		      1e-9);
}

static void without_window_scaling(void **state)
{
	(void)state;
	assert_near(window_unscaled_bps(0.001) / 1e9, 0.52, 0.005);
	assert_near(window_unscaled_bps(0.010) / 1e9, 0.052, 0.0005);
	assert_within(window_unscaled_bps(0.0109) / 1e9, 0.047, 0.03);
}

static void share_of_the_receive_buffer(void **state)
{
	double low, high;

	(void)state;
	window_receive_share(false, 1, &low, &high);
	assert_true(low >= 0.5 && low <= 0.5 && high >= 0.5 && high <= 0.5);
	window_receive_share(false, 2, &low, &high);
	assert_near(low, 0.75, 0);
	window_receive_share(false, -2, &low, &high);
	assert_near(low, 0.25, 0);
	window_receive_share(true, 1, &low, &high);
	assert_true(low <= 0.62 && 0.62 <= high && high <= 1);
}

static void kernels_that_measure(void **state)
{
	(void)state;
	assert_true(window_kernel_measures("6.6.0"));
	assert_true(window_kernel_measures("6.12.41+deb13-amd64"));
	assert_true(window_kernel_measures("7.0.0-rc1"));
	assert_false(window_kernel_measures("6.5.13-arch"));
	assert_false(window_kernel_measures("6.1.0-31-amd64"));
	assert_false(window_kernel_measures("5.14.0-427.el9.x86_64"));
	/* Not a release: assume the wider interval. */
	assert_true(window_kernel_measures(NULL));
	assert_true(window_kernel_measures(""));
	assert_true(window_kernel_measures("custom"));
	assert_true(window_kernel_measures("6"));
	assert_true(window_kernel_measures("-6.1"));
}

static void pinned_buffers(void **state)
{
	(void)state;
	assert_near(window_pinned_buffer(262144, 4194304), 524288, 0);
	assert_near(window_pinned_buffer(4194304, 212992), 425984, 0);
}

static void no_time_no_rate(void **state)
{
	(void)state;
	assert_near(window_bps(65536, 0), 0, 0);
	assert_near(window_bps(65536, -1), 0, 0);
	assert_near(window_bps(0, 0.01), 0, 0);
	assert_near(window_bps(NAN, 0.01), 0, 0);
	assert_near(window_bdp_bytes(1e9, 0), 0, 0);
	assert_near(window_receive_buffer(1e9, 0, 0.01), 0, 0);
	assert_true(isfinite(window_bps(65536, 1e-300)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_products),
		cmocka_unit_test(measured_receive_windows),
		cmocka_unit_test(measured_send_buffers),
		cmocka_unit_test(what_four_mebibytes_allow),
		cmocka_unit_test(without_window_scaling),
		cmocka_unit_test(share_of_the_receive_buffer),
		cmocka_unit_test(kernels_that_measure),
		cmocka_unit_test(pinned_buffers),
		cmocka_unit_test(no_time_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
