/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of rules.  A new rule is a file rules/<id>.c (start from
 * _template.c) that ends in `const struct rule rule_<id with underscores>`,
 * and one line here.
 */
#include "src/diagnose/rule.h"

#include <string.h>

/* X(symbol): in the order of the catalogue; ties in rank keep it. */
#define RULES(X) \
	X(rule_pcie_link_downgraded) \
	X(rule_pcie_slot_too_narrow) \
	X(rule_pcie_upstream_bottleneck) \
	X(rule_pcie_mps_128) \
	X(rule_link_speed_below_supported) \
	X(rule_link_half_duplex) \
	X(rule_link_peer_slower) \
	X(rule_mtu_blackhole) \
	X(rule_mtu_mismatch) \
	X(rule_mtu_path_lower) \
	X(rule_rss_single_queue) \
	X(rule_irq_stacked_one_cpu) \
	X(rule_cpu_softirq_bound_rx) \
	X(rule_cpu_app_bound) \
	X(rule_cpu_single_flow_limit) \
	X(rule_cpu_governor) \
	X(rule_cpu_steal) \
	X(rule_cpu_cgroup_throttled) \
	X(rule_cpu_affinity_narrow) \
	X(rule_cpu_contention) \
	X(rule_cpu_total_saturated) \
	X(rule_offload_tso_off) \
	X(rule_offload_gso_off) \
	X(rule_offload_gro_off) \
	X(rule_offload_tx_csum_off) \
	X(rule_offload_sg_off) \
	X(rule_ring_rx_exhausted) \
	X(rule_ring_rx_exhausted_saturated) \
	X(rule_ring_rx_small) \
	X(rule_pause_received) \
	X(rule_pause_sent) \
	X(rule_tcp_rcvbuf_limit) \
	X(rule_tcp_rmem_max_small) \
	X(rule_tcp_so_rcvbuf_pinned) \
	X(rule_tcp_wscale_missing) \
	X(rule_tcp_sndbuf_limit) \
	X(rule_tcp_wmem_max_small) \
	X(rule_tcp_so_sndbuf_pinned) \
	X(rule_tcp_reader_slow) \
	X(rule_cc_loss_bound) \
	X(rule_cc_bbr_cpu_cost) \
	X(rule_qdisc_rate_limit) \
	X(rule_qdisc_drops) \
	X(rule_qdisc_netem_left) \
	X(rule_loss_local_nic) \
	X(rule_loss_path) \
	X(rule_softnet_backlog_drop) \
	X(rule_softnet_time_squeeze) \
	X(rule_udp_rcvbuf_errors) \
	X(rule_tool_same_machine) \
	X(rule_tool_sampling_uneven) \
	X(rule_tool_cross_traffic)

#define DECLARE(symbol) extern const struct rule symbol;
RULES(DECLARE)

#define ROW(symbol) &symbol,
const struct rule *const rules_table[] = { RULES(ROW) };
const size_t rules_count = ARRAY_SIZE(rules_table);

const struct rule *rule_by_id(const char *id)
{
	size_t i;

	for (i = 0; id && i < rules_count; i++)
		if (strcmp(rules_table[i]->id, id) == 0)
			return rules_table[i];
	return NULL;
}
