/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/loss.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "src/model/limits.h"

#define RENO_CONSTANT 1.22	/* sqrt(3/2): one acknowledgement per segment */
/* (C * (3 + beta) / (4 * (1 - beta)))^(1/4), C 0.4 and beta 0.7: RFC 9438, section 5.1. */
#define CUBIC_CONSTANT 1.054

enum loss_law loss_law_of(const char *congestion_control)
{
	static const struct { const char *name; enum loss_law law; } laws[] = {
		{ "cubic", LOSS_LAW_CUBIC },
		{ "reno", LOSS_LAW_RENO },
		{ "bic", LOSS_LAW_CUBIC },
	};
	size_t i;

	for (i = 0; congestion_control && i < sizeof(laws) / sizeof(laws[0]); i++)
		if (strcmp(laws[i].name, congestion_control) == 0)
			return laws[i].law;
	return LOSS_LAW_NONE;
}

static bool usable(double mss, double rtt_s, double loss)
{
	return mss > 0 && rtt_s > 0 && loss > 0 && loss <= 1;
}

double loss_reno_bps(double mss, double rtt_s, double loss)
{
	if (!usable(mss, rtt_s, loss))
		return 0;
	return mss * 8 / rtt_s * RENO_CONSTANT / sqrt(loss);
}

double loss_cubic_region_bps(double mss, double rtt_s, double loss)
{
	if (!usable(mss, rtt_s, loss))
		return 0;
	return mss * 8 / rtt_s * CUBIC_CONSTANT * pow(rtt_s / loss, 0.75);
}

double loss_cubic_bps(double mss, double rtt_s, double loss)
{
	return fmax(loss_reno_bps(mss, rtt_s, loss), loss_cubic_region_bps(mss, rtt_s, loss));
}

double loss_cubic_crossover(double rtt_s)
{
	/* 1.22 / p^0.5 = 1.054 * rtt^0.75 / p^0.75 */
	return pow(CUBIC_CONSTANT / RENO_CONSTANT, 4) * pow(rtt_s, 3);
}

double loss_tolerated(enum loss_law law, double mss, double rtt_s, double bps)
{
	double windows, reno, cubic;

	if (law == LOSS_LAW_NONE || !(mss > 0) || !(rtt_s > 0) || !(bps > 0))
		return 0;
	windows = mss * 8 / rtt_s / bps;
	reno = pow(RENO_CONSTANT * windows, 2);
	if (law == LOSS_LAW_RENO)
		return fmin(reno, 1);
	cubic = rtt_s * pow(CUBIC_CONSTANT * windows, 4.0 / 3);
	return fmin(fmax(reno, cubic), 1);
}

bool loss_ceiling(const struct loss_input *in, double *low_bps, double *high_bps)
{
	double rate;

	if (in->law == LOSS_LAW_NONE || in->events < LOSS_MIN_EVENTS)
		return false;
	rate = in->law == LOSS_LAW_CUBIC ? loss_cubic_bps(in->mss, in->rtt_s, in->loss) :
					   loss_reno_bps(in->mss, in->rtt_s, in->loss);
	rate *= fmax(1, in->streams);
	if (!(rate > 0))
		return false;
	*low_bps = rate * (1 - LOSS_MODEL_SPREAD);
	*high_bps = rate * (1 + LOSS_MODEL_SPREAD);
	return true;
}
