/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/timeline.h"

const struct field run_moment_fields[] = {
	FIELD(struct run_moment, start_s, F64, SECONDS, 0, "Start, from the start of the window."),
	FIELD(struct run_moment, seconds, F64, SECONDS, 0, "Length."),
	FIELD(struct run_moment, goodput_bps, U64, BITS_PER_SECOND, 0,
	      "What the receiver's application took in."),
	FIELD(struct run_moment, other_goodput_bps, U64, BITS_PER_SECOND, 0,
	      "Of a bidirectional run: what the same end sent, or took in, of the other "
	      "direction."),
	FIELD(struct run_moment, retransmits, U64, PACKETS, FIELD_COUNTER,
	      "Segments the sender sent again."),
};
const size_t run_moment_nfields = ARRAY_SIZE(run_moment_fields);

const struct core_load *busiest_core(const struct core_load *cores, size_t n)
{
	const struct core_load *hot = NULL;

	for (size_t i = 0; i < n; i++) {
		if (cores[i].busy.k != ND_KNOWN)
			continue;
		if (!hot || cores[i].busy.v > hot->busy.v)
			hot = &cores[i];
	}
	return hot;
}

/* The end whose intervals are the moments. */
static enum side beat_side(const struct run *r)
{
	enum side receiver = run_receiver(r->spec.direction);

	return r->ends[receiver].nintervals ? receiver : side_other(receiver);
}

size_t run_moment_count(const struct run *r)
{
	return r->ends[beat_side(r)].nintervals;
}

static bool centre(const struct end_interval *i, double *at)
{
	if (i->start_s.k != ND_KNOWN || i->seconds.k != ND_KNOWN)
		return false;
	*at = i->start_s.v + i->seconds.v / 2;
	return true;
}

static bool covers(const struct end_interval *i, double at)
{
	return i->start_s.k == ND_KNOWN && i->seconds.k == ND_KNOWN && at >= i->start_s.v &&
	       at < i->start_s.v + i->seconds.v;
}

/*
 * Each of the sender's intervals has one centre, so its retransmissions are
 * counted in one moment only, however the two clocks beat.
 */
static struct nd_u64 retransmits_in(const struct run_end *sender, const struct end_interval *beat)
{
	struct nd_u64 sum = nd_u64(0);

	if (!sender->nintervals)
		return nd_u64_unknown(ND_UNREAD);
	for (size_t i = 0; i < sender->nintervals; i++) {
		const struct end_interval *s = &sender->intervals[i];
		double at;

		if (!centre(s, &at) || !covers(beat, at))
			continue;
		if (s->retransmits.k != ND_KNOWN)
			return nd_u64_unknown(s->retransmits.k);
		if (__builtin_add_overflow(sum.v, s->retransmits.v, &sum.v))
			return nd_u64_unknown(ND_INVALID);
	}
	return sum;
}

static struct nd_u64 interval_rate(const struct end_interval *i, struct nd_u64 bytes)
{
	double bps;

	if (bytes.k != ND_KNOWN)
		return nd_u64_unknown(bytes.k);
	if (i->seconds.k != ND_KNOWN || i->seconds.v <= 0)
		return nd_u64_unknown(ND_INVALID);
	bps = (double)bytes.v * 8 / i->seconds.v;
	/* Far below 2^64, where the cast would be undefined. */
	return bps < 1e18 ? nd_u64((uint64_t)(bps + 0.5)) : nd_u64_unknown(ND_INVALID);
}

/* What a receiver took in; an older peer does not count it apart. */
static struct nd_u64 taken_in(const struct run *r, const struct end_interval *i)
{
	return r->spec.bidirectional || i->received_bytes.k == ND_KNOWN ? i->received_bytes
									: i->bytes;
}

/* What the end whose interval this is moved of the other direction. */
static struct nd_u64 moved_other_way(const struct run *r, const struct end_interval *i,
				     bool receiver)
{
	if (!r->spec.bidirectional)
		return nd_u64_unknown(ND_NOT_APPLICABLE);
	if (!receiver)
		return i->received_bytes;
	if (i->bytes.k != ND_KNOWN || i->received_bytes.k != ND_KNOWN)
		return nd_u64_unknown(i->received_bytes.k != ND_KNOWN ? i->received_bytes.k
								      : i->bytes.k);
	if (i->received_bytes.v > i->bytes.v)
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(i->bytes.v - i->received_bytes.v);
}

static const struct core_load *hot_at(const struct run_end *e, double at)
{
	for (size_t i = 0; i < e->nintervals; i++)
		if (covers(&e->intervals[i], at))
			return busiest_core(e->intervals[i].cores, e->intervals[i].ncores);
	return NULL;
}

void run_moment_at(const struct run *r, size_t i, struct run_moment *out)
{
	enum side beat = beat_side(r);
	enum side sender = run_sender(r->spec.direction);
	const struct end_interval *interval = &r->ends[beat].intervals[i];
	double at;

	*out = (struct run_moment){
		.start_s = interval->start_s,
		.seconds = interval->seconds,
		.goodput_bps = beat == sender ? nd_u64_unknown(ND_UNREAD)
					      : interval_rate(interval, taken_in(r, interval)),
		.other_goodput_bps = interval_rate(interval,
						   moved_other_way(r, interval, beat != sender)),
		.retransmits = beat == sender ? interval->retransmits
					      : retransmits_in(&r->ends[sender], interval),
	};
	out->hot[beat] = busiest_core(interval->cores, interval->ncores);
	if (centre(interval, &at))
		out->hot[side_other(beat)] = hot_at(&r->ends[side_other(beat)], at);
}
