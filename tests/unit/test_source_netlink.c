/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live source's netlink answers, byte by byte, and strangers on its socket. */
#include "src/core/source_live.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/core_test.h"

enum { SEQ = 77 };

/* Appends a message with `len` bytes of payload, padded as in a datagram. */
static void add_message(struct bytes *b, uint16_t type, uint16_t flags, uint32_t seq,
			const void *payload, size_t len)
{
	static const char zeros[NLMSG_ALIGNTO];
	struct nlmsghdr h = {
		.nlmsg_len = (uint32_t)(sizeof(h) + len), .nlmsg_type = type,
		.nlmsg_flags = flags, .nlmsg_seq = seq, .nlmsg_pid = 4711,
	};

	assert_int_equal(bytes_append(b, &h, sizeof(h)), 0);
	assert_int_equal(bytes_append(b, payload, len), 0);
	assert_int_equal(bytes_append(b, zeros, NLMSG_ALIGN(len) - len), 0);
}

static int take(struct live_answer *a, const struct bytes *b)
{
	return live_answer_take(a, b->data, b->len);
}

static struct live_answer answer(struct bytes *replies)
{
	return (struct live_answer){ .replies = replies, .start = replies->len, .seq = SEQ };
}

static void dump_ends_in_the_last_datagram(void **state)
{
	struct bytes in = { 0 }, out = { 0 };
	struct live_answer a = answer(&out);
	int zero = 0;
	struct nlmsghdr h;

	(void)state;
	add_message(&in, RTM_NEWLINK, NLM_F_MULTI, SEQ, "abcde", 5);
	add_message(&in, RTM_NEWLINK, NLM_F_MULTI, SEQ, "fghi", 4);
	assert_int_equal(take(&a, &in), 0);
	assert_false(a.ended);
	in.len = 0;
	add_message(&in, RTM_NEWLINK, NLM_F_MULTI, SEQ, "j", 1);
	add_message(&in, NLMSG_DONE, NLM_F_MULTI, SEQ, &zero, sizeof(zero));
	add_message(&in, RTM_NEWLINK, NLM_F_MULTI, SEQ, "late", 4);
	assert_int_equal(take(&a, &in), 0);
	assert_true(a.ended);
	assert_false(a.interrupted);
	assert_int_equal(out.len, 24 + 20 + 20);
	memcpy(&h, out.data + 24, sizeof(h));
	assert_int_equal(h.nlmsg_len, 20);
	assert_int_equal(h.nlmsg_seq, 0);
	assert_int_equal(h.nlmsg_pid, 0);
	assert_memory_equal(out.data + 16, "abcde\0\0\0", 8);
	bytes_free(&in);
	bytes_free(&out);
}

static void other_requests_answers_are_passed_over(void **state)
{
	struct bytes in = { 0 }, out = { 0 };
	struct live_answer a = answer(&out);
	int error = -EBUSY, zero = 0;

	(void)state;
	add_message(&in, RTM_NEWLINK, 0, SEQ - 1, "old", 3);
	add_message(&in, NLMSG_ERROR, 0, SEQ - 1, &error, sizeof(error));
	add_message(&in, NLMSG_DONE, 0, SEQ - 1, &zero, sizeof(zero));
	add_message(&in, NLMSG_NOOP, 0, SEQ, "", 0);
	assert_int_equal(take(&a, &in), 0);
	assert_false(a.ended);
	assert_int_equal(out.len, 0);
	in.len = 0;
	add_message(&in, RTM_NEWLINK, 0, SEQ, "mine", 4);
	add_message(&in, NLMSG_ERROR, 0, SEQ, &zero, sizeof(zero));
	assert_int_equal(take(&a, &in), 0);
	assert_true(a.ended);
	assert_int_equal(out.len, 20);
	bytes_free(&in);
	bytes_free(&out);
}

static void errors_are_returned(void **state)
{
	static const struct { uint16_t type; int status, rc; } cases[] = {
		{ NLMSG_ERROR, -EOPNOTSUPP, -EOPNOTSUPP },
		{ NLMSG_ERROR, 0, 0 },
		{ NLMSG_ERROR, 5, -EBADMSG },
		{ NLMSG_ERROR, -100000, -EBADMSG },
		{ NLMSG_DONE, -EPERM, -EPERM },
		/* Some families put a count there. */
		{ NLMSG_DONE, 5, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes in = { 0 }, out = { 0 };
		struct live_answer a = answer(&out);

		add_message(&in, cases[i].type, 0, SEQ, &cases[i].status, sizeof(int));
		assert_int_equal(take(&a, &in), cases[i].rc);
		assert_true(a.ended);
		in.len = 0;
		a = answer(&out);
		add_message(&in, cases[i].type, 0, SEQ, "", 0);
		assert_int_equal(take(&a, &in), cases[i].type == NLMSG_DONE ? 0 : -EBADMSG);
		bytes_free(&in);
		bytes_free(&out);
	}
}

static void interruption_is_seen_and_hidden(void **state)
{
	struct bytes in = { 0 }, out = { 0 };
	struct live_answer a = answer(&out);
	struct nlmsghdr h;

	(void)state;
	add_message(&in, RTM_NEWLINK, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQ, "", 0);
	assert_int_equal(take(&a, &in), 0);
	assert_true(a.interrupted);
	memcpy(&h, out.data, sizeof(h));
	assert_int_equal(h.nlmsg_flags, NLM_F_MULTI);
	a = answer(&out);
	in.len = 0;
	add_message(&in, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQ, "", 0);
	assert_int_equal(take(&a, &in), 0);
	assert_true(a.interrupted && a.ended);
	in.len = 0;
	add_message(&in, NLMSG_OVERRUN, 0, SEQ, "", 0);
	a = answer(&out);
	assert_int_equal(take(&a, &in), -ENOBUFS);
	bytes_free(&in);
	bytes_free(&out);
}

static void damaged_lengths_are_refused(void **state)
{
	static const uint32_t lengths[] = {
		0, 1, 15, 25, 4096, 0x7fffffff, 0xffffffff, 0xfffffffd,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct bytes in = { 0 }, out = { 0 };
		struct live_answer a = answer(&out);

		add_message(&in, RTM_NEWLINK, 0, SEQ, "12345678", 8);
		memcpy(in.data, &lengths[i], sizeof(lengths[i]));
		assert_int_equal(take(&a, &in), -EBADMSG);
		assert_int_equal(out.len, 0);
		bytes_free(&in);
		bytes_free(&out);
	}
}

static void random_datagrams_are_survived(void **state)
{
	struct bytes in = { 0 }, out = { 0 };
	uint64_t seed = 9;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct live_answer a;
		size_t at = 0;

		in.len = 0;
		out.len = 0;
		a = answer(&out);
		for (uint64_t n = next_random(&seed) % 4; n; n--)
			add_message(&in, (uint16_t)(next_random(&seed) % 20),
				    (uint16_t)next_random(&seed), SEQ - next_random(&seed) % 2,
				    "0123456789abcdef", next_random(&seed) % 17);
		for (uint64_t n = next_random(&seed) % 4; in.len && n; n--)
			in.data[next_random(&seed) % in.len] = (unsigned char)next_random(&seed);
		in.len -= in.len ? next_random(&seed) % in.len : 0;
		take(&a, &in);
		/* What was taken is whole messages. */
		while (at < out.len) {
			struct nlmsghdr h;

			assert_true(out.len - at >= sizeof(h));
			memcpy(&h, out.data + at, sizeof(h));
			assert_true(h.nlmsg_len >= sizeof(h));
			at += NLMSG_ALIGN(h.nlmsg_len);
		}
		assert_int_equal(at, out.len);
	}
	bytes_free(&in);
	bytes_free(&out);
}

/* Another process sends to our port an answer with the very seq that we use next. */
static void strangers_are_not_believed(void **state)
{
	struct { struct nlmsghdr h; struct ifinfomsg i; } req = {
		.h = { .nlmsg_len = sizeof(req), .nlmsg_type = RTM_GETLINK },
		.i = { .ifi_index = 1 },
	};
	struct sockaddr_nl ours;
	socklen_t len = sizeof(ours);
	struct live_netlink nl;
	struct bytes out = { 0 }, forged = { 0 };
	int fd, error = -EHWPOISON;
	struct nlmsghdr h;

	(void)state;
	live_netlink_init(&nl);
	assert_int_equal(live_netlink_request(&nl, NETLINK_ROUTE, &req, sizeof(req), &out), 0);
	assert_int_equal(getsockname(nl.fd[NETLINK_ROUTE], (struct sockaddr *)&ours, &len), 0);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	assert_true(fd >= 0);
	add_message(&forged, NLMSG_ERROR, 0, nl.seq + 1, &error, sizeof(error));
	if (sendto(fd, forged.data, forged.len, 0, (struct sockaddr *)&ours, sizeof(ours)) < 0) {
		print_message("skipped: sending to another netlink port: %s\n", strerror(errno));
		close(fd);
		live_netlink_close(&nl);
		bytes_free(&out);
		bytes_free(&forged);
		skip();
	}
	out.len = 0;
	assert_int_equal(live_netlink_request(&nl, NETLINK_ROUTE, &req, sizeof(req), &out), 0);
	memcpy(&h, out.data, sizeof(h));
	assert_int_equal(h.nlmsg_type, RTM_NEWLINK);
	close(fd);
	live_netlink_close(&nl);
	bytes_free(&out);
	bytes_free(&forged);
}

/* The answer of an earlier request still waits: the next one must not take it for its own. */
static void stale_answers_are_not_believed(void **state)
{
	struct { struct nlmsghdr h; struct ifinfomsg i; } req = {
		.h = { .nlmsg_len = sizeof(req), .nlmsg_type = RTM_GETLINK },
		.i = { .ifi_index = 1 },
	}, stale = req;
	struct live_netlink nl;
	struct bytes out = { 0 };
	struct nlmsghdr h;

	(void)state;
	live_netlink_init(&nl);
	assert_int_equal(live_netlink_request(&nl, NETLINK_ROUTE, &req, sizeof(req), &out), 0);
	stale.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	stale.h.nlmsg_seq = nl.seq - 1;
	stale.i.ifi_index = 0x7ffffff0;
	assert_int_equal(send(nl.fd[NETLINK_ROUTE], &stale, sizeof(stale), 0), sizeof(stale));
	out.len = 0;
	assert_int_equal(live_netlink_request(&nl, NETLINK_ROUTE, &req, sizeof(req), &out), 0);
	memcpy(&h, out.data, sizeof(h));
	assert_int_equal(NLMSG_ALIGN(h.nlmsg_len), out.len);
	live_netlink_close(&nl);
	bytes_free(&out);
}

/* Seq 0 is what the kernel's notifications carry: it is never used. */
static void seq_wraps_past_zero(void **state)
{
	struct { struct nlmsghdr h; struct ifinfomsg i; } req = {
		.h = { .nlmsg_len = sizeof(req), .nlmsg_type = RTM_GETLINK },
		.i = { .ifi_index = 1 },
	};
	struct live_netlink nl;
	struct bytes out = { 0 };

	(void)state;
	live_netlink_init(&nl);
	nl.seq = UINT32_MAX;
	assert_int_equal(live_netlink_request(&nl, NETLINK_ROUTE, &req, sizeof(req), &out), 0);
	assert_int_equal(nl.seq, 1);
	assert_true(out.len > 0);
	live_netlink_close(&nl);
	bytes_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_ends_in_the_last_datagram),
		cmocka_unit_test(other_requests_answers_are_passed_over),
		cmocka_unit_test(errors_are_returned),
		cmocka_unit_test(interruption_is_seen_and_hidden),
		cmocka_unit_test(damaged_lengths_are_refused),
		cmocka_unit_test(random_datagrams_are_survived),
		cmocka_unit_test(strangers_are_not_believed),
		cmocka_unit_test(stale_answers_are_not_believed),
		cmocka_unit_test(seq_wraps_past_zero),
	};

	return cmocka_run_group_tests_name("source-netlink", tests, NULL, NULL);
}
