/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/wire.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TCP_HEADER 20
#define TCP_TIMESTAMPS 12	/* 10 and two of padding */
#define UDP_HEADER 8

static unsigned int ip_header(unsigned int version)
{
	return version == 6 ? 40 : 20;
}

unsigned int wire_tcp_headers(const struct wire_packet *p)
{
	return ip_header(p->ip_version) + TCP_HEADER + (p->timestamps ? TCP_TIMESTAMPS : 0);
}

unsigned int wire_udp_headers(const struct wire_packet *p)
{
	return ip_header(p->ip_version) + UDP_HEADER;
}

unsigned int wire_headers(const struct wire_packet *p)
{
	return p->udp ? wire_udp_headers(p) : wire_tcp_headers(p);
}

double wire_datagram_part(const struct wire_packet *p, double mtu, double datagram)
{
	/* Fragments are cut at multiples of 8 bytes, and the first has the UDP header. */
	double room = floor((mtu - ip_header(p->ip_version) - p->tunnel_bytes) / 8) * 8;

	if (datagram + wire_udp_headers(p) + p->tunnel_bytes <= mtu)
		return datagram;
	return room > 0 ? datagram / ceil((datagram + UDP_HEADER) / room) : 0;
}

double wire_mss_from_mtu(const struct wire_packet *p, double mtu)
{
	double mss = mtu - wire_tcp_headers(p) - p->tunnel_bytes;

	return mss > 0 ? mss : 0;
}

double wire_frame_bytes(const struct wire_packet *p, double ip_bytes)
{
	double bytes = ip_bytes + WIRE_FRAME_OVERHEAD;

	/* A short frame is padded to 64 bytes; a tag counts towards them. */
	if (bytes + p->vlan_tags * WIRE_VLAN_TAG < WIRE_RUNT_BYTES)
		return WIRE_RUNT_BYTES;
	return bytes + p->vlan_tags * WIRE_VLAN_TAG;
}

static double share_of_line(double line_bps, const struct wire_packet *p, double payload,
			    double headers)
{
	if (!(line_bps > 0) || !(payload > 0))
		return 0;
	return line_bps * payload / wire_frame_bytes(p, payload + headers + p->tunnel_bytes);
}

double wire_goodput(double line_bps, const struct wire_packet *p, double payload)
{
	return share_of_line(line_bps, p, payload, wire_headers(p));
}

double wire_tcp_from_mss(double line_bps, const struct wire_packet *p, double mss)
{
	return share_of_line(line_bps, p, mss, wire_tcp_headers(p));
}

double wire_tcp_from_mtu(double line_bps, const struct wire_packet *p, double mtu)
{
	return wire_tcp_from_mss(line_bps, p, wire_mss_from_mtu(p, mtu));
}

double wire_udp_from_mtu(double line_bps, const struct wire_packet *p, double mtu)
{
	double payload = mtu - wire_udp_headers(p) - p->tunnel_bytes;

	return share_of_line(line_bps, p, payload, wire_udp_headers(p));
}

double wire_packets_per_second(double line_bps, const struct wire_packet *p, double mtu)
{
	if (!(line_bps > 0) || !(mtu > 0))
		return 0;
	return line_bps / (8 * wire_frame_bytes(p, mtu));
}

/* Outer IP header and the encapsulation itself, over IPv4; IPv6 adds 20 where it is the carrier. */
static const struct tunnel {
	const char *kind;
	unsigned int bytes;
	bool carried_by_ip;
} tunnels[] = {
	{ .kind = "vxlan", .bytes = 50, .carried_by_ip = true },
	{ .kind = "geneve", .bytes = 50, .carried_by_ip = true },
	{ .kind = "gre", .bytes = 24, .carried_by_ip = true },
	{ .kind = "gretap", .bytes = 38, .carried_by_ip = true },
	{ .kind = "ip6gre", .bytes = 24, .carried_by_ip = true },
	{ .kind = "ipip", .bytes = 20, .carried_by_ip = true },
	{ .kind = "sit", .bytes = 20, .carried_by_ip = true },
	{ .kind = "ip6tnl", .bytes = 20, .carried_by_ip = true },
	{ .kind = "wireguard", .bytes = 60, .carried_by_ip = true },
	{ .kind = "macsec", .bytes = 32 },	/* SecTAG with SCI 16, ICV 16 */
	{ .kind = "pppoe", .bytes = 8 },
};

unsigned int wire_tunnel_overhead(const char *kind, unsigned int outer_ip)
{
	size_t i;

	if (!kind)
		return 0;
	for (i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++) {
		if (strcmp(tunnels[i].kind, kind) != 0)
			continue;
		return tunnels[i].bytes + (tunnels[i].carried_by_ip && outer_ip == 6 ? 20 : 0);
	}
	return 0;
}
