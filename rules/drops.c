/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/drops.h"

#include <math.h>
#include <string.h>

#include "rules/thresholds.h"
#include "src/model/loss.h"

double drops_share(const struct drops *d)
{
	return d->packets > 0 ? d->packets / (d->packets + fmax(0, d->passed)) : 0;
}

bool drops_were_not_ours(const struct rule_input *in)
{
	struct rule_loss loss;

	return rule_loss_of(in->exam, in->direction, &loss) && loss.counted == 0;
}

static double input_of(const struct ceiling *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->ninputs; i++)
		if (strcmp(c->inputs[i].name, name) == 0)
			return c->inputs[i].value;
	return 0;
}

/* Part of our losses that these drops were: 0..1. */
static double part_of_losses(const struct rule_loss *loss, const struct drops *d)
{
	double losses = d->aggregates ? loss->events : loss->segments;

	return losses > 0 ? fmin(1, d->packets / losses) : 0;
}

/* Where congestion control would settle with fewer losses; false: it is not what limits. */
static bool rate_after(const struct rule_input *in, const struct rule_loss *loss,
		       const struct drops *d, double *low, double *high)
{
	const struct ceiling *c = ladder_find(in->ladder, in->direction, CEILING_LOSS, SIDE_PATH);
	struct loss_input l;

	if (c && c->known && loss->datagrams) {
		*low = *high = input_of(c, "sent") *
			       (1 - loss->share * (1 - part_of_losses(loss, d)));
		return true;
	}
	if (!c || !c->known || in->measured_bps < CC_LOSS_MATCH_LOW * c->low_bps ||
	    in->measured_bps > CC_LOSS_MATCH_HIGH * c->high_bps)
		return false;
	l = (struct loss_input){
		.law = loss_law_of(c->subject), .mss = input_of(c, "mss"),
		.rtt_s = input_of(c, "rtt_us") / 1e6, .streams = input_of(c, "streams"),
		.events = (uint64_t)loss->events,
	};
	l.loss = loss->event_share * (1 - (1 - DROPS_LEFT) * part_of_losses(loss, d));
	return loss_ceiling(&l, low, high);
}

/* Segments that one of these drops may have cost. */
static double most_segments(const struct rule_input *in, const struct rule_loss *loss,
			    const struct drops *d)
{
	const struct run_end *sender = &in->run->ends[run_sender(in->direction)];
	struct nd_u64 mss = END_FLOW_MIN(sender, snd_mss);

	if (!d->aggregates || loss->datagrams)
		return 1;
	if (loss->events_counted && loss->events > 0)
		return fmax(1, loss->segments / loss->events);
	return mss.k == ND_KNOWN && mss.v ? fmax(1, OFFLOAD_AGGREGATE_BYTES / (double)mss.v) : 1;
}

static const char *loss_source(const struct rule_loss *l)
{
	return l->datagrams ? "the datagrams' numbers, at the receiver" : "TCP_INFO of the sender";
}

void drops_losses(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	const char *id = in->run->id.k == ND_KNOWN ? in->run->id.v : "?";
	struct rule_loss loss;

	f->severity = SEVERITY_LOW;
	if (!rule_loss_of(in->exam, in->direction, &loss)) {
		f->severity = SEVERITY_MEDIUM;
		f->confidence = 0.6;
		return;
	}
	finding_number(out, f, loss.datagrams ?
		       rule_text(out, "runs[%s].%s.flows[*].lost", id,
				 side_word(run_receiver(in->direction))) :
		       rule_text(out, "runs[%s].retransmits", id),
		       loss.counted, UNIT_COUNT, NULL, loss_source(&loss));
	finding_number(out, f, rule_text(out, "runs[%s].loss", id), loss.share, UNIT_SHARE, NULL,
		       loss_source(&loss));
	if (loss.datagrams && loss.share >= UDP_LOSS_SHARE)
		f->severity = SEVERITY_HIGH;	/* nobody sends them again */
}

void drops_judge(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct drops *d)
{
	struct rule_loss loss;
	double low, high;

	drops_losses(in, out, f);
	if (!rule_loss_of(in->exam, in->direction, &loss))
		return;
	/* What is lost elsewhere matters more: these drops explain nothing away. */
	if (d->packets * most_segments(in, &loss, d) < LOSS_PATH_SHARE * loss.segments)
		f->proof = PROOF_STATIC;
	if (rate_after(in, &loss, d, &low, &high))
		finding_lifts(f, CEILING_LOSS, low, high);
}
