/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/udp.h"

#include "src/load/tcp_info.h"

enum {
	SEND_BATCH_BYTES = 64 * 1024,	/* stays in the cache nearest to the core but one */
	SEND_BATCH_MOST = 128,		/* datagrams, so that small ones do not burst */
	GRO_MESSAGES = 1,		/* of a recvmmsg() when each may hold 64 KiB */
	GRO_MESSAGE_BYTES = 64 * 1024
};

static size_t round_up(size_t bytes)
{
	return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

size_t udp_receive_messages(bool gro)
{
	return gro ? GRO_MESSAGES : UDP_BATCH_MESSAGES;
}

size_t udp_message_bytes(const struct run_spec *spec, bool gro)
{
	return gro ? GRO_MESSAGE_BYTES : round_up(spec->block_bytes);
}

/* GRO may be wanted and not granted: room for either. */
size_t udp_receive_bytes(const struct run_spec *spec)
{
	size_t plain = udp_receive_messages(false) * udp_message_bytes(spec, false);
	size_t merged = udp_receive_messages(true) * udp_message_bytes(spec, true);

	return spec->udp_gro && merged > plain ? merged : plain;
}

size_t udp_send_batch(const struct run_spec *spec)
{
	size_t n = SEND_BATCH_BYTES / spec->block_bytes;

	if (n > SEND_BATCH_MOST)
		return SEND_BATCH_MOST;
	return n ? n : 1;
}

size_t udp_buffer_bytes(const struct run_spec *spec)
{
	return udp_receive_bytes(spec) + udp_send_batch(spec) * spec->block_bytes;
}

void udp_sample_not_tcp(struct flow_sample *out)
{
	tcp_info_unknown(ND_NOT_APPLICABLE, out);
	/* SIOCINQ is of the next datagram alone; rmem_bytes is of all. */
	out->receive_queue_bytes = nd_u64_unknown(ND_NOT_APPLICABLE);
}

void udp_sample_not_udp(struct flow_sample *out)
{
	const struct nd_u64 none = nd_u64_unknown(ND_NOT_APPLICABLE);

	out->packets = out->skipped = out->out_of_order = out->duplicates = none;
	out->socket_drops = out->jitter_us = out->udp_gso_segments = none;
	out->udp_gro = nd_bool_unknown(ND_NOT_APPLICABLE);
}
