/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/background.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit/core_test.h"

static void test_there_and_back(void **state)
{
	(void)state;
	if (sched_getscheduler(0) != SCHED_OTHER)
		skip();
	assert_true(background_begin());
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	background_end(true);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void test_a_chosen_policy_stays(void **state)
{
	const struct sched_param none = { 0 };

	(void)state;
	/* Anybody may go to SCHED_IDLE; back is for who has the nice value, so this is the last. */
	if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &none))
		skip();
	assert_false(background_begin());
	background_end(false);
	assert_int_equal(sched_getscheduler(0), SCHED_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_a_chosen_policy_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
