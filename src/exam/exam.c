/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/exam.h"

#include <string.h>

enum {
	/* Room for the longest report we accept; see the limits in exam_json.c. */
	EXAM_ARENA_LIMIT = 256 * 1024 * 1024
};

static const char *const side_words[] = {
	[SIDE_LOCAL] = "local", [SIDE_PEER] = "peer", [SIDE_PATH] = "path", [SIDE_BOTH] = "both"
};

static const char *const direction_words[] = {
	[RUN_FORWARD] = "forward", [RUN_REVERSE] = "reverse"
};

static const char *const purpose_words[] = {
	[RUN_ALL_STREAMS] = "all-streams",
	[RUN_ONE_STREAM] = "one-stream",
	[RUN_OTHER_CONGESTION_CONTROL] = "other-congestion-control",
	[RUN_SMALL_SEGMENTS] = "small-segments",
	[RUN_HALF_SEGMENTS] = "half-segments",
	[RUN_DISCARD_RECEIVE] = "discard-receive",
	[RUN_BOTH_DIRECTIONS] = "both-directions"
};
_Static_assert(ARRAY_SIZE(purpose_words) == RUN_PURPOSES, "a word for each purpose");

static const char *const status_words[] = {
	[RUN_COMPLETE] = "complete", [RUN_INCOMPLETE] = "incomplete", [RUN_FAILED] = "failed"
};

static const char *word(const char *const *words, size_t n, unsigned int i)
{
	return i < n ? words[i] : "?";
}

const char *side_word(enum side s)
{
	return word(side_words, ARRAY_SIZE(side_words), s);
}

const char *run_direction_word(enum run_direction d)
{
	return word(direction_words, ARRAY_SIZE(direction_words), d);
}

const char *run_traffic_word(const struct run_spec *s)
{
	return s->bidirectional ? "bidir" : run_direction_word(s->direction);
}

const char *run_purpose_word(enum run_purpose p)
{
	return word(purpose_words, ARRAY_SIZE(purpose_words), p);
}

const char *run_status_word(enum run_status s)
{
	return word(status_words, ARRAY_SIZE(status_words), s);
}

struct exam *exam_new(void)
{
	struct arena *mem = arena_new(EXAM_ARENA_LIMIT);
	struct exam *e = mem ? arena_alloc(mem, sizeof(*e)) : NULL;

	if (!e) {
		arena_free(mem);
		return NULL;
	}
	e->mem = mem;
	return e;
}

void exam_free(struct exam *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < EXAM_ENDS; i++) {
		/* Const to its readers; we are the owner. */
		facts_free((struct facts *)e->facts[i]);
		for (size_t r = 0; r < e->nruns; r++)
			counters_free(e->runs[r].ends[i].window);
	}
	arena_free(e->mem);
}

static struct nd_bool same_machine(const struct exam *e)
{
	const struct facts *a = e->facts[SIDE_LOCAL], *b = e->facts[SIDE_PEER];

	/* No packet on loopback comes from anywhere else. */
	if (!a || !b)
		return nd_is_true(e->path.loopback) ? nd_bool(true)
						    : nd_bool_unknown(ND_NOT_SUPPORTED);
	if (a->host.boot_id.k == ND_KNOWN && b->host.boot_id.k == ND_KNOWN)
		return nd_bool(!strcmp(a->host.boot_id.v, b->host.boot_id.v));
	return nd_bool_unknown(a->host.boot_id.k != ND_KNOWN ? a->host.boot_id.k
							     : b->host.boot_id.k);
}

void exam_place_ends(struct exam *e)
{
	const struct facts *local = e->facts[SIDE_LOCAL];
	const struct link_facts *egress = local ? facts_egress(local) : NULL;

	if (egress)
		e->path.loopback = nd_bool(nd_str_is(egress->kind, "loopback"));
	else
		e->path.loopback = nd_bool_unknown(local ? local->route.ifindex.k : ND_UNREAD);
	e->path.same_machine = same_machine(e);
}
