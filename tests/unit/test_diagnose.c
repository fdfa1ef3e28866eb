/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "src/diagnose/rule.h"
#include "tests/unit/exam_fixture.h"

static void two_namespaces_sharing_the_cpus_are_healthy(void **state)
{
	struct exam *e = fixture_veth_exam(2);
	struct diagnosis *d;

	(void)state;
	fixture_busy(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 60 * GBIT), 0.99);
	fixture_busy(build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 58 * GBIT), 0.98);
	assert_int_equal(diagnose(e, &d), 0);
	assert_string_equal(d->summary, "Healthy: 60 Gbit/s forward and 58 Gbit/s reverse, "
			    "limited by the CPUs both ends share.");
	assert_int_equal(d->verdict, VERDICT_HEALTHY);
	assert_int_equal(diagnosis_exit_code(d), 0);
	/* That they share them is worth a note, nothing more. */
	for (size_t i = 0; i < d->nfindings; i++)
		assert_int_equal(d->findings[i].severity, SEVERITY_INFO);
	diagnosis_free(d);
	exam_free(e);
}

static void a_full_wire_is_healthy(void **state)
{
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.40 * GBIT);
	assert_int_equal(diagnose(e, &d), 0);
	assert_string_equal(d->summary,
			    "Healthy: 9.40 Gbit/s forward, limited by the 10 Gbit/s link.");
	assert_int_equal(d->verdict, VERDICT_HEALTHY);
	diagnosis_free(d);
	exam_free(e);
}

static void a_downgraded_link_under_traffic_is_the_cause(void **state)
{
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	fixture_pcie_link(e, build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 5.9 * GBIT), SIDE_PEER,
			  2500, 4);
	assert_int_equal(diagnose(e, &d), 0);
	assert_int_equal(d->verdict, VERDICT_LIMITED);
	assert_int_equal(d->nfindings, 1);
	assert_string_equal(d->findings[0].rule->id, "pcie-link-downgraded");
	assert_int_equal(d->findings[0].proof, PROOF_CAUSAL);
	assert_int_equal(d->findings[0].side, SIDE_PEER);
	assert_int_equal(d->findings[0].severity, SEVERITY_CRITICAL);
	/* Lifted to gen2 x8 the wire binds: 9.415 - 5.9. */
	assert_true(d->findings[0].gain_known);
	assert_in_range((uint64_t)d->findings[0].gain_low_bps, 3514000000, 3516000000);
	assert_in_range((uint64_t)d->findings[0].gain_high_bps, 3514000000, 3516000000);
	assert_int_equal(d->nplan, 1);
	assert_int_equal(diagnosis_exit_code(d), 2);
	diagnosis_free(d);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_namespaces_sharing_the_cpus_are_healthy),
		cmocka_unit_test(a_full_wire_is_healthy),
		cmocka_unit_test(a_downgraded_link_under_traffic_is_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
