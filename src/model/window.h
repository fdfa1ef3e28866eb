/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows: what a TCP connection can have in flight, and the rate that allows.
 * Pure arithmetic.  Rates bit/s, sizes bytes, times seconds.  Impossible
 * inputs (a round trip of no time) give 0.
 */
#ifndef ND_MODEL_WINDOW_H
#define ND_MODEL_WINDOW_H

#include <stdbool.h>

/*
 * The writer is woken only when a third of the send buffer is free, so the
 * queue averages three quarters of it (measured: 0.73 to 0.77).
 */
#define WINDOW_SEND_FILL 0.75
/* Largest window without the window scale option. */
#define WINDOW_UNSCALED_BYTES 65535.0
/* Shortest round trip worth dividing by: loopback is above 10 us under load. */
#define WINDOW_MIN_RTT_S 1e-6

/* Bytes in flight that a rate needs over a round trip. */
double window_bdp_bytes(double bps, double rtt_s);
/* The rate of a window of so many bytes. */
double window_bps(double window_bytes, double rtt_s);

/* The kernel's size of a buffer set with SO_SNDBUF or SO_RCVBUF: 2 x min(asked, *mem_max). */
double window_pinned_buffer(double asked_bytes, double mem_max_bytes);

/* Send ceiling of one connection: WINDOW_SEND_FILL x sndbuf a round trip. */
double window_send_bps(double sndbuf_bytes, double rtt_s);
/* Send buffer a rate needs. */
double window_send_buffer(double bps, double rtt_s);

/*
 * Share of the receive buffer that becomes window, as [low, high].  Kernels
 * before 6.6 compute it from tcp_adv_win_scale (known: low == high); later ones measure
 * payload / memory of what arrives, starting at one half.
 */
void window_receive_share(bool measures, int adv_win_scale, double *low, double *high);
/* Does this kernel ("6.8.0-45-generic") measure?  Unreadable release: true, the wider interval. */
bool window_kernel_measures(const char *release);
/* Receive ceiling of one connection. */
double window_receive_bps(double rcvbuf_bytes, double share, double rtt_s);
double window_receive_buffer(double bps, double share, double rtt_s);

/* Ceiling when the peer's SYN carried no window scale. */
double window_unscaled_bps(double rtt_s);

#endif
