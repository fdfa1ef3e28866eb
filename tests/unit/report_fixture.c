/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/report_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/diagnose/rule.h"

const struct report_options fixture_options = {
	.width = 80, .utf8 = true, .created_ns = UINT64_C(1767225845000000000),
	.tool_version = "0.1.0",
};

static const struct rule cpu_rule = {
	.id = "cpu-softirq-bound-rx", .title = "One core does all the receiving",
	.scope = RULE_PER_RECEIVER,
	.references = "https://docs.kernel.org/networking/scaling.html\n"
		      "https://fasterdata.es.net/host-tuning/linux/",
};
static const struct rule ring_rule = {
	.id = "ring-rx-small", .title = "The receive ring is small", .scope = RULE_PER_HOST,
	.references = "https://docs.kernel.org/networking/ethtool-netlink.html",
};
static const struct rule pcie_rule = {
	.id = "pcie-link-downgraded", .title = "The PCIe link runs below its maximum",
	.scope = RULE_PER_HOST,
};
static const struct rule tso_rule = {
	.id = "offload-tso-off", .title = "Segmentation is not offloaded",
	.scope = RULE_PER_SENDER,
};
static const struct rule loss_rule = {
	.id = "cc-loss-bound", .title = "Loss keeps the congestion window small",
	.scope = RULE_PER_SENDER,
};
static const struct rule mps_rule = {
	.id = "pcie-mps-128", .title = "PCIe packets are small", .scope = RULE_PER_HOST,
};

static void *rows(struct diagnosis *d, size_t n, size_t size)
{
	void *p = arena_alloc_array(d->mem, n, size);

	assert_non_null(p);
	return p;
}

static struct diagnosis *new_diagnosis(enum verdict v, const char *summary)
{
	struct arena *mem = arena_new(0);
	struct diagnosis *d = mem ? arena_alloc(mem, sizeof(*d)) : NULL;

	assert_non_null(d);
	d->mem = mem;
	d->verdict = v;
	d->summary = summary;
	return d;
}

void fixture_free(struct diagnosis *d)
{
	arena_free(d->mem);
}

static void add_ladder(struct diagnosis *d, const struct ceiling *c, size_t n)
{
	d->ladder.ceilings = rows(d, n, sizeof(*c));
	d->ladder.n = n;
	for (size_t i = 0; i < n; i++)
		d->ladder.ceilings[i] = c[i];
}

static void add_direction(struct diagnosis *d, enum run_direction dir, double bps,
			  const struct ceiling *bottleneck, double explained)
{
	d->directions[d->ndirections++] = (struct direction_result){
		.direction = dir, .measured = bps >= 0, .measured_bps = bps,
		.target_bps = nd_f64_unknown(ND_NOT_APPLICABLE), .bottleneck = bottleneck,
		.explained = bottleneck ? nd_f64(explained) : nd_f64_unknown(ND_ABSENT),
	};
}

#define WIRE(side_, dir_) \
	{ .kind = CEILING_WIRE, .side = (side_), .direction = (dir_), .known = true, \
	  .low_bps = 9.415e9, .high_bps = 9.415e9, .basis = BASIS_COMPUTED, .subject = "eth0", \
	  .formula = "line_rate * mss / (mtu + 38)", .ninputs = 2, \
	  .inputs = { { "line_rate", 1e10, UNIT_BITS_PER_SECOND }, { "mtu", 1500, UNIT_BYTES } } }

static void add_limited_ladder(struct diagnosis *d)
{
	const struct ceiling c[] = {
		WIRE(SIDE_LOCAL, RUN_FORWARD), WIRE(SIDE_PEER, RUN_FORWARD),
		{ .kind = CEILING_PCIE, .side = SIDE_LOCAL, .direction = RUN_FORWARD, .known = true,
		  .low_bps = 27e9, .high_bps = 28.8e9, .subject = "0000:3b:00.0" },
		{ .kind = CEILING_CPU, .side = SIDE_PEER, .direction = RUN_FORWARD, .known = true,
		  .low_bps = 6.04e9, .high_bps = 6.35e9, .basis = BASIS_MEASURED,
		  .subject = "cpu 3", .formula = "goodput / busy", .ninputs = 2,
		  .inputs = { { "goodput", 6.04e9, UNIT_BITS_PER_SECOND },
			      { "busy", 0.98, UNIT_SHARE } } },
		{ .kind = CEILING_CPU, .side = SIDE_LOCAL, .direction = RUN_FORWARD, .known = true,
		  .low_bps = 20e9, .high_bps = HUGE_VAL, .basis = BASIS_MEASURED },
		{ .kind = CEILING_LOSS, .side = SIDE_PATH, .direction = RUN_FORWARD,
		  .why_unknown = "no loss was seen, so it sets no limit yet" },
		{ .kind = CEILING_PCIE, .side = SIDE_PEER, .direction = RUN_FORWARD,
		  .why_unknown = "the PCIe link of eth0 at the peer was not readable; "
				 "run serve as root" },
		WIRE(SIDE_LOCAL, RUN_REVERSE), WIRE(SIDE_PEER, RUN_REVERSE),
	};

	add_ladder(d, c, ARRAY_SIZE(c));
}

static void fill_cpu_finding(struct finding *f)
{
	*f = (struct finding){
		.rule = &cpu_rule, .rank = 1, .severity = SEVERITY_CRITICAL, .proof = PROOF_CAUSAL,
		.confidence = 0.9, .side = SIDE_PEER, .has_direction = true,
		.direction = RUN_FORWARD, .subject = "cpu 3",
		.title = "One core of the peer is full: cpu 3 is 98 % busy receiving, 91 % of "
			 "it in softirqs",
		.why = "All flows are steered to one receive queue, whose interrupts one core "
		       "serves. When that core is full, packets wait in the ring and are "
		       "dropped, and TCP slows down to what the core can do.",
		.nevidence = 3,
		.evidence = {
			{ .fact = "runs[1-forward-all-streams].peer.cores[3].busy", .value = 0.98,
			  .unit = UNIT_SHARE, .threshold = ">= 90 %", .source = "/proc/stat" },
			{ .fact = "runs[1-forward-all-streams].peer.cores[3].softirq",
			  .value = 0.91, .unit = UNIT_SHARE, .threshold = ">= 50 %",
			  .source = "/proc/stat" },
			{ .fact = "peer.links[eth0].driver", .text = "ixgbe",
			  .source = "ethtool DRVINFO" },
		},
		.lifts = CEILING_CPU, .after_known = true, .after_low_bps = 12e9,
		.after_high_bps = 24e9, .gain_known = true, .gain_low_bps = 3.37e9,
		.gain_high_bps = 3.37e9, .rate_low_bps = 9.41e9, .rate_high_bps = 9.41e9,
		.fix = "Spread the receive queues over the cores of the NIC's NUMA node.",
		.commands = { "ethtool -L eth0 combined 4", "ethtool -X eth0 equal 4" },
		.ncommands = 2,
		.persist = { "nmcli con mod eth0 ethtool.channels-combined 4" }, .npersist = 1,
		.undo = { "ethtool -L eth0 combined 1" }, .nundo = 1, .risk = RISK_QUEUE_RESTART,
		.also = { "rss-single-queue", "irq-stacked-one-cpu" }, .nalso = 2,
	};
}

static void fill_ring_finding(struct finding *f)
{
	*f = (struct finding){
		.rule = &ring_rule, .rank = 2, .severity = SEVERITY_LOW, .proof = PROOF_STATIC,
		.confidence = 0.3, .side = SIDE_LOCAL, .subject = "eth0",
		.title = "eth0 has 512 receive descriptors of 4096",
		.why = "A burst that is longer than the ring is dropped by the card.",
		.nevidence = 2,
		.evidence = {
			{ .fact = "local.links[eth0].rx_ring", .value = 512, .unit = UNIT_COUNT,
			  .threshold = "< 1024", .source = "ethtool RINGS_GET" },
			{ .fact = "local.links[eth0].rx_ring_max", .value = 4096,
			  .unit = UNIT_COUNT, .source = "ethtool RINGS_GET" },
		},
		.fix = "Make the ring larger.", .commands = { "ethtool -G eth0 rx 4096" },
		.ncommands = 1, .undo = { "ethtool -G eth0 rx 512" }, .nundo = 1,
		.risk = RISK_LINK_FLAP,
	};
}

static void add_rest(struct diagnosis *d)
{
	const struct ruled_out out[] = {
		{ &pcie_rule, "0000:3b:00.0 runs at its 5 GT/s x8" },
		{ &pcie_rule, "0000:3b:00.0 of the peer runs at its 5 GT/s x8" },
		{ &tso_rule, "tx-tcp-segmentation is on at the local eth0" },
		{ &loss_rule, "no segment was sent again" },
	};
	const struct unseen unseen[] = {
		{ &mps_rule, "local.pci[0000:3b:00.0].payload_bytes: not permitted",
		  "run netdoctor as root" },
		{ &pcie_rule, "local.pci[0000:3b:00.0].payload_bytes: not permitted",
		  "run netdoctor as root" },
		{ &ring_rule, "peer.links[eth0].rx_ring: not supported", NULL },
	};

	d->nruled_out = ARRAY_SIZE(out);
	d->ruled_out = rows(d, d->nruled_out, sizeof(*out));
	for (size_t i = 0; i < d->nruled_out; i++)
		d->ruled_out[i] = out[i];
	d->nunseen = ARRAY_SIZE(unseen);
	d->unseen = rows(d, d->nunseen, sizeof(*unseen));
	for (size_t i = 0; i < d->nunseen; i++)
		d->unseen[i] = unseen[i];
}

struct diagnosis *fixture_limited(const struct exam *e)
{
	struct diagnosis *d = new_diagnosis(
		VERDICT_LIMITED,
		"From alpha to beta 6.04 Gbit/s of 9.41 arrive because one core of beta is full of "
		"receiving; spreading its queues would win 3.37 Gbit/s.");

	(void)e;
	add_limited_ladder(d);
	add_direction(d, RUN_FORWARD, 6.04e9, &d->ladder.ceilings[3], 1);
	add_direction(d, RUN_REVERSE, 9.38e9, &d->ladder.ceilings[7], 0.996);
	d->nfindings = 2;
	d->findings = rows(d, 2, sizeof(*d->findings));
	fill_cpu_finding(&d->findings[0]);
	fill_ring_finding(&d->findings[1]);
	d->nplan = 1;
	d->plan = rows(d, 1, sizeof(*d->plan));
	d->plan[0] = (struct plan_step){ &d->findings[0], 6.04e9, 9.41e9 };
	add_rest(d);
	return d;
}

struct diagnosis *fixture_healthy(const struct exam *e)
{
	const struct ceiling c[] = {
		WIRE(SIDE_LOCAL, RUN_FORWARD), WIRE(SIDE_PEER, RUN_FORWARD),
		WIRE(SIDE_LOCAL, RUN_REVERSE), WIRE(SIDE_PEER, RUN_REVERSE),
	};
	struct diagnosis *d = new_diagnosis(
		VERDICT_HEALTHY, "Both directions carry what the 10 Gbit/s link can: 9.41 Gbit/s.");

	(void)e;
	add_ladder(d, c, ARRAY_SIZE(c));
	add_direction(d, RUN_FORWARD, 9.41e9, &d->ladder.ceilings[0], 1);
	add_direction(d, RUN_REVERSE, 9.41e9, &d->ladder.ceilings[2], 1);
	d->directions[0].target_bps = nd_f64(9e9);
	return d;
}

struct diagnosis *fixture_blind(const struct exam *e)
{
	const struct ceiling c[] = {
		{ .kind = CEILING_WIRE, .side = SIDE_LOCAL, .direction = RUN_FORWARD,
		  .why_unknown = "the egress link is not known" },
		{ .kind = CEILING_CPU, .side = SIDE_PEER, .direction = RUN_FORWARD },
	};
	struct diagnosis *d = new_diagnosis(VERDICT_INCONCLUSIVE, "Nothing could be measured.");

	(void)e;
	add_ladder(d, c, ARRAY_SIZE(c));
	add_direction(d, RUN_FORWARD, -1, NULL, 0);
	add_rest(d);
	return d;
}

struct diagnosis *fixture_check(const struct exam *e)
{
	struct diagnosis *d = new_diagnosis(VERDICT_LIMITED, "One thing to look at on alpha.");

	(void)e;
	d->nfindings = 1;
	d->findings = rows(d, 1, sizeof(*d->findings));
	fill_ring_finding(&d->findings[0]);
	d->findings[0].rank = 1;
	add_rest(d);
	return d;
}

void fixture_say_everywhere(struct exam *e, struct diagnosis *d, const char *s)
{
	struct run *r = &e->runs[0];
	struct finding *f = &d->findings[0];

	build_facts(e, SIDE_PEER)->host.hostname = nd_str(s);
	build_link(e, SIDE_PEER)->name = nd_str(s);
	build_link(e, SIDE_PEER)->driver = nd_str(s);
	e->path.peer_address = nd_str(s);
	e->problem = nd_str(s);
	r->status = RUN_INCOMPLETE;
	r->problem = nd_str(s);
	r->id = nd_str(s);
	r->ends[SIDE_PEER].problem = nd_str(s);
	r->ends[SIDE_PEER].ncores = 0;
	d->summary = d->ladder.ceilings[3].subject = d->ladder.ceilings[5].why_unknown = s;
	d->ladder.ceilings[3].inputs[0].name = d->ladder.ceilings[3].formula = s;
	f->subject = f->title = f->why = f->fix = f->commands[0] = f->persist[0] = f->undo[0] =
		s;
	f->evidence[0].fact = f->evidence[0].threshold = f->evidence[0].source = s;
	f->evidence[2].text = s;
	d->ruled_out[0].because = d->unseen[0].missing = d->unseen[0].how = s;
}

void fixture_spoil_numbers(struct diagnosis *d)
{
	d->directions[0].measured_bps = 0;
	d->directions[0].explained = nd_f64(NAN);
	d->ladder.ceilings[0].low_bps = NAN;
	d->ladder.ceilings[1].high_bps = HUGE_VAL;
	d->ladder.ceilings[2].low_bps = d->ladder.ceilings[2].high_bps = 0;
	d->ladder.ceilings[3].low_bps = d->ladder.ceilings[3].high_bps = -1e30;
	d->findings[0].evidence[0].value = NAN;
	d->findings[0].rate_high_bps = HUGE_VAL;
	d->findings[0].confidence = NAN;
}
