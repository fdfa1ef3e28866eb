/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "probes/probe.h"
#include "probes/rtnetlink.h"
#include "tests/unit/netlink_build.h"

enum { LIMIT = 1 << 20, ETH = 2, OTHER = 3, ROOT_HANDLE = 0x10000 };

static struct facts *host_with_links(void)
{
	struct facts *f = facts_new(LIMIT);
	struct link_facts *l = arena_alloc_array(f->mem, 2, sizeof(*l));

	assert_non_null(l);
	l[0].ifindex = nd_u64(ETH);
	l[0].name = nd_str("eth0");
	l[0].kind = nd_str("physical");
	l[1].ifindex = nd_u64(OTHER);
	l[1].name = nd_str("veth7");
	l[1].kind = nd_str("veth");
	f->links = l;
	f->nlinks = 2;
	return f;
}

static void tc_header(struct reply *r, uint16_t type, int ifindex, uint32_t handle,
		      uint32_t parent, const char *kind)
{
	struct tcmsg info = { .tcm_ifindex = ifindex, .tcm_handle = handle, .tcm_parent = parent };

	reply_message(r, type, &info, sizeof(info));
	reply_str(r, TCA_KIND, kind);
}

static void add_tbf(struct reply *r, uint32_t rate, const uint64_t *rate64)
{
	struct tc_tbf_qopt p = { .rate.rate = rate, .limit = 300000, .buffer = 16384 };

	tc_header(r, RTM_NEWQDISC, ETH, ROOT_HANDLE, TC_H_ROOT, "tbf");
	reply_nest(r, TCA_OPTIONS);
	reply_attr(r, TCA_TBF_PARMS, &p, sizeof(p));
	if (rate64)
		reply_u64(r, TCA_TBF_RATE64, *rate64);
	reply_nest_end(r);
}

static struct qdisc_facts *parsed(struct facts *f, const struct reply *r)
{
	assert_int_equal(parse_qdiscs(r->data, r->len, NULL, f), 0);
	assert_true(f->nqdiscs > 0);
	return &f->qdiscs[f->nqdiscs - 1];
}

static void test_tbf(void **state)
{
	static const uint64_t huge = UINT64_C(12500000000);	/* 100 Gbit/s in bytes */
	struct facts *f = host_with_links();
	struct reply r = { 0 };
	struct qdisc_facts *q;

	(void)state;
	add_tbf(&r, 125000000, NULL);
	q = parsed(f, &r);
	assert_true(nd_u64_is(q->ifindex, ETH));
	assert_true(nd_u64_is(q->handle, ROOT_HANDLE));
	assert_true(nd_u64_is(q->parent, TC_H_ROOT));
	assert_true(nd_is_false(q->is_class));
	assert_string_equal(q->kind.v, "tbf");
	assert_true(nd_u64_is(q->rate_bps, 1000000000));
	assert_int_equal(q->ceil_bps.k, ND_NOT_APPLICABLE);
	assert_true(nd_u64_is(q->limit_bytes, 300000));
	/* 16384 ticks of 64 ns at 1 Gbit/s. */
	assert_true(nd_u64_is(q->burst_bytes, 131072));

	memset(&r, 0, sizeof(r));
	add_tbf(&r, UINT32_MAX, &huge);
	assert_true(nd_u64_is(parsed(f, &r)->rate_bps, UINT64_C(100000000000)));
	facts_free(f);
}

static void test_htb_class(void **state)
{
	struct tc_htb_opt p = { .rate.rate = 12500000, .ceil.rate = UINT32_MAX, .buffer = 1000 };
	struct facts *f = host_with_links();
	struct reply r = { 0 };
	struct qdisc_facts *q;

	(void)state;
	tc_header(&r, RTM_NEWTCLASS, ETH, 0x10001, ROOT_HANDLE, "htb");
	reply_nest(&r, TCA_OPTIONS);
	reply_attr(&r, TCA_HTB_PARMS, &p, sizeof(p));
	reply_u64(&r, TCA_HTB_CEIL64, UINT64_C(5000000000));
	reply_nest_end(&r);
	q = parsed(f, &r);
	assert_true(nd_is_true(q->is_class));
	assert_true(nd_u64_is(q->rate_bps, 100000000));
	assert_true(nd_u64_is(q->ceil_bps, UINT64_C(40000000000)));
	assert_true(nd_u64_is(q->burst_bytes, 800));
	assert_int_equal(q->limit_packets.k, ND_NOT_APPLICABLE);
	facts_free(f);
}

static void test_other_kinds(void **state)
{
	struct { struct tc_netem_qopt p; } netem = { .p.limit = 1000 };
	struct tc_netem_rate netem_rate = { .rate = 1250000 };
	struct tc_service_curve curve = { .m1 = 1, .d = 2, .m2 = 2500000 };
	struct nlattr *options;
	struct qdisc_facts q;
	struct reply r = { 0 };

	(void)state;
	/* One options attribute after the other, at the start of a buffer. */
	reply_nest(&r, TCA_OPTIONS);
	reply_u32(&r, TCA_FQ_FLOW_MAX_RATE, 1250000);
	reply_u32(&r, TCA_FQ_PLIMIT, 10000);
	reply_nest_end(&r);
	options = (struct nlattr *)r.data;
	parse_qdisc_options("fq", false, options, &q);
	assert_true(nd_u64_is(q.rate_bps, 10000000));
	assert_true(nd_u64_is(q.limit_packets, 10000));

	memset(&r, 0, sizeof(r));
	reply_nest(&r, TCA_OPTIONS);
	reply_u32(&r, TCA_FQ_FLOW_MAX_RATE, UINT32_MAX);
	reply_nest_end(&r);
	parse_qdisc_options("fq", false, options, &q);
	assert_int_equal(q.rate_bps.k, ND_NOT_APPLICABLE);
	assert_int_equal(q.limit_packets.k, ND_ABSENT);

	memset(&r, 0, sizeof(r));
	reply_nest(&r, TCA_OPTIONS);
	reply_bytes(&r, &netem, sizeof(netem));
	reply_attr(&r, TCA_NETEM_RATE, &netem_rate, sizeof(netem_rate));
	reply_nest_end(&r);
	parse_qdisc_options("netem", false, options, &q);
	assert_true(nd_u64_is(q.rate_bps, 10000000));
	assert_true(nd_u64_is(q.limit_packets, 1000));

	memset(&r, 0, sizeof(r));
	reply_nest(&r, TCA_OPTIONS);
	reply_u64(&r, TCA_CAKE_BASE_RATE64, 12500000);
	reply_nest_end(&r);
	parse_qdisc_options("cake", false, options, &q);
	assert_true(nd_u64_is(q.rate_bps, 100000000));

	memset(&r, 0, sizeof(r));
	reply_nest(&r, TCA_OPTIONS);
	reply_u64(&r, TCA_CAKE_BASE_RATE64, UINT64_MAX);
	reply_nest_end(&r);
	parse_qdisc_options("cake", false, options, &q);
	assert_int_equal(q.rate_bps.k, ND_INVALID);

	memset(&r, 0, sizeof(r));
	reply_nest(&r, TCA_OPTIONS);
	reply_attr(&r, TCA_HFSC_FSC, &curve, sizeof(curve));
	reply_attr(&r, TCA_HFSC_USC, &curve, 4);
	reply_nest_end(&r);
	parse_qdisc_options("hfsc", true, options, &q);
	assert_true(nd_u64_is(q.rate_bps, 20000000));
	assert_int_equal(q.ceil_bps.k, ND_INVALID);

	memset(&r, 0, sizeof(r));
	reply_u32(&r, TCA_OPTIONS, 1000);
	parse_qdisc_options("pfifo", false, options, &q);
	assert_true(nd_u64_is(q.limit_packets, 1000));
	assert_int_equal(q.limit_bytes.k, ND_NOT_APPLICABLE);
	parse_qdisc_options("bfifo", false, options, &q);
	assert_true(nd_u64_is(q.limit_bytes, 1000));
	/* Known not to limit, and not known at all. */
	parse_qdisc_options("mq", false, NULL, &q);
	assert_int_equal(q.rate_bps.k, ND_NOT_APPLICABLE);
	parse_qdisc_options("sch_of_tomorrow", false, options, &q);
	assert_int_equal(q.rate_bps.k, ND_NOT_SUPPORTED);
}

static void test_every_kind_survives_nonsense(void **state)
{
	static const char *const kinds[] = {
		"tbf", "htb", "hfsc", "cbq", "fq", "netem", "cake", "fq_codel", "codel", "pie",
		"fq_pie", "pfifo", "bfifo", "sfq", "red", "cbs",
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t len = 0; len < 120; len++) {
			struct nlattr *options = calloc(1, NLA_HDRLEN + len);
			struct qdisc_facts q;

			assert_non_null(options);
			memset((char *)options + NLA_HDRLEN, (int)(len % 7), len);
			options->nla_len = (uint16_t)(NLA_HDRLEN + len);
			parse_qdisc_options(kinds[k], false, options, &q);
			parse_qdisc_options(kinds[k], true, options, &q);
			free(options);
		}
		parse_qdisc_options(kinds[k], false, NULL, &(struct qdisc_facts){ 0 });
		parse_qdisc_options(kinds[k], true, NULL, &(struct qdisc_facts){ 0 });
	}
}

static void test_only_wanted_links(void **state)
{
	static const char *const names[] = { "veth7" };
	struct probe_context ctx = { .only_links = names, .nonly_links = 1 };
	struct facts *f = host_with_links();
	struct reply r = { 0 };

	(void)state;
	tc_header(&r, RTM_NEWQDISC, OTHER, 0, TC_H_ROOT, "noqueue");
	tc_header(&r, RTM_NEWQDISC, 99, 0, TC_H_ROOT, "noqueue");
	tc_header(&r, RTM_NEWQDISC, ETH, 0, TC_H_ROOT, "mq");
	assert_int_equal(parse_qdiscs(r.data, r.len, NULL, f), 0);
	assert_int_equal(f->nqdiscs, 1);
	assert_string_equal(f->qdiscs[0].kind.v, "mq");
	f->nqdiscs = 0;
	assert_int_equal(parse_qdiscs(r.data, r.len, &ctx, f), 0);
	assert_int_equal(f->nqdiscs, 1);
	assert_string_equal(f->qdiscs[0].kind.v, "noqueue");
	facts_free(f);
}

static void add_stats(struct reply *r, uint64_t bytes, uint32_t packets, uint32_t drops)
{
	struct gnet_stats_basic basic = { .bytes = bytes, .packets = packets };
	struct gnet_stats_queue queue = { .backlog = 3028, .drops = drops, .requeues = 5,
					  .overlimits = 6 };

	reply_nest(r, TCA_STATS2);
	reply_attr(r, TCA_STATS_BASIC, &basic, sizeof(basic));
	reply_attr(r, TCA_STATS_QUEUE, &queue, sizeof(queue));
	reply_nest_end(r);
}

static void test_stats(void **state)
{
	struct counters *c = counters_new(LIMIT);
	struct facts *f = host_with_links();
	const struct qdisc_sample *s;
	struct reply r = { 0 };

	(void)state;
	tc_header(&r, RTM_NEWQDISC, ETH, ROOT_HANDLE, TC_H_ROOT, "htb");
	add_stats(&r, 1, 2, 3);
	tc_header(&r, RTM_NEWTCLASS, ETH, 0x10001, ROOT_HANDLE, "htb");
	add_stats(&r, UINT64_C(1) << 40, 20, 30);
	assert_int_equal(parse_qdiscs(r.data, r.len, NULL, f), 0);
	assert_int_equal(f->nqdiscs, 2);
	/* One that was added after the facts were taken. */
	tc_header(&r, RTM_NEWQDISC, ETH, 0x20000, 0x10001, "pfifo");
	add_stats(&r, 9, 9, 9);
	assert_int_equal(parse_qdisc_stats(r.data, r.len, f, c), 0);
	assert_int_equal(c->nqdiscs, 2);
	s = counters_qdisc(c, ETH, 0x10001, ROOT_HANDLE, true);
	assert_non_null(s);
	assert_true(nd_u64_is(s->bytes, UINT64_C(1) << 40));
	assert_true(nd_u64_is(s->packets, 20));
	assert_true(nd_u64_is(s->drops, 30));
	assert_true(nd_u64_is(s->requeues, 5));
	assert_true(nd_u64_is(s->overlimits, 6));
	assert_true(nd_u64_is(s->backlog_bytes, 3028));
	s = counters_qdisc(c, ETH, ROOT_HANDLE, TC_H_ROOT, false);
	assert_non_null(s);
	assert_true(nd_u64_is(s->drops, 3));
	counters_free(c);

	/* No statistics, and statistics cut short. */
	c = counters_new(LIMIT);
	memset(&r, 0, sizeof(r));
	tc_header(&r, RTM_NEWQDISC, ETH, ROOT_HANDLE, TC_H_ROOT, "htb");
	reply_nest(&r, TCA_STATS2);
	reply_attr(&r, TCA_STATS_QUEUE, "abcdefgh", 8);
	reply_nest_end(&r);
	assert_int_equal(parse_qdisc_stats(r.data, r.len, f, c), 0);
	assert_int_equal(c->nqdiscs, 1);
	assert_int_equal(c->qdiscs[0].bytes.k, ND_ABSENT);
	assert_int_equal(c->qdiscs[0].drops.k, ND_ABSENT);
	counters_free(c);
	facts_free(f);
}

static void parse_once(const void *buf, size_t len)
{
	struct counters *c = counters_new(LIMIT);
	struct facts *f = host_with_links();
	int rc = parse_qdiscs(buf, len, NULL, f);

	assert_true(rc == 0 || rc == -EBADMSG);
	rc = parse_qdisc_stats(buf, len, f, c);
	assert_true(rc == 0 || rc == -EBADMSG);
	facts_free(f);
	counters_free(c);
}

static void test_hostile(void **state)
{
	static const uint64_t rate = 1;
	struct reply r = { 0 };

	(void)state;
	add_tbf(&r, 125000000, &rate);
	add_stats(&r, 1, 2, 3);
	reply_each_prefix(&r, parse_once);
	reply_each_damage(&r, parse_once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tbf),
		cmocka_unit_test(test_htb_class),
		cmocka_unit_test(test_other_kinds),
		cmocka_unit_test(test_every_kind_survives_nonsense),
		cmocka_unit_test(test_only_wanted_links),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
