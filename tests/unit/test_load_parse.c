/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine's pure parts: run specs, TCP_INFO, SO_MEMINFO, /proc/PID/task files. */
#include "src/load/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/load/task_stat.h"
#include "src/load/tcp_info.h"

static int parse_spec(const char *json, struct run_spec *out, struct error *err)
{
	cJSON *obj = cJSON_Parse(json);
	int rc;

	assert_non_null(obj);
	rc = run_spec_from_json(obj, out, err);
	cJSON_Delete(obj);
	return rc;
}

static void test_spec_round_trip(void **state)
{
	const struct run_spec a = {
		.protocol = RUN_UDP, .direction = RUN_REVERSE, .bidirectional = true,
		.streams = 8, .block_bytes = 1448, .warmup_ms = 1000, .window_ms = 4000,
		.total_bytes = UINT64_C(1) << 40, .total_blocks = 12345, .mss_bytes = 1460,
		.sndbuf_bytes = 1 << 20, .rcvbuf_bytes = 1 << 21, .rate_bps = 1048576,
		.burst_blocks = 10, .pacing_bps = UINT64_C(9400000000), .tos = 184,
		.flow_label = 0xfffff, .send_path = RUN_SEND_ZEROCOPY, .no_delay = true,
		.dont_fragment = true, .udp_gso = true, .udp_gro = true, .udp_counters_32bit = true,
		.congestion_control = "cubic"
	};
	struct run_spec b;
	struct error err;
	cJSON *obj = run_spec_to_json(&a), *again;

	(void)state;
	memset(&b, 0xff, sizeof(b));
	assert_non_null(obj);
	assert_int_equal(run_spec_from_json(obj, &b, &err), 0);
	assert_int_equal(b.protocol, RUN_UDP);
	assert_int_equal(b.direction, RUN_REVERSE);
	assert_true(b.bidirectional);
	assert_int_equal(b.streams, 8);
	assert_int_equal(run_flows(&b), 16);
	assert_int_equal(run_flow_role(&b, LOAD_SEND, 7), LOAD_SEND);
	assert_int_equal(run_flow_role(&b, LOAD_SEND, 8), LOAD_RECEIVE);
	assert_int_equal(b.total_bytes, UINT64_C(1) << 40);
	assert_int_equal(b.pacing_bps, UINT64_C(9400000000));
	assert_int_equal(b.send_path, RUN_SEND_ZEROCOPY);
	assert_false(b.discard_receive);
	assert_string_equal(b.congestion_control, "cubic");
	/* The rest is in the text: each member has a value of its own there. */
	again = run_spec_to_json(&b);
	assert_true(cJSON_Compare(obj, again, true));
	cJSON_Delete(again);
	cJSON_Delete(obj);
}

static void test_spec_defaults(void **state)
{
	struct run_spec s;
	struct error err;

	(void)state;
	assert_int_equal(parse_spec("{\"direction\":\"forward\",\"streams\":1,\"window_ms\":1,"
				    "\"some_later_member\":[1,2]}", &s, &err), 0);
	assert_int_equal(s.direction, RUN_FORWARD);
	assert_int_equal(s.block_bytes, RUN_DEFAULT_BLOCK_BYTES);
	assert_int_equal(s.warmup_ms, 0);
	assert_int_equal(s.mss_bytes, 0);
	assert_false(s.discard_receive);
	assert_string_equal(s.congestion_control, "");
}

static void test_spec_hostile(void **state)
{
	static const struct { const char *member, *names; } bad[] = {
		{ "\"streams\":0", "streams" },
		{ "\"streams\":2049", "streams" },
		{ "\"streams\":-1", "streams" },
		{ "\"streams\":1.5", "streams" },
		{ "\"streams\":1e300", "streams" },
		{ "\"streams\":\"99999999999999999999\"", "streams" },
		{ "\"streams\":null", "streams" },
		{ "\"streams\":[8]", "streams" },
		{ "\"streams\":1,\"block_bytes\":0", "block_bytes" },
		{ "\"streams\":1,\"block_bytes\":4194305", "block_bytes" },
		{ "\"streams\":1,\"window_ms\":86400001", "window_ms" },
		{ "\"streams\":1,\"warmup_ms\":86400001", "warmup_ms" },
		{ "\"streams\":1,\"mss_bytes\":87", "mss_bytes" },
		{ "\"streams\":1,\"mss_bytes\":32768", "mss_bytes" },
		{ "\"streams\":1,\"sndbuf_bytes\":2147483648", "sndbuf_bytes" },
		{ "\"streams\":1,\"rcvbuf_bytes\":\"18446744073709551615\"", "rcvbuf_bytes" },
		{ "\"streams\":1,\"pacing_bps\":7999", "pacing_bps" },
		{ "\"streams\":1,\"discard_receive\":1", "discard_receive" },
		{ "\"streams\":1025,\"bidirectional\":true", "streams" },
		{ "\"streams\":1,\"bidirectional\":\"yes\"", "bidirectional" },
		{ "\"streams\":1,\"protocol\":\"sctp\"", "protocol" },
		{ "\"streams\":1,\"protocol\":1", "protocol" },
		{ "\"streams\":1,\"protocol\":\"udp\"", "datagrams" },
		{ "\"streams\":1,\"protocol\":\"udp\",\"block_bytes\":15", "datagrams" },
		{ "\"streams\":1,\"protocol\":\"udp\",\"block_bytes\":65508", "datagrams" },
		{ "\"streams\":1,\"protocol\":\"udp\",\"block_bytes\":1448,"
		  "\"discard_receive\":true", "discard_receive" },
		{ "\"streams\":1,\"protocol\":\"udp\",\"block_bytes\":1448,"
		  "\"send_path\":\"sendfile\"", "sendfile" },
		{ "\"streams\":1,\"send_path\":\"\"", "send_path" },
		{ "\"streams\":1,\"tos\":256", "tos" },
		{ "\"streams\":1,\"flow_label\":1048576", "flow_label" },
		{ "\"streams\":1,\"burst_blocks\":1001", "burst_blocks" },
		{ "\"streams\":1,\"rate_bps\":1", "rate_bps" },
		{ "\"streams\":1,\"congestion_control\":7", "congestion_control" },
		{ "\"streams\":1,\"congestion_control\":\"sixteen_letters_\"",
		  "congestion_control" },
		{ "\"streams\":1,\"congestion_control\":\"a b\"", "congestion_control" },
		{ "\"streams\":1,\"congestion_control\":\"\\u001b[2J\"", "congestion_control" },
		{ "\"streams\":1,\"congestion_control\":\"../x\"", "congestion_control" },
	};
	struct run_spec s = { .streams = 77 };
	struct error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char json[256];
		bool window = strstr(bad[i].member, "window_ms") != NULL;

		snprintf(json, sizeof(json), "{\"direction\":\"forward\",%s%s}", bad[i].member,
			 window ? "" : ",\"window_ms\":1000");
		assert_int_equal(parse_spec(json, &s, &err), -EINVAL);
		assert_non_null(strstr(err.text, bad[i].names));
	}
	assert_int_equal(parse_spec("[]", &s, &err), -EINVAL);
	assert_int_equal(parse_spec("{}", &s, &err), -EINVAL);
	assert_int_equal(parse_spec("{\"direction\":\"sideways\",\"streams\":1,\"window_ms\":1}",
				    &s, &err), -EINVAL);
	assert_int_equal(parse_spec("{\"direction\":\"forward\",\"streams\":1}", &s, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "window_ms"));
	assert_int_equal(run_spec_from_json(NULL, &s, &err), -EINVAL);
	assert_int_equal(s.streams, 77);	/* untouched by a refusal */
}

/* Little helpers to write a struct tcp_info by offset, as the kernel lays it out. */
static void put32(unsigned char *b, size_t at, uint32_t v) { memcpy(b + at, &v, sizeof(v)); }
static void put64(unsigned char *b, size_t at, uint64_t v) { memcpy(b + at, &v, sizeof(v)); }

static void make_tcp_info(unsigned char *b)
{
	const uint16_t timeouts = 9;

	memset(b, 0, TCP_INFO_BYTES);
	b[1] = 3;			/* ca_state: recovery */
	b[5] = 1 | 4;			/* timestamps, window scaling; no SACK */
	b[7] = 1;			/* app limited (lowest bit on little endian) */
	put32(b, 16, 1448);		/* snd_mss */
	put32(b, 68, 250);		/* rtt */
	put32(b, 76, INT32_MAX);	/* snd_ssthresh: infinite */
	put32(b, 80, 10);		/* snd_cwnd */
	put32(b, 100, 5);		/* total_retrans */
	put64(b, 104, 1000);		/* pacing_rate */
	put64(b, 112, UINT64_MAX);	/* max_pacing_rate: none */
	put32(b, 136, 700);		/* segs_out */
	put32(b, 148, 200);		/* min_rtt */
	put64(b, 160, 125000000);	/* delivery_rate */
	put64(b, 168, 11);		/* busy_time */
	put64(b, 200, 123456789012);	/* bytes_sent */
	put32(b, 228, 65535);		/* snd_wnd */
	put32(b, 232, 4242);		/* rcv_wnd */
	memcpy(b + 240, &timeouts, sizeof(timeouts));
}

static void test_tcp_info_full(void **state)
{
	unsigned char b[TCP_INFO_BYTES];
	struct flow_sample f = { 0 };

	(void)state;
	make_tcp_info(b);
	parse_tcp_info(b, sizeof(b), &f);	/* a kernel newer than we know */
	assert_true(nd_u64_is(f.ca_state, 3));
	assert_true(nd_is_true(f.option_timestamps));
	assert_true(nd_is_true(f.option_wscale));
	assert_true(nd_is_false(f.option_sack));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	assert_true(nd_is_true(f.app_limited));
#endif
	assert_true(nd_u64_is(f.snd_mss, 1448));
	assert_true(nd_u64_is(f.rtt_us, 250));
	assert_int_equal(f.ssthresh.k, ND_NOT_APPLICABLE);
	assert_true(nd_u64_is(f.cwnd, 10));
	assert_true(nd_u64_is(f.retransmits, 5));
	assert_true(nd_u64_is(f.pacing_bps, 8000));
	assert_int_equal(f.max_pacing_bps.k, ND_NOT_APPLICABLE);
	assert_true(nd_u64_is(f.segments_out, 700));
	assert_true(nd_u64_is(f.min_rtt_us, 200));
	assert_true(nd_u64_is(f.delivery_bps, 1000000000));
	assert_true(nd_u64_is(f.busy_us, 11));
	assert_true(nd_u64_is(f.bytes_sent, 123456789012));
	assert_true(nd_u64_is(f.dsack_dups, 0));	/* zero is a value */
	assert_true(nd_u64_is(f.snd_wnd_bytes, 65535));
	assert_true(nd_u64_is(f.rcv_wnd_bytes, 4242));
	assert_true(nd_u64_is(f.timeouts, 9));
}

static void test_tcp_info_by_length(void **state)
{
	static const struct { const char *name; size_t end, member; } steps[] = {
		{ "retransmits 2.6", 104, offsetof(struct flow_sample, retransmits) },
		{ "pacing 3.15", 112, offsetof(struct flow_sample, pacing_bps) },
		{ "segments 4.2", 140, offsetof(struct flow_sample, segments_out) },
		{ "notsent 4.6", 148, offsetof(struct flow_sample, notsent_bytes) },
		{ "min_rtt 4.6", 152, offsetof(struct flow_sample, min_rtt_us) },
		{ "delivery 4.9", 168, offsetof(struct flow_sample, delivery_bps) },
		{ "sndbuf 4.10", 192, offsetof(struct flow_sample, sndbuf_limited_us) },
		{ "delivered_ce 4.18", 200, offsetof(struct flow_sample, delivered_ce) },
		{ "retrans bytes 4.19", 216, offsetof(struct flow_sample, bytes_retransmitted) },
		{ "snd_wnd 5.4", 232, offsetof(struct flow_sample, snd_wnd_bytes) },
		{ "rcv_wnd 6.2", 236, offsetof(struct flow_sample, rcv_wnd_bytes) },
		{ "timeouts 6.7", 242, offsetof(struct flow_sample, timeouts) },
	};
	unsigned char b[TCP_INFO_BYTES];

	(void)state;
	make_tcp_info(b);
	for (size_t len = 0; len <= 248; len++) {
		struct flow_sample f = { 0 };
		unsigned char exact[248];

		memcpy(exact, b, len);
		parse_tcp_info(exact, len, &f);
		for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
			struct nd_u64 v;

			memcpy(&v, (char *)&f + steps[i].member, sizeof(v));
			if ((v.k == ND_KNOWN) != (len >= steps[i].end))
				fail_msg("%s at length %zu", steps[i].name, len);
			if (v.k != ND_KNOWN)
				assert_int_equal(v.k, ND_NOT_SUPPORTED);
		}
		assert_int_equal(f.app_limited.k == ND_KNOWN, len >= 168);
		assert_int_equal(f.option_sack.k == ND_KNOWN, len >= 8);
	}
}

static void test_tcp_info_unmeasured(void **state)
{
	unsigned char b[TCP_INFO_BYTES] = { 0 };
	struct flow_sample f = { 0 };

	(void)state;
	put32(b, 148, UINT32_MAX);
	put64(b, 104, UINT64_MAX);
	put64(b, 160, UINT64_MAX / 2);	/* times eight it would overflow */
	put32(b, 76, 17);
	parse_tcp_info(b, 232, &f);
	assert_int_equal(f.min_rtt_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.rtt_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.pacing_bps.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.delivery_bps.k, ND_INVALID);
	assert_true(nd_u64_is(f.ssthresh, 17));
	assert_true(nd_u64_is(f.snd_wnd_bytes, 0));
}

static void test_tcp_info_wraps(void **state)
{
	struct tcp_info_history h = { { 0 } };
	struct flow_sample f = { 0 };

	(void)state;
	f.segments_out = nd_u64(4000000000);
	f.timeouts = nd_u64(65000);
	f.delivered = nd_u64_unknown(ND_NOT_SUPPORTED);
	tcp_info_unwrap(&h, &f);
	assert_true(nd_u64_is(f.segments_out, 4000000000));
	f.segments_out = nd_u64(1000);
	f.timeouts = nd_u64(10);
	tcp_info_unwrap(&h, &f);
	assert_true(nd_u64_is(f.segments_out, 4294967296 + 1000));
	assert_true(nd_u64_is(f.timeouts, 65536 + 10));
	assert_int_equal(f.delivered.k, ND_NOT_SUPPORTED);
	f.segments_out = nd_u64(1000);
	tcp_info_unwrap(&h, &f);
	assert_true(nd_u64_is(f.segments_out, 4294967296 + 1000));
}

static void test_meminfo(void **state)
{
	const uint32_t m[] = { 11, 22, 33, 44, 55, 66, 77, 88, 99 };
	struct flow_sample f = { 0 };

	(void)state;
	parse_meminfo(m, sizeof(m), &f);
	assert_true(nd_u64_is(f.rmem_bytes, 11));
	assert_true(nd_u64_is(f.rcvbuf_bytes, 22));
	assert_true(nd_u64_is(f.sndbuf_bytes, 44));
	assert_true(nd_u64_is(f.wmem_bytes, 66));
	parse_meminfo(m, 4 * sizeof(uint32_t), &f);
	assert_true(nd_u64_is(f.sndbuf_bytes, 44));
	assert_int_equal(f.wmem_bytes.k, ND_NOT_SUPPORTED);
	parse_meminfo(m, 0, &f);
	assert_int_equal(f.rmem_bytes.k, ND_NOT_SUPPORTED);
}

static void test_task_stat(void **state)
{
	char good[] = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 75 0 0 20 0 1 0 500 1 2 3 4 5 6 7 8 "
		      "9 10 11 12 13 14 15 17 6 0 0 0\n";
	char cut[] = "42 (x) S 1 2 3 4 5 6 7 8 9 10 250", junk[] = "42 (x) S 1 2 3 4 5 6 7 8 9 10 "
		     "x -1 0", none[] = "";
	struct worker_sample w = { 0 };

	(void)state;
	parse_task_stat(good, 100, &w);
	assert_true(nd_u64_is(w.user_us, 2500000));
	assert_true(nd_u64_is(w.system_us, 750000));
	assert_true(nd_u64_is(w.cpu, 6));
	parse_task_stat(cut, 100, &w);
	assert_true(nd_u64_is(w.user_us, 2500000));
	assert_int_equal(w.system_us.k, ND_ABSENT);
	assert_int_equal(w.cpu.k, ND_ABSENT);
	parse_task_stat(junk, 100, &w);
	assert_int_equal(w.user_us.k, ND_INVALID);
	assert_int_equal(w.system_us.k, ND_INVALID);
	parse_task_stat(none, 100, &w);
	assert_int_equal(w.user_us.k, ND_ABSENT);
}

static void test_task_schedstat(void **state)
{
	char good[] = "5447108 384227 4\n", off[] = "0 0 0\n", cut[] = "12", fresh[] = "0 9000 1";
	struct worker_sample w = { 0 };

	(void)state;
	parse_task_schedstat(good, &w);
	assert_true(nd_u64_is(w.run_delay_us, 384));
	parse_task_schedstat(off, &w);
	assert_int_equal(w.run_delay_us.k, ND_NOT_SUPPORTED);
	parse_task_schedstat(cut, &w);
	assert_int_equal(w.run_delay_us.k, ND_ABSENT);
	parse_task_schedstat(fresh, &w);
	assert_true(nd_u64_is(w.run_delay_us, 9));
}

static void test_task_status(void **state)
{
	char good[] = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
	char bad[] = "Name:\tvoluntary_ctxt_switches:\nvoluntary_ctxt_switches:\tmany\n";
	struct worker_sample w = { 0 };

	(void)state;
	parse_task_status(good, &w);
	assert_true(nd_u64_is(w.voluntary_switches, 12));
	assert_true(nd_u64_is(w.involuntary_switches, 3));
	parse_task_status(bad, &w);
	assert_int_equal(w.voluntary_switches.k, ND_INVALID);
	assert_int_equal(w.involuntary_switches.k, ND_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec_round_trip),
		cmocka_unit_test(test_spec_defaults),
		cmocka_unit_test(test_spec_hostile),
		cmocka_unit_test(test_tcp_info_full),
		cmocka_unit_test(test_tcp_info_by_length),
		cmocka_unit_test(test_tcp_info_unmeasured),
		cmocka_unit_test(test_tcp_info_wraps),
		cmocka_unit_test(test_meminfo),
		cmocka_unit_test(test_task_stat),
		cmocka_unit_test(test_task_schedstat),
		cmocka_unit_test(test_task_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
