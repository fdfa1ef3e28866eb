/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/shaper.h"

double shaper_goodput_bps(double rate_bps, double segment, double frame)
{
	if (!(rate_bps > 0) || !(segment > 0) || !(frame >= segment))
		return 0;
	return rate_bps * segment / frame;
}

double shaper_rate_for(double goodput_bps, double segment, double frame)
{
	if (!(goodput_bps > 0) || !(segment > 0) || !(frame >= segment))
		return 0;
	return goodput_bps * frame / segment;
}
