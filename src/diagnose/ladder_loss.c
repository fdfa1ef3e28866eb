/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/ladder.h"

#include "src/model/limits.h"
#include "src/model/loss.h"

static const char *congestion_control_of(const struct run_end *end)
{
	size_t i;

	for (i = 0; end->present && i < end->nflows; i++)
		if (end->flows[i].congestion_control.k == ND_KNOWN)
			return end->flows[i].congestion_control.v;
	return NULL;
}

/* Retransmissions that the receiver already had (DSACK) were no losses. */
static uint64_t events_of(const struct ladder_path *p)
{
	struct nd_u64 dups = END_FLOW_SUM(p->sender, dsack_dups);
	uint64_t events = p->run->retransmits.v;

	if (dups.k == ND_KNOWN)
		events -= dups.v < events ? dups.v : events;
	return events;
}

void ladder_add_loss(struct ladder_builder *b, const struct ladder_path *p)
{
	struct loss_input in = { 0 };
	const char *control;
	struct nd_f64 rtt;
	struct ceiling *c;
	double low, high;

	if (!p->run)
		return;
	c = ceiling_add(b, p, CEILING_LOSS, SIDE_PATH);
	if (p->run->loss.k != ND_KNOWN || p->run->retransmits.k != ND_KNOWN) {
		ceiling_unknown(b, c, "the sender's retransmissions are not known");
		return;
	}
	in.events = events_of(p);
	control = congestion_control_of(p->sender);
	in.law = loss_law_of(control);
	rtt = END_FLOW_MEAN(p->sender, rtt_us);
	if (in.events < LOSS_MIN_EVENTS) {
		ceiling_unknown(b, c, "losses: %llu; fewer than %d do not set a rate",
				(unsigned long long)in.events, LOSS_MIN_EVENTS);
		return;
	}
	if (in.law == LOSS_LAW_NONE) {
		ceiling_unknown(b, c, "%s does not follow a formula of single losses",
				control ? control : "unknown congestion control");
		return;
	}
	in.mss = p->mss;
	in.rtt_s = rtt.k == ND_KNOWN ? rtt.v / 1e6 : 0;
	in.loss = p->run->loss.v;
	in.streams = p->streams;
	if (!loss_ceiling(&in, &low, &high)) {
		ceiling_unknown(b, c, "segment size, round-trip time or loss share is not known");
		return;
	}
	ceiling_input(c, "loss", in.loss, UNIT_SHARE);
	ceiling_input(c, "losses", (double)in.events, UNIT_COUNT);
	ceiling_input(c, "mss", in.mss, UNIT_BYTES);
	ceiling_input(c, "rtt_us", in.rtt_s * 1e6, UNIT_MICROSECONDS);
	ceiling_input(c, "streams", in.streams, UNIT_COUNT);
	c->subject = control;
	ceiling_set(c, low, high, BASIS_MEASURED,
		    in.law == LOSS_LAW_CUBIC ?
		    "streams * mss * 8 / rtt * max(1.22 / loss^0.5, 1.054 * rtt^0.75 / loss^0.75)" :
		    "streams * mss * 8 / rtt * 1.22 / loss^0.5");
}
