/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/core_bar.h"

#include <math.h>

#include "ui/draw.h"

enum { PARTS = 5 };

static const struct { const char *name; char letter; enum ink ink; } kinds[PARTS] = {
	{ .name = "user", .letter = 'u', .ink = INK_USER },
	{ .name = "system", .letter = 's', .ink = INK_SYSTEM },
	{ .name = "softirq", .letter = 'q', .ink = INK_SOFTIRQ },
	{ .name = "irq", .letter = 'i', .ink = INK_IRQ },
	{ .name = "steal", .letter = 't', .ink = INK_STEAL },
};

static void shares(const struct history_core *core, uint8_t out[PARTS])
{
	out[0] = core->user;
	out[1] = core->system;
	out[2] = core->softirq;
	out[3] = core->irq;
	out[4] = core->steal;
}

static bool is_split(const uint8_t share[PARTS])
{
	for (size_t i = 0; i < PARTS; i++)
		if (share[i] != HISTORY_UNKNOWN)
			return true;
	return false;
}

void core_bar(struct canvas *c, struct area a, unsigned int x, unsigned int y,
	      unsigned int columns, const struct history_core *core)
{
	struct bar_part busy = { history_share(core->busy), '#', INK_STRONG };
	struct bar_part parts[PARTS];
	uint8_t share[PARTS];

	shares(core, share);
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = (struct bar_part){ history_share(share[i]), kinds[i].letter,
					      kinds[i].ink };
	if (is_split(share))
		draw_stack(c, a, x, y, columns, parts, PARTS);
	else if (core->busy != HISTORY_UNKNOWN)
		draw_stack(c, a, x, y, columns, &busy, 1);
	else if (columns)
		canvas_put(c, a, x, y, INK_DIM, '?');
}

void core_percent(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		  const struct history_core *core)
{
	double busy = history_share(core->busy);

	if (isnan(busy))
		canvas_text(c, a, x, y, INK_DIM, "    ?");
	else
		canvas_printf(c, a, x, y, busy >= 0.9 ? INK_BAD : INK_STRONG, "%3.0f %%",
			      busy * 100);
}

void core_filled_by(const struct history_core *core, unsigned int n, struct text *out)
{
	uint8_t share[PARTS];
	bool first = true;

	shares(core, share);
	if (!is_split(share)) {
		text_add(out, "what fills it is not known");
		return;
	}
	while (n--) {
		size_t most = PARTS;
		for (size_t i = 0; i < PARTS; i++)
			if (share[i] != HISTORY_UNKNOWN && share[i] * 100 >= HISTORY_WHOLE &&
			    (most == PARTS || share[i] > share[most]))
				most = i;
		if (most == PARTS)
			return;
		text_printf(out, "%s%s %.0f %%", first ? "" : ", ", kinds[most].name,
			    history_share(share[most]) * 100);
		share[most] = 0;
		first = false;
	}
}

struct history_core core_unknown(unsigned int cpu)
{
	return (struct history_core){
		.cpu = (uint16_t)cpu, .busy = HISTORY_UNKNOWN, .user = HISTORY_UNKNOWN,
		.system = HISTORY_UNKNOWN, .softirq = HISTORY_UNKNOWN, .irq = HISTORY_UNKNOWN,
		.steal = HISTORY_UNKNOWN,
	};
}
