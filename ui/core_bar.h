/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One core's time as a bar and in words.  Pure. */
#ifndef ND_UI_CORE_BAR_H
#define ND_UI_CORE_BAR_H

#include "ui/canvas.h"
#include "ui/history.h"

/* A stacked bar of letters; only its busy share is known: #; not even that: "?". */
void core_bar(struct canvas *c, struct area a, unsigned int x, unsigned int y,
	      unsigned int columns, const struct history_core *core);
/* " 98 %", or "    ?". */
void core_percent(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		  const struct history_core *core);
/* "softirq 75 %, system 22 %": what fills it, the largest first, at most n parts. */
void core_filled_by(const struct history_core *core, unsigned int n, struct text *out);
/* A core of all that is unknown. */
struct history_core core_unknown(unsigned int cpu);

#endif
