/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/window.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

double window_bdp_bytes(double bps, double rtt_s)
{
	return bps > 0 && rtt_s > 0 ? bps * rtt_s / 8 : 0;
}

double window_bps(double window_bytes, double rtt_s)
{
	if (!(window_bytes > 0) || !(rtt_s > 0))
		return 0;
	return window_bytes * 8 / fmax(rtt_s, WINDOW_MIN_RTT_S);
}

double window_pinned_buffer(double asked_bytes, double mem_max_bytes)
{
	return 2 * fmin(asked_bytes, mem_max_bytes);
}

double window_send_bps(double sndbuf_bytes, double rtt_s)
{
	return window_bps(WINDOW_SEND_FILL * sndbuf_bytes, rtt_s);
}

double window_send_buffer(double bps, double rtt_s)
{
	return window_bdp_bytes(bps, rtt_s) / WINDOW_SEND_FILL;
}

void window_receive_share(bool measures, int adv_win_scale, double *low, double *high)
{
	if (measures) {
		*low = 0.5;
		*high = 1;
		return;
	}
	/* tcp_win_from_space(): a positive scale leaves 1 - 2^-s, the others take 2^s. */
	if (adv_win_scale > 0)
		*low = 1 - ldexp(1, -adv_win_scale);
	else
		*low = ldexp(1, adv_win_scale);
	*high = *low;
}

bool window_kernel_measures(const char *release)
{
	char *end = NULL;
	long major, minor;

	if (!release)
		return true;
	major = strtol(release, &end, 10);
	if (end == release || *end != '.' || major < 1 || major > 99)
		return true;
	minor = strtol(end + 1, NULL, 10);
	return major > 6 || (major == 6 && minor >= 6);
}

double window_receive_bps(double rcvbuf_bytes, double share, double rtt_s)
{
	return window_bps(rcvbuf_bytes * share, rtt_s);
}

double window_receive_buffer(double bps, double share, double rtt_s)
{
	return share > 0 ? window_bdp_bytes(bps, rtt_s) / share : 0;
}

double window_unscaled_bps(double rtt_s)
{
	return window_bps(WINDOW_UNSCALED_BYTES, rtt_s);
}
