/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/test_output.h"

#include <stdio.h>
#include <unistd.h>

#include "src/cli/output.h"
#include "src/report/test_text.h"

void test_output_init(struct test_output *o, const struct test_settings *s,
		      const struct peer_target *target)
{
	*o = (struct test_output){
		.settings = s, .target = target,
		.line = { .shown = !s->quiet && !s->plain && isatty(STDERR_FILENO),
			  .options = output_terminal_options(STDERR_FILENO) },
	};
	o->json = s->json || s->json_stream;
	test_stream_init(&o->stream, s, target);
	/* A line at a time, so that what reads a pipe sees each interval when it ends. */
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Prints t and empties it. */
static void print(struct test_output *o, struct text *t)
{
	progress_line_end(&o->line);
	if (!o->rc)
		o->rc = output_text(t);
	text_free(t);
}

void test_output_progress(struct test_output *o, const struct exam_progress *p)
{
	struct text t = TEXT_INIT;

	if (p->phase == EXAM_RUN_GOES_ON) {
		progress_line_show(&o->line, p);
		return;
	}
	if (o->json) {
		progress_line_end(&o->line);
		test_stream_progress(&o->stream, p);
		return;
	}
	if (p->phase == EXAM_RUN_CONNECTED && !o->settings->quiet) {
		test_text_begin(p->exam, p->spec, p->flows, &t);
	} else if (p->phase == EXAM_BEAT && !o->settings->quiet) {
		test_text_beat(p->exam, p->spec, p->beats[SIDE_LOCAL], p->beats[SIDE_PEER], &t);
	}
	if (t.len || t.failed)
		print(o, &t);
}

void test_output_remark(struct test_output *o, const char *text)
{
	progress_line_end(&o->line);
	complain(0, "%s", text);
}

int test_output_failed(struct test_output *o, const char *why)
{
	progress_line_end(&o->line);
	if (o->json)
		test_stream_end(&o->stream, NULL, why);
	return complain(EXIT_COULD_NOT_TELL, "%s", why);
}

/* A second in which nobody ran us is no interval of a test. */
#define HELD_UP_US 1000000

static void remark_on_time(struct test_output *o, const struct run *r)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		const struct run_end *e = &r->ends[s];
		const char *who = s == SIDE_LOCAL ? "this host" : "the peer";
		char text[160];

		if (e->suspended_us.k == ND_KNOWN && e->suspended_us.v) {
			snprintf(text, sizeof(text), "%s was suspended for %.1f s during the test",
				 who, (double)e->suspended_us.v / 1e6);
			test_output_remark(o, text);
		}
		if (e->held_up_us.k == ND_KNOWN && e->held_up_us.v >= HELD_UP_US) {
			snprintf(text, sizeof(text), "%s could not look at the test for %.1f s: "
				 "too little CPU, or a virtual machine that was stopped", who,
				 (double)e->held_up_us.v / 1e6);
			test_output_remark(o, text);
		}
	}
}

/* Why this was no test, NULL: it was one. */
static const char *problem_of(const struct exam *e, const struct run *r)
{
	if (e->problem.k == ND_KNOWN)
		return e->problem.v;
	/* A test in which a machine stood still went to its end: that is a remark. */
	if (!r || (r->status != RUN_COMPLETE && !run_stood_still(r)))
		return r && r->problem.k == ND_KNOWN ? r->problem.v : "nothing was measured";
	if (nd_u64_is(r->goodput_bps, 0) &&
	    !(r->other_goodput_bps.k == ND_KNOWN && r->other_goodput_bps.v))
		return "nothing was measured: not a byte arrived";
	return NULL;
}

int test_output_end(struct test_output *o, const struct exam *e)
{
	const struct run *r = e->nruns ? &e->runs[0] : NULL;
	struct text t = TEXT_INIT;
	const char *problem = problem_of(e, r);

	progress_line_end(&o->line);
	if (o->json && test_stream_end(&o->stream, e, problem) && !o->rc)
		o->rc = complain(EXIT_COULD_NOT_TELL, "cannot write to standard output");
	if (!o->json && r && (r->ends[SIDE_LOCAL].present || r->ends[SIDE_PEER].present)) {
		test_text_end(e, r, &t);
		print(o, &t);
	}
	if (r)
		remark_on_time(o, r);
	return problem ? complain(EXIT_COULD_NOT_TELL, "%s", problem) : o->rc;
}
