/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/ladder.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/model/limits.h"
#include "src/model/pcie.h"

/* A window's rate by its smoothed RTT was within this of the measured one. */
#define WINDOW_BINDS_SPREAD 0.15

const struct ceiling *ladder_find(const struct ladder *l, enum run_direction d, enum ceiling_kind k,
				  enum side s)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct ceiling *c = &l->ceilings[i];

		if (c->direction != d || c->kind != k)
			continue;
		/* CPUs both ends share answer for either; a loss has no side of its own. */
		if (c->side == s || c->side == SIDE_BOTH || c->side == SIDE_PATH)
			return c;
	}
	return NULL;
}

const struct ceiling *ladder_lowest(const struct ladder *l, enum run_direction d,
				    enum ceiling_kind except)
{
	const struct ceiling *lowest = NULL;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct ceiling *c = &l->ceilings[i];

		if (c->direction != d || !c->known)
			continue;
		if (except != CEILING_NONE && c->kind == except)
			continue;
		if (!lowest || c->high_bps < lowest->high_bps)
			lowest = c;
	}
	return lowest;
}

struct ceiling *ceiling_add(struct ladder_builder *b, const struct ladder_path *p,
			    enum ceiling_kind kind, enum side side)
{
	struct ceiling *c = arena_append_row(b->mem, (void **)&b->ladder->ceilings, &b->ladder->n,
					     sizeof(*c));

	if (!c) {
		b->failed = true;
		memset(&b->scratch, 0, sizeof(b->scratch));
		c = &b->scratch;
	}
	c->kind = kind;
	c->side = side;
	c->direction = p->direction;
	return c;
}

void ceiling_input(struct ceiling *c, const char *name, double value, enum unit unit)
{
	if (c->ninputs < CEILING_MAX_INPUTS)
		c->inputs[c->ninputs++] = (struct ceiling_input){ name, value, unit };
}

double ceiling_input_value(const struct ceiling *c, const char *name, double fallback)
{
	size_t i;

	for (i = 0; i < c->ninputs; i++)
		if (strcmp(c->inputs[i].name, name) == 0)
			return c->inputs[i].value;
	return fallback;
}

void ceiling_set(struct ceiling *c, double low_bps, double high_bps, enum ceiling_basis basis,
		 const char *formula)
{
	c->known = true;
	c->low_bps = low_bps;
	c->high_bps = high_bps;
	c->basis = basis;
	c->formula = formula;
}

static const char *format_text(struct ladder_builder *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static const char *format_text(struct ladder_builder *b, const char *fmt, va_list ap)
{
	char buf[256], *text;

	/* Names of devices are the only outside text: 15 bytes each. */
	vsnprintf(buf, sizeof(buf), fmt, ap);
	text = arena_strdup(b->mem, buf);
	if (!text)
		b->failed = true;
	return text ? text : "";
}

const char *ladder_text(struct ladder_builder *b, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = format_text(b, fmt, ap);
	va_end(ap);
	return text;
}

void ceiling_unknown(struct ladder_builder *b, struct ceiling *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	c->why_unknown = format_text(b, fmt, ap);
	va_end(ap);
	c->known = false;
}

void ceiling_unseen(struct ladder_builder *b, struct ceiling *c, const char *what)
{
	ceiling_unknown(b, c, "%s: %s", what, b->exam->problem.k == ND_KNOWN ? EXAM_BROKE_OFF :
			"run netdoctor there");
}

double path_segment(const struct ladder_path *p, const struct link_facts *link)
{
	bool mtu_known = link && link->mtu.k == ND_KNOWN;

	if (p->packet.udp && p->mss > 0 && mtu_known)
		return wire_datagram_part(&p->packet, (double)link->mtu.v, p->mss);
	if (p->mss > 0)
		return p->mss;
	if (!mtu_known)
		return 0;
	return wire_mss_from_mtu(&p->packet, (double)link->mtu.v);
}

double path_frame(const struct ladder_path *p, double segment)
{
	return segment + wire_headers(&p->packet) + p->packet.tunnel_bytes + WIRE_L2_HEADER +
	       p->packet.vlan_tags * WIRE_VLAN_TAG;
}

/* "::ffff:10.0.0.1" is IPv4 on the wire. */
static unsigned int ip_version_of(const struct exam *exam)
{
	const struct nd_str *a = &exam->path.peer_address;

	if (a->k != ND_KNOWN)
		a = &exam->path.local_address;
	if (a->k != ND_KNOWN || !strchr(a->v, ':') || strchr(a->v, '.'))
		return 4;
	return 6;
}

static bool timestamps_on(const struct exam *exam, const struct ladder_path *p)
{
	const struct facts *f = exam->facts[run_sender(p->direction)];
	size_t i;

	for (i = 0; p->sender && p->sender->present && i < p->sender->nflows; i++)
		if (p->sender->flows[i].option_timestamps.k == ND_KNOWN)
			return p->sender->flows[i].option_timestamps.v;
	if (f && f->sysctl.tcp_timestamps.k == ND_KNOWN)
		return f->sysctl.tcp_timestamps.v != 0;
	return true;	/* every Linux since 2.4 has them on */
}

/* VLAN tags and encapsulation between the route's link and the wire of the sender. */
static void layers_below(const struct exam *exam, enum side side, struct wire_packet *packet)
{
	const struct facts *f = exam->facts[side];
	const struct link_facts *l = exam_egress(exam, side);
	int depth;

	/* Bounded: links in a hostile report may form a ring. */
	for (depth = 0; l && depth < 16; depth++) {
		if (nd_str_is(l->kind, "vlan"))
			packet->vlan_tags++;
		if (l->kind.k == ND_KNOWN)
			packet->tunnel_bytes += wire_tunnel_overhead(l->kind.v, packet->ip_version);
		/* A veth's lower link is its other end, not something below it. */
		if (l->lower_ifindex.k != ND_KNOWN || nd_str_is(l->kind, "veth"))
			return;
		l = facts_link(f, l->lower_ifindex.v);
	}
}

/* What one TCP segment carries; 0: not told. */
static double segment_of(const struct ladder_path *p)
{
	struct nd_u64 mss = END_FLOW_MIN(p->sender, snd_mss);

	/* Receivers learn the same from the segments; one-ended runs have only that. */
	if (mss.k != ND_KNOWN)
		mss = END_FLOW_MIN(p->receiver, rcv_mss);
	return mss.k == ND_KNOWN && mss.v >= 48 ? (double)mss.v : 0;
}

void ladder_path_init(const struct exam *exam, enum run_direction d, struct ladder_path *p)
{
	enum side seen;

	*p = (struct ladder_path){ .direction = d, .run = exam_main_run(exam, d), .streams = 1 };
	p->packet.ip_version = ip_version_of(exam);
	if (p->run) {
		p->sender = &p->run->ends[run_sender(d)];
		p->receiver = &p->run->ends[run_receiver(d)];
		p->measured_bps = (double)p->run->goodput_bps.v;
		p->streams = fmax(1, (double)p->run->spec.streams);
		p->packet.udp = p->run->spec.protocol == RUN_UDP;
		p->mss = p->packet.udp ? (double)p->run->spec.block_bytes : segment_of(p);
	}
	p->packet.timestamps = timestamps_on(exam, p);
	seen = exam->facts[run_sender(d)] ? run_sender(d) : run_receiver(d);
	layers_below(exam, seen, &p->packet);
}

bool rule_packet(const struct exam *e, enum run_direction d, enum side s, double *segment,
		 double *frame)
{
	struct ladder_path p;

	ladder_path_init(e, d, &p);
	*segment = path_segment(&p, exam_port(e, s));
	*frame = path_frame(&p, *segment);
	return *segment > 0;
}

int ladder_build(const struct exam *exam, struct arena *mem, struct ladder *out)
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	struct ladder_builder b = { .exam = exam, .mem = mem, .ladder = out };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		struct ladder_path p;

		ladder_path_init(exam, directions[i], &p);
		ladder_add_wire(&b, &p, SIDE_LOCAL);
		ladder_add_wire(&b, &p, SIDE_PEER);
		ladder_add_pcie(&b, &p, SIDE_LOCAL);
		ladder_add_pcie(&b, &p, SIDE_PEER);
		ladder_add_cpu(&b, &p);
		if (p.run && p.packet.udp) {
			ladder_add_datagrams(&b, &p);
		} else if (p.run) {
			ladder_add_windows(&b, &p);
			ladder_add_loss(&b, &p);
		}
		ladder_add_shaper(&b, &p);
	}
	return b.failed ? -ENOMEM : 0;
}

/* Upper end of a window's ceiling while the queues are as full as they were. */
static double window_loaded_high(const struct ceiling *c)
{
	double loaded = ceiling_input_value(c, "rtt_us", 0);
	double idle = ceiling_input_value(c, "min_rtt_us", 0);

	if (!(loaded > 0) || !(idle > 0) || idle > loaded)
		return c->high_bps;
	return c->high_bps * idle / loaded;
}

/* The interval in which a ceiling explains a measured rate by itself. */
static void explaining_interval(const struct ceiling *c, double *from, double *to)
{
	switch (c->kind) {
	case CEILING_WINDOW_SEND:
	case CEILING_WINDOW_RECEIVE:
		/* Its high end is for empty queues; at this rate they were as full as they were. */
		*from = c->low_bps * (1 - WINDOW_BINDS_SPREAD);
		*to = window_loaded_high(c) * (1 + WINDOW_BINDS_SPREAD);
		break;
	case CEILING_PCIE:
		*from = c->low_bps * PCIE_BINDS_FROM;
		/* The model's slack is in high_bps already. */
		*to = c->high_bps * PCIE_BINDS_TO / PCIE_MODEL_SLACK;
		break;
	default:
		*from = c->low_bps * LIMIT_BINDS_FROM;
		*to = c->high_bps * LIMIT_BINDS_TO;
		break;
	}
}

bool ceiling_binds(const struct ceiling *c, double measured_bps)
{
	double from, to;

	if (!c->known || !(measured_bps > 0))
		return false;
	explaining_interval(c, &from, &to);
	return measured_bps >= from && measured_bps <= to;
}

double ceiling_explains(const struct ceiling *c, double measured_bps)
{
	double high = c->high_bps;

	if (c->kind == CEILING_WINDOW_SEND || c->kind == CEILING_WINDOW_RECEIVE) {
		high = window_loaded_high(c);
		/* Faster than the window allows at this RTT: the RTT's mean was too high. */
		if (measured_bps > high && measured_bps <= c->high_bps)
			return ceiling_binds(c, measured_bps) ? 1 : measured_bps / c->high_bps;
	}
	if (measured_bps > high)
		return measured_bps / high;
	return measured_bps < c->low_bps ? measured_bps / c->low_bps : 1;
}

/* By arithmetic of hardware or configuration, not of queues that come and go. */
static bool is_hard(enum ceiling_kind k)
{
	return k == CEILING_WIRE || k == CEILING_PCIE || k == CEILING_SHAPER;
}

const struct ceiling *ladder_rate_limit(const struct ladder *l, enum run_direction d,
					double measured_bps)
{
	const struct ceiling *c = ladder_find(l, d, CEILING_SHAPER, run_sender(d));

	return c && ceiling_binds(c, measured_bps) ? c : NULL;
}

const struct ceiling *ladder_bottleneck(const struct ladder *l, enum run_direction d,
					double measured_bps)
{
	const struct ceiling *binding = NULL, *lowest;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct ceiling *c = &l->ceilings[i];

		/* Losses follow from whatever drops packets: any other cause comes first. */
		if (c->direction != d || c->kind == CEILING_LOSS || !ceiling_binds(c, measured_bps))
			continue;
		if (!binding || c->high_bps < binding->high_bps)
			binding = c;
	}
	lowest = ladder_lowest(l, d, CEILING_NONE);
	if (!binding)
		return lowest;
	/* A hard limit that the rate already exceeds is a wrong fact: show that. */
	if (is_hard(lowest->kind) && measured_bps > lowest->high_bps * LIMIT_BINDS_TO)
		return lowest;
	return binding;
}
