/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One cause, one finding: which rule explains away or absorbs which other,
 * and which fixes must not be printed together.
 */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "src/model/limits.h"

enum precedence_action {
	HIDE,	/* the loser only follows from the winner: it goes to "ruled out" */
	FOLD	/* the same cause seen from elsewhere: named in the winner's "also" */
};

enum precedence_reach {
	DIRECTION,	/* same direction, any side: along one path */
	SIDE,		/* same direction and same side */
};

/* "*" stands for anything.  A winner must be at least as well proven as its loser. */
static const struct precedence {
	const char *winner, *loser;
	enum precedence_action action;
	enum precedence_reach reach;
} table[] = {
	/* A full link or a shaper sets the rate; CPU, buffers and the rest merely wait for it. */
	{ "pcie-*", "cpu-*", HIDE, DIRECTION },
	{ "pcie-*", "tcp-*", HIDE, DIRECTION },
	{ "pcie-*", "offload-*", HIDE, DIRECTION },
	{ "pcie-*", "ring-*", HIDE, DIRECTION },
	{ "pcie-*", "pause-*", HIDE, DIRECTION },
	{ "pcie-*", "cc-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "cpu-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "tcp-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "offload-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "cc-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "loss-*", HIDE, DIRECTION },
	{ "qdisc-rate-limit", "qdisc-drops", FOLD, SIDE },
	{ "qdisc-rate-limit", "qdisc-netem-left", FOLD, SIDE },
	{ "qdisc-netem-left", "cc-*", HIDE, DIRECTION },
	{ "qdisc-netem-left", "loss-*", HIDE, DIRECTION },
	{ "qdisc-netem-left", "qdisc-drops", FOLD, SIDE },
	{ "txq-maxrate", "cpu-*", HIDE, DIRECTION },
	{ "txq-maxrate", "tcp-*", HIDE, DIRECTION },
	{ "cloud-*", "cpu-*", HIDE, DIRECTION },
	{ "cloud-*", "tcp-*", HIDE, DIRECTION },
	{ "cloud-*", "loss-*", HIDE, DIRECTION },
	/* The card's own fault before the path above it. */
	{ "pcie-link-downgraded", "pcie-slot-too-narrow", FOLD, DIRECTION },
	{ "pcie-link-downgraded", "pcie-upstream-bottleneck", FOLD, DIRECTION },
	{ "pcie-slot-too-narrow", "pcie-upstream-bottleneck", FOLD, DIRECTION },

	/* Half duplex is where collisions, FCS errors and losses come from. */
	{ "link-half-duplex", "phy-*", FOLD, DIRECTION },
	{ "link-half-duplex", "loss-*", HIDE, DIRECTION },
	{ "link-half-duplex", "cc-*", HIDE, DIRECTION },
	{ "link-half-duplex", "link-speed-*", FOLD, DIRECTION },
	{ "link-advertise-restricted", "link-speed-*", FOLD, DIRECTION },
	{ "link-speed-below-common", "link-speed-below-supported", FOLD, DIRECTION },
	/* A port below its own speed is why it is the slower one of the path. */
	{ "link-advertise-restricted", "link-peer-slower", FOLD, SIDE },
	{ "link-speed-*", "link-peer-slower", FOLD, SIDE },
	{ "mtu-blackhole", "tcp-*", HIDE, DIRECTION },
	{ "mtu-blackhole", "cc-*", HIDE, DIRECTION },
	{ "mtu-blackhole", "loss-*", HIDE, DIRECTION },

	/* Who sends pause is the slow one; who receives it only obeys. */
	{ "pause-sent", "pause-received", HIDE, DIRECTION },
	{ "cpu-softirq-bound-rx", "pause-sent", FOLD, SIDE },

	/* A reader that cannot keep up fills any buffer. */
	{ "tcp-reader-slow", "tcp-rcvbuf-limit", HIDE, DIRECTION },
	{ "tcp-reader-slow", "tcp-*rcvbuf-pinned", HIDE, DIRECTION },
	{ "tcp-reader-slow", "tcp-rmem-max-small", HIDE, DIRECTION },
	{ "tcp-reader-slow", "tcp-moderate-off", HIDE, DIRECTION },
	{ "peer-cpu-bound", "tcp-rcvbuf-limit", HIDE, DIRECTION },
	{ "peer-cpu-bound", "tcp-rmem-max-small", HIDE, DIRECTION },
	{ "cpu-cgroup-throttled", "tcp-*buf-*", HIDE, DIRECTION },
	{ "cpu-cgroup-throttled", "tcp-reader-slow", FOLD, DIRECTION },

	/* The narrow reason for a small window before the general one. */
	{ "tcp-wscale-missing", "tcp-rcvbuf-limit", FOLD, DIRECTION },
	{ "tcp-wscale-missing", "tcp-rmem-max-small", FOLD, DIRECTION },
	{ "tcp-so-rcvbuf-pinned", "tcp-rcvbuf-limit", FOLD, DIRECTION },
	{ "tcp-moderate-off", "tcp-rcvbuf-limit", FOLD, DIRECTION },
	{ "tcp-rcvbuf-limit", "tcp-rmem-max-small", FOLD, DIRECTION },
	{ "tcp-so-sndbuf-pinned", "tcp-sndbuf-limit", FOLD, DIRECTION },
	{ "tcp-so-rcvbuf-pinned", "tcp-so-sndbuf-pinned", FOLD, DIRECTION },
	{ "tcp-sndbuf-limit", "tcp-wmem-max-small", FOLD, DIRECTION },
	/* A window that is full keeps the sender's queue empty: no CPU limit. */
	{ "tcp-rcvbuf-limit", "tcp-sndbuf-limit", HIDE, DIRECTION },

	/* Drops of an overrun core end when the core has room; a larger ring only delays them. */
	{ "cpu-softirq-bound-rx", "ring-rx-exhausted*", FOLD, SIDE },
	{ "cpu-softirq-bound-rx", "softnet-time-squeeze", FOLD, SIDE },
	{ "cpu-app-bound", "ring-rx-exhausted-saturated", FOLD, SIDE },
	{ "ring-rx-exhausted*", "ring-rx-small", FOLD, SIDE },
	{ "ring-rx-exhausted*", "softnet-time-squeeze", FOLD, SIDE },

	/* The kernel turns segmentation off with scatter-gather, and that with checksums. */
	{ "offload-tx-csum-off", "offload-sg-off", FOLD, SIDE },
	{ "offload-tx-csum-off", "offload-tso-off", FOLD, SIDE },
	{ "offload-tx-csum-off", "offload-gso-off", FOLD, SIDE },
	{ "offload-sg-off", "offload-tso-off", FOLD, SIDE },
	{ "offload-sg-off", "offload-gso-off", FOLD, SIDE },
	{ "offload-tso-off", "offload-gso-off", FOLD, SIDE },
	{ "offload-rx-csum-off", "offload-gro-off", FOLD, SIDE },
	/* Packets that are not cut need no merging; the sender's fix names the receiver's GRO. */
	{ "offload-tx-csum-off", "offload-gro-off", FOLD, DIRECTION },
	{ "offload-sg-off", "offload-gro-off", FOLD, DIRECTION },
	{ "offload-tso-off", "offload-gro-off", FOLD, DIRECTION },

	{ "irq-stacked-one-cpu", "irqbalance-absent*", FOLD, SIDE },
	{ "irq-stacked-one-cpu", "rss-queue-imbalance", FOLD, SIDE },
	{ "irqbalance-absent*", "rss-queue-imbalance", FOLD, SIDE },
	{ "rss-single-queue", "rss-queue-imbalance", FOLD, SIDE },
	{ "rss-single-queue", "irq-stacked-one-cpu", FOLD, SIDE },
	{ "nic-safe-mode", "rss-single-queue", FOLD, SIDE },

	/*
	 * What others take of the CPUs is a cause of its own, whatever our traffic costs: nothing
	 * that makes the traffic cheaper absorbs it.  "All are full" says where it took effect.
	 */
	{ "cpu-contention", "cpu-total-saturated", FOLD, SIDE },
	{ "cpu-steal", "cpu-total-saturated", FOLD, SIDE },

	/* "A core is full" is a symptom when the reason for it has a rule of its own. */
	{ "offload-*", "cpu-app-bound", FOLD, DIRECTION },
	{ "offload-*", "cpu-softirq-bound-rx", FOLD, DIRECTION },
	{ "offload-*", "cpu-total-saturated", FOLD, DIRECTION },
	{ "offload-*", "cpu-single-flow-limit", FOLD, DIRECTION },
	{ "cc-bbr-cpu-cost", "cpu-app-bound", FOLD, DIRECTION },
	{ "cc-bbr-cpu-cost", "cpu-softirq-bound-rx", FOLD, DIRECTION },
	{ "cc-bbr-cpu-cost", "cpu-total-saturated", FOLD, DIRECTION },
	{ "rss-single-queue", "cpu-softirq-bound-rx", FOLD, SIDE },
	{ "rss-queue-imbalance", "cpu-softirq-bound-rx", FOLD, SIDE },
	{ "irq-stacked-one-cpu", "cpu-softirq-bound-rx", FOLD, SIDE },
	{ "cpu-cgroup-throttled", "cpu-app-bound", FOLD, SIDE },
	{ "cpu-affinity-narrow", "cpu-app-bound", FOLD, SIDE },
	/* Others fill the few CPUs we may use while the rest idle: the mask is the cause. */
	{ "cpu-affinity-narrow", "cpu-contention", FOLD, SIDE },
	{ "cpu-steal", "cpu-app-bound", FOLD, SIDE },
	{ "cpu-steal", "cpu-softirq-bound-rx", FOLD, SIDE },
	{ "cpu-governor", "cpu-app-bound", FOLD, SIDE },
	{ "cpu-governor", "cpu-softirq-bound-rx", FOLD, SIDE },
	{ "cpu-single-flow-limit", "cpu-app-bound", FOLD, SIDE },
	{ "cpu-contention", "cpu-app-bound", FOLD, SIDE },
	{ "cpu-cgroup-throttled", "cpu-total-saturated", FOLD, SIDE },
	{ "cpu-governor", "cpu-total-saturated", FOLD, SIDE },

	/* A loss with a known place is not the congestion control's fault. */
	{ "ring-rx-exhausted*", "loss-local-nic", FOLD, DIRECTION },
	{ "softnet-backlog-drop", "loss-local-nic", FOLD, DIRECTION },
	{ "phy-fcs-errors", "loss-local-nic", FOLD, DIRECTION },
	{ "qdisc-drops", "loss-local-nic", FOLD, DIRECTION },
	{ "udp-rcvbuf-errors", "loss-local-nic", FOLD, DIRECTION },
	{ "cpu-app-bound", "udp-rcvbuf-errors", FOLD, SIDE },
	{ "cc-loss-bound", "loss-path", FOLD, DIRECTION },
	{ "loss-local-nic", "cc-loss-bound", FOLD, DIRECTION },
	{ "ring-rx-exhausted*", "cc-loss-bound", FOLD, DIRECTION },
	{ "softnet-backlog-drop", "cc-loss-bound", FOLD, DIRECTION },
	{ "phy-fcs-errors", "cc-loss-bound", FOLD, DIRECTION },
	{ "qdisc-drops", "cc-loss-bound", FOLD, DIRECTION },
	{ "reorder", "spurious-retrans", FOLD, DIRECTION },

	/* Flows that wait for a window leave the CPUs to others; small steps cost more of them. */
	{ "mtu-blackhole", "cpu-*", HIDE, DIRECTION },
	{ "mtu-blackhole", "offload-*", HIDE, DIRECTION },
	{ "cc-loss-bound", "cpu-contention", HIDE, DIRECTION },
	{ "cc-loss-bound", "cpu-total-saturated", HIDE, DIRECTION },
	{ "cc-loss-bound", "cpu-app-bound", HIDE, DIRECTION },
	{ "tcp-wscale-*", "cpu-*", HIDE, DIRECTION },
	{ "tcp-so-*", "cpu-contention", HIDE, DIRECTION },
	{ "tcp-so-*", "cpu-total-saturated", HIDE, DIRECTION },
	{ "tcp-so-*", "cpu-app-bound", HIDE, DIRECTION },
	{ "tcp-so-*", "cpu-single-flow-limit", HIDE, DIRECTION },
	{ "tcp-rcvbuf-limit", "cpu-contention", HIDE, DIRECTION },
	{ "tcp-rcvbuf-limit", "cpu-total-saturated", HIDE, DIRECTION },
	{ "tcp-rcvbuf-limit", "cpu-app-bound", HIDE, DIRECTION },
	{ "tcp-rcvbuf-limit", "cpu-single-flow-limit", HIDE, DIRECTION },
	{ "tcp-sndbuf-limit", "cpu-contention", HIDE, DIRECTION },
	{ "tcp-sndbuf-limit", "cpu-total-saturated", HIDE, DIRECTION },
	{ "tcp-sndbuf-limit", "cpu-app-bound", HIDE, DIRECTION },
	{ "tcp-sndbuf-limit", "cpu-single-flow-limit", HIDE, DIRECTION },
};

/* Fixes that undo each other or pull the same knob two ways. */
static const struct { const char *a, *b; } fighting[] = {
	{ "irqbalance-absent*", "irq-stacked-one-cpu" },
	{ "irqbalance-absent*", "irq-remote-node" },
	{ "pause-received", "pause-disabled-bursts" },
	{ "ring-rx-small", "ring-rx-oversized" },
	{ "ring-rx-exhausted", "ring-rx-oversized" },
	{ "cc-loss-bound", "cc-bbr-cpu-cost" },
	{ "cc-bbr-without-fq", "cc-bbr-cpu-cost" },
	{ "rps-useful", "rps-redundant" },
	{ "rss-single-queue", "too-many-queues" },
	{ "rss-single-queue", "rps-useful" },
	{ "coal-irq-storm", "coal-too-lazy" },
	{ "offload-lro-available", "offload-lro-forwarding" },
	{ "offload-tso-off", "offload-tso-tx-hang" },
	{ "offload-tx-csum-off", "offload-vxlan-txcsum-broken" },
	{ "fdir-atr-thrash", "rfs-arfs-missing" },
};

static bool glob(const char *pattern, const char *id)
{
	for (; *pattern && *pattern != '*'; pattern++, id++)
		if (*pattern != *id)
			return false;
	if (!*pattern)
		return !*id;
	for (;; id++) {
		if (glob(pattern + 1, id))
			return true;
		if (!*id)
			return false;
	}
}

static bool matches(const char *pattern, const struct finding *f)
{
	return glob(pattern, f->rule->id);
}

static bool sides_meet(enum side a, enum side b)
{
	return a == b || a == SIDE_BOTH || b == SIDE_BOTH || a == SIDE_PATH || b == SIDE_PATH;
}

static bool directions_meet(const struct finding *a, const struct finding *b)
{
	return !a->has_direction || !b->has_direction || a->direction == b->direction;
}

static bool applies(const struct precedence *p, const struct finding *winner,
		    const struct finding *loser)
{
	if (winner->rule == loser->rule || winner->proof < loser->proof)
		return false;
	if (!matches(p->winner, winner) || !matches(p->loser, loser))
		return false;
	/* Advice explains nothing; it may only absorb other advice. */
	if (winner->proof == PROOF_STATIC && p->action == HIDE)
		return false;
	if (!directions_meet(winner, loser))
		return false;
	return p->reach == DIRECTION || sides_meet(winner->side, loser->side);
}

static void add_also(struct finding *f, const char *id)
{
	size_t i;

	for (i = 0; i < f->nalso; i++)
		if (strcmp(f->also[i], id) == 0)
			return;
	if (f->nalso < FINDING_MAX_ALSO && strcmp(f->rule->id, id) != 0)
		f->also[f->nalso++] = id;
}

/* into[i]: index of the finding that took i in; i itself while it stands. */
static size_t holder(const size_t *into, size_t i)
{
	while (into[i] != i)
		i = into[i];
	return i;
}

static void absorb(struct rule_output *out, size_t *into, size_t winner, size_t loser,
		   enum precedence_action action)
{
	struct finding *w, *l = out->findings[loser];
	const char *because;
	size_t i;

	winner = holder(into, winner);
	if (winner == loser || into[loser] != loser)
		return;
	w = out->findings[winner];
	into[loser] = winner;
	if (action == HIDE) {
		because = l->has_direction ?
			  rule_text(out, "%s explains the rate %s", w->rule->id,
				    run_direction_word(l->direction)) :
			  rule_text(out, "%s explains the rate", w->rule->id);
		engine_rule_out(out, l->rule, because);
		return;
	}
	add_also(w, l->rule->id);
	for (i = 0; i < l->nalso; i++)
		add_also(w, l->also[i]);
}

static void apply_table(struct rule_output *out, size_t *into)
{
	size_t row, w, l;

	for (row = 0; row < ARRAY_SIZE(table); row++)
		for (w = 0; w < out->nfindings; w++)
			for (l = 0; l < out->nfindings; l++)
				if (w != l && applies(&table[row], out->findings[w],
						      out->findings[l]))
					absorb(out, into, w, l, table[row].action);
}

/* What a rate limit on the way out explains; our own explains the same. */
static bool explained_by_rate_limit(const struct finding *f)
{
	size_t row;

	for (row = 0; row < ARRAY_SIZE(table); row++)
		if (table[row].action == HIDE && matches(table[row].loser, f) &&
		    strcmp(table[row].winner, "qdisc-rate-limit") == 0)
			return true;
	return false;
}

/*
 * The test's own rate limit is no finding, and yet what everything else waited for.  Datagrams
 * went out at that rate whatever came of them: then it explains all but their losses.
 */
static void hide_behind_pacing(const struct exam *exam, const struct ladder *ladder,
			       struct rule_output *out, size_t *into)
{
	const struct ceiling *limit;
	size_t i;

	for (i = 0; i < out->nfindings; i++) {
		const struct finding *f = out->findings[i];

		if (into[i] != i || !f->has_direction || f->proof == PROOF_STATIC ||
		    !explained_by_rate_limit(f))
			continue;
		limit = ladder_rate_limit(ladder, f->direction, glob("loss-*", f->rule->id) ?
					  direction_measured(exam, f->direction) :
					  rule_sent_bps(exam, f->direction));
		if (!limit || !limit->asked_for)
			continue;
		engine_rule_out(out, f->rule,
				rule_text(out, "the test's own rate limit explains the rate %s",
					  run_direction_word(f->direction)));
		into[i] = SIZE_MAX;
	}
}

/* Advice about what something else was seen limiting says nothing new. */
static void fold_advice(struct rule_output *out, size_t *into)
{
	size_t w, l;

	for (l = 0; l < out->nfindings; l++) {
		const struct finding *advice = out->findings[l];

		if (advice->proof != PROOF_STATIC || advice->lifts == CEILING_NONE)
			continue;
		for (w = 0; w < out->nfindings; w++) {
			const struct finding *proven = out->findings[w];

			if (proven->proof == PROOF_STATIC || proven->lifts != advice->lifts)
				continue;
			if (sides_meet(proven->side, advice->side) &&
			    directions_meet(proven, advice))
				absorb(out, into, w, l, FOLD);
		}
	}
}

/*
 * The largest share of the finding's resource that a measured direction used;
 * negative when no such ceiling can be put in numbers.
 */
static double most_used(const struct exam *exam, const struct ladder *ladder,
			const struct finding *f)
{
	double most = -1;
	size_t i;

	for (i = 0; i < ladder->n; i++) {
		const struct ceiling *c = &ladder->ceilings[i];
		double measured = direction_measured(exam, c->direction);

		if (c->kind != f->lifts || !sides_meet(c->side, f->side) || !(measured > 0))
			continue;
		if (f->has_direction && f->direction != c->direction)
			continue;
		/* An unknown ceiling may bind; one that is estimated from an idle core does not. */
		if (!c->known && !(c->high_bps > 0))
			return -1;
		if (c->low_bps > 0)
			most = fmax(most, measured / c->low_bps);
	}
	return most;
}

static void drop_idle_advice(const struct exam *exam, const struct ladder *ladder,
			     struct rule_output *out, size_t *into)
{
	size_t i;

	for (i = 0; i < out->nfindings; i++) {
		const struct finding *f = out->findings[i];
		double used;

		if (into[i] != i || f->proof != PROOF_STATIC || f->lifts == CEILING_NONE)
			continue;
		used = most_used(exam, ladder, f);
		if (used < 0 || used >= STATIC_ADVICE_FROM)
			continue;
		engine_rule_out(out, f->rule,
				rule_text(out, "only %.0f %% of the %s limit was used", used * 100,
					  ceiling_word(f->lifts)));
		into[i] = SIZE_MAX;
	}
}

static void compact(struct rule_output *out, const size_t *into)
{
	size_t i, n = 0;

	for (i = 0; i < out->nfindings; i++)
		if (into[i] == i)
			out->findings[n++] = out->findings[i];
	out->nfindings = n;
}

int precedence_apply(const struct exam *exam, const struct ladder *ladder, struct rule_output *out)
{
	size_t *into, i;

	if (!out->nfindings)
		return 0;
	into = arena_alloc_array(out->mem, out->nfindings, sizeof(*into));
	if (!into)
		return -ENOMEM;
	for (i = 0; i < out->nfindings; i++)
		into[i] = i;
	apply_table(out, into);
	fold_advice(out, into);
	hide_behind_pacing(exam, ladder, out, into);
	drop_idle_advice(exam, ladder, out, into);
	compact(out, into);
	return out->failed ? -ENOMEM : 0;
}

static const struct finding *fights_with(const struct rule_output *out, size_t i)
{
	size_t j, k;

	for (j = 0; j < i; j++) {
		const struct finding *higher = out->findings[j], *f = out->findings[i];

		if (!sides_meet(higher->side, f->side))
			continue;
		for (k = 0; k < ARRAY_SIZE(fighting); k++)
			if ((matches(fighting[k].a, higher) && matches(fighting[k].b, f)) ||
			    (matches(fighting[k].b, higher) && matches(fighting[k].a, f)))
				return higher;
	}
	return NULL;
}

int precedence_drop_fighting(struct rule_output *out)
{
	size_t i, n = 0;

	for (i = 0; i < out->nfindings; i++) {
		struct finding *f = out->findings[i];
		const struct finding *higher;

		/* Only those that stay, moved to the front, can push others out. */
		out->findings[n] = f;
		higher = fights_with(out, n);
		if (!higher) {
			f->rank = (unsigned int)++n;
			continue;
		}
		engine_rule_out(out, f->rule,
				rule_text(out, "its fix works against that of %s",
					  higher->rule->id));
	}
	out->nfindings = n;
	return out->failed ? -ENOMEM : 0;
}
