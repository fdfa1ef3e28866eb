/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/shaper.h"

#include "tests/unit/model_test.h"

static void layer_2_bytes_count(void **state)
{
	(void)state;
	/* tbf of 1 Gbit/s at MTU 1500: computed 0.956, measured 0.954. */
	assert_near(shaper_goodput_bps(1, 1448, 1514), 0.956, 0.0005);
	assert_within(shaper_goodput_bps(1, 1448, 1514), 0.954, 0.005);
	assert_near(shaper_goodput_bps(1, 8948, 9014), 0.993, 0.0005);
	assert_near(shaper_rate_for(shaper_goodput_bps(5e9, 1448, 1514), 1448, 1514), 5e9, 1e-3);
}

static void impossible_inputs_carry_nothing(void **state)
{
	(void)state;
	assert_near(shaper_goodput_bps(0, 1448, 1514), 0, 0);
	assert_near(shaper_goodput_bps(-1, 1448, 1514), 0, 0);
	assert_near(shaper_goodput_bps(1e9, 0, 1514), 0, 0);
	assert_near(shaper_goodput_bps(1e9, 1514, 1448), 0, 0);
	assert_near(shaper_rate_for(1e9, 1448, NAN), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layer_2_bytes_count),
		cmocka_unit_test(impossible_inputs_carry_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
