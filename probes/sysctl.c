/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sysctls of socket buffers, backlog and congestion control.
 *
 * A network namespace other than the first has no net.core.rmem_max and a few
 * more on kernels before 6.x: the file is missing, so the fact is ND_ABSENT.
 */
#include "probes/proc.h"

#include <errno.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

struct sysctl_row {
	const char *path;
	enum field_kind kind;
	size_t count;		/* of numbers in the file, for consecutive members */
	size_t offset;
};

#define SYSCTL(path_, kind_, member_) \
	{ .path = "/proc/sys/net/" path_, .kind = FIELD_##kind_, .count = 1, \
	  .offset = offsetof(struct sysctl_facts, member_) }
#define SYSCTL_TRIPLE(path_, first_) \
	{ .path = "/proc/sys/net/" path_, .kind = FIELD_U64, .count = 3, \
	  .offset = offsetof(struct sysctl_facts, first_) }

static const struct sysctl_row sysctl_rows[] = {
	SYSCTL("core/rmem_max", U64, rmem_max),
	SYSCTL("core/wmem_max", U64, wmem_max),
	SYSCTL("core/rmem_default", U64, rmem_default),
	SYSCTL("core/wmem_default", U64, wmem_default),
	SYSCTL_TRIPLE("ipv4/tcp_rmem", tcp_rmem_min),
	SYSCTL_TRIPLE("ipv4/tcp_wmem", tcp_wmem_min),
	SYSCTL_TRIPLE("ipv4/tcp_mem", tcp_mem_low),
	SYSCTL("core/netdev_max_backlog", U64, netdev_max_backlog),
	SYSCTL("core/netdev_budget", U64, netdev_budget),
	SYSCTL("core/netdev_budget_usecs", U64, netdev_budget_usecs),
	SYSCTL("core/optmem_max", U64, optmem_max),
	SYSCTL("core/default_qdisc", STR, default_qdisc),
	SYSCTL("ipv4/tcp_congestion_control", STR, tcp_congestion_control),
	SYSCTL("ipv4/tcp_available_congestion_control", STR, tcp_available_congestion_control),
	SYSCTL("ipv4/tcp_allowed_congestion_control", STR, tcp_allowed_congestion_control),
	SYSCTL("ipv4/tcp_window_scaling", U64, tcp_window_scaling),
	SYSCTL("ipv4/tcp_timestamps", U64, tcp_timestamps),
	SYSCTL("ipv4/tcp_sack", U64, tcp_sack),
	SYSCTL("ipv4/tcp_mtu_probing", U64, tcp_mtu_probing),
	SYSCTL("ipv4/tcp_moderate_rcvbuf", U64, tcp_moderate_rcvbuf),
	SYSCTL("ipv4/tcp_slow_start_after_idle", U64, tcp_slow_start_after_idle),
	SYSCTL("ipv4/tcp_no_metrics_save", U64, tcp_no_metrics_save),
	SYSCTL("ipv4/tcp_ecn", U64, tcp_ecn),
	SYSCTL("ipv4/tcp_limit_output_bytes", U64, tcp_limit_output_bytes),
	SYSCTL("ipv4/tcp_notsent_lowat", U64, tcp_notsent_lowat),
	SYSCTL("core/rps_sock_flow_entries", U64, rps_sock_flow_entries),
	SYSCTL("core/busy_poll", U64, busy_poll),
	SYSCTL("ipv4/ip_forward", U64, ip_forward),
	SYSCTL("ipv4/tcp_adv_win_scale", I64, tcp_adv_win_scale),
};

/* The members of a triple are read as an array. */
_Static_assert(offsetof(struct sysctl_facts, tcp_rmem_max) ==
	       offsetof(struct sysctl_facts, tcp_rmem_min) + 2 * sizeof(struct nd_u64), "tcp_rmem");
_Static_assert(offsetof(struct sysctl_facts, tcp_wmem_max) ==
	       offsetof(struct sysctl_facts, tcp_wmem_min) + 2 * sizeof(struct nd_u64), "tcp_wmem");
_Static_assert(offsetof(struct sysctl_facts, tcp_mem_high) ==
	       offsetof(struct sysctl_facts, tcp_mem_low) + 2 * sizeof(struct nd_u64), "tcp_mem");

void parse_sysctl_numbers(char *text, size_t count, struct nd_u64 *out)
{
	for (size_t i = 0; i < count; i++) {
		char *word = next_word(&text);

		if (!word || parse_u64(word, &out[i].v))
			out[i] = nd_u64_unknown(ND_INVALID);
		else
			out[i].k = ND_KNOWN;
	}
}

static enum nd_known read_row(struct source *src, const struct sysctl_row *row, struct facts *f)
{
	char line[1024];
	char *member = (char *)&f->sysctl + row->offset;
	int rc = source_read_line(src, line, sizeof(line), "%s", row->path);
	enum nd_known k = rc ? nd_known_from_errno(-rc) : ND_KNOWN;
	struct nd_i64 number = { 0, k };
	char *copy;

	switch (row->kind) {
	case FIELD_STR:
		copy = rc ? NULL : arena_strdup(f->mem, line);
		*(struct nd_str *)member = copy ? nd_str(copy) :
					   nd_str_unknown(rc ? k : ND_FAILED);
		break;
	case FIELD_I64:
		if (!rc && parse_i64(line, &number.v))
			number = nd_i64_unknown(ND_INVALID);
		*(struct nd_i64 *)member = number;
		break;
	default:
		for (size_t i = 0; i < row->count; i++)
			((struct nd_u64 *)member)[i] = nd_u64_unknown(k);
		if (!rc)
			parse_sysctl_numbers(line, row->count, (struct nd_u64 *)member);
	}
	return k;
}

static int collect_sysctl(struct source *src, const struct probe_context *ctx, struct facts *f,
			  struct error *detail)
{
	size_t known = 0;
	int missing = ENOENT;

	(void)ctx;
	for (size_t i = 0; i < ARRAY_SIZE(sysctl_rows); i++) {
		enum nd_known k = read_row(src, &sysctl_rows[i], f);

		known += k == ND_KNOWN;
		if (k == ND_NOT_PERMITTED)
			missing = EACCES;
	}
	if (!known)
		return error_set(detail, missing, "cannot read anything below /proc/sys/net");
	return 0;
}

const struct probe probe_sysctl = {
	.name = "sysctl",
	.summary = "socket buffer, backlog and congestion control settings in /proc/sys/net",
	.phase = PROBE_HOST,
	.collect = collect_sysctl,
};
