/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/embedded.h"
#include "src/cli/examine.h"
#include "src/core/units.h"

struct demo_settings {
	struct output_settings output;
	uint64_t time_ms;
};

static const struct option_row demo_options[] = {
	{ .letter = 't', .name = "time", .kind = OPTION_SECONDS,
	  .offset = offsetof(struct demo_settings, time_ms), .argument = "SECONDS",
	  .help = "measured seconds of each run (default 2)", .min = 500, .max = 60000 },
	{ .letter = 'v', .name = "verbose", .kind = OPTION_FLAG,
	  .offset = offsetof(struct demo_settings, output.verbose),
	  .help = "show inputs of ceilings, reasons and references" },
	{ .name = "no-color", .kind = OPTION_FLAG,
	  .offset = offsetof(struct demo_settings, output.no_colour),
	  .help = "no colours (also: NO_COLOR in the environment)" },
	{ .name = "ascii", .kind = OPTION_FLAG,
	  .offset = offsetof(struct demo_settings, output.ascii),
	  .help = "ASCII only (default by locale)" },
};

struct stage { struct exam *exam; struct diagnosis *diagnosis; };

static void stage_free(struct stage *s)
{
	diagnosis_free(s->diagnosis);
	exam_free(s->exam);
	memset(s, 0, sizeof(*s));
}

static int run_stage(const struct conduct_options *o, struct stop *stop,
		     const struct output_settings *output, const char *heading, struct stage *out)
{
	printf("%s\n\n", heading);
	fflush(stdout);
	int rc = examine(o, stop, false, &out->exam);
	if (rc)
		return rc;
	rc = diagnose(out->exam, &out->diagnosis);
	if (rc)
		return complain(EXIT_COULD_NOT_TELL, "cannot diagnose: %s", strerror(-rc));
	if (output)
		rc = output_report(output, report_writers, out->exam, out->diagnosis);
	printf("\n");
	/* An interrupted exam ends the demo: the next stage would compare with half a measurement.
	 */
	return rc ? rc : out->exam->problem.k == ND_KNOWN ? EXIT_COULD_NOT_TELL : 0;
}

static double measured(const struct stage *s, enum run_direction d)
{
	const struct run *r = exam_main_run(s->exam, d);

	return r && r->goodput_bps.k == ND_KNOWN ? (double)r->goodput_bps.v : NAN;
}

static void print_prediction(const struct finding *f)
{
	char low[32], high[32];

	if (!f || !f->gain_known) {
		printf("predicted: no figure\n");
		return;
	}
	format_rate(f->rate_low_bps, low, sizeof(low));
	format_rate(f->rate_high_bps, high, sizeof(high));
	printf("predicted: %s to %s\n", low, high);
}

static void print_comparison(const struct stage *before, const struct stage *after)
{
	const struct finding *f =
		before->diagnosis->nfindings ? &before->diagnosis->findings[0] : NULL;
	enum run_direction d = f && f->has_direction ? f->direction : RUN_FORWARD;
	char a[32], b[32];

	format_rate(measured(before, d), a, sizeof(a));
	format_rate(measured(after, d), b, sizeof(b));
	printf("Before and after the fix (%s):\n  before:    %s\n  ", run_direction_word(d), a);
	print_prediction(f);
	printf("  after:     %s\n", b);
}

/* Our own veth: take its offloads away, find that out, put them back. */
static int demo_veth(struct embedded *e, const struct conduct_options *o, struct stop *stop,
		     const struct output_settings *output)
{
	struct stage healthy = { 0 }, slow = { 0 }, fixed = { 0 };
	struct error err = { "" };
	int rc = run_stage(
		o, stop, output,
		"=== 1. Two private namespaces joined by a veth pair, as they are ===", &healthy);

	if (!rc && embedded_set_offloads(e, false, &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	if (!rc)
		rc = run_stage(o, stop, output,
			       "=== 2. The same with segmentation and receive offloads off "
			       "on this veth: the classic \"stuck\" link ===",
			       &slow);
	if (!rc && embedded_set_offloads(e, true, &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	if (!rc)
		rc = run_stage(
			o, stop, NULL,
			"=== 3. The fix applied to this veth, and measured again ===", &fixed);
	if (!rc)
		print_comparison(&slow, &fixed);
	stage_free(&healthy);
	stage_free(&slow);
	stage_free(&fixed);
	return rc;
}

static int demo(const struct demo_settings *s)
{
	struct peer_target target = { 0 };
	struct embedded *e = NULL;
	struct error err = { "" };
	struct conduct_options o = {
		.target = &target,
		.plan = {
			.base = { .block_bytes = RUN_DEFAULT_BLOCK_BYTES, .warmup_ms = 500,
				  .window_ms = s->time_ms },
			.forward = true, .reverse = true, .one_stream = true, .experiments = true,
			.repeat = true,
			.budget_ms = 27000,
		},
	};
	int rc;

	stop_hold();
	if (embedded_start(&e, &target, &err))
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	struct stop *stop = stop_watch();
	if (!stop) {
		rc = complain(EXIT_COULD_NOT_TELL, "cannot watch for Ctrl-C");
	} else if (embedded_has_veth(e)) {
		/*
		 * One story at a time: BBR without fq alone costs a veth most of its rate, so the
		 * demo's own sockets use cubic whatever this machine defaults to.
		 */
		run_spec_set_congestion(&o.plan.base, "cubic");
		rc = demo_veth(e, &o, stop, &s->output);
	} else {
		struct stage only = { 0 };
		rc = run_stage(&o, stop, &s->output,
			       "=== This machine's loopback (as root the demo uses a veth pair of "
			       "its own and shows a fault and its fix) ===",
			       &only);
		stage_free(&only);
	}
	embedded_stop(e);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct demo_settings s = { .time_ms = 2000 };
	size_t n;
	int rc = options_parse(self, argc, argv, &s, NULL, 0, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	return demo(&s);
}

const struct command command_demo = {
	.name = "demo",
	.summary = "show a fault, its diagnosis and its fix on a link of our own",
	.description = "As root: makes two private network namespaces joined by a veth pair, "
		       "diagnoses them,\n"
		       "switches the pair's offloads off, diagnoses again, applies the fix and "
		       "compares the rate\n"
		       "with the predicted one.  Everything it made is gone when it ends.  "
		       "Otherwise: diagnoses\n"
		       "loopback.",
	.options = demo_options,
	.noptions = sizeof(demo_options) / sizeof(demo_options[0]),
	.run = run,
};
