/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/genetlink.h>

#include "probes/netdev.h"
#include "probes/probes_table.h"
#include "src/exam/exam.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/netlink_build.h"

enum { FAMILY = 0x24, IFINDEX = 7, LIMIT = 1 << 20 };

static void begin(struct reply *r, uint16_t type, uint8_t command)
{
	const struct genlmsghdr genl = { .cmd = command, .version = 1 };

	reply_message(r, type, &genl, sizeof(genl));
}

static void queue(struct reply *r, uint32_t id, uint32_t type, uint32_t ifindex, uint32_t napi)
{
	begin(r, FAMILY, NETDEV_QUEUE_GET);
	reply_u32(r, NETDEV_QUEUE_ID, id);
	reply_u32(r, NETDEV_QUEUE_TYPE, type);
	if (napi)
		reply_u32(r, NETDEV_QUEUE_NAPI, napi);
	reply_u32(r, NETDEV_QUEUE_IFINDEX, ifindex);
}

static void napi(struct reply *r, uint32_t id, uint32_t irq, uint32_t ifindex)
{
	begin(r, FAMILY, NETDEV_NAPI_GET);
	reply_u32(r, NETDEV_NAPI_ID, id);
	if (irq)
		reply_u32(r, NETDEV_NAPI_IRQ, irq);
	reply_u32(r, NETDEV_NAPI_IFINDEX, ifindex);
}

static struct bytes bytes_of(const struct reply *r)
{
	return (struct bytes){ .data = (unsigned char *)r->data, .len = r->len, .cap = r->len };
}

static void two_queues(struct reply *r)
{
	queue(r, 0, NETDEV_QUEUE_RX, IFINDEX, 513);
	queue(r, 1, NETDEV_QUEUE_RX, IFINDEX, 514);
	queue(r, 0, NETDEV_QUEUE_TX, IFINDEX, 513);
	queue(r, 1, NETDEV_QUEUE_TX, IFINDEX, 0);
}

static void test_queues(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };
	struct queue_facts *known;

	(void)state;
	/* sysfs has shown one of them. */
	known = arena_append_row(f->mem, (void **)&f->queues, &f->nqueues, sizeof(*known));
	known->ifindex = nd_u64(IFINDEX);
	known->direction = nd_str("rx");
	known->index = nd_u64(1);
	known->flow_entries = nd_u64(4096);
	two_queues(&r);
	struct bytes b = bytes_of(&r);
	assert_int_equal(netdev_parse_queues(&b, FAMILY, IFINDEX, f), 0);
	assert_int_equal(f->nqueues, 4);
	assert_true(nd_u64_is(f->queues[0].napi, 514));
	assert_true(nd_u64_is(f->queues[0].flow_entries, 4096));
	assert_true(nd_u64_is(f->queues[1].index, 0) && nd_str_is(f->queues[1].direction, "rx"));
	assert_true(nd_u64_is(f->queues[1].napi, 513));
	assert_true(nd_str_is(f->queues[3].direction, "tx"));
	assert_int_equal(f->queues[3].napi.k, ND_NOT_SUPPORTED);
	facts_free(f);
}

static void test_queues_that_make_no_sense(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };
	struct bytes b;

	(void)state;
	queue(&r, 0, 2, IFINDEX, 513);			/* a type from the future */
	queue(&r, 0, UINT32_MAX, IFINDEX, 513);
	queue(&r, 0, NETDEV_QUEUE_RX, IFINDEX + 1, 513);	/* not asked for */
	begin(&r, FAMILY, NETDEV_QUEUE_GET);		/* says nothing */
	begin(&r, FAMILY, NETDEV_QUEUE_GET);
	reply_u8(&r, NETDEV_QUEUE_ID, 3);		/* of another size */
	reply_u32(&r, NETDEV_QUEUE_TYPE, NETDEV_QUEUE_RX);
	reply_u32(&r, NETDEV_QUEUE_IFINDEX, IFINDEX);
	begin(&r, FAMILY + 1, NETDEV_QUEUE_GET);	/* of another family */
	reply_u32(&r, NETDEV_QUEUE_ID, 3);
	reply_u32(&r, NETDEV_QUEUE_TYPE, NETDEV_QUEUE_RX);
	reply_u32(&r, NETDEV_QUEUE_IFINDEX, IFINDEX);
	b = bytes_of(&r);
	assert_int_equal(netdev_parse_queues(&b, FAMILY, IFINDEX, f), 0);
	assert_int_equal(f->nqueues, 0);
	assert_int_equal(netdev_parse_napis(&b, FAMILY, IFINDEX, f), 0);
	assert_int_equal(f->nnapis, 0);
	facts_free(f);
}

static void test_napis(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };

	(void)state;
	napi(&r, 513, 140, IFINDEX);
	napi(&r, 514, 0, IFINDEX);
	reply_u32(&r, NETDEV_NAPI_PID, 4242);
	reply_u32(&r, 99, 1);				/* newer than us */
	napi(&r, 515, 141, IFINDEX + 1);
	struct bytes b = bytes_of(&r);
	assert_int_equal(netdev_parse_napis(&b, FAMILY, IFINDEX, f), 0);
	assert_int_equal(f->nnapis, 2);
	assert_true(nd_u64_is(f->napis[0].irq, 140));
	assert_int_equal(f->napis[0].thread_id.k, ND_NOT_APPLICABLE);
	assert_int_equal(f->napis[1].irq.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(f->napis[1].thread_id, 4242));
	facts_free(f);
}

static void parse_both(const void *buf, size_t len)
{
	struct facts *f = facts_new(LIMIT);
	const struct bytes b = { .data = (unsigned char *)buf, .len = len, .cap = len };

	netdev_parse_queues(&b, FAMILY, IFINDEX, f);
	netdev_parse_napis(&b, FAMILY, IFINDEX, f);
	assert_true(f->nqueues <= 4 && f->nnapis <= 2);
	facts_free(f);
}

static void test_cut_and_damaged(void **state)
{
	struct reply r = { 0 };

	(void)state;
	two_queues(&r);
	napi(&r, 513, 140, IFINDEX);
	napi(&r, 514, 141, IFINDEX);
	reply_each_prefix(&r, parse_both);
	reply_each_damage(&r, parse_both);
}

/* ---- the probe ---- */

static void add_link(struct facts *f)
{
	struct link_facts *l = arena_append_row(f->mem, (void **)&f->links, &f->nlinks,
						sizeof(*l));
	struct queue_facts *q = arena_append_row(f->mem, (void **)&f->queues, &f->nqueues,
						 sizeof(*q));

	l->ifindex = nd_u64(IFINDEX);
	l->name = nd_str("eth0");
	l->kind = nd_str("physical");
	f->route.ifindex = l->ifindex;
	q->ifindex = l->ifindex;
	q->direction = nd_str("rx");
	q->index = nd_u64(0);
}

static int no_family(void *user, int protocol, const void *req, size_t len, struct bytes *replies)
{
	(void)user;
	(void)protocol;
	(void)req;
	(void)len;
	(void)replies;
	return -ENOENT;
}

static int kernel(void *user, int protocol, const void *req, size_t len, struct bytes *replies)
{
	static const uint8_t commands[] = { NETDEV_QUEUE_GET, NETDEV_NAPI_GET };
	const struct nlmsghdr *h = req;
	const struct genlmsghdr *g = (const void *)((const char *)req + NLMSG_HDRLEN);
	struct reply r = { 0 };

	(void)user;
	assert_int_equal(protocol, NETLINK_GENERIC);
	assert_true(len >= NLMSG_HDRLEN + sizeof(*g));
	if (h->nlmsg_type == GENL_ID_CTRL) {
		const uint16_t id = FAMILY;
		begin(&r, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
		reply_attr(&r, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
		reply_nest(&r, CTRL_ATTR_OPS);
		for (uint16_t i = 0; i < ARRAY_SIZE(commands); i++) {
			reply_nest(&r, i + 1);
			reply_u32(&r, CTRL_ATTR_OP_ID, commands[i]);
			reply_nest_end(&r);
		}
		reply_nest_end(&r);
	} else {
		assert_int_equal(h->nlmsg_type, FAMILY);
		assert_true((h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP);
		if (g->cmd == NETDEV_QUEUE_GET)
			two_queues(&r);
		else
			napi(&r, 513, 140, IFINDEX);
	}
	return bytes_append(replies, r.data, r.len);
}

static void test_probe(void **state)
{
	const struct probe_context ctx = { 0 };
	struct facts *f = facts_new(LIMIT);
	struct error err = { "" };
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake.netlink = kernel;
	add_link(f);
	assert_int_equal(probe_netdev.collect(fake.src, &ctx, f, &err), 0);
	assert_int_equal(f->nqueues, 4);
	assert_true(nd_u64_is(f->queues[0].napi, 513));
	assert_int_equal(f->nnapis, 1);
	facts_free(f);
	fake_close(&fake);
}

static void test_older_kernel(void **state)
{
	const struct probe_context ctx = { 0 };
	struct facts *f = facts_new(LIMIT);
	struct error err = { "" };
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake.netlink = no_family;
	add_link(f);
	assert_int_equal(probe_netdev.collect(fake.src, &ctx, f, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "6.8"));
	assert_int_equal(f->queues[0].napi.k, ND_NOT_SUPPORTED);
	assert_int_equal(f->nnapis, 0);
	facts_free(f);
	fake_close(&fake);
}

/* ---- from a flow to the CPU ---- */

static void test_flow_path(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct flow_summary flow = { .incoming_napi = nd_u64(514) };
	struct reply r = { 0 };
	struct irq_facts *irq;
	struct bytes b;

	(void)state;
	two_queues(&r);
	napi(&r, 513, 140, IFINDEX);
	napi(&r, 514, 141, IFINDEX);
	b = bytes_of(&r);
	assert_int_equal(netdev_parse_queues(&b, FAMILY, IFINDEX, f), 0);
	assert_int_equal(netdev_parse_napis(&b, FAMILY, IFINDEX, f), 0);
	irq = arena_append_row(f->mem, (void **)&f->irqs, &f->nirqs, sizeof(*irq));
	irq->irq = nd_u64(141);
	nd_cpus_set(&irq->effective, 9);
	flow_find_path(f, &flow);
	assert_true(nd_u64_is(flow.rx_queue, 1));
	assert_true(nd_u64_is(flow.irq, 141));
	assert_true(nd_u64_is(flow.irq_cpu, 9));
	nd_cpus_set(&irq->effective, 10);
	flow_find_path(f, &flow);
	assert_int_equal(flow.irq_cpu.k, ND_NOT_APPLICABLE);
	irq->effective.k = ND_NOT_PERMITTED;
	flow_find_path(f, &flow);
	assert_int_equal(flow.irq_cpu.k, ND_NOT_PERMITTED);
	f->nirqs = 0;
	flow_find_path(f, &flow);
	assert_int_equal(flow.irq_cpu.k, ND_ABSENT);
	/* An instance that serves no queue that we know. */
	flow.incoming_napi = nd_u64(9999);
	flow_find_path(f, &flow);
	assert_int_equal(flow.rx_queue.k, ND_ABSENT);
	assert_int_equal(flow.irq.k, ND_ABSENT);
	/* The kernel does not say which instance. */
	flow.incoming_napi = nd_u64_unknown(ND_NOT_SUPPORTED);
	flow_find_path(f, &flow);
	assert_int_equal(flow.irq_cpu.k, ND_NOT_SUPPORTED);
	flow.incoming_napi = nd_u64(514);
	flow_find_path(NULL, &flow);
	assert_int_not_equal(flow.rx_queue.k, ND_KNOWN);
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_queues_that_make_no_sense),
		cmocka_unit_test(test_napis),
		cmocka_unit_test(test_cut_and_damaged),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_older_kernel),
		cmocka_unit_test(test_flow_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
