/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shapers: what a software rate limit leaves as payload.  tc counts layer-2
 * bytes: MAC header and tags, but neither preamble, FCS nor gap.
 * Pure arithmetic.  Rates bit/s, sizes bytes.
 */
#ifndef ND_MODEL_SHAPER_H
#define ND_MODEL_SHAPER_H

/* Goodput of a shaper of rate_bps; segment is payload, frame the layer-2 bytes of one packet. */
double shaper_goodput_bps(double rate_bps, double segment, double frame);
/* The rate to configure for a goodput: the inverse. */
double shaper_rate_for(double goodput_bps, double segment, double frame);

#endif
