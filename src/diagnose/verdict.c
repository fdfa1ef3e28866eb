/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict, the sentence that says it, and the exit code. */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "src/model/limits.h"

enum exit_code { EXIT_HEALTHY = 0, EXIT_WARNING = 1, EXIT_CRITICAL = 2, EXIT_UNKNOWN = 3 };

/* "60 Gbit/s" and "9.40 Gbit/s": people leave out a fraction of nothing. */
static const char *rate_text(struct arena *mem, double bps)
{
	char buf[32], *point, *unit;
	const char *text;

	format_rate(bps, buf, sizeof(buf));
	point = strchr(buf, '.');
	unit = point ? strchr(point, ' ') : NULL;
	if (unit && strspn(point + 1, "0") == (size_t)(unit - point - 1))
		memmove(point, unit, strlen(unit) + 1);
	text = arena_strdup(mem, buf);
	return text ? text : "";
}

static bool all_cpus(const struct ceiling *c)
{
	return c->kind == CEILING_CPU && c->subject && strcmp(c->subject, "all CPUs") == 0;
}

/* The CPUs are full because others use them too. */
static bool cpus_taken(const struct ceiling *c)
{
	return c->kind == CEILING_CPU &&
	       ceiling_input_value(c, "other_work", 0) >= OTHER_WORK_SHARE;
}

/*
 * A limit nobody would call a fault: the wire; the rate that was asked for; every CPU of a host
 * at our work; between two ends on one machine, where no wire is, whichever CPU is full first.
 */
static bool meant_to_be(const struct exam *exam, const struct ceiling *c)
{
	if (c->kind == CEILING_WIRE || c->asked_for)
		return true;
	if (c->kind != CEILING_CPU || c->basis != BASIS_MEASURED || cpus_taken(c))
		return false;
	return all_cpus(c) || nd_is_true(exam->path.same_machine);
}

static bool is_proven(const struct finding *f)
{
	return f->proof != PROOF_STATIC && f->severity >= SEVERITY_MEDIUM;
}

static bool concerns(const struct finding *f, enum run_direction d)
{
	return !f->has_direction || f->direction == d;
}

/* The first finding that was seen limiting and matters, NULL: none. */
static const struct finding *proven(const struct diagnosis *d, enum run_direction direction)
{
	size_t i;

	for (i = 0; i < d->nfindings; i++) {
		const struct finding *f = &d->findings[i];

		if (is_proven(f) && concerns(f, direction))
			return f;
	}
	return NULL;
}

static bool target_met(const struct direction_result *r)
{
	return r->target_bps.k == ND_KNOWN && r->measured_bps >= TARGET_MET * r->target_bps.v;
}

static enum verdict direction_verdict(const struct exam *exam, const struct diagnosis *d,
				      const struct direction_result *r)
{
	if (target_met(r))
		return VERDICT_HEALTHY;
	if (proven(d, r->direction))
		return VERDICT_LIMITED;
	if (!r->bottleneck || !ceiling_binds(r->bottleneck, r->measured_bps))
		return VERDICT_UNEXPLAINED;
	/* Below a target even the wire is a limit, and no fault of the hosts. */
	if (r->target_bps.k == ND_KNOWN)
		return VERDICT_LIMITED;
	return meant_to_be(exam, r->bottleneck) ? VERDICT_HEALTHY : VERDICT_LIMITED;
}

/* The ceiling that a rule proved to be the limit, where the numbers agree; NULL: none. */
static const struct ceiling *proven_limit(const struct diagnosis *d, enum run_direction dir,
					  double measured_bps)
{
	const struct finding *f = proven(d, dir);
	const struct ceiling *c;

	if (!f || f->lifts == CEILING_NONE)
		return NULL;
	c = ladder_find(&d->ladder, dir, f->lifts, f->side);
	return c && ceiling_binds(c, measured_bps) ? c : NULL;
}

static struct nd_u64 measured_rate(const struct exam *exam, enum run_direction dir)
{
	const struct run *run = exam_driving_run(exam, dir);

	return run ? run_rate(run, dir) : nd_u64_unknown(ND_UNREAD);
}

static void add_direction(const struct exam *exam, struct diagnosis *d, enum run_direction dir)
{
	struct nd_u64 measured = measured_rate(exam, dir);
	struct direction_result *r;

	if (measured.k != ND_KNOWN)
		return;
	r = &d->directions[d->ndirections++];
	*r = (struct direction_result){
		.direction = dir, .measured = true, .measured_bps = (double)measured.v,
	};
	r->target_bps = exam->wishes.target_bps.k == ND_KNOWN ?
			nd_f64((double)exam->wishes.target_bps.v) :
			nd_f64_unknown(exam->wishes.target_bps.k);
	r->bottleneck = proven_limit(d, dir, r->measured_bps);
	if (!r->bottleneck)
		r->bottleneck = ladder_bottleneck(&d->ladder, dir, r->measured_bps);
	if (r->bottleneck)
		r->explained = nd_f64(ceiling_explains(r->bottleneck, r->measured_bps));
}

static enum verdict worse(enum verdict a, enum verdict b)
{
	/* A cause that was found matters more than a gap that was not. */
	if (a == VERDICT_LIMITED || b == VERDICT_LIMITED)
		return VERDICT_LIMITED;
	return a > b ? a : b;
}

/* "9.41 Gbit/s forward and 9.38 Gbit/s reverse" */
static const char *rates_text(const struct diagnosis *d)
{
	const struct direction_result *a = &d->directions[0], *b = &d->directions[1];
	const char *text;

	if (d->ndirections < 2)
		return arena_printf(d->mem, "%s %s", rate_text(d->mem, a->measured_bps),
				    run_direction_word(a->direction));
	text = arena_printf(d->mem, "%s %s and %s %s", rate_text(d->mem, a->measured_bps),
			    run_direction_word(a->direction), rate_text(d->mem, b->measured_bps),
			    run_direction_word(b->direction));
	return text;
}

static const char *host_text(enum side s)
{
	return s == SIDE_PEER ? "the peer" : "this host";
}

static const char *cpu_text(struct arena *mem, const struct ceiling *c, const char *what,
			    const char *host)
{
	const char *taken = cpus_taken(c) ? ", which other work fills too" : "";

	if (!all_cpus(c))
		return c->side == SIDE_BOTH ?
		       arena_printf(mem, "%s, which both ends share%s", what, taken) :
		       arena_printf(mem, "%s of %s", what, host);
	return c->side == SIDE_BOTH ? arena_printf(mem, "the CPUs both ends share%s", taken) :
				      arena_printf(mem, "the CPUs of %s%s", host, taken);
}

/* What a ceiling is to a person: "the 10 Gbit/s link", "the CPUs both ends share". */
static const char *limit_text(struct arena *mem, const struct ceiling *c)
{
	const char *what = c->subject ? c->subject : "";
	const char *host = host_text(c->side);

	switch (c->kind) {
	case CEILING_WIRE:
		return arena_printf(mem, "the %s link",
				    rate_text(mem, c->ninputs ? c->inputs[0].value : c->high_bps));
	case CEILING_PCIE:
		return arena_printf(mem, "the PCIe link of %s (%s)", host, what);
	case CEILING_CPU:
		return cpu_text(mem, c, what, host);
	case CEILING_WINDOW_SEND:
		return arena_printf(mem, "the send buffers of %s", host);
	case CEILING_WINDOW_RECEIVE:
		if (ceiling_input_value(c, "sent", 0) > 0)
			return arena_printf(mem, "what %s loses %s", host, what);
		return arena_printf(mem, "the receive window of %s", host);
	case CEILING_LOSS:
		if (ceiling_input_value(c, "sent", 0) > 0)
			return arena_printf(mem, "the datagrams lost %s", what);
		return "packet loss on the path";
	case CEILING_SHAPER:
		if (c->asked_for)
			return arena_printf(mem, "the test's own rate limit of %s",
					    rate_text(mem, ceiling_input_value(c, "rate",
									       c->high_bps)));
		return arena_printf(mem, "the rate limit of %s (%s)", host, what);
	default:
		return "an unknown limit";
	}
}

/* "limited by the 10 Gbit/s link", both directions if their limits differ. */
static const char *limits_text(const struct diagnosis *d)
{
	const struct ceiling *a = d->directions[0].bottleneck;
	const struct ceiling *b = d->ndirections > 1 ? d->directions[1].bottleneck : NULL;
	const char *first = a ? limit_text(d->mem, a) : "";
	const char *second = b ? limit_text(d->mem, b) : "";

	if (!first || !second)
		return NULL;
	if (!a || !b || strcmp(first, second) == 0)
		return arena_printf(d->mem, "limited by %s", a ? first : second);
	return arena_printf(d->mem, "limited by %s forward and by %s in reverse", first, second);
}

static const char *healthy_text(const struct exam *exam, const struct diagnosis *d)
{
	const char *rates = rates_text(d), *limits;
	size_t i;

	if (!rates)
		return NULL;
	for (i = 0; i < d->ndirections; i++)
		if (!target_met(&d->directions[i]))
			break;
	if (d->ndirections && i == d->ndirections)
		return arena_printf(d->mem, "Healthy: %s, the target of %s is met.", rates,
				    rate_text(d->mem, (double)exam->wishes.target_bps.v));
	limits = limits_text(d);
	return limits ? arena_printf(d->mem, "Healthy: %s, %s.", rates, limits) : NULL;
}

/* The sentence starts with our words, then the title's: "Limited to 0.95 Gbit/s forward: ...". */
static const char *limited_text(const struct exam *exam, const struct diagnosis *d)
{
	const struct finding *f = NULL;
	const struct direction_result *r = NULL;
	const char *limit;
	size_t i;

	for (i = 0; i < d->ndirections && !f; i++)
		if (!target_met(&d->directions[i]))
			f = proven(d, d->directions[i].direction);
	/* The first in rank, whichever direction it is of. */
	for (i = 0; f && i < d->nfindings; i++)
		if (is_proven(&d->findings[i])) {
			f = &d->findings[i];
			break;
		}
	for (i = 0; i < d->ndirections; i++) {
		if (f ? concerns(f, d->directions[i].direction) :
			direction_verdict(exam, d, &d->directions[i]) == VERDICT_LIMITED) {
			r = &d->directions[i];
			break;
		}
	}
	if (!r)
		return "Limited.";
	if (!f) {
		limit = limit_text(d->mem, r->bottleneck);
		return limit ? arena_printf(d->mem, "Limited to %s %s by %s.",
					    rate_text(d->mem, r->measured_bps),
					    run_direction_word(r->direction), limit) : NULL;
	}
	if (f->gain_known && f->gain_high_bps > 0)
		return arena_printf(d->mem, "Limited to %s %s: %s. The fix should give about %s.",
				    rate_text(d->mem, r->measured_bps),
				    run_direction_word(r->direction), f->title,
				    rate_text(d->mem, (f->rate_low_bps + f->rate_high_bps) / 2));
	return arena_printf(d->mem, "Limited to %s %s: %s.", rate_text(d->mem, r->measured_bps),
			    run_direction_word(r->direction), f->title);
}

static const char *unexplained_text(const struct exam *exam, const struct diagnosis *d)
{
	const struct direction_result *r = NULL;
	const char *limit;
	size_t i;

	for (i = 0; i < d->ndirections && !r; i++)
		if (direction_verdict(exam, d, &d->directions[i]) == VERDICT_UNEXPLAINED)
			r = &d->directions[i];
	if (!r)
		return "Unexplained.";
	if (!r->bottleneck)
		return arena_printf(d->mem, "Unexplained: %s %s, and nothing that could be seen "
				    "limits it.", rate_text(d->mem, r->measured_bps),
				    run_direction_word(r->direction));
	limit = limit_text(d->mem, r->bottleneck);
	if (!limit)
		return NULL;
	if (r->explained.v > 1)
		return arena_printf(d->mem,
				    "Unexplained: %s %s is more than the %s computed for %s: "
				    "a fact or the model is wrong.",
				    rate_text(d->mem, r->measured_bps),
				    run_direction_word(r->direction),
				    rate_text(d->mem, r->bottleneck->high_bps), limit);
	return arena_printf(d->mem,
			    "Unexplained: %s %s is %.0f %% of the %s that %s would allow, and "
			    "nothing that could be seen explains the gap.",
			    rate_text(d->mem, r->measured_bps), run_direction_word(r->direction),
			    r->explained.v * 100, rate_text(d->mem, r->bottleneck->low_bps),
			    limit);
}

static const char *why_no_run(const struct exam *exam)
{
	size_t i;

	if (exam->problem.k == ND_KNOWN)
		return exam->problem.v;
	for (i = 0; i < exam->nruns; i++)
		if (exam->runs[i].problem.k == ND_KNOWN)
			return exam->runs[i].problem.v;
	return exam->nruns ? "no run was long enough to measure" : "no traffic was driven";
}

static const char *inconclusive_text(const struct exam *exam, const struct diagnosis *d)
{
	const char *rates;

	if (!d->ndirections)
		return arena_printf(d->mem, "Inconclusive: %s.", why_no_run(exam));
	rates = rates_text(d);
	return rates ? arena_printf(d->mem, "Inconclusive: measured %s before it ended early: %s.",
				    rates, why_no_run(exam)) : NULL;
}

static enum severity worst_severity(const struct diagnosis *d)
{
	enum severity worst = SEVERITY_INFO;
	size_t i;

	for (i = 0; i < d->nfindings; i++)
		if (d->findings[i].severity > worst)
			worst = d->findings[i].severity;
	return worst;
}

int verdict_decide(const struct exam *exam, struct diagnosis *d)
{
	size_t i;

	add_direction(exam, d, RUN_FORWARD);
	add_direction(exam, d, RUN_REVERSE);
	d->verdict = d->ndirections ? VERDICT_HEALTHY : VERDICT_INCONCLUSIVE;
	for (i = 0; i < d->ndirections; i++)
		d->verdict = worse(d->verdict, direction_verdict(exam, d, &d->directions[i]));
	/* A cause that was proven stands; "nothing wrong" takes a whole exam to say. */
	if (exam->problem.k == ND_KNOWN && d->verdict != VERDICT_LIMITED)
		d->verdict = VERDICT_INCONCLUSIVE;
	switch (d->verdict) {
	case VERDICT_HEALTHY:
		d->summary = healthy_text(exam, d);
		break;
	case VERDICT_LIMITED:
		d->summary = limited_text(exam, d);
		break;
	case VERDICT_UNEXPLAINED:
		d->summary = unexplained_text(exam, d);
		break;
	case VERDICT_INCONCLUSIVE:
		d->summary = inconclusive_text(exam, d);
		break;
	}
	return d->summary ? 0 : -ENOMEM;
}

int diagnosis_exit_code(const struct diagnosis *d)
{
	switch (d->verdict) {
	case VERDICT_HEALTHY:
		return EXIT_HEALTHY;
	case VERDICT_LIMITED:
		return worst_severity(d) == SEVERITY_CRITICAL ? EXIT_CRITICAL : EXIT_WARNING;
	default:
		return EXIT_UNKNOWN;
	}
}
