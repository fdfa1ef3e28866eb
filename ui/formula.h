/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formula: a ceiling's formula with the numbers in it.  Pure. */
#ifndef ND_UI_FORMULA_H
#define ND_UI_FORMULA_H

#include "src/core/text.h"
#include "src/diagnose/diagnosis.h"

/* "goodput / busy" -> "6.04 Gbit/s / 98 %"; names that are no input stay as they are. */
void formula_with_numbers(const struct ceiling *c, struct text *out);

#endif
