/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Palette: how inks look, by what a terminal can show. */
#ifndef ND_UI_PALETTE_H
#define ND_UI_PALETTE_H

#include "ui/canvas.h"

enum palette_depth { PALETTE_NONE, PALETTE_8, PALETTE_16, PALETTE_256, PALETTE_DEPTHS };
enum look_attributes { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4 };

/* The terminal's colour number (-1: its own foreground), on its own background. */
struct look { short colour; unsigned int attributes; };
struct look palette_look(enum palette_depth depth, enum ink ink);

#endif
