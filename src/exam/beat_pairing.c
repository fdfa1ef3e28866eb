/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/beat.h"

#include <string.h>

static struct beat *take_first(struct beat_pairing *p, enum side s)
{
	struct beat *b = p->queue[s][0];

	p->n[s]--;
	memmove(&p->queue[s][0], &p->queue[s][1], p->n[s] * sizeof(p->queue[s][0]));
	return b;
}

void beat_pairing_add(struct beat_pairing *p, enum side s, struct beat *b, uint64_t now_ns)
{
	if (p->n[s] == BEAT_QUEUE)
		beat_free(take_first(p, s));
	if (s == SIDE_LOCAL && !p->n[s])
		p->since_ns = now_ns;
	p->queue[s][p->n[s]++] = b;
}

bool beat_pairing_next(struct beat_pairing *p, uint64_t now_ns, bool over,
		       struct beat *out[EXAM_ENDS])
{
	out[SIDE_LOCAL] = out[SIDE_PEER] = NULL;
	if (!p->n[SIDE_LOCAL])
		return false;
	const struct beat *ours = p->queue[SIDE_LOCAL][0];
	/* Without ours there is no line to show theirs on. */
	while (p->n[SIDE_PEER] && beat_before(p->queue[SIDE_PEER][0], ours))
		beat_free(take_first(p, SIDE_PEER));
	if (!p->n[SIDE_PEER] && !over && now_ns - p->since_ns < BEAT_PATIENCE_NS)
		return false;
	if (p->n[SIDE_PEER] && !beat_before(ours, p->queue[SIDE_PEER][0]))
		out[SIDE_PEER] = take_first(p, SIDE_PEER);
	out[SIDE_LOCAL] = take_first(p, SIDE_LOCAL);
	p->since_ns = now_ns;
	return true;
}

void beat_pairing_clear(struct beat_pairing *p)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		while (p->n[s])
			beat_free(take_first(p, s));
}
