/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/report_fixture.h"

static char *render(const struct exam *e, const struct diagnosis *d,
		    const struct report_options *o)
{
	struct text t = TEXT_INIT;

	assert_int_equal(report_text(e, d, o, &t), 0);
	assert_non_null(t.data);
	assert_terminal_safe(t.data);
	assert_null(strstr(t.data, " \n"));
	return t.data;
}

static void check(struct exam *e, struct diagnosis *d, const struct report_options *o,
		  const char *name)
{
	char *s = render(e, d, o);

	golden_check(name, s);
	free(s);
	fixture_free(d);
	exam_free(e);
}

static void test_limited(void **state)
{
	struct exam *e = build_hot_core_exam();

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ONE_STREAM, 3.1e9);
	check(e, fixture_limited(e), &fixture_options, "report-limited.txt");
}

static void test_limited_ascii_wide(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct report_options o = fixture_options;

	(void)state;
	o.utf8 = false;
	o.width = 120;
	o.verbose = true;
	o.redacted = true;
	check(e, fixture_limited(e), &o, "report-limited-ascii.txt");
}

static void test_colour_only_adds(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	struct report_options o = fixture_options;
	char *plain = render(e, d, &o), *colour, *from, *to;

	(void)state;
	o.colour = true;
	colour = render(e, d, &o);
	assert_non_null(strstr(colour, "\033["));
	/* Take the colours away: the same text is left. */
	for (from = to = colour; *from;) {
		if (*from == '\033')
			from += strcspn(from, "m") + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
	assert_string_equal(colour, plain);
	free(plain);
	free(colour);
	fixture_free(d);
	exam_free(e);
}

static void test_ascii_is_ascii(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	struct report_options o = fixture_options;
	char *s;

	(void)state;
	o.utf8 = false;
	s = render(e, d, &o);
	for (const char *p = s; *p; p++)
		assert_true((unsigned char)*p < 0x80);
	free(s);
	fixture_free(d);
	exam_free(e);
}

static void test_healthy(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.41e9);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.41e9);
	check(e, fixture_healthy(e), &fixture_options, "report-healthy.txt");
}

static void test_blind(void **state)
{
	struct exam *e = build_unread();

	(void)state;
	check(e, fixture_blind(e), &fixture_options, "report-blind.txt");
}

static void test_one_ended_and_broken(void **state)
{
	struct exam *e = build_one_host();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 2e9);

	(void)state;
	build_unseen_end(r, SIDE_PEER);
	r->status = RUN_FAILED;
	r->problem = nd_str("the peer went away after 0.3 s");
	r->goodput_bps = nd_u64_unknown(ND_ABSENT);
	r->retransmits = nd_u64_unknown(ND_NOT_SUPPORTED);
	r->loss = nd_f64_unknown(ND_NOT_SUPPORTED);
	e->problem = nd_str("the session with 10.0.0.2 was lost");
	check(e, fixture_blind(e), &fixture_options, "report-one-ended.txt");
}

static const char hostile[] = "\033]0;own\007\033[2J\xc2\x9b" "31m\xe2\x80\xae" "gnp.\xff\r\nx";

static void test_hostile_names(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	struct report_options o = fixture_options;

	(void)state;
	fixture_say_everywhere(e, d, hostile);
	o.verbose = true;
	/* render() looks at every byte. */
	free(render(e, d, &o));
	o.utf8 = false;
	o.colour = true;
	free(render(e, d, &o));
	fixture_free(d);
	exam_free(e);
}

static void test_numbers_that_are_none(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);

	(void)state;
	fixture_spoil_numbers(d);
	free(render(e, d, &fixture_options));
	d->ladder.n = 0;
	d->directions[0].bottleneck = d->directions[1].bottleneck = NULL;
	free(render(e, d, &fixture_options));
	fixture_free(d);
	exam_free(e);
}

/* "Both ends are one machine" is certain, and claims no limit: no confidence of one is told. */
static void test_a_plain_fact_has_no_confidence(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	char *text;

	(void)state;
	d->nfindings = 1;
	d->findings[0].proof = PROOF_STATIC;
	d->findings[0].severity = SEVERITY_INFO;
	d->findings[0].lifts = CEILING_NONE;
	d->findings[0].confidence = 1;
	text = render(e, d, &fixture_options);
	assert_non_null(strstr(text, "static: a fact, no claim that it limits\n"));
	assert_null(strstr(text, "confidence"));
	free(text);
	fixture_free(d);
	exam_free(e);
}

static void test_any_width(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	struct report_options o = fixture_options;

	(void)state;
	for (o.width = 0; o.width < 300; o.width += 7)
		free(render(e, d, &o));
	fixture_free(d);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limited),
		cmocka_unit_test(test_limited_ascii_wide),
		cmocka_unit_test(test_colour_only_adds),
		cmocka_unit_test(test_ascii_is_ascii),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_one_ended_and_broken),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_numbers_that_are_none),
		cmocka_unit_test(test_a_plain_fact_has_no_confidence),
		cmocka_unit_test(test_any_width),
	};

	return cmocka_run_group_tests_name("report_text", tests, NULL, NULL);
}
