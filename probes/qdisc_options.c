/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCA_OPTIONS of the qdiscs that limit a rate or a queue.
 *
 * The kernel counts rates in bytes per second (cbs: kbit/s) of L2 frames without
 * preamble and gap.  Rates from 2^32 bytes/s have a 64-bit attribute next to the
 * 32-bit one, which then reads ~0.
 */
#include "probes/rtnetlink.h"

#include <linux/pkt_sched.h>
#include <netlink/attr.h>
#include <string.h>

/* sch_cbq left the kernel and its headers in 6.3. */
enum { ATTR_CBQ_RATE = 5 };

/* Scheduler ticks (PSCHED_SHIFT 6), the unit in which bursts travel as time. */
enum { NS_PER_TICK = 64 };

static struct nd_u64 bits(struct nd_u64 bytes)
{
	if (bytes.k != ND_KNOWN)
		return bytes;
	if (bytes.v > UINT64_MAX / 8)
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(bytes.v * 8);
}

static struct nd_u64 no_limit(struct nd_u64 v, uint64_t when)
{
	return v.k == ND_KNOWN && v.v == when ? nd_u64_unknown(ND_NOT_APPLICABLE) : v;
}

/* What 0, or a missing attribute, means where it stands for "none". */
static struct nd_u64 none_if_absent(struct nd_u64 v)
{
	return v.k == ND_ABSENT ? nd_u64_unknown(ND_NOT_APPLICABLE) : v;
}

static struct nd_u64 rate_of(uint32_t rate, const struct nlattr *rate64)
{
	return bits(rate64 ? rtnl_u64(rate64) : nd_u64(rate));
}

static struct nd_u64 burst_of(struct nd_u64 rate_bps, uint32_t ticks)
{
	double bytes;

	if (rate_bps.k != ND_KNOWN)
		return nd_u64_unknown(rate_bps.k);
	bytes = (double)rate_bps.v / 8 * ticks * NS_PER_TICK / 1e9;
	return bytes < 1e18 ? nd_u64((uint64_t)(bytes + 0.5)) : nd_u64_unknown(ND_INVALID);
}

static void tbf(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_TBF_MAX + 1];
	struct tc_tbf_qopt p;

	rtnl_nested(options, a, TCA_TBF_MAX);
	if (rtnl_struct(a[TCA_TBF_PARMS], &p, sizeof(p)) < sizeof(p)) {
		q->rate_bps = q->burst_bytes = q->limit_bytes = nd_u64_unknown(ND_INVALID);
		return;
	}
	q->rate_bps = rate_of(p.rate.rate, a[TCA_TBF_RATE64]);
	q->ceil_bps = no_limit(rate_of(p.peakrate.rate, a[TCA_TBF_PRATE64]), 0);
	q->burst_bytes = burst_of(q->rate_bps, p.buffer);
	q->limit_bytes = nd_u64(p.limit);
}

static void htb_class(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_HTB_MAX + 1];
	struct tc_htb_opt p;

	rtnl_nested(options, a, TCA_HTB_MAX);
	if (rtnl_struct(a[TCA_HTB_PARMS], &p, sizeof(p)) < sizeof(p)) {
		q->rate_bps = q->ceil_bps = q->burst_bytes = nd_u64_unknown(ND_INVALID);
		return;
	}
	q->rate_bps = rate_of(p.rate.rate, a[TCA_HTB_RATE64]);
	q->ceil_bps = rate_of(p.ceil.rate, a[TCA_HTB_CEIL64]);
	q->burst_bytes = burst_of(q->rate_bps, p.buffer);
}

static struct nd_u64 curve_rate(const struct nlattr *attr)
{
	struct tc_service_curve curve;

	if (!attr)
		return nd_u64_unknown(ND_NOT_APPLICABLE);
	if (rtnl_struct(attr, &curve, sizeof(curve)) < sizeof(curve))
		return nd_u64_unknown(ND_INVALID);
	return bits(nd_u64(curve.m2));	/* the lasting slope; m1 is the first d microseconds */
}

static void hfsc_class(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_HFSC_MAX + 1];

	rtnl_nested(options, a, TCA_HFSC_MAX);
	q->rate_bps = curve_rate(a[TCA_HFSC_RSC] ? a[TCA_HFSC_RSC] : a[TCA_HFSC_FSC]);
	q->ceil_bps = curve_rate(a[TCA_HFSC_USC]);
}

static void cbq_class(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[ATTR_CBQ_RATE + 1];
	struct tc_ratespec rate;

	rtnl_nested(options, a, ATTR_CBQ_RATE);
	q->rate_bps = rtnl_struct(a[ATTR_CBQ_RATE], &rate, sizeof(rate)) < sizeof(rate)
		? nd_u64_unknown(ND_INVALID) : bits(nd_u64(rate.rate));
}

/* maxrate is a limit for each flow, not for the link. */
static void fq(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_FQ_MAX + 1];

	rtnl_nested(options, a, TCA_FQ_MAX);
	q->rate_bps = bits(no_limit(none_if_absent(rtnl_u32(a[TCA_FQ_FLOW_MAX_RATE])),
				    UINT32_MAX));
	q->limit_packets = rtnl_u32(a[TCA_FQ_PLIMIT]);
}

static void netem(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_NETEM_MAX + 1];
	struct tc_netem_rate rate;
	struct tc_netem_qopt p;

	q->limit_packets = rtnl_struct(options, &p, sizeof(p)) < sizeof(p)
		? nd_u64_unknown(ND_INVALID) : nd_u64(p.limit);
	rtnl_nested_behind(options, sizeof(p), a, TCA_NETEM_MAX);
	if (!a[TCA_NETEM_RATE])
		return;
	q->rate_bps = rtnl_struct(a[TCA_NETEM_RATE], &rate, sizeof(rate)) < sizeof(rate)
		? nd_u64_unknown(ND_INVALID)
		: no_limit(rate_of(rate.rate, a[TCA_NETEM_RATE64]), 0);
}

static void cake(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_CAKE_MAX + 1];

	rtnl_nested(options, a, TCA_CAKE_MAX);
	q->rate_bps = bits(no_limit(none_if_absent(rtnl_u64(a[TCA_CAKE_BASE_RATE64])), 0));
	q->limit_bytes = no_limit(none_if_absent(rtnl_u32(a[TCA_CAKE_MEMORY])), 0);
}

static void fq_codel(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_FQ_CODEL_MAX + 1];

	rtnl_nested(options, a, TCA_FQ_CODEL_MAX);
	q->limit_packets = rtnl_u32(a[TCA_FQ_CODEL_LIMIT]);
	q->limit_bytes = none_if_absent(rtnl_u32(a[TCA_FQ_CODEL_MEMORY_LIMIT]));
}

static void codel(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_CODEL_MAX + 1];

	rtnl_nested(options, a, TCA_CODEL_MAX);
	q->limit_packets = rtnl_u32(a[TCA_CODEL_LIMIT]);
}

static void pie(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_PIE_MAX + 1];

	rtnl_nested(options, a, TCA_PIE_MAX);
	q->limit_packets = rtnl_u32(a[TCA_PIE_LIMIT]);
}

static void fq_pie(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_FQ_PIE_MAX + 1];

	rtnl_nested(options, a, TCA_FQ_PIE_MAX);
	q->limit_packets = rtnl_u32(a[TCA_FQ_PIE_LIMIT]);
	q->limit_bytes = none_if_absent(rtnl_u32(a[TCA_FQ_PIE_MEMORY_LIMIT]));
}

/* A fifo's whole option is one u32. */
static void pfifo(struct nlattr *options, struct qdisc_facts *q)
{
	q->limit_packets = rtnl_u32(options);
}

static void bfifo(struct nlattr *options, struct qdisc_facts *q)
{
	q->limit_bytes = rtnl_u32(options);
}

static void sfq(struct nlattr *options, struct qdisc_facts *q)
{
	struct tc_sfq_qopt p;

	q->limit_packets = rtnl_struct(options, &p, sizeof(p)) < sizeof(p)
		? nd_u64_unknown(ND_INVALID) : nd_u64(p.limit);
}

static void red(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_RED_MAX + 1];
	struct tc_red_qopt p;

	rtnl_nested(options, a, TCA_RED_MAX);
	q->limit_bytes = rtnl_struct(a[TCA_RED_PARMS], &p, sizeof(p)) < sizeof(p)
		? nd_u64_unknown(ND_INVALID) : nd_u64(p.limit);
}

static void cbs(struct nlattr *options, struct qdisc_facts *q)
{
	struct nlattr *a[TCA_CBS_MAX + 1];
	struct tc_cbs_qopt p;

	rtnl_nested(options, a, TCA_CBS_MAX);
	q->rate_bps = rtnl_struct(a[TCA_CBS_PARMS], &p, sizeof(p)) < sizeof(p) || p.idleslope < 0
		? nd_u64_unknown(ND_INVALID) : nd_u64((uint64_t)p.idleslope * 1000);
}

struct qdisc_kind {
	const char *kind;
	void (*options)(struct nlattr *options, struct qdisc_facts *q);
	void (*class_options)(struct nlattr *options, struct qdisc_facts *q);
	bool has_classes;
};

/* Kinds without readers are known not to limit the rate. */
static const struct qdisc_kind qdisc_kinds[] = {
	{ .kind = "tbf", .options = tbf },
	{ .kind = "htb", .class_options = htb_class, .has_classes = true },
	{ .kind = "hfsc", .class_options = hfsc_class, .has_classes = true },
	{ .kind = "cbq", .class_options = cbq_class, .has_classes = true },
	{ .kind = "drr", .has_classes = true },
	{ .kind = "qfq", .has_classes = true },
	{ .kind = "fq", .options = fq },
	{ .kind = "netem", .options = netem },
	{ .kind = "cake", .options = cake },
	{ .kind = "fq_codel", .options = fq_codel },
	{ .kind = "codel", .options = codel },
	{ .kind = "pie", .options = pie },
	{ .kind = "fq_pie", .options = fq_pie },
	{ .kind = "pfifo", .options = pfifo },
	{ .kind = "bfifo", .options = bfifo },
	{ .kind = "sfq", .options = sfq },
	{ .kind = "red", .options = red },
	{ .kind = "cbs", .options = cbs },
	{ .kind = "pfifo_fast" },
	{ .kind = "noqueue" },
	{ .kind = "mq" },
	{ .kind = "multiq" },
	{ .kind = "prio" },
	{ .kind = "ets" },
	{ .kind = "etf" },
	{ .kind = "ingress" },
	{ .kind = "clsact" },
};

static const struct qdisc_kind *find_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(qdisc_kinds); i++) {
		if (!strcmp(qdisc_kinds[i].kind, kind))
			return &qdisc_kinds[i];
	}
	return NULL;
}

bool qdisc_kind_has_classes(const char *kind)
{
	const struct qdisc_kind *k = find_kind(kind);

	return k && k->has_classes;
}

void parse_qdisc_options(const char *kind, bool is_class, struct nlattr *options,
			 struct qdisc_facts *q)
{
	const struct qdisc_kind *k = find_kind(kind);
	/* A kind that is not in the table may well limit: we cannot tell. */
	struct nd_u64 none = nd_u64_unknown(k ? ND_NOT_APPLICABLE : ND_NOT_SUPPORTED);

	q->rate_bps = q->ceil_bps = q->burst_bytes = q->limit_bytes = q->limit_packets = none;
	if (k && is_class && k->class_options)
		k->class_options(options, q);
	if (k && !is_class && k->options)
		k->options(options, q);
}
