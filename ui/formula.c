/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/formula.h"

#include <ctype.h>
#include <string.h>

#include "src/core/units.h"

static bool in_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* Inputs are named with their unit where the formula needs none: "rtt" is rtt_us. */
static bool names(const struct ceiling_input *input, const char *word, size_t n)
{
	const char *rest;

	if (strncmp(input->name, word, n) != 0)
		return false;
	rest = input->name + n;
	return !*rest || !strcmp(rest, "_us") || !strcmp(rest, "_bytes") || !strcmp(rest, "_bps");
}

static const struct ceiling_input *input_named(const struct ceiling *c, const char *word,
					       size_t n)
{
	for (size_t i = 0; i < c->ninputs; i++)
		if (c->inputs[i].name && names(&c->inputs[i], word, n))
			return &c->inputs[i];
	return NULL;
}

void formula_with_numbers(const struct ceiling *c, struct text *out)
{
	const char *at = c->formula;

	while (at && *at) {
		size_t n = 0;
		while (in_name(at[n]) || (n && isdigit((unsigned char)at[n])))
			n++;
		const struct ceiling_input *input = n ? input_named(c, at, n) : NULL;
		if (input) {
			char value[48];
			format_quantity(input->value, input->unit, value, sizeof(value));
			text_add(out, value);
		} else {
			text_addn(out, at, n ? n : 1);
		}
		at += n ? n : 1;
	}
}
