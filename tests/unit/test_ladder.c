/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/engine.h"

#include <stdarg.h>
#include <string.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/ladder_test.h"
#include "tests/unit/model_test.h"

static void wire_of_both_sides(void **state)
{
	struct exam *e = build_two_hosts();
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9 * GBIT);
	build_link(e, SIDE_PEER)->speed_mbps = nd_u64(25000);
	c = find(e, &l, RUN_FORWARD, CEILING_WIRE, SIDE_LOCAL);
	assert_true(c->known);
	assert_int_equal(c->basis, BASIS_COMPUTED);
	assert_string_equal(c->subject, "eth0");
	assert_near(c->low_bps, 10e9 * 1448 / 1538, 1);
	assert_near(c->high_bps, c->low_bps, 0);
	c = ladder_find(&l, RUN_FORWARD, CEILING_WIRE, SIDE_PEER);
	assert_near(c->high_bps, 25e9 * 1448 / 1538, 1);
	/* Without traffic in reverse the MTU says the same. */
	c = ladder_find(&l, RUN_REVERSE, CEILING_WIRE, SIDE_LOCAL);
	assert_near(c->high_bps, 10e9 * 1448 / 1538, 1);
	exam_free(e);
}

static void wire_under_a_vlan(void **state)
{
	struct exam *e = build_two_hosts();
	struct facts *f = build_facts(e, SIDE_LOCAL);
	struct link_facts *vlan = arena_append_row(f->mem, (void **)&f->links, &f->nlinks,
						   sizeof(*vlan));
	struct ladder l;

	(void)state;
	assert_non_null(vlan);
	vlan->ifindex = f->route.ifindex = nd_u64(9);
	vlan->kind = nd_str("vlan");
	vlan->lower_ifindex = nd_u64(BUILD_IFINDEX);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9 * GBIT);
	assert_near(find(e, &l, RUN_FORWARD, CEILING_WIRE, SIDE_LOCAL)->high_bps,
		    10e9 * 1448 / 1542, 1);
	exam_free(e);
}

static void wire_that_nobody_knows(void **state)
{
	struct exam *e = fixture_veth_exam(2);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9 * GBIT);
	c = find(e, &l, RUN_FORWARD, CEILING_WIRE, SIDE_LOCAL);
	assert_false(c->known);
	assert_string_equal(c->why_unknown, "a software link has no line rate");
	/* No bus, no limit of a bus: not even an unknown one. */
	assert_null(ladder_find(&l, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL));
	e->wishes.link_speed_bps = nd_u64(40000000000);
	c = find(e, &l, RUN_FORWARD, CEILING_WIRE, SIDE_LOCAL);
	assert_near(c->high_bps, 40e9 * 1448 / 1538, 1);
	exam_free(e);

	e = build_one_host();
	c = find(e, &l, RUN_FORWARD, CEILING_WIRE, SIDE_PEER);
	assert_false(c->known);
	assert_string_equal(c->why_unknown, "that host was not examined: run netdoctor there");
	exam_free(e);
}

static void pcie_of_sender_and_receiver(void **state)
{
	struct exam *e = build_two_hosts();
	const struct ceiling *rx, *tx;
	struct ladder l;

	(void)state;
	fixture_pcie_link(e, NULL, SIDE_PEER, 5000, 1);
	fixture_pcie_link(e, NULL, SIDE_LOCAL, 5000, 1);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 3 * GBIT);
	rx = find(e, &l, RUN_FORWARD, CEILING_PCIE, SIDE_PEER);
	tx = ladder_find(&l, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL);
	assert_true(rx->known && tx->known);
	assert_string_equal(rx->subject, FIXTURE_NIC);
	/* gen2 x1, MPS 256: 3.43 Gbit/s of layer 2, and the model's slack of 5 %. */
	assert_near(rx->low_bps / 1e9, 3.43 * 1448 / 1514, 0.02);
	assert_within(rx->high_bps, rx->low_bps * 1.05, 1e-9);
	assert_near(tx->low_bps / 1e9, 3.43 * 1448 / 1514, 0.07);
	assert_string_not_equal(rx->formula, tx->formula);
	/* Payload size not readable: the interval over all sizes found. */
	fixture_pci(e, SIDE_PEER, FIXTURE_NIC)->payload_bytes = nd_u64_unknown(ND_NOT_PERMITTED);
	rx = find(e, &l, RUN_FORWARD, CEILING_PCIE, SIDE_PEER);
	assert_near(rx->low_bps / 1e9, 2.96, 0.01);
	assert_near(rx->high_bps / 1e9, 3.45 * 1.05, 0.02);
	exam_free(e);
}

static void pcie_speed_under_traffic_counts(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9 * GBIT);
	struct pcie_path path;
	struct ladder l;

	(void)state;
	/* At rest 2.5 GT/s, under traffic 5: a power saving card is not downgraded. */
	fixture_pcie_link(e, r, SIDE_LOCAL, 5000, 8);
	fixture_pcie_link(e, NULL, SIDE_LOCAL, 2500, 8);
	pcie_path_of(e, SIDE_LOCAL, &path);
	assert_int_equal(path.n, 1);
	assert_near(path.hops[0].mtps, 5000, 0);
	assert_true(path.hops[0].under_load);
	assert_true(find(e, &l, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL)->low_bps > 20e9);
	exam_free(e);
}

static void narrowest_of_several_pcie_links(void **state)
{
	struct exam *e = build_two_hosts();
	struct facts *f = build_facts(e, SIDE_LOCAL);
	struct pci_facts rows[4] = { 0 };
	struct pcie_path path;
	struct ladder l;

	(void)state;
	/* NIC (x8) - switch's downstream port; switch's upstream port (x1) - root port. */
	rows[0] = *fixture_pci(e, SIDE_LOCAL, FIXTURE_NIC);
	rows[0].parent = nd_str("0000:39:04.0");
	rows[1] = rows[0];
	rows[1].address = nd_str("0000:39:04.0");
	rows[1].parent = nd_str("0000:38:00.0");
	rows[1].type = nd_str("downstream-port");
	rows[2] = rows[1];
	rows[2].address = nd_str("0000:38:00.0");
	rows[2].parent = nd_str(FIXTURE_PORT);
	rows[2].type = nd_str("upstream-port");
	rows[2].width = nd_u64(1);
	rows[3] = *fixture_pci(e, SIDE_LOCAL, FIXTURE_PORT);
	rows[3].width = nd_u64(1);
	f->pci = rows;
	f->npci = 4;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 3 * GBIT);
	pcie_path_of(e, SIDE_LOCAL, &path);
	assert_int_equal(path.n, 2);
	assert_string_equal(pcie_path_narrowest(&path)->device->address.v, "0000:38:00.0");
	assert_string_equal(pcie_path_narrowest(&path)->above->address.v, FIXTURE_PORT);
	assert_string_equal(find(e, &l, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL)->subject,
			    "0000:38:00.0");
	/* A ring of parents ends. */
	rows[3].parent = nd_str(FIXTURE_NIC);
	pcie_path_of(e, SIDE_LOCAL, &path);
	assert_true(path.n >= 2 && path.n <= PCIE_MAX_HOPS);
	exam_free(e);
}

static const char *why_no_pcie(struct exam *e)
{
	const struct ceiling *c;
	struct ladder l;

	c = find(e, &l, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL);
	assert_non_null(c);
	assert_false(c->known);
	assert_true(c->high_bps <= 0);
	return c->why_unknown;
}

static void pcie_links_that_tell_nothing(void **state)
{
	struct exam *e = build_two_hosts();
	struct pci_facts *nic = fixture_pci(e, SIDE_LOCAL, FIXTURE_NIC);
	struct pci_facts *port = fixture_pci(e, SIDE_LOCAL, FIXTURE_PORT);

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 3 * GBIT);
	port->removable = nd_bool(true);
	assert_non_null(strstr(why_no_pcie(e), "Thunderbolt"));
	port->removable = nd_bool(false);

	nic->device_id = nd_u64(0x37d0);	/* X722 */
	assert_non_null(strstr(why_no_pcie(e), "part of the chipset"));
	nic->device_id = nd_u64(0x10fb);
	nic->type = nd_str("integrated-endpoint");
	assert_non_null(strstr(why_no_pcie(e), "part of the chipset"));
	nic->type = nd_str("endpoint");

	nic->physical_function = nd_str("0000:3b:00.1");
	assert_non_null(strstr(why_no_pcie(e), "virtual function"));
	/* The physical function's link is the one that counts. */
	nic->physical_function = nd_str(FIXTURE_PORT);
	nic->speed_mtps = nic->width = nd_u64(0);
	assert_true(find(e, &(struct ladder){ 0 }, RUN_FORWARD, CEILING_PCIE, SIDE_LOCAL)->known);
	nic->physical_function = nd_str_unknown(ND_NOT_APPLICABLE);

	port->speed_mtps = nd_u64(4294967295);
	port->width = nd_u64(255);
	assert_non_null(strstr(why_no_pcie(e), "not visible"));
	build_link(e, SIDE_LOCAL)->pci_address = nd_str_unknown(ND_ABSENT);
	build_link(e, SIDE_LOCAL)->bus = nd_str("virtio");
	assert_non_null(strstr(why_no_pcie(e), "not on a PCI bus"));
	exam_free(e);
}

static void a_full_core_is_a_ceiling(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	build_hot_core(r, SIDE_PEER, 3, 0.98, 0.55);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_true(c->known);
	assert_int_equal(c->basis, BASIS_MEASURED);
	assert_string_equal(c->subject, "cpu 3");
	assert_near(c->low_bps / 1e9, 6, 1e-9);
	assert_near(c->high_bps / 1e9, 6.12, 0.005);
	/* The other side had room: no ceiling, an estimate. */
	c = ladder_find(&l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_false(c->known);
	assert_near(c->high_bps / 1e9, 30, 1e-6);
	assert_true(c->low_bps > 6e9 && c->low_bps < c->high_bps);
	assert_string_equal(c->why_unknown, "cpu 0 was 20 % busy: it had room");
	exam_free(e);
}

static void a_full_thread_or_all_cpus(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6 * GBIT);
	const struct ceiling *c;
	struct ladder l;
	double other;

	(void)state;
	r->ends[SIDE_LOCAL].window->workers[2].cpu_us = nd_u64(3900000);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_true(c->known);
	assert_string_equal(c->subject, "busiest thread");
	fixture_busy(r, 0.93);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_string_equal(c->subject, "all CPUs");
	/* Other work's part of the time could be ours: that is the high end. */
	assert_near(c->low_bps / 1e9, 6, 1e-9);
	other = ceiling_input_value(c, "other_work", 0);
	assert_true(other > 0.01 && other < 0.9);
	assert_near(c->high_bps / 1e9, 6 / (0.93 - other), 0.001);
	r->ends[SIDE_LOCAL].window->nworkers = 0;
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_near(c->high_bps / 1e9, 6 / 0.93, 0.001);
	exam_free(e);
}

static void cpus_of_one_machine_are_shared(void **state)
{
	struct exam *e = fixture_veth_exam(2);
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 60 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	fixture_busy(r, 0.99);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_int_equal(c->side, SIDE_BOTH);
	assert_string_equal(c->subject, "all CPUs");
	assert_ptr_equal(c, ladder_find(&l, RUN_FORWARD, CEILING_CPU, SIDE_PEER));
	/* The same CPUs carried more the other way round. */
	assert_true(c->high_bps < 90 * GBIT);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 90 * GBIT);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL);
	assert_near(c->low_bps / 1e9, 60, 1e-9);
	assert_near(c->high_bps / 1e9, 90, 1e-9);
	/* One core full, and by the receiver's thread: that side's. */
	fixture_busy(r, 0.3);
	build_hot_core(r, SIDE_LOCAL, 1, 0.99, 0.1);
	build_hot_core(r, SIDE_PEER, 1, 0.99, 0.1);
	r->ends[SIDE_PEER].window->workers[0].cpu_us = nd_u64(3950000);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_int_equal(c->side, SIDE_PEER);
	assert_true(c->known);
	assert_false(ladder_find(&l, RUN_FORWARD, CEILING_CPU, SIDE_LOCAL)->known);
	/* Full by nobody alone: both. */
	r->ends[SIDE_PEER].window->workers[0].cpu_us = nd_u64(2000000);
	c = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_int_equal(c->side, SIDE_BOTH);
	assert_string_equal(c->subject, "cpu 1");
	exam_free(e);
}

static void a_quota_is_a_ceiling_once_it_holds_back(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6 * GBIT);
	struct counters *c = r->ends[SIDE_PEER].window;
	const struct ceiling *cpu;
	struct ladder l;

	(void)state;
	fixture_quota(e, r, SIDE_PEER, 0.5, 0.6);
	cpu = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_true(cpu->known);
	assert_int_equal(cpu->basis, BASIS_CONFIGURED);
	assert_string_equal(cpu->subject, "cgroup quota");
	assert_within(cpu->high_bps, 6e9, 1e-6);
	/* Neither throttled nor used up: the cores decide. */
	c->cgroups[0].throttled_us = nd_u64(0);
	for (size_t i = 0; i < c->nworkers; i++)
		c->workers[i].cpu_us = nd_u64(200000);
	cpu = find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_false(cpu->known);
	exam_free(e);
}

static void an_end_nobody_watched_has_no_cpu_ceiling(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6 * GBIT);
	struct ladder l;

	(void)state;
	build_unseen_end(r, SIDE_PEER);
	assert_string_equal(find(e, &l, RUN_FORWARD, CEILING_CPU, SIDE_PEER)->why_unknown,
			    "that host was not watched: run netdoctor there");
	exam_free(e);
}

static void set_rtt(struct run_end *end, double loaded_us, uint64_t idle_us)
{
	for (size_t i = 0; i < end->nflows; i++) {
		end->flows[i].rtt_us = nd_f64(loaded_us);
		end->flows[i].min_rtt_us = nd_u64(idle_us);
	}
}

static void send_window(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 4.6 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	set_rtt(&r->ends[SIDE_LOCAL], 41500, 41500);
	c = find(e, &l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_LOCAL);
	assert_true(c->known);
	assert_int_equal(c->basis, BASIS_CONFIGURED);
	/* 0.606 a stream, eight of them. */
	assert_near(c->low_bps / 1e9, 8 * 0.606, 0.01);
	assert_near(c->high_bps, c->low_bps, 1);
	assert_true(ceiling_binds(c, 8 * 0.586e9));
	assert_null(ladder_find(&l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_PEER));
	/* SO_SNDBUF of 4 MB is cut to wmem_max, then doubled. */
	r->spec.sndbuf_bytes = 4194304;
	c = find(e, &l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_LOCAL);
	assert_within(c->low_bps, 8 * 0.75 * 2 * 212992 * 8 / 0.0415, 1e-9);
	r->spec.sndbuf_bytes = 0;
	build_facts(e, SIDE_LOCAL)->sysctl.tcp_wmem_max = nd_u64_unknown(ND_NOT_PERMITTED);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_LOCAL)->known);
	exam_free(e);
}

static void receive_window(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 4.6 * GBIT);
	struct facts *f = build_facts(e, SIDE_LOCAL);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	set_rtt(&r->ends[SIDE_PEER], 12000, 10000);
	/* 6.1: half of the buffer is window. */
	c = find(e, &l, RUN_REVERSE, CEILING_WINDOW_RECEIVE, SIDE_LOCAL);
	assert_within(c->low_bps, 8 * 0.5 * 6291456 * 8 / 0.012, 1e-9);
	assert_within(c->high_bps, 8 * 0.5 * 6291456 * 8 / 0.010, 1e-9);
	f->host.kernel = nd_str("6.12.0");
	c = find(e, &l, RUN_REVERSE, CEILING_WINDOW_RECEIVE, SIDE_LOCAL);
	assert_within(c->high_bps, 8 * 1.0 * 6291456 * 8 / 0.010, 1e-9);
	f->sysctl.tcp_moderate_rcvbuf = nd_u64(0);
	c = find(e, &l, RUN_REVERSE, CEILING_WINDOW_RECEIVE, SIDE_LOCAL);
	assert_within(c->high_bps, 8 * 131072 * 8 / 0.010, 1e-9);
	for (size_t i = 0; i < r->ends[SIDE_PEER].nflows; i++)
		r->ends[SIDE_PEER].flows[i].option_wscale = nd_bool(false);
	c = find(e, &l, RUN_REVERSE, CEILING_WINDOW_RECEIVE, SIDE_LOCAL);
	assert_within(c->high_bps, 8 * 65535.0 * 8 / 0.010, 1e-9);
	exam_free(e);
}

static void queues_do_not_make_a_window_bind(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.95 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	/* A shaper's queue made 40 ms of 0.1: what is in flight is far below the windows. */
	set_rtt(&r->ends[SIDE_LOCAL], 40000, 100);
	c = find(e, &l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_LOCAL);
	assert_true(c->low_bps > 4e9 && c->high_bps > 1e12);
	assert_false(ceiling_binds(c, 0.95e9));
	assert_true(ceiling_binds(c, 5.0e9));
	assert_false(ceiling_binds(c, 7.0e9));
	exam_free(e);
}

static void add_mib(struct counters *c, const char *name, uint64_t value)
{
	struct mib_sample *row = arena_append_row(c->mem, (void **)&c->mibs, &c->nmibs,
						  sizeof(*row));

	assert_non_null(row);
	row->name = nd_str(name);
	row->value = nd_u64(value);
}

static void loss_needs_enough_losses(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.3 * GBIT);
	const struct ceiling *c;
	struct ladder l;
	double low;

	(void)state;
	set_rtt(&r->ends[SIDE_LOCAL], 10000, 10000);
	r->loss = nd_f64(1e-3);
	r->retransmits = nd_u64(29);
	c = find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH);
	assert_false(c->known);
	assert_string_equal(c->why_unknown, "losses: 29; fewer than 30 do not set a rate");
	r->retransmits = nd_u64(500);
	c = find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_LOCAL);
	assert_true(c->known);
	assert_int_equal(c->side, SIDE_PATH);
	assert_near((c->low_bps + c->high_bps) / 2 / 1e6, 8 * 44.7, 1);
	/* An aggregate lost as a whole is one loss to congestion control. */
	add_mib(r->ends[SIDE_LOCAL].window, "TcpExtTCPSackRecovery", 40);
	low = c->low_bps;
	c = find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_LOCAL);
	assert_near(c->low_bps / low, sqrt(1e-3 / (40 / (0.3e9 / 8 * 4 / 1448))), 0.05);
	r->ends[SIDE_LOCAL].window->nmibs = 0;
	/* Retransmitted in vain is not lost. */
	r->ends[SIDE_LOCAL].flows[0].dsack_dups = nd_u64(480);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH)->known);
	r->ends[SIDE_LOCAL].flows[0].dsack_dups = nd_u64(0);
	r->ends[SIDE_LOCAL].flows[0].congestion_control = nd_str("bbr");
	c = find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH);
	assert_string_equal(c->why_unknown, "bbr does not follow a formula of single losses");
	r->loss = nd_f64_unknown(ND_UNREAD);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH)->known);
	exam_free(e);
}

static void datagrams_have_no_window_but_losses(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.8 * GBIT);
	struct flow_summary *f = &r->ends[SIDE_PEER].flows[0];
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	r->spec.protocol = RUN_UDP;
	r->spec.block_bytes = 1000;
	r->retransmits = nd_u64_unknown(ND_NOT_APPLICABLE);
	r->loss = nd_f64(0.2);
	f->packets = nd_u64(80000);
	f->lost = nd_u64(20000);
	f->socket_drops = nd_u64(20000);
	assert_null(find(e, &l, RUN_FORWARD, CEILING_WINDOW_SEND, SIDE_LOCAL));
	assert_near(ladder_find(&l, RUN_FORWARD, CEILING_WIRE, SIDE_LOCAL)->low_bps,
		    10e9 * 1000 / 1066, 1);
	c = ladder_find(&l, RUN_FORWARD, CEILING_WINDOW_RECEIVE, SIDE_PEER);
	assert_true(c->known);
	assert_near(c->low_bps, 0.8 * GBIT, 1);
	c = ladder_find(&l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH);
	assert_string_equal(c->why_unknown,
			    "datagrams lost on the way: 0; they do not set the rate");

	/* Half of them: each alone would let 0.9 Gbit/s pass. */
	f->socket_drops = nd_u64(10000);
	c = find(e, &l, RUN_FORWARD, CEILING_WINDOW_RECEIVE, SIDE_PEER);
	assert_near(c->high_bps, 0.9 * GBIT, 1);
	assert_near(ladder_find(&l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH)->high_bps, 0.9 * GBIT, 1);

	/* Who counted no drops of sockets cannot tell the one from the other. */
	f->socket_drops = nd_u64_unknown(ND_NOT_SUPPORTED);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_WINDOW_RECEIVE, SIDE_PEER)->known);
	c = ladder_find(&l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH);
	assert_near(c->high_bps, 0.8 * GBIT, 1);
	assert_string_equal(c->subject, "on the way or in the receiver's sockets");

	/* A few do not explain the rate. */
	r->loss = nd_f64(0.02);
	f->lost = nd_u64(1632);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH)->known);
	f->lost = nd_u64_unknown(ND_UNREAD);
	assert_false(find(e, &l, RUN_FORWARD, CEILING_LOSS, SIDE_PATH)->known);
	exam_free(e);
}

static void an_unread_exam_has_only_unknown_rows(void **state)
{
	struct exam *e = build_unread(), *other = build_two_hosts();
	struct run *r = build_run(other, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	struct ladder l = { 0 };

	(void)state;
	e->runs[e->nruns++] = *r;
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		e->runs[0].ends[s] = (struct run_end){ .present = true };
	assert_int_equal(ladder_build(e, e->mem, &l), 0);
	assert_true(l.n > 0);
	for (size_t i = 0; i < l.n; i++) {
		assert_false(l.ceilings[i].known);
		assert_non_null(l.ceilings[i].why_unknown);
	}
	assert_null(ladder_lowest(&l, RUN_FORWARD, CEILING_NONE));
	assert_null(ladder_bottleneck(&l, RUN_FORWARD, GBIT));
	/* The run's window belongs to the other. */
	e->nruns = 0;
	exam_free(e);
	exam_free(other);
}

/* A ladder by hand: wire 9.4, a shared CPU just above, losses that fit by themselves. */
static void the_bottleneck_is_the_cause_not_its_echo(void **state)
{
	struct ceiling rows[] = {
		{ .kind = CEILING_LOSS, .side = SIDE_PATH, .known = true, .low_bps = 7e9,
		  .high_bps = 9.3e9 },
		{ .kind = CEILING_WIRE, .known = true, .low_bps = 9.4e9, .high_bps = 9.4e9 },
		{ .kind = CEILING_CPU, .known = true, .low_bps = 9.2e9, .high_bps = 9.6e9 },
		{ .kind = CEILING_PCIE, .direction = RUN_REVERSE, .known = true, .low_bps = 1e9,
		  .high_bps = 1.1e9 },
	};
	struct ladder l = { rows, 4 };

	(void)state;
	assert_int_equal(ladder_lowest(&l, RUN_FORWARD, CEILING_NONE)->kind, CEILING_LOSS);
	assert_int_equal(ladder_lowest(&l, RUN_FORWARD, CEILING_LOSS)->kind, CEILING_WIRE);
	assert_int_equal(ladder_bottleneck(&l, RUN_FORWARD, 9.2e9)->kind, CEILING_WIRE);
	assert_int_equal(ladder_bottleneck(&l, RUN_FORWARD, 7e9)->kind, CEILING_LOSS);
	assert_int_equal(ladder_bottleneck(&l, RUN_REVERSE, 5e8)->kind, CEILING_PCIE);
	/* Above a hard limit: that limit, and a share above 1, not clipped. */
	assert_int_equal(ladder_bottleneck(&l, RUN_REVERSE, 3e9)->kind, CEILING_PCIE);
	assert_near(ceiling_explains(&rows[3], 3e9), 3 / 1.1, 1e-9);
	assert_near(ceiling_explains(&rows[1], 4.7e9), 0.5, 1e-9);
	assert_near(ceiling_explains(&rows[2], 9.3e9), 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_of_both_sides),
		cmocka_unit_test(wire_under_a_vlan),
		cmocka_unit_test(wire_that_nobody_knows),
		cmocka_unit_test(pcie_of_sender_and_receiver),
		cmocka_unit_test(pcie_speed_under_traffic_counts),
		cmocka_unit_test(narrowest_of_several_pcie_links),
		cmocka_unit_test(pcie_links_that_tell_nothing),
		cmocka_unit_test(a_full_core_is_a_ceiling),
		cmocka_unit_test(a_full_thread_or_all_cpus),
		cmocka_unit_test(cpus_of_one_machine_are_shared),
		cmocka_unit_test(a_quota_is_a_ceiling_once_it_holds_back),
		cmocka_unit_test(an_end_nobody_watched_has_no_cpu_ceiling),
		cmocka_unit_test(send_window),
		cmocka_unit_test(receive_window),
		cmocka_unit_test(queues_do_not_make_a_window_bind),
		cmocka_unit_test(loss_needs_enough_losses),
		cmocka_unit_test(datagrams_have_no_window_but_losses),
		cmocka_unit_test(an_unread_exam_has_only_unknown_rows),
		cmocka_unit_test(the_bottleneck_is_the_cause_not_its_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
