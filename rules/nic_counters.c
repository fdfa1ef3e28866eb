/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/nic_counters.h"

#include <string.h>

#define MAX_NAMES 3

/*
 * Rows are tried in order; the first with a counter that is there answers.  In names "*" stands
 * for anything ("rx_queue_*_drops"); the counters of a row are added up.
 */
struct nic_row {
	const char *driver;		/* "*": any */
	enum nic_event event;
	const char *names[MAX_NAMES];	/* the driver's own */
	size_t standard;		/* else this member of struct link_sample; 0: none */
	bool none;			/* the device has no such thing */
};

#define OWN(driver_, event_, ...) \
	{ .driver = (driver_), .event = (event_), .names = { __VA_ARGS__ } }
#define OWN_OR(driver_, event_, standard_, ...) \
	{ .driver = (driver_), .event = (event_), .names = { __VA_ARGS__ }, \
	  .standard = offsetof(struct link_sample, standard_) }
#define NONE(driver_, event_) { .driver = (driver_), .event = (event_), .none = true }
#define UNSEEN(driver_, event_) { .driver = (driver_), .event = (event_) }

/* Names and meanings: the drivers in Linux 6.12. */
static const struct nic_row table[] = {
	OWN("mlx5_core", NIC_RX_EXHAUSTED, "rx_out_of_buffer"),
	OWN("mlx4_en", NIC_RX_EXHAUSTED, "rx_dropped"),
	/* Its rx_missed_errors are the packet buffer's: the host was slow, not the ring small. */
	OWN("ixgbe", NIC_RX_EXHAUSTED, "rx_no_dma_resources"),
	OWN("igb", NIC_RX_EXHAUSTED, "rx_missed_errors", "rx_queue_*_drops"),
	OWN("igc", NIC_RX_EXHAUSTED, "rx_missed_errors", "rx_queue_*_drops"),
	OWN("bnxt_en", NIC_RX_EXHAUSTED, "rx_total_ring_discards"),
	OWN("bnxt_en", NIC_RX_EXHAUSTED, "[*]: rx_discards"),
	OWN("bnx2x", NIC_RX_EXHAUSTED, "[*]: rx_discards"),
	OWN_OR("cxgb4", NIC_RX_EXHAUSTED, rx_dropped, "rx_bg*_frames_dropped"),
	OWN("r8169", NIC_RX_EXHAUSTED, "rx_missed"),
	OWN_OR("atlantic", NIC_RX_EXHAUSTED, rx_dropped, "InDroppedDma"),
	OWN_OR("ena", NIC_RX_EXHAUSTED, rx_dropped, "rx_overruns"),
	OWN("gve", NIC_RX_EXHAUSTED, "rx_no_buffers_posted[*]"),
	OWN("sfc", NIC_RX_EXHAUSTED, "port_rx_nodesc_drops"),
	OWN("vmxnet3", NIC_RX_EXHAUSTED, "pkts rx OOB", "pkts rx OOB[*]"),
	OWN("mvneta", NIC_RX_EXHAUSTED, "rx_overrun", "rx_discard"),
	OWN("mvpp2", NIC_RX_EXHAUSTED, "rxq_*_queue_full_drops", "rxq_*_packets_bm_drops"),
	OWN("fsl_dpaa2_eth", NIC_RX_EXHAUSTED, "[hw] rx nobuffer discards"),
	/* Without an empty buffer of ours the host drops, and counts, on its side of the wall. */
	OWN("virtio_net", NIC_RX_EXHAUSTED, "rx*_hw_drop_overruns"),
	OWN("hv_netvsc", NIC_RX_EXHAUSTED, "rx_no_memory"),
	UNSEEN("virtio_net", NIC_RX_EXHAUSTED),
	UNSEEN("hv_netvsc", NIC_RX_EXHAUSTED),
	OWN_OR("*", NIC_RX_EXHAUSTED, rx_missed_errors, NULL),

	/* With priorities in use mlx5 counts by those, else as "global". */
	OWN("mlx5_core", NIC_PAUSE_RECEIVED, "rx_global_pause", "rx_prio*_pause"),
	OWN("mlx5_core", NIC_PAUSE_RECEIVED, "rx_pause_ctrl_phy"),
	OWN("mlx5_core", NIC_PAUSE_SENT, "tx_global_pause", "tx_prio*_pause"),
	OWN("mlx5_core", NIC_PAUSE_SENT, "tx_pause_ctrl_phy"),
	OWN("mlx5_core", NIC_PAUSE_RECEIVED_US, "rx_global_pause_duration",
	    "rx_prio*_pause_duration"),
	/* Without priorities all of mlx4's show the same number: one is enough. */
	OWN("mlx4_en", NIC_PAUSE_RECEIVED, "rx_pause"),
	OWN("mlx4_en", NIC_PAUSE_RECEIVED, "rx_pause_prio_*"),
	OWN("mlx4_en", NIC_PAUSE_SENT, "tx_pause"),
	OWN("mlx4_en", NIC_PAUSE_SENT, "tx_pause_prio_*"),
	OWN("mlx4_en", NIC_PAUSE_RECEIVED_US, "rx_pause_duration"),
	OWN("i40e", NIC_PAUSE_RECEIVED, "port.link_xoff_rx", "port.rx_priority_*_xoff_rx"),
	OWN("i40e", NIC_PAUSE_SENT, "port.link_xoff_tx", "port.tx_priority_*_xoff_tx"),
	OWN("ice", NIC_PAUSE_RECEIVED, "link_xoff_rx.nic", "rx_priority_*_xoff.nic"),
	OWN("ice", NIC_PAUSE_SENT, "link_xoff_tx.nic", "tx_priority_*_xoff.nic"),
	OWN("bnxt_en", NIC_PAUSE_RECEIVED_US, "pfc_pri*_rx_duration_us"),
	OWN("cxgb4", NIC_PAUSE_RECEIVED, "rx_pause_frames", "rx_ppp*_frames"),
	OWN("cxgb4", NIC_PAUSE_SENT, "tx_pause_frames", "tx_ppp*_frames"),
	OWN("tg3", NIC_PAUSE_RECEIVED, "rx_xoff_pause_rcvd"),
	OWN("tg3", NIC_PAUSE_SENT, "tx_xoff_sent"),
	OWN("sfc", NIC_PAUSE_RECEIVED, "port_rx_pause"),
	OWN("sfc", NIC_PAUSE_SENT, "port_tx_pause"),
	OWN("mvneta", NIC_PAUSE_RECEIVED, "good_fc_received"),
	OWN("mvneta", NIC_PAUSE_SENT, "fc_sent"),
	OWN("mvpp2", NIC_PAUSE_RECEIVED, "fc_received"),
	OWN("mvpp2", NIC_PAUSE_SENT, "fc_sent"),
	/* Devices without a wire of their own. */
	NONE("virtio_net", NIC_PAUSE_RECEIVED),
	NONE("virtio_net", NIC_PAUSE_SENT),
	NONE("ena", NIC_PAUSE_RECEIVED),
	NONE("ena", NIC_PAUSE_SENT),
	NONE("gve", NIC_PAUSE_RECEIVED),
	NONE("gve", NIC_PAUSE_SENT),
	NONE("hv_netvsc", NIC_PAUSE_RECEIVED),
	NONE("hv_netvsc", NIC_PAUSE_SENT),
	NONE("vmxnet3", NIC_PAUSE_RECEIVED),
	NONE("vmxnet3", NIC_PAUSE_SENT),
	/* ixgbe, igb, igc, e1000, e1000e; bnxt_en, bnx2x. */
	OWN("*", NIC_PAUSE_RECEIVED, "rx_flow_control_xoff", "rx_pb_*_pxoff"),
	OWN("*", NIC_PAUSE_SENT, "tx_flow_control_xoff", "tx_pb_*_pxoff"),
	OWN("*", NIC_PAUSE_RECEIVED, "rx_pause_frames"),
	OWN("*", NIC_PAUSE_SENT, "tx_pause_frames"),
};

/* "*" in the pattern stands for any text; brackets stand for themselves. */
static bool glob(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;

	/* Back to the last star only: no pattern needs more, and no name can make it slow. */
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_named(const struct nic_row *row, const char *name)
{
	size_t i;

	for (i = 0; i < MAX_NAMES && row->names[i]; i++)
		if (glob(row->names[i], name))
			return true;
	return false;
}

/* Adds up the driver's own counters of a row; false: it has none of them. */
static bool add_private(const struct counters *c, uint64_t ifindex, const struct nic_row *row,
			struct nic_count *count)
{
	double largest = -1;
	bool any = false;
	size_t i;

	for (i = 0; i < c->nnics; i++) {
		const struct nic_sample *s = &c->nics[i];

		if (!nd_u64_is(s->ifindex, ifindex) || s->name.k != ND_KNOWN ||
		    !is_named(row, s->name.v))
			continue;
		if (!any)
			*count = (struct nic_count){ .k = ND_KNOWN };
		any = true;
		/* One that was reset makes the sum unknown. */
		if (s->value.k != ND_KNOWN)
			count->k = s->value.k;
		count->value += (double)s->value.v;
		if ((double)s->value.v > largest) {
			largest = (double)s->value.v;
			count->name = s->name.v;
		}
	}
	return any;
}

static bool read_standard(const struct counters *c, uint64_t ifindex, const struct nic_row *row,
			  struct nic_count *count)
{
	static const struct { size_t offset; const char *name; } names[] = {
		{ offsetof(struct link_sample, rx_dropped), "rx_dropped" },
		{ offsetof(struct link_sample, rx_missed_errors), "rx_missed_errors" },
	};
	const struct link_sample *l = counters_link(c, ifindex);
	const struct nd_u64 *v;
	size_t i;

	if (!row->standard || !l)
		return false;
	v = (const struct nd_u64 *)((const char *)l + row->standard);
	*count = (struct nic_count){ .k = v->k, .value = (double)v->v, .standard = true };
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].offset == row->standard)
			count->name = names[i].name;
	return true;
}

/* Fills count and returns true when the row is the answer. */
static bool ask_row(const struct counters *c, uint64_t ifindex, const struct nic_row *row,
		    struct nic_count *count)
{
	if (row->none) {
		*count = (struct nic_count){ .k = ND_NOT_APPLICABLE };
		return true;
	}
	return add_private(c, ifindex, row, count) || read_standard(c, ifindex, row, count);
}

static bool is_unseen(const struct nic_row *row)
{
	return !row->names[0] && !row->standard && !row->none;
}

struct nic_count nic_count_of(const struct run_end *end, const struct link_facts *port,
			      enum nic_event event)
{
	struct nic_count count = { .k = ND_UNREAD };
	size_t i;

	if (!port || port->ifindex.k != ND_KNOWN || !end->present || !end->window)
		return count;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		const struct nic_row *row = &table[i];

		if (row->event != event ||
		    (strcmp(row->driver, "*") != 0 && !nd_str_is(port->driver, row->driver)))
			continue;
		/* The general answer does not hold for this driver. */
		if (is_unseen(row))
			break;
		if (ask_row(end->window, port->ifindex.v, row, &count))
			return count;
	}
	count.k = ND_NOT_SUPPORTED;
	return count;
}

bool nic_is_software(const struct link_facts *port)
{
	return port && port->kind.k == ND_KNOWN && !nd_str_is(port->kind, "physical");
}

const char *nic_fact(struct rule_output *out, const struct run *run, enum side s,
		     const struct link_facts *port, const struct nic_count *count,
		     const char *if_none)
{
	const char *id = run->id.k == ND_KNOWN ? run->id.v : "?", *side = side_word(s);
	const char *link = port && port->name.k == ND_KNOWN ? port->name.v : "?";

	if (count->standard)
		return rule_text(out, "runs[%s].%s.links[%s].%s", id, side, link, count->name);
	return rule_text(out, "runs[%s].%s.nics[%s,%s]", id, side, link,
			 count->name ? count->name : if_none);
}

const char *nic_source(const struct nic_count *count)
{
	return count->standard ? "IFLA_STATS64" : "ethtool -S";
}
