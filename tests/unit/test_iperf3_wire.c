/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iperf3's parameters and results: bytes recorded from real ones, and hostile ones. */
#include "src/peer/iperf3_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/value.h"
#include "src/peer/wire.h"

/* From a 3.12 client: -P 3 -t 1 -R --get-server-output -b 20M. */
static const char reverse_parameters[] =
	"{\"tcp\":true,\"omit\":0,\"time\":1,\"num\":0,\"blockcount\":0,\"parallel\":3,"
	"\"reverse\":true,\"len\":131072,\"bandwidth\":20000000,\"pacing_timer\":1000,"
	"\"get_server_output\":1,\"client_version\":\"3.12\"}";
static const char bidir_parameters[] =
	"{\"tcp\":true,\"omit\":0,\"time\":1,\"num\":0,\"blockcount\":0,\"parallel\":1,"
	"\"bidirectional\":true,\"len\":131072,\"bandwidth\":10000000,\"pacing_timer\":1000,"
	"\"client_version\":\"3.12\"}";

/* Its results: it received, and its -1 has lost the sign. */
static const char receiver_results[] =
	"{\"cpu_util_total\":1.1912544125189826,\"cpu_util_user\":0.341687367373005,"
	"\"cpu_util_system\":0.84948323661829228,"
	"\"sender_has_retransmits\":18446744073709551615,\"congestion_used\":\"bbr\","
	"\"streams\":[{\"id\":1,\"bytes\":2621440,\"retransmits\":18446744073709551615,"
	"\"jitter\":0,\"errors\":0,\"packets\":0,\"start_time\":0,\"end_time\":1.000217},"
	"{\"id\":3,\"bytes\":2621441,\"retransmits\":18446744073709551615,\"jitter\":0,"
	"\"errors\":0,\"packets\":0,\"start_time\":0,\"end_time\":1.000239},"
	"{\"id\":4,\"bytes\":2621442,\"retransmits\":18446744073709551615,\"jitter\":0,"
	"\"errors\":0,\"packets\":0,\"start_time\":0,\"end_time\":1.000242}]}";

/* A UDP stream's opening and the answer to it, from both kinds of releases. */
static void answers_hellos_in_kind(void **state)
{
	char answer[IPERF3_HELLO_BYTES];

	(void)state;
	assert_true(iperf3_hello_answer("\x39\x38\x37\x36", answer));
	assert_memory_equal(answer, "\x36\x37\x38\x39", sizeof(answer));
	assert_true(iperf3_hello_answer("\x15\xcd\x5b\x07", answer));
	assert_memory_equal(answer, "\xb1\x68\xde\x3a", sizeof(answer));
	assert_true(iperf3_hello_answer("\x07\x5b\xcd\x15", answer));
	assert_memory_equal(answer, "\x3a\xde\x68\xb1", sizeof(answer));
	assert_false(iperf3_hello_answer("6789", answer));
	assert_true(iperf3_is_hello_answer("6789", 4));
	assert_true(iperf3_is_hello_answer("\xb1\x68\xde\x3a", 4));
	assert_false(iperf3_is_hello_answer("9876", 4));
	assert_false(iperf3_is_hello_answer("6789", 3));
	assert_false(iperf3_is_hello_answer("67890", 5));
}

static int parameters(const char *text, struct iperf3_parameters *p)
{
	return iperf3_parse_parameters(text, strlen(text), p);
}

static int results(const char *text, size_t n, struct peer_results *r)
{
	return iperf3_parse_results(text, strlen(text), n, r);
}

static void reads_recorded_parameters(void **state)
{
	struct iperf3_parameters p;

	(void)state;
	assert_int_equal(parameters(reverse_parameters, &p), 0);
	assert_int_equal(p.spec.protocol, RUN_TCP);
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	assert_false(p.spec.bidirectional);
	assert_int_equal(p.spec.streams, 3);
	assert_int_equal(p.spec.block_bytes, 131072);
	assert_int_equal(p.spec.rate_bps, 20000000);
	assert_int_equal(p.spec.warmup_ms, 0);
	assert_int_equal(p.spec.window_ms, 1000);
	assert_int_equal(p.spec.total_bytes, 0);
	assert_true(p.get_server_output);
	assert_string_equal(p.client_version, "3.12");
	assert_string_equal(p.token, "");

	assert_int_equal(parameters(bidir_parameters, &p), 0);
	assert_true(p.spec.bidirectional);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	assert_int_equal(run_flows(&p.spec), 2);
	assert_false(p.get_server_output);
}

static void reads_every_key(void **state)
{
	struct iperf3_parameters p;

	(void)state;
	assert_int_equal(parameters("{\"tcp\":true,\"omit\":2,\"time\":30,\"num\":5000000000,"
				    "\"blockcount\":7,\"MSS\":1400,\"nodelay\":true,"
				    "\"parallel\":128,"
				    "\"window\":524288,\"len\":1048576,\"bandwidth\":1,"
				    "\"fqrate\":100000000,\"burst\":10,\"TOS\":184,\"flowlabel\":9,"
				    "\"congestion\":\"cubic\",\"zerocopy\":1,\"skip_rx_copy\":1,"
				    "\"authtoken\":\"QUJD\",\"later\":{\"key\":[1]}}", &p), 0);
	assert_int_equal(p.spec.warmup_ms, 2000);
	assert_int_equal(p.spec.window_ms, 30000);
	assert_true(p.spec.total_bytes == UINT64_C(4769) * 1048576);	/* whole blocks */
	assert_int_equal(p.spec.total_blocks, 7);
	assert_int_equal(p.spec.mss_bytes, 1400);
	assert_true(p.spec.no_delay);
	assert_int_equal(p.spec.streams, 128);
	assert_int_equal(p.spec.sndbuf_bytes, 524288);
	assert_int_equal(p.spec.rcvbuf_bytes, 524288);
	assert_int_equal(p.spec.block_bytes, 1048576);
	assert_int_equal(p.spec.rate_bps, 8000);	/* the least our engine keeps to */
	assert_int_equal(p.spec.pacing_bps, 100000000);
	assert_int_equal(p.spec.burst_blocks, 10);
	assert_int_equal(p.spec.tos, 184);
	assert_int_equal(p.spec.flow_label, 9);
	assert_string_equal(p.spec.congestion_control, "cubic");
	assert_int_equal(p.spec.send_path, RUN_SEND_FILE);
	assert_true(p.spec.discard_receive);
	assert_string_equal(p.token, "QUJD");

	assert_int_equal(parameters("{\"udp\":true,\"time\":1,\"len\":1448,"
				    "\"udp_counters_64bit\":1,\"dont_fragment\":1,"
				    "\"skip_rx_copy\":1}", &p), 0);
	assert_int_equal(p.spec.protocol, RUN_UDP);
	assert_true(p.udp_64bit_counters);
	assert_true(p.spec.dont_fragment);
	/* A length that MSG_TRUNC returned once overflowed a buffer: not for datagrams. */
	assert_false(p.spec.discard_receive);
	assert_int_equal(p.spec.block_bytes, 1448);
}

static void refuses_with_the_right_code(void **state)
{
	static const struct { const char *text; int code; } cases[] = {
		{ "", IPERF3_ERECVPARAMS },
		{ "[]", IPERF3_ERECVPARAMS },
		{ "{\"tcp\":true", IPERF3_ERECVPARAMS },
		{ "{\"tcp\":true,\"parallel\":0}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":129}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":-1}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":1.5}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":\"many\"}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":{}}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":1e300}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"time\":86401}", IPERF3_EDURATION },
		{ "{\"tcp\":true,\"time\":null}", IPERF3_EDURATION },
		{ "{\"tcp\":true,\"omit\":601}", IPERF3_EOMIT },
		{ "{\"tcp\":true,\"len\":0}", IPERF3_EBLOCKSIZE },
		{ "{\"tcp\":true,\"len\":1048577}", IPERF3_EBLOCKSIZE },
		{ "{\"udp\":true,\"len\":15}", IPERF3_EUDPBLOCKSIZE },
		{ "{\"udp\":true,\"len\":65508}", IPERF3_EUDPBLOCKSIZE },
		{ "{\"tcp\":true,\"window\":536870913}", IPERF3_EBUFSIZE },
		{ "{\"tcp\":true,\"MSS\":32768}", IPERF3_EMSS },
		{ "{\"tcp\":true,\"TOS\":256}", IPERF3_EBADTOS },
		{ "{\"tcp\":true,\"burst\":1001}", IPERF3_EBURST },
		{ "{\"tcp\":true,\"flowlabel\":1048576}", IPERF3_ESETFLOW },
		{ "{\"reverse\":true,\"bidirectional\":true}", IPERF3_EREVERSEBIDIR },
		{ "{\"sctp\":true}", IPERF3_EPROTOCOL },
		{ "{\"tcp\":true,\"mptcp\":true}", IPERF3_EPROTOCOL },
		{ "{\"tcp\":true,\"bandwidth\":-5}", IPERF3_ERECVPARAMS },
		{ "{\"tcp\":true,\"num\":true}", IPERF3_ERECVPARAMS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct iperf3_parameters p;
		int code = parameters(cases[i].text, &p);

		if (code != cases[i].code)
			fail_msg("%s: %d, not %d", cases[i].text, code, cases[i].code);
	}
}

static void ignores_switches_of_the_wrong_type(void **state)
{
	struct iperf3_parameters p;

	(void)state;
	assert_int_equal(parameters("{\"tcp\":true,\"reverse\":\"yes\",\"nodelay\":[],"
				    "\"bidirectional\":false,\"congestion\":5,\"authtoken\":{},"
				    "\"client_version\":\"\\u0007bell\"}", &p), 0);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	assert_false(p.spec.bidirectional);
	assert_false(p.spec.no_delay);
	assert_string_equal(p.spec.congestion_control, "");
	assert_string_equal(p.client_version, "?bell");
}

static void parameters_survive_the_way(void **state)
{
	struct iperf3_parameters a = {
		.spec = {
			.protocol = RUN_UDP, .direction = RUN_REVERSE, .streams = 5,
			.block_bytes = 1400, .warmup_ms = 1000, .window_ms = 2500,
			.rate_bps = 5000000, .tos = 8, .dont_fragment = true,
			.sndbuf_bytes = 65536, .rcvbuf_bytes = 65536
		},
		.udp_64bit_counters = true,
		.token = "QUJDRA==",
		.netdoctor = true
	}, b;
	unsigned char *frame;
	size_t len;

	(void)state;
	assert_int_equal(iperf3_format_parameters(&a, &frame, &len), 0);
	assert_int_equal(wire_get_be32(frame), len - 4);
	assert_int_equal(iperf3_parse_parameters((char *)frame + 4, len - 4, &b), 0);
	free(frame);
	/* Whole seconds only: a test that the client ends is announced a little longer. */
	assert_int_equal(b.spec.window_ms, 3000);
	b.spec.window_ms = 2500;
	/* Ours to choose, whatever it sends. */
	assert_true(b.spec.udp_gro);
	b.spec.udp_gro = false;
	assert_memory_equal(&a.spec, &b.spec, sizeof(a.spec));
	assert_true(b.netdoctor);
	assert_true(b.udp_64bit_counters);
	assert_string_equal(b.token, a.token);
	assert_string_equal(b.client_version, "3.12");
}

/* Each switch asks the server for its own half, in the numbers that 3.21 wants. */
static void asks_for_bursts_of_datagrams(void **state)
{
	struct iperf3_parameters p = {
		.spec = { .protocol = RUN_UDP, .streams = 1, .block_bytes = 1448,
			  .window_ms = 1000, .udp_gso = true }
	};
	unsigned char *frame;
	size_t len;

	(void)state;
	assert_int_equal(iperf3_format_parameters(&p, &frame, &len), 0);
	cJSON *obj = cJSON_ParseWithLength((char *)frame + 4, len - 4);
	free(frame);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(obj, "gso")) == 1);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(obj, "gso_dg_size")) == 1448);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(obj, "gso_bf_size")) == 45 * 1448);
	assert_null(cJSON_GetObjectItem(obj, "gro"));
	cJSON_Delete(obj);

	p.spec.udp_gso = false;
	p.spec.udp_gro = true;
	assert_int_equal(iperf3_format_parameters(&p, &frame, &len), 0);
	obj = cJSON_ParseWithLength((char *)frame + 4, len - 4);
	free(frame);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(obj, "gro")) == 1);
	assert_null(cJSON_GetObjectItem(obj, "gso"));
	cJSON_Delete(obj);

	p.spec.udp_gso = true;
	p.spec.block_bytes = 16;
	assert_int_equal(iperf3_format_parameters(&p, &frame, &len), 0);
	obj = cJSON_ParseWithLength((char *)frame + 4, len - 4);
	free(frame);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(obj, "gso_bf_size")) == 64 * 16);
	cJSON_Delete(obj);
}

static void skips_the_id_2(void **state)
{
	(void)state;
	assert_int_equal(iperf3_stream_id(0), 1);
	assert_int_equal(iperf3_stream_id(1), 3);
	assert_int_equal(iperf3_stream_id(2), 4);
	assert_int_equal(iperf3_stream_id(127), 129);
}

static void reads_recorded_results(void **state)
{
	struct peer_results r;

	(void)state;
	assert_int_equal(results(receiver_results, 3, &r), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(r.flows[i].bytes, 2621440 + i);
		assert_int_equal(r.flows[i].retransmits, RESULTS_UNKNOWN);
	}
	assert_true(r.flows[2].seconds > 1.0002 && r.flows[2].seconds < 1.0003);
	assert_true(r.cpu_total > 1.19 && r.cpu_total < 1.2);
	assert_string_equal(r.congestion_control, "bbr");
	assert_null(r.output);
	peer_results_free(&r);
}

static void keeps_64_bits_exact(void **state)
{
	char text[512];
	struct peer_results r;
	static const char *const counts[] = {
		"0", "999999999999999", "9007199254740993", "9223372036854775807",
		"18446744073709551614"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		char back[24];

		snprintf(text, sizeof(text), "{\"cpu_util_total\":0.12345678901234567890,"
			 "\"a\\\"1234567890123456789\":\"1234567890123456789\","
			 "\"streams\":[{\"id\":1,\"bytes\":%s,\"retransmits\":-1,"
			 "\"jitter\":1.2345678901234567e-05,\"errors\":3,\"packets\":4,"
			 "\"omitted_errors\":1,\"omitted_packets\":2}]}", counts[i]);
		assert_int_equal(results(text, 1, &r), 0);
		snprintf(back, sizeof(back), "%" PRIu64, r.flows[0].bytes);
		assert_string_equal(back, counts[i]);
		assert_int_equal(r.flows[0].retransmits, -1);
		assert_int_equal(r.flows[0].lost, 3);
		assert_int_equal(r.flows[0].omitted_packets, 2);
		assert_true(r.flows[0].jitter_s > 1.2e-5 && r.flows[0].jitter_s < 1.3e-5);
		assert_true(r.flows[0].seconds < 0);
		assert_true(r.cpu_total > 0.12 && r.cpu_total < 0.13);
		peer_results_free(&r);
	}
}

#define STREAM(id_) "{\"id\":" id_ ",\"bytes\":1,\"retransmits\":0,\"jitter\":0,\"errors\":0," \
		    "\"packets\":0}"

static void refuses_results_that_do_not_fit(void **state)
{
	static const char *const bad[] = {
		"", "{}", "[]", "{\"streams\":{}}", "{\"streams\":[]}",
		"{\"streams\":[" STREAM("1") "]}",		/* too few */
		"{\"streams\":[" STREAM("1") "," STREAM("1") "]}",	/* twice the same */
		"{\"streams\":[" STREAM("1") "," STREAM("2") "]}",	/* no id of iperf3's */
		"{\"streams\":[" STREAM("1") "," STREAM("4") "]}",	/* not of this run */
		"{\"streams\":[" STREAM("1") "," STREAM("0") "]}",
		"{\"streams\":[" STREAM("1") "," STREAM("-3") "]}",
		"{\"streams\":[" STREAM("1") "," STREAM("18446744073709551615") "]}",
		"{\"streams\":[" STREAM("1") "," STREAM("\"x\"") "]}",
		"{\"streams\":[" STREAM("1") "," STREAM("3") "," STREAM("4") "]}",
		"{\"streams\":[" STREAM("1") ",{\"id\":3}]}",
		"{\"streams\":[1,2]}",
		"{\"streams\":[" STREAM("1") "," STREAM("3") "]} x",
	};
	static const char good[] = "{\"streams\":[" STREAM("3") "," STREAM("1") "]}";
	struct peer_results r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (results(bad[i], 2, &r) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		peer_results_free(&r);
	}
	assert_int_equal(results(good, 2, &r), 0);
	peer_results_free(&r);
}

static void withstands_deep_and_damaged_json(void **state)
{
	static char deep[200000];
	struct iperf3_parameters p;
	struct peer_results r;
	size_t len = strlen(receiver_results);
	char *copy = malloc(len);

	(void)state;
	assert_non_null(copy);
	memset(deep, '[', sizeof(deep));
	assert_int_equal(iperf3_parse_parameters(deep, sizeof(deep), &p), IPERF3_ERECVPARAMS);
	assert_int_equal(iperf3_parse_results(deep, sizeof(deep), 1, &r), -EINVAL);
	peer_results_free(&r);
	/* Exactly len bytes, so that a sanitizer sees a read behind them. */
	for (size_t cut = 0; cut < len; cut++) {
		char *part = malloc(cut ? cut : 1);

		assert_non_null(part);
		memcpy(part, receiver_results, cut);
		assert_int_equal(iperf3_parse_results(part, cut, 3, &r), -EINVAL);
		peer_results_free(&r);
		free(part);
	}
	for (size_t i = 0; i < len; i++)
		for (int c = 1; c < 256; c += 17) {
			memcpy(copy, receiver_results, len);
			copy[i] = (char)((unsigned char)copy[i] ^ c);
			iperf3_parse_results(copy, len, 3, &r);
			peer_results_free(&r);
		}
	free(copy);
}

static void results_survive_the_way(void **state)
{
	struct peer_results a, b;
	unsigned char *frame;
	size_t len;

	(void)state;
	assert_int_equal(peer_results_init(&a, 3), 0);
	a.cpu_total = 150.5;
	a.cpu_user = RESULTS_UNKNOWN;
	memcpy(a.congestion_control, "cubic", 6);
	a.output = strdup("line\nanother \"line\"\xff\n");
	a.flows[0] = (struct peer_flow_result){ .bytes = UINT64_MAX, .retransmits = -1,
						.packets = 7, .lost = 2, .jitter_s = 0.001,
						.seconds = 2.5 };
	a.flows[2].bytes = 5;
	a.flows[2].retransmits = 9;
	a.flows[1].seconds = a.flows[2].seconds = 1;
	assert_int_equal(iperf3_format_results(&a, true, &frame, &len), 0);
	/* As the real ones want it: numbers, signed, exact. */
	frame[len - 1] = '\0';
	assert_non_null(strstr((char *)frame + 4, "\"bytes\":18446744073709551615,"));
	assert_non_null(strstr((char *)frame + 4, "\"retransmits\":-1,"));
	assert_non_null(strstr((char *)frame + 4, "\"sender_has_retransmits\":1,"));
	frame[len - 1] = '}';
	assert_int_equal(iperf3_parse_results((char *)frame + 4, len - 4, 3, &b), 0);
	free(frame);
	assert_true(b.flows[0].bytes == UINT64_MAX);
	assert_int_equal(b.flows[0].lost, 2);
	assert_true(b.flows[0].seconds > 2.49 && b.flows[0].seconds < 2.51);
	assert_int_equal(b.flows[2].retransmits, 9);
	assert_string_equal(b.congestion_control, "cubic");
	assert_non_null(b.output);
	assert_non_null(strstr(b.output, "another \"line\""));
	peer_results_free(&a);
	peer_results_free(&b);
}

static void has_a_sentence_for_each_code(void **state)
{
	(void)state;
	assert_string_equal(iperf3_error_text(IPERF3_EAUTHTEST),
			    "it wants a user name and a password");
	assert_non_null(strstr(iperf3_error_text(IPERF3_EMAXDURATION), "this long"));
	assert_non_null(strstr(iperf3_error_text(0xffffffff), "no reason"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_hellos_in_kind),
		cmocka_unit_test(reads_recorded_parameters),
		cmocka_unit_test(reads_every_key),
		cmocka_unit_test(refuses_with_the_right_code),
		cmocka_unit_test(ignores_switches_of_the_wrong_type),
		cmocka_unit_test(parameters_survive_the_way),
		cmocka_unit_test(asks_for_bursts_of_datagrams),
		cmocka_unit_test(skips_the_id_2),
		cmocka_unit_test(reads_recorded_results),
		cmocka_unit_test(keeps_64_bits_exact),
		cmocka_unit_test(refuses_results_that_do_not_fit),
		cmocka_unit_test(withstands_deep_and_damaged_json),
		cmocka_unit_test(results_survive_the_way),
		cmocka_unit_test(has_a_sentence_for_each_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
