/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wire: what an Ethernet link carries as payload.
 *
 * Pure arithmetic.  Rates are bit/s, sizes bytes.  Line coding (64b/66b) and
 * FEC sit below the MAC rate, so nothing is subtracted for them.
 * Impossible inputs (a packet smaller than its headers) give 0.
 */
#ifndef ND_MODEL_WIRE_H
#define ND_MODEL_WIRE_H

#include <stdbool.h>

/* Beyond the IP packet: preamble and SFD 8, MAC header 14, FCS 4, inter-frame gap 12. */
#define WIRE_FRAME_OVERHEAD 38
#define WIRE_VLAN_TAG 4
/* Of those, what a qdisc counts: the MAC header (no preamble, FCS or gap). */
#define WIRE_L2_HEADER 14
/* A frame padded to 64 bytes, with preamble and gap. */
#define WIRE_RUNT_BYTES 84

struct wire_packet {
	unsigned int ip_version;	/* 4 or 6 */
	bool udp;			/* datagrams, else TCP segments */
	bool timestamps;		/* the TCP option: 12 bytes a segment */
	unsigned int vlan_tags;		/* tags on the wire */
	unsigned int tunnel_bytes;	/* encapsulation on this wire, see wire_tunnel_overhead() */
};

/* TCP: bytes of IP and TCP header in front of each segment (tunnel not included). */
unsigned int wire_tcp_headers(const struct wire_packet *p);
unsigned int wire_udp_headers(const struct wire_packet *p);
unsigned int wire_headers(const struct wire_packet *p);	/* of what p is */
/* Payload of a full segment for a device MTU (of this wire: the tunnel is subtracted). */
double wire_mss_from_mtu(const struct wire_packet *p, double mtu);

/* Payload of each packet that a datagram becomes: fragments (RFC 791) where the MTU is less. */
double wire_datagram_part(const struct wire_packet *p, double mtu, double datagram);

/* Goodput of a wire of line_bps whose packets each carry so much. */
double wire_goodput(double line_bps, const struct wire_packet *p, double payload);
/* The same of TCP; mss is the payload of one segment (TCPI snd_mss). */
double wire_tcp_from_mss(double line_bps, const struct wire_packet *p, double mss);
double wire_tcp_from_mtu(double line_bps, const struct wire_packet *p, double mtu);
double wire_udp_from_mtu(double line_bps, const struct wire_packet *p, double mtu);
/* Packets per second of full frames. */
double wire_packets_per_second(double line_bps, const struct wire_packet *p, double mtu);
/* Bytes an IP packet of this size takes on the wire, gap included. */
double wire_frame_bytes(const struct wire_packet *p, double ip_bytes);

/*
 * Bytes an encapsulation adds to a packet.  kind is rtnetlink's ("vxlan", "geneve",
 * "gre", "wireguard", "macsec" ...); outer_ip is the version underneath.  0 for others.
 */
unsigned int wire_tunnel_overhead(const char *kind, unsigned int outer_ip);

#endif
