/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/exam_builder.h"

#define INTERVALS (10 * BUILD_SECONDS)
static const uint64_t window_ns = BUILD_SECONDS * UINT64_C(1000000000);

static void *rows(struct arena *mem, size_t n, size_t size)
{
	void *p = arena_alloc_array(mem, n, size);

	assert_non_null(p);
	return p;
}

static void set_core(struct core_load *c, unsigned int cpu, double busy, double softirq)
{
	*c = (struct core_load){
		.cpu = nd_u64(cpu), .busy = nd_f64(busy), .user = nd_f64((busy - softirq) / 4),
		.system = nd_f64((busy - softirq) * 3 / 4), .softirq = nd_f64(softirq),
		.irq = nd_f64(0), .steal = nd_f64(0),
	};
}

static struct core_load *idle_cores(struct exam *e)
{
	struct core_load *c = rows(e->mem, BUILD_CPUS, sizeof(*c));

	for (unsigned int i = 0; i < BUILD_CPUS; i++)
		set_core(&c[i], i, 0.2, 0.1);
	return c;
}

static void add_flows(struct exam *e, struct run_end *end, bool sends, double bytes)
{
	end->nflows = BUILD_STREAMS;
	end->flows = rows(e->mem, BUILD_STREAMS, sizeof(*end->flows));
	for (unsigned int i = 0; i < BUILD_STREAMS; i++) {
		uint64_t share = (uint64_t)(bytes / BUILD_STREAMS);
		struct nd_u64 sent = nd_u64(sends ? share : 0);

		end->flows[i] = (struct flow_summary){
			.flow = nd_u64(i), .direction = nd_str(sends ? "send" : "receive"),
			.local_port = nd_u64(sends ? 40000 + i : 5201),
			.peer_port = nd_u64(sends ? 5201 : 40000 + i), .bytes = nd_u64(share),
			.goodput_bps = nd_u64(share * 8 / BUILD_SECONDS),
			.calls = nd_u64(share / 131072), .retransmits = nd_u64(0),
			.bytes_sent = sent, .bytes_retransmitted = nd_u64(0),
			.dsack_dups = nd_u64(0), .reorder_seen = nd_u64(0),
			.timeouts = nd_u64_unknown(ND_NOT_SUPPORTED),
			.segments_out = nd_u64(share / 1448), .segments_in = nd_u64(share / 2896),
			.delivered_ce = nd_u64(0), .blocked_share = nd_f64(0.5),
			.busy_share = nd_f64(sends ? 1 : 0), .rwnd_limited_share = nd_f64(0),
			.sndbuf_limited_share = nd_f64(0), .app_limited_share = nd_f64(0),
			.notsent_empty_share = nd_f64(0), .recovery_share = nd_f64(0),
			.rtt_us = nd_f64(350), .cwnd = nd_f64(120),
			.inflight_bytes = nd_f64(120000),
			.notsent_bytes = nd_f64(300000), .snd_wnd_bytes = nd_f64(3000000),
			.rcv_wnd_bytes = nd_f64_unknown(ND_NOT_SUPPORTED),
			.window_fill = nd_f64(0.04), .cwnd_fill = nd_f64(0.7),
			.send_queue_fill = nd_f64(0.3), .receive_queue_fill = nd_f64(0.1),
			.receive_queue_bytes = nd_f64(20000), .min_rtt_us = nd_u64(110),
			.snd_mss = nd_u64(1448), .rcv_mss = nd_u64(1448), .pmtu = nd_u64(1500),
			.snd_wnd_max_bytes = nd_u64(3145728), .rcvbuf_bytes = nd_u64(6291456),
			.sndbuf_bytes = nd_u64(4194304), .snd_wscale = nd_u64(7),
			.rcv_wscale = nd_u64(7), .ssthresh = nd_u64(100),
			.pacing_bps = nd_u64(20000000000),
			.max_pacing_bps = nd_u64_unknown(ND_NOT_APPLICABLE),
			.reordering = nd_u64(3), .option_wscale = nd_bool(true),
			.option_sack = nd_bool(true), .option_timestamps = nd_bool(true),
			.congestion_control = nd_str("cubic"),
			.incoming_cpu = nd_u64(i % BUILD_CPUS),
			.incoming_napi = nd_u64(8193 + i % BUILD_CPUS),
			.samples = nd_u64(INTERVALS),
		};
	}
}

static void add_intervals(struct exam *e, struct run_end *end, bool sends, double bytes)
{
	uint64_t each = (uint64_t)(bytes / INTERVALS);

	end->nintervals = INTERVALS;
	end->intervals = rows(e->mem, INTERVALS, sizeof(*end->intervals));
	for (unsigned int i = 0; i < INTERVALS; i++)
		end->intervals[i] = (struct end_interval){
			.start_s = nd_f64(i * 0.1), .seconds = nd_f64(0.1), .bytes = nd_u64(each),
			.retransmits = nd_u64(0), .throttled_us = nd_u64(0),
			.link_rx_bytes = nd_u64(sends ? each / 50 : each + each / 20),
			.link_tx_bytes = nd_u64(sends ? each + each / 20 : each / 50),
			.cores = idle_cores(e), .ncores = BUILD_CPUS,
		};
}

static void set_cpu_sample(struct cpu_sample *s, const struct core_load *c)
{
	double us = BUILD_SECONDS * 1e6;

	*s = (struct cpu_sample){
		.cpu = c->cpu, .user_us = nd_u64((uint64_t)(c->user.v * us)),
		.nice_us = nd_u64(0), .system_us = nd_u64((uint64_t)(c->system.v * us)),
		.idle_us = nd_u64((uint64_t)((1 - c->busy.v) * us)), .iowait_us = nd_u64(0),
		.irq_us = nd_u64(0), .softirq_us = nd_u64((uint64_t)(c->softirq.v * us)),
		.steal_us = nd_u64(0),
	};
}

static struct counters *new_window(const struct run_end *end, bool sends, double bytes)
{
	struct counters *c = counters_new(0);
	uint64_t total = (uint64_t)bytes, packets = total / 1448;

	assert_non_null(c);
	c->clock.monotonic_ns = nd_u64(window_ns);
	c->ncpus = c->nsoftnet = BUILD_CPUS;
	c->cpus = rows(c->mem, BUILD_CPUS, sizeof(*c->cpus));
	c->softnet = rows(c->mem, BUILD_CPUS, sizeof(*c->softnet));
	c->nworkers = BUILD_CPUS;
	c->workers = rows(c->mem, BUILD_CPUS, sizeof(*c->workers));
	for (unsigned int i = 0; i < BUILD_CPUS; i++) {
		set_cpu_sample(&c->cpus[i], &end->cores[i]);
		c->softnet[i] = (struct softnet_sample){
			.cpu = nd_u64(i), .processed = nd_u64(packets / BUILD_CPUS),
			.dropped = nd_u64(0), .time_squeeze = nd_u64(0),
			.received_rps = nd_u64(0), .flow_limit = nd_u64(0),
			.backlog = nd_u64(0),
		};
		c->workers[i] = (struct worker_sample){
			.worker = nd_u64(i), .thread_id = nd_u64(1000 + i),
			.flows = nd_u64(BUILD_STREAMS / BUILD_CPUS), .cpu = nd_u64(i),
			.user_us = nd_u64(40000), .system_us = nd_u64(360000),
			.run_delay_us = nd_u64(2000), .cpu_us = nd_u64(400000),
			.voluntary_switches = nd_u64(9000), .involuntary_switches = nd_u64(12),
		};
	}
	c->nlinks = 1;
	c->links = rows(c->mem, 1, sizeof(*c->links));
	c->links[0] = (struct link_sample){
		.ifindex = nd_u64(BUILD_IFINDEX),
		.rx_bytes = nd_u64(sends ? total / 50 : total + total / 20),
		.tx_bytes = nd_u64(sends ? total + total / 20 : total / 50),
		.rx_packets = nd_u64(sends ? packets / 2 : packets),
		.tx_packets = nd_u64(sends ? packets : packets / 2),
		.rx_dropped = nd_u64(0), .tx_dropped = nd_u64(0), .rx_errors = nd_u64(0),
		.tx_errors = nd_u64(0), .rx_missed_errors = nd_u64(0),
	};
	return c;
}

static void add_end(struct exam *e, struct run *r, enum side s, bool sends, double bytes)
{
	struct run_end *end = &r->ends[s];

	end->present = true;
	end->window_ns = nd_u64(window_ns);
	end->bytes = nd_u64((uint64_t)bytes);
	end->broken_flows = nd_u64(0);
	end->ncores = BUILD_CPUS;
	end->cores = idle_cores(e);
	add_flows(e, end, sends, bytes);
	add_intervals(e, end, sends, bytes);
	end->window = new_window(end, sends, bytes);
}

struct run *build_run(struct exam *e, enum run_direction d, enum run_purpose p,
		      double goodput_bps)
{
	double bytes = goodput_bps / 8 * BUILD_SECONDS;
	struct run *r;
	char *id;

	assert_true(e->nruns < BUILD_MAX_RUNS);
	r = &e->runs[e->nruns++];
	id = arena_printf(e->mem, "%zu-%s-%s", e->nruns, run_direction_word(d),
			  run_purpose_word(p));
	assert_non_null(id);
	*r = (struct run){
		.id = nd_str(id), .purpose = p, .status = RUN_COMPLETE,
		.spec = {
			.direction = d, .streams = BUILD_STREAMS,
			.block_bytes = RUN_DEFAULT_BLOCK_BYTES, .warmup_ms = 1000,
			.window_ms = BUILD_SECONDS * 1000,
		},
		.seconds = nd_f64(BUILD_SECONDS),
		.goodput_bps = nd_u64((uint64_t)goodput_bps), .retransmits = nd_u64(0),
		.loss = nd_f64(0),
	};
	add_end(e, r, run_sender(d), true, bytes);
	add_end(e, r, run_receiver(d), false, bytes);
	return r;
}

struct run *build_both_run(struct exam *e, double forward_bps, double reverse_bps)
{
	struct run *r = build_run(e, RUN_FORWARD, RUN_BOTH_DIRECTIONS, forward_bps);
	char *id = arena_printf(e->mem, "%zu-bidir-both-directions", e->nruns);

	assert_non_null(id);
	r->id = nd_str(id);
	r->spec.bidirectional = true;
	r->other_goodput_bps = nd_u64((uint64_t)reverse_bps);
	return r;
}

void build_hot_core(struct run *r, enum side s, unsigned int cpu, double busy, double softirq)
{
	struct run_end *end = &r->ends[s];

	assert_true(cpu < end->ncores);
	set_core(&end->cores[cpu], cpu, busy, softirq);
	for (size_t i = 0; i < end->nintervals; i++)
		set_core(&end->intervals[i].cores[cpu], cpu, busy, softirq);
	set_cpu_sample(&end->window->cpus[cpu], &end->cores[cpu]);
}

void build_unseen_end(struct run *r, enum side s)
{
	counters_free(r->ends[s].window);
	r->ends[s] = (struct run_end){ .present = false };
}

struct exam *build_hot_core_exam(void)
{
	struct exam *e = build_two_hosts();
	struct run *forward = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9);

	build_hot_core(forward, SIDE_PEER, 3, 0.98, 0.91);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.38e9);
	return e;
}
