/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "probes/proc.h"
#include "tests/unit/fake_source.h"

enum { LIMIT = 4 << 20 };

static const struct nd_u64 hz100 = { 100, ND_KNOWN };

/* Parsers cut up their text, so each gets a copy. */
#define PARSE(call_, text_) \
	({ char *text = strdup(text_); int rc_ = (call_); free(text); rc_; })

static struct nd_cpus cpus(const char *list)
{
	struct nd_cpus m;

	assert_int_equal(nd_cpus_parse_list(list, &m), 0);
	return m;
}

static void test_stat(void **state)
{
	static const char text_[] =
		"cpu  30 0 30 100 5 6 7 8 0 0\n"
		"cpu0 10 1 20 40 2 3 4 5 9 9\n"
		"cpu3 20 0 10 60 3 3 3 3 0 0\n"
		"intr 5 1 1\n"
		"cpu9 1 1 1 1 1 1 1 1\n";	/* not where the kernel has them */
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c), text_), 0);
	assert_int_equal(c->ncpus, 2);
	assert_true(nd_u64_is(c->cpus[0].cpu, 0));
	assert_true(nd_u64_is(c->cpus[1].cpu, 3));
	assert_true(nd_u64_is(c->cpus[0].user_us, 100000));	/* guest is inside: not added */
	assert_true(nd_u64_is(c->cpus[0].nice_us, 10000));
	assert_true(nd_u64_is(c->cpus[0].system_us, 200000));
	assert_true(nd_u64_is(c->cpus[0].idle_us, 400000));
	assert_true(nd_u64_is(c->cpus[0].iowait_us, 20000));
	assert_true(nd_u64_is(c->cpus[0].irq_us, 30000));
	assert_true(nd_u64_is(c->cpus[0].softirq_us, 40000));
	assert_true(nd_u64_is(c->cpus[0].steal_us, 50000));
	counters_free(c);

	/* Another USER_HZ, and one nobody told us. */
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_proc_stat(text, nd_u64(1000), c), text_), 0);
	assert_true(nd_u64_is(c->cpus[0].user_us, 10000));
	counters_free(c);
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_proc_stat(text, nd_u64_unknown(ND_FAILED), c), text_), 0);
	assert_int_equal(c->cpus[0].user_us.k, ND_FAILED);
	counters_free(c);
}

static void test_stat_hostile(void **state)
{
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c), ""), -EBADMSG);
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c), "\n\n\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c), "cpu 1 2 3\ncpuX 1\ncpu-1 2\n"),
			 -EBADMSG);
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c), "cpu4096 1 2 3 4 5 6 7 8\n"),
			 -EBADMSG);
	assert_int_equal(PARSE(parse_proc_stat(text, hz100, c),
			       "cpu0 18446744073709551615 x -3 99999999999999999999 5"), 0);
	assert_int_equal(c->ncpus, 1);
	assert_int_equal(c->cpus[0].user_us.k, ND_INVALID);	/* overflows in microseconds */
	assert_int_equal(c->cpus[0].nice_us.k, ND_INVALID);
	assert_int_equal(c->cpus[0].system_us.k, ND_INVALID);
	assert_int_equal(c->cpus[0].idle_us.k, ND_INVALID);
	assert_true(nd_u64_is(c->cpus[0].iowait_us, 50000));
	assert_int_equal(c->cpus[0].irq_us.k, ND_ABSENT);	/* cut off */
	assert_int_equal(c->cpus[0].steal_us.k, ND_ABSENT);
	counters_free(c);
}

static void test_softirqs(void **state)
{
	static const char text_[] =
		"                    CPU0       CPU1       CPU2\n"
		"          HI:          0          0          7\n"
		"      NET_TX:          4          5          6\n"
		"      NET_RX:        100        200        300\n";
	struct nd_cpus online = cpus("0,2"), unknown = { .k = ND_ABSENT };
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_softirqs(text, &online, c), text_), 0);
	assert_int_equal(c->nsoftirqs, 2);
	assert_true(nd_u64_is(c->softirqs[1].cpu, 2));
	assert_true(nd_u64_is(c->softirqs[1].net_rx, 300));
	assert_true(nd_u64_is(c->softirqs[1].net_tx, 6));
	counters_free(c);
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_softirqs(text, &unknown, c), text_), 0);
	assert_int_equal(c->nsoftirqs, 3);
	counters_free(c);

	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_softirqs(text, &online, c), ""), -EBADMSG);
	assert_int_equal(PARSE(parse_softirqs(text, &online, c), "CPU0 CPUx\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_softirqs(text, &online, c), "CPU99999\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_softirqs(text, &online, c), "CPU0 CPU2\nNET_RX: 5\n"), 0);
	assert_true(nd_u64_is(c->softirqs[0].net_rx, 5));
	assert_int_equal(c->softirqs[1].net_rx.k, ND_INVALID);	/* cut off */
	assert_int_equal(c->softirqs[0].net_tx.k, ND_UNREAD);	/* no such line */
	counters_free(c);
}

static void test_softnet_new(void **state)
{
	/* CPU 1 is offline: the second row says that it is CPU 2. */
	static const char text_[] =
		"000000ff 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 "
		"00000010 00000011 00000012 00000000 00000000 00000000\n"
		"ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
		"00000000 00000000 00000000 00000002 00000000 00000000\n";
	struct nd_cpus online = cpus("0,2");
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_softnet(text, &online, c), text_), 0);
	assert_int_equal(c->nsoftnet, 2);
	assert_true(nd_u64_is(c->softnet[0].cpu, 0));
	assert_true(nd_u64_is(c->softnet[0].processed, 255));
	assert_true(nd_u64_is(c->softnet[0].dropped, 1));
	assert_true(nd_u64_is(c->softnet[0].time_squeeze, 2));
	assert_true(nd_u64_is(c->softnet[0].received_rps, 16));
	assert_true(nd_u64_is(c->softnet[0].flow_limit, 17));
	assert_true(nd_u64_is(c->softnet[0].backlog, 18));
	assert_true(nd_u64_is(c->softnet[1].cpu, 2));
	assert_true(nd_u64_is(c->softnet[1].processed, 4294967295));
	counters_free(c);
}

static void test_softnet_old(void **state)
{
	/* Eleven columns (before 5.10): row n is the nth online CPU. */
	static const char row[] = "00000001 00000000 00000000 00000000 00000000 00000000 00000000 "
				  "00000000 00000000 00000003 00000004\n";
	struct nd_cpus online = cpus("1,4"), unknown = { .k = ND_ABSENT };
	struct counters *c = counters_new(LIMIT);
	char three[512];

	(void)state;
	snprintf(three, sizeof(three), "%s%s%s", row, row, row);
	assert_int_equal(PARSE(parse_softnet(text, &online, c), three), 0);
	assert_int_equal(c->nsoftnet, 3);
	assert_true(nd_u64_is(c->softnet[0].cpu, 1));
	assert_true(nd_u64_is(c->softnet[1].cpu, 4));
	assert_int_equal(c->softnet[2].cpu.k, ND_ABSENT);	/* more rows than CPUs */
	assert_true(nd_u64_is(c->softnet[0].received_rps, 3));
	assert_true(nd_u64_is(c->softnet[0].flow_limit, 4));
	assert_int_equal(c->softnet[0].backlog.k, ND_ABSENT);
	counters_free(c);
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_softnet(text, &unknown, c), row), 0);
	assert_int_equal(c->softnet[0].cpu.k, ND_ABSENT);
	assert_int_equal(PARSE(parse_softnet(text, &online, c), "1 2 3\n"), 0);	/* too short */
	assert_int_equal(c->nsoftnet, 1);
	counters_free(c);
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_softnet(text, &online, c), ""), -EBADMSG);
	assert_int_equal(PARSE(parse_softnet(text, &online, c), "q r s t u v w x y z\n"), 0);
	assert_int_equal(c->softnet[0].processed.k, ND_INVALID);
	counters_free(c);
}

static void test_mib_table_is_sorted(void **state)
{
	(void)state;
	for (size_t i = 1; i < mib_names_count; i++)
		assert_true(strcmp(mib_names[i - 1], mib_names[i]) < 0);
}

static void test_mib_pairs(void **state)
{
	static const char text_[] =
		"Tcp: RtoAlgorithm MaxConn InSegs RetransSegs\n"
		"Tcp: 1 -1 18446744073709551615 7\n"
		"TcpExt: TCPTimeouts FutureCounter TCPBacklogDrop\n"
		"TcpExt: 3 9 4\n";
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_mib_pairs(text, c), text_), 0);
	assert_int_equal(c->nmibs, 4);
	assert_true(nd_u64_is(counters_mib(c, "TcpInSegs"), UINT64_MAX));
	assert_true(nd_u64_is(counters_mib(c, "TcpRetransSegs"), 7));
	assert_true(nd_u64_is(counters_mib(c, "TcpExtTCPTimeouts"), 3));
	assert_true(nd_u64_is(counters_mib(c, "TcpExtTCPBacklogDrop"), 4));
	counters_free(c);
}

static void test_mib_hostile(void **state)
{
	struct counters *c = counters_new(LIMIT);

	(void)state;
	assert_int_equal(PARSE(parse_mib_pairs(text, c), ""), -EBADMSG);
	assert_int_equal(PARSE(parse_mib_pairs(text, c), "Tcp: InSegs\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_mib_pairs(text, c), "Tcp: InSegs\nUdp: 5\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_mib_pairs(text, c), "Tcp InSegs\nTcp 5\n"), -EBADMSG);
	assert_int_equal(PARSE(parse_mib_pairs(text, c), "\n\n"), -EBADMSG);
	assert_int_equal(c->nmibs, 0);
	assert_int_equal(PARSE(parse_mib_pairs(text, c),
			       "Tcp: InSegs OutSegs RetransSegs\nTcp: 5 x\n"), 0);
	assert_true(nd_u64_is(counters_mib(c, "TcpInSegs"), 5));
	assert_int_equal(counters_mib(c, "TcpOutSegs").k, ND_INVALID);
	assert_int_equal(counters_mib(c, "TcpRetransSegs").k, ND_INVALID);
	counters_free(c);
	c = counters_new(LIMIT);
	assert_int_equal(PARSE(parse_mib_lines(text, c),
			       "Ip6InReceives \t 12\nUdp6RcvbufErrors\nIcmp6InMsgs 3\n\n"), 0);
	assert_int_equal(c->nmibs, 2);
	assert_true(nd_u64_is(counters_mib(c, "Ip6InReceives"), 12));
	assert_int_equal(counters_mib(c, "Udp6RcvbufErrors").k, ND_INVALID);
	counters_free(c);
}

static void test_sysctls(void **state)
{
	struct probe_context ctx = { 0 };
	struct error detail = { "" };
	struct facts *f = facts_new(LIMIT);
	struct fake fake;

	(void)state;
	fake_open(&fake);
	assert_int_equal(probe_sysctl.collect(fake.src, &ctx, f, &detail), -ENOENT);
	assert_string_not_equal(detail.text, "");
	assert_int_equal(f->sysctl.tcp_rmem_max.k, ND_ABSENT);
	fake_file(&fake, "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t33554432\n");
	fake_file(&fake, "/proc/sys/net/ipv4/tcp_wmem", "4096 junk\n");
	fake_file(&fake, "/proc/sys/net/ipv4/tcp_mem", "1 2 3\n");
	fake_file(&fake, "/proc/sys/net/core/rmem_max", "0\n");
	fake_file(&fake, "/proc/sys/net/core/optmem_max", "\n");
	fake_file(&fake, "/proc/sys/net/ipv4/tcp_adv_win_scale", "-2\n");
	fake_file(&fake, "/proc/sys/net/ipv4/tcp_available_congestion_control",
		  "reno bbr cubic\n");
	assert_int_equal(probe_sysctl.collect(fake.src, &ctx, f, &detail), 0);
	assert_true(nd_u64_is(f->sysctl.tcp_rmem_min, 4096));
	assert_true(nd_u64_is(f->sysctl.tcp_rmem_default, 131072));
	assert_true(nd_u64_is(f->sysctl.tcp_rmem_max, 33554432));
	assert_true(nd_u64_is(f->sysctl.tcp_wmem_min, 4096));
	assert_int_equal(f->sysctl.tcp_wmem_default.k, ND_INVALID);
	assert_int_equal(f->sysctl.tcp_wmem_max.k, ND_INVALID);
	assert_true(nd_u64_is(f->sysctl.tcp_mem_high, 3));
	assert_true(nd_u64_is(f->sysctl.rmem_max, 0));
	assert_int_equal(f->sysctl.optmem_max.k, ND_INVALID);
	assert_int_equal(f->sysctl.wmem_max.k, ND_ABSENT);	/* as in a young namespace */
	assert_true(f->sysctl.tcp_adv_win_scale.k == ND_KNOWN &&
		    f->sysctl.tcp_adv_win_scale.v == -2);
	assert_string_equal(f->sysctl.tcp_available_congestion_control.v, "reno bbr cubic");
	assert_int_equal(f->sysctl.default_qdisc.k, ND_ABSENT);
	facts_free(f);
	fake_close(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_stat_hostile),
		cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_softnet_new),
		cmocka_unit_test(test_softnet_old),
		cmocka_unit_test(test_mib_table_is_sorted),
		cmocka_unit_test(test_mib_pairs),
		cmocka_unit_test(test_mib_hostile),
		cmocka_unit_test(test_sysctls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
