/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP, UDP and IP counters of the network namespace: /proc/net/snmp, netstat, snmp6.
 * A kernel has some 300; only those that a rule or a reader asks for are kept.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

/* Sorted by strcmp(): looked up for every name in the files. */
const char *const mib_names[] = {
	"Ip6FragCreates", "Ip6FragFails", "Ip6InCEPkts", "Ip6InDiscards", "Ip6InOctets",
	"Ip6InReceives", "Ip6InTooBigErrors", "Ip6OutDiscards", "Ip6OutOctets", "Ip6OutRequests",
	"Ip6ReasmFails", "Ip6ReasmReqds", "IpExtInCEPkts", "IpExtInCsumErrors", "IpExtInOctets",
	"IpExtOutOctets", "IpFragCreates", "IpFragFails", "IpFragOKs", "IpInDelivers",
	"IpInDiscards", "IpInReceives", "IpOutDiscards", "IpOutRequests", "IpReasmFails",
	"IpReasmOKs", "IpReasmReqds", "TcpAttemptFails", "TcpEstabResets",
	"TcpExtBusyPollRxPackets", "TcpExtListenDrops", "TcpExtListenOverflows", "TcpExtOfoPruned",
	"TcpExtPFMemallocDrop", "TcpExtPruneCalled", "TcpExtRcvPruned", "TcpExtTCPAbortOnMemory",
	"TcpExtTCPAckCompressed", "TcpExtTCPAutoCorking", "TcpExtTCPBacklogCoalesce",
	"TcpExtTCPBacklogDrop", "TcpExtTCPDSACKOfoRecv", "TcpExtTCPDSACKRecv",
	"TcpExtTCPDSACKRecvSegs", "TcpExtTCPDelivered", "TcpExtTCPDeliveredCE",
	"TcpExtTCPFastRetrans", "TcpExtTCPFromZeroWindowAdv", "TcpExtTCPHystartDelayCwnd",
	"TcpExtTCPHystartDelayDetect", "TcpExtTCPHystartTrainCwnd", "TcpExtTCPHystartTrainDetect",
	"TcpExtTCPLossProbeRecovery", "TcpExtTCPLossProbes", "TcpExtTCPLostRetransmit",
	"TcpExtTCPMTUPFail", "TcpExtTCPMTUPSuccess", "TcpExtTCPMemoryPressures",
	"TcpExtTCPMemoryPressuresChrono", "TcpExtTCPOFODrop", "TcpExtTCPOFOQueue",
	"TcpExtTCPOrigDataSent", "TcpExtTCPRcvCoalesce", "TcpExtTCPRcvCollapsed",
	"TcpExtTCPRcvQDrop", "TcpExtTCPRenoRecovery", "TcpExtTCPRenoReorder",
	"TcpExtTCPRetransFail", "TcpExtTCPSACKReorder", "TcpExtTCPSackRecovery",
	"TcpExtTCPSlowStartRetrans", "TcpExtTCPSpuriousRTOs", "TcpExtTCPSpuriousRtxHostQueues",
	"TcpExtTCPSynRetrans", "TcpExtTCPTSReorder", "TcpExtTCPTimeouts",
	"TcpExtTCPToZeroWindowAdv", "TcpExtTCPWantZeroWindowAdv", "TcpExtTCPWinProbe",
	"TcpExtTCPWqueueTooBig", "TcpExtTCPZeroWindowDrop", "TcpInCsumErrors", "TcpInErrs",
	"TcpInSegs", "TcpOutSegs", "TcpRetransSegs", "Udp6InCsumErrors", "Udp6InDatagrams",
	"Udp6InErrors", "Udp6MemErrors", "Udp6OutDatagrams", "Udp6RcvbufErrors",
	"Udp6SndbufErrors", "UdpInCsumErrors", "UdpInDatagrams", "UdpInErrors", "UdpMemErrors",
	"UdpNoPorts", "UdpOutDatagrams", "UdpRcvbufErrors", "UdpSndbufErrors",
};
const size_t mib_names_count = ARRAY_SIZE(mib_names);

/* The table's own string for prefix + name, NULL when it is not kept. */
static const char *find_name(const char *prefix, const char *name)
{
	size_t prefix_len = strlen(prefix), low = 0, high = ARRAY_SIZE(mib_names);

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strncmp(prefix, mib_names[mid], prefix_len);

		if (!order)
			order = strcmp(name, mib_names[mid] + prefix_len);
		if (!order)
			return mib_names[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static int add_value(const char *name, const char *value, struct counters *c)
{
	struct mib_sample *row = arena_append_row(c->mem, (void **)&c->mibs, &c->nmibs,
						  sizeof(*row));
	uint64_t v;

	if (!row)
		return -ENOMEM;
	row->name = nd_str(name);
	row->value = value && !parse_u64(value, &v) ? nd_u64(v) : nd_u64_unknown(ND_INVALID);
	return 0;
}

/* "Tcp: RtoMin RetransSegs" with "Tcp: 200 7". */
static int parse_pair(char *names, char *values, struct counters *c)
{
	char *prefix = next_word(&names), *same = next_word(&values), *name;

	if (!prefix || !same || strcmp(prefix, same) || prefix[strlen(prefix) - 1] != ':')
		return -EBADMSG;
	prefix[strlen(prefix) - 1] = '\0';
	while ((name = next_word(&names))) {
		char *value = next_word(&values);
		const char *kept = find_name(prefix, name);

		if (kept && add_value(kept, value, c))
			return -ENOMEM;
	}
	return 0;
}

int parse_mib_pairs(char *text, struct counters *c)
{
	char *names, *values;
	int rc = -EBADMSG;

	while ((names = next_line(&text)) && (values = next_line(&text))) {
		rc = parse_pair(names, values, c);
		if (rc)
			return rc;	/* the pairing is lost: what follows cannot be trusted */
	}
	return rc;
}

int parse_mib_lines(char *text, struct counters *c)
{
	char *line;

	while ((line = next_line(&text))) {
		char *name = next_word(&line), *value = next_word(&line);
		const char *kept = name ? find_name("", name) : NULL;

		if (kept && add_value(kept, value, c))
			return -ENOMEM;
	}
	return 0;
}

static const struct {
	const char *path;
	int (*parse)(char *text, struct counters *c);
} mib_files[] = {
	{ "/proc/net/snmp", parse_mib_pairs },
	{ "/proc/net/netstat", parse_mib_pairs },
	{ "/proc/net/snmp6", parse_mib_lines },	/* missing without IPv6 */
};

static int sample_mibs(struct source *src, const struct facts *f, struct counters *c)
{
	int result = 0;

	(void)f;
	for (size_t i = 0; i < ARRAY_SIZE(mib_files); i++) {
		char *text;
		ssize_t n = source_read_all(src, mib_files[i].path, PROC_FILE_MAX, &text);
		int rc = n < 0 ? (int)n : mib_files[i].parse(text, c);

		if (n >= 0)
			free(text);
		if (rc == -ENOMEM)
			return rc;
		if (rc && !result)
			result = rc;
	}
	return c->nmibs ? 0 : result;
}

const struct counter_probe counter_mibs = {
	.name = "mibs",
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample_mibs,
};
