/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/tcp_info.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#ifndef SO_INCOMING_NAPI_ID
#define SO_INCOMING_NAPI_ID 56
#endif

/*
 * struct tcp_info of linux/tcp.h as of 6.7.  Defined here because the headers of a build
 * machine are often older than the kernel the program runs on; the layout only ever grows.
 */
struct tcp_info_record {
	uint8_t state, ca_state, retransmits, probes, backoff, options;
	uint8_t snd_wscale : 4, rcv_wscale : 4;
	uint8_t delivery_rate_app_limited : 1, fastopen_client_fail : 2;
	uint32_t rto, ato, snd_mss, rcv_mss;
	uint32_t unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space;
	uint32_t total_retrans;
	uint64_t pacing_rate, max_pacing_rate;			/* 3.15 */
	uint64_t bytes_acked, bytes_received;			/* 4.1 */
	uint32_t segs_out, segs_in;				/* 4.2 */
	uint32_t notsent_bytes, min_rtt, data_segs_in, data_segs_out;	/* 4.6 */
	uint64_t delivery_rate;					/* 4.9, with its app_limited bit */
	uint64_t busy_time, rwnd_limited, sndbuf_limited;	/* 4.10 */
	uint32_t delivered, delivered_ce;			/* 4.18 */
	uint64_t bytes_sent, bytes_retrans;			/* 4.19 */
	uint32_t dsack_dups, reord_seen;			/* 4.19 */
	uint32_t rcv_ooopack, snd_wnd;				/* 5.4 */
	uint32_t rcv_wnd, rehash;				/* 6.2 */
	uint16_t total_rto, total_rto_recoveries;		/* 6.7 */
	uint32_t total_rto_time;				/* 6.7 */
};
_Static_assert(offsetof(struct tcp_info_record, total_retrans) == 100, "tcp_info layout");
_Static_assert(offsetof(struct tcp_info_record, delivery_rate) == 160, "tcp_info layout");
_Static_assert(offsetof(struct tcp_info_record, snd_wnd) == 228, "tcp_info layout");
_Static_assert(sizeof(struct tcp_info_record) == 248, "tcp_info layout");

enum reading {
	AS_IS,
	NOT_ZERO,	/* 0: never measured */
	NOT_MAX32,	/* ~0: never measured */
	SSTHRESH,	/* TCP_INFINITE_SSTHRESH: no loss yet */
	RATE		/* bytes/s; ~0: no limit */
};

struct member {
	size_t offset, size, out;
	enum reading reading;
};

#define MEMBER(in_, out_, reading_) \
	{ .offset = offsetof(struct tcp_info_record, in_), \
	  .size = sizeof(((struct tcp_info_record *)0)->in_), \
	  .out = offsetof(struct flow_sample, out_), .reading = (reading_) }

static const struct member members[] = {
	MEMBER(ca_state, ca_state, AS_IS),
	MEMBER(snd_mss, snd_mss, AS_IS),
	MEMBER(rcv_mss, rcv_mss, AS_IS),
	MEMBER(unacked, unacked, AS_IS),
	MEMBER(pmtu, pmtu, AS_IS),
	MEMBER(rtt, rtt_us, NOT_ZERO),
	MEMBER(rttvar, rttvar_us, AS_IS),
	MEMBER(snd_ssthresh, ssthresh, SSTHRESH),
	MEMBER(snd_cwnd, cwnd, AS_IS),
	MEMBER(advmss, advmss, AS_IS),
	MEMBER(reordering, reordering, AS_IS),
	MEMBER(total_retrans, retransmits, AS_IS),
	MEMBER(pacing_rate, pacing_bps, RATE),
	MEMBER(max_pacing_rate, max_pacing_bps, RATE),
	MEMBER(segs_out, segments_out, AS_IS),
	MEMBER(segs_in, segments_in, AS_IS),
	MEMBER(notsent_bytes, notsent_bytes, AS_IS),
	MEMBER(min_rtt, min_rtt_us, NOT_MAX32),
	MEMBER(delivery_rate, delivery_bps, RATE),
	MEMBER(busy_time, busy_us, AS_IS),
	MEMBER(rwnd_limited, rwnd_limited_us, AS_IS),
	MEMBER(sndbuf_limited, sndbuf_limited_us, AS_IS),
	MEMBER(delivered, delivered, AS_IS),
	MEMBER(delivered_ce, delivered_ce, AS_IS),
	MEMBER(bytes_sent, bytes_sent, AS_IS),
	MEMBER(bytes_retrans, bytes_retransmitted, AS_IS),
	MEMBER(dsack_dups, dsack_dups, AS_IS),
	MEMBER(reord_seen, reorder_seen, AS_IS),
	MEMBER(snd_wnd, snd_wnd_bytes, AS_IS),
	MEMBER(rcv_wnd, rcv_wnd_bytes, AS_IS),
	MEMBER(total_rto, timeouts, AS_IS),
};

static uint64_t load_member(const struct tcp_info_record *r, const struct member *m)
{
	const char *p = (const char *)r + m->offset;
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (m->size) {
	case sizeof(v8):
		memcpy(&v8, p, sizeof(v8));
		return v8;
	case sizeof(v16):
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case sizeof(v32):
		memcpy(&v32, p, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
}

static struct nd_u64 interpret(uint64_t v, enum reading reading)
{
	const struct nd_u64 none = nd_u64_unknown(ND_NOT_APPLICABLE);

	switch (reading) {
	case NOT_ZERO:
		return v == 0 ? none : nd_u64(v);
	case NOT_MAX32:
		return v == UINT32_MAX ? none : nd_u64(v);
	case SSTHRESH:
		return v >= INT32_MAX ? none : nd_u64(v);
	case RATE:
		if (v == UINT64_MAX)
			return none;
		return v > UINT64_MAX / 8 ? nd_u64_unknown(ND_INVALID) : nd_u64(v * 8);
	case AS_IS:
		break;
	}
	return nd_u64(v);
}

void parse_tcp_info(const void *buf, size_t len, struct flow_sample *out)
{
	const struct nd_bool missing = nd_bool_unknown(ND_NOT_SUPPORTED);
	const size_t rate_end = offsetof(struct tcp_info_record, delivery_rate) + sizeof(uint64_t);
	struct tcp_info_record r = { 0 };
	bool flags = len >= offsetof(struct tcp_info_record, rto);

	if (len)
		memcpy(&r, buf, len < sizeof(r) ? len : sizeof(r));
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const struct member *m = &members[i];
		struct nd_u64 v = nd_u64_unknown(ND_NOT_SUPPORTED);

		if (m->offset + m->size <= len)
			v = interpret(load_member(&r, m), m->reading);
		memcpy((char *)out + m->out, &v, sizeof(v));
	}
	out->option_timestamps = flags ? nd_bool(r.options & TCPI_OPT_TIMESTAMPS) : missing;
	out->option_sack = flags ? nd_bool(r.options & TCPI_OPT_SACK) : missing;
	out->option_wscale = flags ? nd_bool(r.options & TCPI_OPT_WSCALE) : missing;
	out->snd_wscale = flags ? nd_u64(r.snd_wscale) : nd_u64_unknown(ND_NOT_SUPPORTED);
	out->rcv_wscale = flags ? nd_u64(r.rcv_wscale) : nd_u64_unknown(ND_NOT_SUPPORTED);
	/* The bit's byte is as old as TCP_INFO; its meaning came with delivery_rate. */
	out->app_limited = len >= rate_end ? nd_bool(r.delivery_rate_app_limited) : missing;
}

void tcp_info_unknown(enum nd_known why, struct flow_sample *out)
{
	const struct nd_bool no = nd_bool_unknown(why);
	const struct nd_u64 none = nd_u64_unknown(why);

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		memcpy((char *)out + members[i].out, &none, sizeof(none));
	out->snd_wscale = out->rcv_wscale = none;
	out->option_timestamps = out->option_sack = out->option_wscale = out->app_limited = no;
	out->congestion_control = nd_str_unknown(why);
}

struct wrapping { size_t out; unsigned int bits; };

#define WRAPS(member_, bits_) { .out = offsetof(struct flow_sample, member_), .bits = (bits_) }

static const struct wrapping wrapping[TCP_INFO_WRAPPING] = {
	WRAPS(retransmits, 32), WRAPS(segments_out, 32), WRAPS(segments_in, 32),
	WRAPS(delivered, 32), WRAPS(delivered_ce, 32), WRAPS(dsack_dups, 32),
	WRAPS(reorder_seen, 32), WRAPS(timeouts, 16), WRAPS(socket_drops, 32),
};

void tcp_info_unwrap(struct tcp_info_history *h, struct flow_sample *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrapping); i++) {
		const uint64_t turn = UINT64_C(1) << wrapping[i].bits;
		struct nd_u64 now;

		memcpy(&now, (char *)s + wrapping[i].out, sizeof(now));
		if (now.k != ND_KNOWN)
			continue;
		h->total[i] += (now.v - h->total[i]) & (turn - 1);
		now.v = h->total[i];
		memcpy((char *)s + wrapping[i].out, &now, sizeof(now));
	}
}

void parse_meminfo(const void *buf, size_t len, struct flow_sample *out)
{
	/* WMEM_QUEUED, not WMEM_ALLOC: what counts against sndbuf is what the flow has queued. */
	const struct { size_t index; struct nd_u64 *to; } want[] = {
		{ SK_MEMINFO_RMEM_ALLOC, &out->rmem_bytes },
		{ SK_MEMINFO_RCVBUF, &out->rcvbuf_bytes },
		{ SK_MEMINFO_SNDBUF, &out->sndbuf_bytes },
		{ SK_MEMINFO_WMEM_QUEUED, &out->wmem_bytes },
		{ SK_MEMINFO_DROPS, &out->socket_drops },
	};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		uint32_t v;

		if ((want[i].index + 1) * sizeof(v) > len) {
			*want[i].to = nd_u64_unknown(ND_NOT_SUPPORTED);
			continue;
		}
		memcpy(&v, (const char *)buf + want[i].index * sizeof(v), sizeof(v));
		*want[i].to = nd_u64(v);
	}
}

void read_meminfo(int fd, struct flow_sample *out)
{
	uint32_t memory[32] = { 0 };
	socklen_t len = sizeof(memory);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &len) < 0)
		len = 0;
	parse_meminfo(memory, len, out);
}

static struct nd_u64 read_queue(int fd, unsigned long request)
{
	int v = 0;

	if (ioctl(fd, request, &v) < 0)
		return nd_u64_unknown(nd_known_from_errno(errno));
	return v < 0 ? nd_u64_unknown(ND_INVALID) : nd_u64((uint64_t)v);
}

/* Both options are -1 or 0 until a packet with the information has come in. */
static struct nd_u64 read_incoming(int fd, int option, int lowest)
{
	int v = 0;
	socklen_t len = sizeof(v);

	if (getsockopt(fd, SOL_SOCKET, option, &v, &len) < 0)
		return nd_u64_unknown(errno == ENOPROTOOPT ? ND_NOT_SUPPORTED :
				      nd_known_from_errno(errno));
	return v < lowest ? nd_u64_unknown(ND_NOT_APPLICABLE) : nd_u64((uint64_t)v);
}

void read_flow_socket(int fd, struct tcp_info_history *h, struct flow_sample *out)
{
	uint64_t info[TCP_INFO_BYTES / sizeof(uint64_t)] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) < 0)
		len = 0;
	parse_tcp_info(info, len, out);
	tcp_info_unwrap(h, out);
	if (out->notsent_bytes.k != ND_KNOWN)
		out->notsent_bytes = read_queue(fd, SIOCOUTQNSD);

	read_meminfo(fd, out);
	out->receive_queue_bytes = read_queue(fd, SIOCINQ);
	out->incoming_cpu = read_incoming(fd, SO_INCOMING_CPU, 0);
	out->incoming_napi = read_incoming(fd, SO_INCOMING_NAPI_ID, 1);
}
