/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/tell_link.h"

#include <string.h>

#include "src/core/units.h"

enum { VALUE_CAP = 48 };

/* Adds "WHAT value" in its unit, or "WHAT not known (why)"; n/a says nothing. */
static void add_number(struct text *line, const char *what, struct nd_u64 v, enum unit u)
{
	char value[VALUE_CAP];
	const char *comma = line->len ? ", " : "";

	if (v.k == ND_NOT_APPLICABLE)
		return;
	if (v.k == ND_KNOWN) {
		format_quantity((double)v.v, u, value, sizeof(value));
		text_printf(line, "%s%s%s%s", comma, what, *what ? " " : "", value);
	} else {
		text_printf(line, "%s%s%snot known (%s)", comma, what, *what ? " " : "",
			    nd_known_word(v.k));
	}
}

static void add_word(struct text *line, const char *what, struct nd_str v)
{
	if (v.k != ND_KNOWN)
		return;
	text_printf(line, "%s%s%s%s", line->len ? ", " : "", what, *what ? " " : "", v.v);
}

/* "rx 512 of 4096" */
static void add_of(struct text *line, const char *what, struct nd_u64 v, struct nd_u64 max)
{
	if (v.k == ND_NOT_APPLICABLE)
		return;
	add_number(line, what, v, UNIT_NONE);
	if (v.k == ND_KNOWN && max.k == ND_KNOWN)
		text_printf(line, " of %llu", (unsigned long long)max.v);
}

static void add_switch(struct text *line, const char *what, struct nd_bool on)
{
	if (on.k == ND_NOT_APPLICABLE || on.k == ND_ABSENT)
		return;
	text_printf(line, "%s%s %s", line->len ? ", " : "", what,
		    on.k != ND_KNOWN ? nd_known_word(on.k)
		    : on.v	     ? "on"
				     : "off");
}

static void show(struct sheet *p, const char *label, struct text *line)
{
	if (line->failed)
		p->out->failed = true;
	else if (line->len)
		p->kind->field(p, label, line->data);
	text_free(line);
}

bool link_matters(const struct link_facts *l)
{
	if (nd_str_is(l->kind, "loopback"))
		return false;
	return nd_str_is(l->kind, "physical") || nd_is_true(l->up);
}

static void link_itself(struct sheet *p, const struct link_facts *l)
{
	struct text line = TEXT_INIT;

	add_word(&line, "", l->driver.k == ND_KNOWN ? l->driver : l->kind);
	add_number(&line, l->speed_mbps.k == ND_KNOWN ? "" : "speed", l->speed_mbps,
		   UNIT_MBIT_PER_SECOND);
	if (l->duplex.k == ND_KNOWN)
		text_printf(&line, " %s duplex", l->duplex.v);
	add_word(&line, "", l->operstate);
	add_number(&line, "mtu", l->mtu, UNIT_NONE);
	add_word(&line, "firmware", l->firmware);
	add_word(&line, "qdisc", l->qdisc);
	show(p, "link", &line);
}

static void add_pci_width(struct text *line, const struct pci_facts *d)
{
	char speed[VALUE_CAP], most[VALUE_CAP];

	if (d->speed_mtps.k != ND_KNOWN || d->width.k != ND_KNOWN) {
		text_printf(line, ", link not known (%s)",
			    nd_known_word(d->speed_mtps.k != ND_KNOWN ? d->speed_mtps.k
								      : d->width.k));
		return;
	}
	format_quantity((double)d->speed_mtps.v, UNIT_MEGATRANSFERS, speed, sizeof(speed));
	text_printf(line, ", %s x%llu", speed, (unsigned long long)d->width.v);
	if (d->max_speed_mtps.k != ND_KNOWN || d->max_width.k != ND_KNOWN)
		return;
	format_quantity((double)d->max_speed_mtps.v, UNIT_MEGATRANSFERS, most, sizeof(most));
	text_printf(line, " of %s x%llu", most, (unsigned long long)d->max_width.v);
}

/* One line for the card and each port above it; bounded against a loop in the facts. */
static void link_pci(struct sheet *p, const struct facts *f, const struct link_facts *l)
{
	const struct pci_facts *d =
		l->pci_address.k == ND_KNOWN ? facts_pci(f, l->pci_address.v) : NULL;

	for (size_t hops = 0; d && hops < f->npci; hops++) {
		struct text line = TEXT_INIT;

		add_word(&line, "", d->address);
		add_word(&line, "", d->type);
		add_pci_width(&line, d);
		if (d->payload_bytes.k == ND_KNOWN)
			add_number(&line, "payload", d->payload_bytes, UNIT_BYTES);
		if (d->numa_node.k == ND_KNOWN && d->numa_node.v >= 0)
			text_printf(&line, ", node %lld", (long long)d->numa_node.v);
		show(p, hops ? "" : "pcie", &line);
		d = d->parent.k == ND_KNOWN ? facts_pci(f, d->parent.v) : NULL;
	}
}

static void link_queues(struct sheet *p, const struct link_facts *l)
{
	struct text line = TEXT_INIT;

	add_of(&line, "combined", l->combined_channels, l->combined_channels_max);
	/* Drivers have either combined channels or separate ones. */
	if (l->rx_channels.k == ND_KNOWN || l->combined_channels.k != ND_KNOWN) {
		add_of(&line, "rx", l->rx_channels, l->rx_channels_max);
		add_of(&line, "tx", l->tx_channels, l->tx_channels_max);
	}
	if (l->rss_queues_used.k == ND_KNOWN)
		add_number(&line, "hashed over", l->rss_queues_used, UNIT_NONE);
	show(p, "queues", &line);
	add_of(&line, "rx", l->rx_ring, l->rx_ring_max);
	add_of(&line, "tx", l->tx_ring, l->tx_ring_max);
	show(p, "rings", &line);
	if (l->rx_usecs.k == ND_KNOWN)
		add_number(&line, "rx after", l->rx_usecs, UNIT_MICROSECONDS);
	if (l->tx_usecs.k == ND_KNOWN)
		add_number(&line, "tx after", l->tx_usecs, UNIT_MICROSECONDS);
	add_switch(&line, "adaptive rx", l->adaptive_rx);
	show(p, "irq", &line);
}

static void link_offloads(struct sheet *p, const struct facts *f, const struct link_facts *l)
{
	static const struct { const char *what, *feature; } shown[] = {
		{ "tso", "tx-tcp-segmentation" }, { "gso", "tx-generic-segmentation" },
		{ "gro", "rx-gro" }, { "lro", "rx-lro" }, { "rx checksum", "rx-checksum" },
		{ "tx checksum", "tx-checksum-ip-generic" }, { "scatter", "tx-scatter-gather" },
		{ "hash", "rx-hashing" },
	};
	struct text line = TEXT_INIT;

	for (size_t i = 0; l->ifindex.k == ND_KNOWN && i < ARRAY_SIZE(shown); i++)
		add_switch(&line, shown[i].what,
			   facts_feature_active(f, l->ifindex.v, shown[i].feature));
	show(p, "offloads", &line);
}

void tell_link(struct sheet *p, const struct facts *f, const struct link_facts *l)
{
	struct text heading = TEXT_INIT;

	text_printf(&heading, "%s", l->name.k == ND_KNOWN ? l->name.v : "(a link without a name)");
	p->kind->heading(p, heading.data);
	text_free(&heading);
	p->kind->open(p, BLOCK_LINK);
	link_itself(p, l);
	link_pci(p, f, l);
	link_queues(p, l);
	link_offloads(p, f, l);
	p->kind->close(p);
}

static void host_cpus(struct sheet *p, const struct facts *f)
{
	struct nd_str governor = f->ncpus ? f->cpus[0].governor : nd_str_unknown(ND_UNREAD);
	struct text line = TEXT_INIT;

	add_word(&line, "", f->host.cpu_model);
	if (f->host.cpus_online.k == ND_KNOWN)
		text_printf(&line, "%s%u online", line.len ? ", " : "",
			    nd_cpus_count(&f->host.cpus_online));
	if (f->host.cpus_allowed.k == ND_KNOWN && f->host.cpus_online.k == ND_KNOWN &&
	    nd_cpus_count(&f->host.cpus_allowed) < nd_cpus_count(&f->host.cpus_online))
		text_printf(&line, ", %u allowed to us", nd_cpus_count(&f->host.cpus_allowed));
	for (size_t i = 1; i < f->ncpus; i++)
		if (governor.k == ND_KNOWN && !nd_str_is(f->cpus[i].governor, governor.v))
			governor = nd_str("differs");
	add_word(&line, "governor", governor);
	show(p, "cpus", &line);
}

static void host_buffers(struct sheet *p, const struct sysctl_facts *s)
{
	struct text line = TEXT_INIT;

	add_number(&line, "tcp_rmem max", s->tcp_rmem_max, UNIT_BYTES);
	add_number(&line, "tcp_wmem max", s->tcp_wmem_max, UNIT_BYTES);
	add_number(&line, "rmem_max", s->rmem_max, UNIT_BYTES);
	add_number(&line, "wmem_max", s->wmem_max, UNIT_BYTES);
	add_number(&line, "backlog", s->netdev_max_backlog, UNIT_NONE);
	show(p, "buffers", &line);
	add_word(&line, "", s->tcp_congestion_control);
	add_word(&line, "default qdisc", s->default_qdisc);
	show(p, "tcp", &line);
}

void tell_host(struct sheet *p, const struct facts *f)
{
	struct text line = TEXT_INIT;

	p->kind->heading(p, "Host");
	p->kind->open(p, BLOCK_LINK);
	add_word(&line, "", f->host.hostname);
	add_word(&line, "", f->host.os);
	add_word(&line, "", f->host.kernel);
	if (f->host.virtualization.k == ND_KNOWN && !nd_str_is(f->host.virtualization, "none"))
		add_word(&line, "virtualised by", f->host.virtualization);
	if (f->host.container.k == ND_KNOWN && !nd_str_is(f->host.container, "none"))
		add_word(&line, "in a container of", f->host.container);
	show(p, "host", &line);
	host_cpus(p, f);
	host_buffers(p, &f->sysctl);
	p->kind->close(p);
}
