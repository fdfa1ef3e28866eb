/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/palette.h"

enum { NO = -1, BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

/*
 * Colours of the cube of 256 have a luminance of 0.15 to 0.25: at least 3.8 : 1 on black
 * and on white.  Hues after Okabe and Ito, told apart by most who see colours
 * otherwise: blue, vermilion, bluish green, orange, purple.  Of 8 and 16, blue (dark on
 * black) and yellow (bright on white) are left out where a word depends on them.
 */
static const struct { short deep, sixteen, eight; unsigned int attributes; } looks[INKS] = {
	[INK_PLAIN] = { NO, NO, NO, 0 },
	[INK_DIM] = { 244, NO, NO, LOOK_DIM },
	[INK_STRONG] = { NO, NO, NO, LOOK_BOLD },
	[INK_TITLE] = { NO, NO, NO, LOOK_BOLD },
	[INK_KEY] = { 32, CYAN, CYAN, LOOK_BOLD },
	[INK_BORDER] = { 244, NO, NO, LOOK_DIM },
	[INK_GOOD] = { 30, GREEN, GREEN, 0 },
	[INK_WARN] = { 166, MAGENTA, MAGENTA, 0 },
	[INK_BAD] = { 160, RED, RED, LOOK_BOLD },
	[INK_RATE] = { 30, GREEN, GREEN, 0 },
	[INK_CEILING] = { 244, NO, NO, 0 },
	[INK_USER] = { 32, CYAN, CYAN, 0 },
	[INK_SYSTEM] = { 166, MAGENTA, MAGENTA, 0 },
	[INK_SOFTIRQ] = { 133, RED, RED, 0 },
	[INK_IRQ] = { 94, YELLOW, YELLOW, 0 },
	[INK_STEAL] = { 244, BLUE, BLUE, LOOK_BOLD },
};

struct look palette_look(enum palette_depth depth, enum ink ink)
{
	struct look l = { NO, looks[ink].attributes };

	switch (depth) {
	case PALETTE_256:
		l.colour = looks[ink].deep;
		/* Its grey is dim enough. */
		if (l.colour >= 0)
			l.attributes &= ~(unsigned int)LOOK_DIM;
		break;
	case PALETTE_16:
		l.colour = looks[ink].sixteen;
		break;
	case PALETTE_8:
		l.colour = looks[ink].eight;
		break;
	default:
		break;
	}
	return l;
}
