/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/loss.h"

#include <math.h>

#include "rules/nic_counters.h"
#include "rules/softnet.h"
#include "rules/thresholds.h"

static const char *run_fact(const struct rule_input *in, struct rule_output *out, enum side s,
			    const char *rest)
{
	return rule_text(out, "runs[%s].%s.%s",
			 in->run->id.k == ND_KNOWN ? in->run->id.v : "?", side_word(s), rest);
}

static void add(struct loss_places *l, enum side side, const char *fact, const char *source,
		double drops, bool aggregates)
{
	if (drops > 0 && l->n < LOSS_PLACES)
		l->places[l->n++] = (struct loss_place){ side, fact, source, drops, aggregates };
}

static double value(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (double)v.v : 0;
}

static const char *link_fact(const struct rule_input *in, struct rule_output *out, enum side s,
			     const struct link_facts *port, const char *member)
{
	return run_fact(in, out, s, rule_text(out, "links[%s].%s", port->name.k == ND_KNOWN ?
					      port->name.v : "?", member));
}

/* The sender's qdiscs and its port.  A parent counts its children's drops: the largest is all. */
static void look_at_sender(const struct rule_input *in, struct rule_output *out,
			   const struct run_end *end, enum side s, struct loss_places *l)
{
	const struct link_facts *egress = exam_egress(in->exam, s), *port = exam_port(in->exam, s);
	const struct link_sample *sample = port && port->ifindex.k == ND_KNOWN ?
					   counters_link(end->window, port->ifindex.v) : NULL;
	double most = 0, link = sample ? value(sample->tx_dropped) : 0;
	size_t i;

	for (i = 0; i < end->window->nqdiscs; i++) {
		const struct qdisc_sample *q = &end->window->qdiscs[i];

		if ((egress && egress->ifindex.k == ND_KNOWN &&
		     nd_u64_is(q->ifindex, egress->ifindex.v)) ||
		    (port && port->ifindex.k == ND_KNOWN &&
		     nd_u64_is(q->ifindex, port->ifindex.v)))
			most = fmax(most, value(q->drops));
	}
	if (!port || most >= link)
		add(l, s, run_fact(in, out, s, "qdiscs[*].drops"), "rtnetlink TCA_STATS2", most,
		    true);
	else
		add(l, s, link_fact(in, out, s, port, "tx_dropped"), "IFLA_STATS64", link, true);
}

/* The receiver's port: its drivers count one drop in several places, so the largest is all. */
static void look_at_port(const struct rule_input *in, struct rule_output *out,
			 const struct run_end *end, enum side s, struct loss_places *l)
{
	const struct link_facts *port = exam_port(in->exam, s);
	const struct link_sample *sample = port && port->ifindex.k == ND_KNOWN ?
					   counters_link(end->window, port->ifindex.v) : NULL;
	struct nic_count ring = nic_count_of(end, port, NIC_RX_EXHAUSTED);
	double dropped = sample ? value(sample->rx_dropped) : 0;
	double missed = sample ? value(sample->rx_missed_errors) : 0;
	double exhausted = ring.k == ND_KNOWN ? ring.value : 0;

	if (!sample)
		return;
	if (exhausted > 0 && exhausted >= fmax(dropped, missed))
		add(l, s, nic_fact(out, in->run, s, port, &ring, "rx_missed_errors"),
		    nic_source(&ring), exhausted, false);
	else if (missed >= dropped)
		add(l, s, link_fact(in, out, s, port, "rx_missed_errors"), "IFLA_STATS64", missed,
		    false);
	else
		add(l, s, link_fact(in, out, s, port, "rx_dropped"), "IFLA_STATS64", dropped,
		    nic_is_software(port));
	add(l, s, link_fact(in, out, s, port, "rx_crc_errors"), "IFLA_STATS64",
	    value(sample->rx_crc_errors), false);
}

static void look_at_stack(const struct rule_input *in, struct rule_output *out,
			  const struct run_end *end, enum side s, struct loss_places *l)
{
	static const char *const names[] = { "TcpExtTCPBacklogDrop", "TcpInCsumErrors" };
	struct softnet_sum backlog = softnet_sum_of(end);
	size_t i;

	add(l, s, run_fact(in, out, s, "softnet[*].dropped, our part"), "/proc/net/softnet_stat",
	    backlog.k == ND_KNOWN ?
	    backlog.dropped * softnet_our_part(end, exam_port(in->exam, s)) : 0, true);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		add(l, s, run_fact(in, out, s, rule_text(out, "mibs[%s]", names[i])),
		    "/proc/net/netstat", value(counters_mib(end->window, names[i])), true);
}

bool loss_find(const struct rule_input *in, struct rule_output *out, struct loss_places *l)
{
	enum side sender = run_sender(in->direction), receiver = run_receiver(in->direction);
	const struct run_end *tx = &in->run->ends[sender], *rx = &in->run->ends[receiver];
	struct nd_u64 late = END_FLOW_SUM(tx, dsack_dups);
	size_t i;

	*l = (struct loss_places){ 0 };
	if (!rule_loss_of(in->exam, in->direction, &l->loss)) {
		rule_missing(out, rule_text(out, "runs[%s].loss", in->run->id.v),
			     !in->end->present ? ND_UNREAD : in->run->loss.k != ND_KNOWN ?
			     in->run->loss.k : in->run->retransmits.k, NULL);
		return false;
	}
	if (l->loss.events < LOSS_MIN_EVENTS) {
		rule_clear(out, "losses: %.0f; fewer than %d say nothing", l->loss.events,
			   LOSS_MIN_EVENTS);
		return false;
	}
	if (late.k == ND_KNOWN && l->loss.counted > 0)
		l->late = fmin(1, (double)late.v / l->loss.counted);
	l->seen[sender] = tx->present && tx->window;
	l->seen[receiver] = rx->present && rx->window;
	if (l->seen[sender])
		look_at_sender(in, out, tx, sender, l);
	if (l->seen[receiver]) {
		look_at_port(in, out, rx, receiver, l);
		look_at_stack(in, out, rx, receiver, l);
		if (l->loss.datagrams)
			add(l, receiver, run_fact(in, out, receiver, "flows[*].socket_drops"),
			    "SK_MEMINFO_DROPS", l->loss.sockets.k == ND_KNOWN ?
			    l->loss.sockets.v : 0, false);
	}
	for (i = 0; i < l->n; i++) {
		double losses = l->places[i].aggregates ? l->loss.events : l->loss.segments;

		if (losses > 0)
			l->explained += l->places[i].drops / losses;
	}
	l->explained = fmin(1, l->explained);
	return true;
}

bool loss_both_seen(const struct rule_input *in, struct rule_output *out,
		    const struct loss_places *l)
{
	if (l->seen[SIDE_LOCAL] && l->seen[SIDE_PEER])
		return true;
	rule_missing(out, rule_text(out, "runs[%s].%s.links", in->run->id.v,
				    side_word(l->seen[SIDE_LOCAL] ? SIDE_PEER : SIDE_LOCAL)),
		     ND_UNREAD, NULL);
	return false;
}

const struct loss_place *loss_worst(const struct loss_places *l)
{
	const struct loss_place *worst = NULL;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!worst || l->places[i].drops > worst->drops)
			worst = &l->places[i];
	return worst;
}

void loss_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
		   const struct loss_places *l)
{
	const char *id = in->run->id.k == ND_KNOWN ? in->run->id.v : "?";
	size_t i;

	finding_number(out, f, rule_text(out, "runs[%s].%s.loss events", id,
					 side_word(run_sender(in->direction))),
		       l->loss.events, UNIT_COUNT, rule_text(out, ">= %d", LOSS_MIN_EVENTS),
		       l->loss.datagrams ? "the datagrams' numbers, at the receiver" :
		       l->loss.events_counted ? "/proc/net/netstat" : "TCP_INFO");
	finding_number(out, f, "explained by the hosts' drop counters", l->explained, UNIT_SHARE,
		       rule_text(out, ">= %g here, < %g on the path", LOSS_LOCAL_SHARE,
				 LOSS_PATH_SHARE), "sum of the counters below");
	for (i = 0; i < l->n; i++)
		finding_number(out, f, l->places[i].fact, l->places[i].drops, UNIT_PACKETS, NULL,
			       l->places[i].source);
}
