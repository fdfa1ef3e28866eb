/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loss: the rate that congestion control settles at when a share of the
 * packets is lost.  Pure arithmetic.  Rates bit/s, sizes bytes, times seconds,
 * loss a share (0..1) of the bytes sent.
 */
#ifndef ND_MODEL_LOSS_H
#define ND_MODEL_LOSS_H

#include <stdbool.h>
#include <stdint.h>

enum loss_law {
	LOSS_LAW_NONE,	/* bbr and others whose rate does not follow single losses */
	LOSS_LAW_RENO,	/* Mathis et al. 1997 */
	LOSS_LAW_CUBIC	/* RFC 9438: the faster of its own region and its Reno-friendly one */
};

/* By the kernel's name; NULL and unknown names: LOSS_LAW_NONE. */
enum loss_law loss_law_of(const char *congestion_control);

/* One stream.  0 when loss or rtt is not positive. */
double loss_reno_bps(double mss, double rtt_s, double loss);
double loss_cubic_region_bps(double mss, double rtt_s, double loss);
double loss_cubic_bps(double mss, double rtt_s, double loss);
/* Loss share below which CUBIC is faster than Reno at this round trip. */
double loss_cubic_crossover(double rtt_s);
/* Largest loss share at which one stream still reaches a rate. */
double loss_tolerated(enum loss_law law, double mss, double rtt_s, double bps);

struct loss_input {
	enum loss_law law;
	double mss, rtt_s, loss, streams;
	uint64_t events;	/* losses counted: fewer than 30 say nothing */
};

/* All streams together, [low, high].  False when the law or the events do not allow a number. */
bool loss_ceiling(const struct loss_input *in, double *low_bps, double *high_bps);

#endif
