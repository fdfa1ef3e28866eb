/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/exam_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define WINDOW_S 4.0

struct facts *fixture_facts(struct exam *e, enum side s)
{
	return (struct facts *)e->facts[s];
}

struct link_facts *fixture_link(struct exam *e, enum side s)
{
	return fixture_facts(e, s)->links;
}

static void *rows(struct arena *mem, size_t n, size_t size)
{
	void *p = arena_alloc_array(mem, n, size);

	assert_non_null(p);
	return p;
}

static void fill_sysctls(struct sysctl_facts *s)
{
	s->rmem_max = s->wmem_max = nd_u64(212992);
	s->tcp_rmem_min = s->tcp_wmem_min = nd_u64(4096);
	s->tcp_rmem_default = nd_u64(131072);
	s->tcp_wmem_default = nd_u64(16384);
	s->tcp_rmem_max = nd_u64(6291456);
	s->tcp_wmem_max = nd_u64(4194304);
	s->tcp_window_scaling = s->tcp_timestamps = s->tcp_sack = nd_u64(1);
	s->tcp_moderate_rcvbuf = nd_u64(1);
	s->tcp_adv_win_scale = nd_i64(1);
	s->tcp_congestion_control = nd_str("cubic");
	s->default_qdisc = nd_str("fq_codel");
}

static struct facts *new_facts(struct exam *e, enum side s, size_t ncpus, const char *boot_id)
{
	struct facts *f = facts_new(0);
	size_t i;

	assert_non_null(f);
	e->facts[s] = f;
	f->host.hostname = nd_str(s == SIDE_LOCAL ? "alpha" : "beta");
	f->host.kernel = nd_str("6.12.0-test");
	f->host.virtualization = nd_str("none");
	f->host.container = nd_str("none");
	f->host.boot_id = nd_str(boot_id);
	f->host.root = f->host.net_admin = f->host.sys_admin = nd_bool(true);
	fill_sysctls(&f->sysctl);
	f->cpus = rows(f->mem, ncpus, sizeof(*f->cpus));
	f->ncpus = ncpus;
	for (i = 0; i < ncpus; i++) {
		f->cpus[i].cpu = nd_u64(i);
		f->cpus[i].node = nd_u64(0);
		nd_cpus_set(&f->host.cpus_online, (unsigned int)i);
		nd_cpus_set(&f->host.cpus_allowed, (unsigned int)i);
	}
	f->links = rows(f->mem, 1, sizeof(*f->links));
	f->nlinks = 1;
	f->route.ifindex = nd_u64(2);
	f->route.type = nd_str("unicast");
	return f;
}

static void fill_link(struct link_facts *l, const char *name, const char *kind)
{
	l->ifindex = nd_u64(2);
	l->name = nd_str(name);
	l->kind = nd_str(kind);
	l->up = l->carrier = nd_bool(true);
	l->mtu = nd_u64(1500);
	l->duplex = nd_str("full");
	l->numa_node = nd_i64(-1);
	l->lower_ifindex = l->master_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
}

static void fill_port(struct link_facts *l)
{
	fill_link(l, "eth0", "physical");
	l->driver = nd_str("ixgbe");
	l->bus = nd_str("pci");
	l->pci_address = nd_str("0000:01:00.0");
	l->speed_mbps = l->supported_max_mbps = l->advertised_max_mbps = nd_u64(10000);
	l->rx_ring = l->tx_ring = nd_u64(512);
	l->rx_ring_max = l->tx_ring_max = nd_u64(4096);
	l->combined_channels = l->combined_channels_max = nd_u64(8);
}

static void fill_pci(struct facts *f)
{
	struct pci_facts *p = rows(f->mem, 2, sizeof(*p));
	size_t i;

	f->pci = p;
	f->npci = 2;
	p[0].address = nd_str("0000:01:00.0");
	p[0].parent = nd_str("0000:00:01.0");
	p[0].type = nd_str("endpoint");
	p[1].address = nd_str("0000:00:01.0");
	p[1].parent = nd_str_unknown(ND_NOT_APPLICABLE);
	p[1].type = nd_str("root-port");
	for (i = 0; i < 2; i++) {
		p[i].vendor_id = nd_u64(0x8086);
		p[i].device_id = nd_u64(i ? 0x2030 : 0x10fb);
		p[i].speed_mtps = p[i].max_speed_mtps = nd_u64(8000);
		p[i].width = p[i].max_width = nd_u64(8);
		p[i].payload_bytes = p[i].payload_max_bytes = nd_u64(256);
		p[i].read_request_bytes = nd_u64(512);
		p[i].physical_function = nd_str_unknown(ND_NOT_APPLICABLE);
	}
}

struct exam *fixture_exam(void)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	struct exam *e = exam_new();
	size_t i;

	assert_non_null(e);
	for (i = 0; i < 2; i++) {
		struct facts *f = new_facts(e, sides[i], 8, i ? "boot-b" : "boot-a");

		fill_port(f->links);
		fill_pci(f);
	}
	e->path.local_address = nd_str("192.0.2.1");
	e->path.peer_address = nd_str("192.0.2.2");
	e->path.idle_rtt_us = nd_u64(100);
	e->path.same_machine = nd_bool(false);
	e->path.loopback = nd_bool(false);
	return e;
}

struct exam *fixture_veth_exam(void)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	struct exam *e = exam_new();
	size_t i;

	assert_non_null(e);
	for (i = 0; i < 2; i++) {
		struct facts *f = new_facts(e, sides[i], 2, "boot-a");

		fill_link(f->links, i ? "nd1" : "nd0", "veth");
		f->links->bus = nd_str_unknown(ND_NOT_APPLICABLE);
		f->links->pci_address = nd_str_unknown(ND_NOT_APPLICABLE);
		f->links->speed_mbps = nd_u64_unknown(ND_NOT_APPLICABLE);
	}
	e->path.local_address = nd_str("10.99.0.1");
	e->path.peer_address = nd_str("10.99.0.2");
	e->path.idle_rtt_us = nd_u64(40);
	e->path.same_machine = nd_bool(true);
	e->path.loopback = nd_bool(false);
	return e;
}

static void fill_flow(struct flow_summary *f, size_t i, bool sender)
{
	f->flow = nd_u64(i);
	f->direction = nd_str(sender ? "send" : "receive");
	f->congestion_control = nd_str("cubic");
	f->option_wscale = f->option_sack = f->option_timestamps = nd_bool(true);
	f->samples = nd_u64(40);
	f->rcv_mss = nd_u64(1448);
	if (!sender)
		return;
	f->snd_mss = nd_u64(1448);
	f->rtt_us = nd_f64(300);
	f->min_rtt_us = nd_u64(100);
	f->retransmits = f->dsack_dups = nd_u64(0);
}

static void fill_end(struct run_end *end, const struct facts *f, unsigned int streams, bool sender,
		     double goodput_bps, double busy)
{
	struct counters *c = counters_new(0);
	size_t i;

	assert_non_null(c);
	*end = (struct run_end){ .present = true, .window = c };
	end->window_ns = nd_u64((uint64_t)(WINDOW_S * 1e9));
	end->bytes = nd_u64((uint64_t)(goodput_bps * WINDOW_S / 8));
	end->broken_flows = nd_u64(0);
	end->ncores = f->ncpus;
	end->cores = rows(c->mem, f->ncpus, sizeof(*end->cores));
	for (i = 0; i < f->ncpus; i++)
		fixture_set_core(end, i, busy, busy / 2);
	end->nflows = streams;
	end->flows = rows(c->mem, streams, sizeof(*end->flows));
	for (i = 0; i < streams; i++)
		fill_flow(&end->flows[i], i, sender);
	c->links = rows(c->mem, 1, sizeof(*c->links));
	c->nlinks = 1;
	c->links->ifindex = nd_u64(2);
	c->links->tx_bytes = nd_u64(sender ? (uint64_t)(goodput_bps * WINDOW_S / 8 * 1.05) : 0);
	c->links->rx_bytes = nd_u64(sender ? 0 : (uint64_t)(goodput_bps * WINDOW_S / 8 * 1.05));
	c->nworkers = streams < f->ncpus ? streams : f->ncpus;
	c->workers = rows(c->mem, c->nworkers, sizeof(*c->workers));
	for (i = 0; i < c->nworkers; i++) {
		c->workers[i].worker = nd_u64(i);
		c->workers[i].cpu_us = nd_u64((uint64_t)(busy / 2 * WINDOW_S * 1e6));
		c->workers[i].run_delay_us = nd_u64(0);
	}
}

void fixture_set_core(struct run_end *end, size_t i, double busy, double softirq)
{
	end->cores[i] = (struct core_load){
		.cpu = nd_u64(i), .busy = nd_f64(busy), .user = nd_f64(0.02 * busy),
		.system = nd_f64(0.98 * busy - softirq), .softirq = nd_f64(softirq),
		.irq = nd_f64(0), .steal = nd_f64(0),
	};
}

struct run *fixture_run(struct exam *e, enum run_direction d, double goodput_bps,
			unsigned int streams, double busy)
{
	struct run *r = arena_append_row(e->mem, (void **)&e->runs, &e->nruns, sizeof(*r));
	int s;

	assert_non_null(r);
	r->id = nd_str(d == RUN_FORWARD ? "1-forward-all-streams" : "2-reverse-all-streams");
	r->purpose = RUN_ALL_STREAMS;
	r->status = RUN_COMPLETE;
	r->spec = (struct run_spec){
		.direction = d, .streams = streams, .block_bytes = RUN_DEFAULT_BLOCK_BYTES,
		.warmup_ms = 1000, .window_ms = (uint64_t)(WINDOW_S * 1000),
	};
	r->seconds = nd_f64(WINDOW_S);
	r->goodput_bps = nd_u64((uint64_t)goodput_bps);
	r->retransmits = nd_u64(0);
	r->loss = nd_f64(0);
	for (s = 0; s < EXAM_ENDS; s++)
		if (e->facts[s])
			fill_end(&r->ends[s], e->facts[s], streams, run_sender(d) == (enum side)s,
				 goodput_bps, busy);
	return r;
}

struct qdisc_facts *fixture_add_qdisc(struct exam *e, enum side s, const char *kind,
				      uint64_t rate_bps)
{
	struct facts *f = fixture_facts(e, s);
	struct qdisc_facts *q = arena_append_row(f->mem, (void **)&f->qdiscs, &f->nqdiscs,
						 sizeof(*q));

	assert_non_null(q);
	q->ifindex = nd_u64(2);
	q->handle = nd_u64(0x80010000 + (f->nqdiscs << 16));
	q->parent = nd_u64(0xffffffff);
	q->is_class = nd_bool(false);
	q->kind = nd_str(kind);
	q->rate_bps = rate_bps ? nd_u64(rate_bps) : nd_u64_unknown(ND_NOT_APPLICABLE);
	return q;
}

struct pci_facts *fixture_pci(struct exam *e, enum side s, const char *address)
{
	struct facts *f = fixture_facts(e, s);
	size_t i;

	for (i = 0; i < f->npci; i++)
		if (nd_str_is(f->pci[i].address, address))
			return &f->pci[i];
	fail();
	return NULL;
}
