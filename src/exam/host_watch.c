/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/host_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "src/exam/interval.h"
#include "src/exam/live_queues.h"

struct host_watch {
	struct source *source;
	const struct facts *facts;
	uint64_t egress_ifindex, begun_ns;
	struct counters *last;
	struct live_queues queues;
};

static int sample(struct host_watch *w, struct counters **out)
{
	struct counters *c = counters_new(0);
	int rc = c ? probes_sample(w->source, w->facts, COUNTER_EVERY_SECOND, c) : -ENOMEM;

	if (rc) {
		counters_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

int host_watch_new(const struct facts *facts, struct host_watch **out)
{
	struct host_watch *w = calloc(1, sizeof(*w));
	const struct link_facts *egress = facts_egress(facts);
	int rc = w ? source_open_live(&w->source) : -ENOMEM;

	if (!rc) {
		w->facts = facts;
		w->egress_ifindex = egress && egress->ifindex.k == ND_KNOWN ? egress->ifindex.v : 0;
		w->begun_ns = source_monotonic_ns(w->source);
		rc = sample(w, &w->last);
	}
	if (rc) {
		host_watch_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void host_watch_free(struct host_watch *w)
{
	if (!w)
		return;
	counters_free(w->last);
	live_queues_free(&w->queues);
	source_close(w->source);
	free(w);
}

int host_watch_next(struct host_watch *w, struct end_live *live)
{
	struct end_interval iv = { 0 };
	struct counters *now, *step;
	int rc = sample(w, &now);

	if (rc)
		return rc;
	step = counters_difference(w->last, now);
	if (!step) {
		counters_free(now);
		return -ENOMEM;
	}
	struct nd_u64 from = w->last->clock.monotonic_ns;
	double start_s = from.k == ND_KNOWN ? (double)(from.v - w->begun_ns) / 1e9 : 0;
	rc = interval_fill(step, start_s, w->egress_ifindex, step->mem, &iv);
	if (!rc)
		rc = live_queues_add(&w->queues, now, step);
	if (!rc) {
		interval_live(&iv, live);
		live_link_show(step, w->egress_ifindex, live);
		live_queues_show(&w->queues, live);
	}
	counters_free(step);
	counters_free(w->last);
	w->last = now;
	return rc;
}
