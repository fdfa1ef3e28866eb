/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both directions at once against each alone: what full duplex would be, and what is shared. */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <math.h>

#include "src/model/limits.h"

static void compare(const struct exam *exam, struct both_ways *b, enum run_direction d)
{
	const struct run *alone = exam_main_run(exam, d);

	b->of[d].measured_bps = (double)run_rate(b->run, d).v;
	b->of[d].alone_bps = alone ? nd_f64((double)alone->goodput_bps.v) :
				     nd_f64_unknown(ND_UNREAD);
	b->of[d].share = nd_f64_unknown(ND_UNREAD);
	if (!alone || !alone->goodput_bps.v)
		return;
	b->of[d].share = nd_f64(b->of[d].measured_bps / b->of[d].alone_bps.v);
	b->of[d].lower = b->of[d].share.v < REPEATS_WITHIN;
}

/* "cpu 3 of the peer was full" while both went on; NULL: no CPU of that end was. */
static const char *full_cpu(struct arena *mem, const struct exam *exam, const struct run *run,
			    enum side s)
{
	const struct run_end *end = &run->ends[s];
	bool shared = nd_is_true(exam->path.same_machine);
	const char *host = shared ? "this machine" : s == SIDE_PEER ? "the peer" : "this host";
	const struct core_load *hot = end_hot_core(end);
	struct nd_f64 mean = end_mean_busy(end), worker = end_busiest_worker(end);

	if (mean.k == ND_KNOWN && mean.v >= ALL_CORES_SATURATED)
		return arena_printf(mem, shared ? "the CPUs both ends share were full (%.0f %% "
						  "busy)" :
				    s == SIDE_PEER ? "the CPUs of the peer were full (%.0f %% busy)"
						   : "the CPUs of this host were full (%.0f %% "
						     "busy)", fmin(mean.v, 1) * 100);
	if (hot && hot->busy.v >= CORE_SATURATED && hot->cpu.k == ND_KNOWN)
		return arena_printf(mem, "cpu %llu of %s was full", (unsigned long long)hot->cpu.v,
				    host);
	if (hot && hot->busy.v >= CORE_SATURATED)
		return arena_printf(mem, "a CPU of %s was full", host);
	if (worker.k == ND_KNOWN && worker.v >= WORKER_SATURATED)
		return arena_printf(mem, "a thread of %s used all of a CPU", host);
	return NULL;
}

static bool cpus_seen(const struct run *run)
{
	for (int s = 0; s < EXAM_ENDS; s++)
		if (!run->ends[s].present || end_mean_busy(&run->ends[s]).k != ND_KNOWN)
			return false;
	return true;
}

/* As much together as one of them alone: each byte of one takes the place of one of the other. */
static bool one_pool(const struct both_ways *b)
{
	double together = b->of[RUN_FORWARD].measured_bps + b->of[RUN_REVERSE].measured_bps;
	double alone = fmax(b->of[RUN_FORWARD].alone_bps.v, b->of[RUN_REVERSE].alone_bps.v);

	return together * REPEATS_WITHIN <= alone;
}

static const char *why_lower(struct arena *mem, const struct exam *exam, const struct both_ways *b)
{
	const char *less = b->of[RUN_FORWARD].lower && b->of[RUN_REVERSE].lower ?
			   "Each direction reaches less than alone" :
			   b->of[RUN_FORWARD].lower ? "Forward reaches less than alone" :
						      "Reverse reaches less than alone";

	for (int s = 0; s < EXAM_ENDS; s++) {
		const char *full = full_cpu(mem, exam, b->run, (enum side)s);

		if (full)
			return arena_printf(mem, "%s: %s while both went on.", less, full);
	}
	if (!cpus_seen(b->run))
		return arena_printf(mem, "%s, and not all CPUs were seen: they may be what the two "
				    "directions share.", less);
	if (one_pool(b))
		return arena_printf(mem, "%s, and no CPU was full: together they carry no more "
				    "than one does, as over a half-duplex link, a bus, or a rate "
				    "limit for both.", less);
	return arena_printf(mem, "%s, and no CPU was full: what the two directions share was not "
			    "seen.", less);
}

int both_ways_compare(const struct exam *exam, struct diagnosis *d)
{
	struct both_ways *b = &d->both;
	bool known = true, lower = false;

	b->run = exam_both_run(exam);
	for (int i = RUN_FORWARD; b->run && i <= RUN_REVERSE; i++) {
		compare(exam, b, (enum run_direction)i);
		known &= b->of[i].share.k == ND_KNOWN;
		lower |= b->of[i].lower;
	}
	if (!b->run)
		return 0;
	if (!known)
		b->text = "What each direction reaches alone was not measured.";
	else if (!lower)
		b->text = "Each direction reaches what it reaches alone: the path is full duplex.";
	else
		b->text = why_lower(d->mem, exam, b);
	return b->text ? 0 : -ENOMEM;
}
