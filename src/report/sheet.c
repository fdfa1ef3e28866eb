/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/units.h"

const struct check_mark_shown check_marks[] = {
	[CHECK_OK] = { "ok", STYLE_GREEN },
	[CHECK_FINDING] = { "finding", STYLE_RED },
	[CHECK_UNSEEN] = { "not seen", STYLE_YELLOW },
};

struct sheet sheet_for(const struct sheet_kind *k, const struct report_options *o,
		       struct text *out)
{
	struct sheet p = { .kind = k, .out = out, .pen = pen_for(o, out) };

	if (k != &sheet_text) {
		p.pen.utf8 = true;
		p.pen.colour = false;
	}
	return p;
}

void sheet_add_words(struct text *out, const char *s,
		    void (*add)(struct text *out, const char *word, bool first))
{
	char *copy = strdup(s ? s : ""), *cursor = copy, *word;
	bool first = true;

	if (!copy) {
		out->failed = true;
		return;
	}
	for (; (word = next_word(&cursor)); first = false) {
		if (!first)
			text_add(out, " ");
		add(out, word, first);
	}
	free(copy);
}

const char *evidence_value(const struct evidence *v, char buf[EVIDENCE_CAP])
{
	if (v->text)
		return v->text;
	format_quantity(v->value, v->unit, buf, EVIDENCE_CAP);
	return buf;
}

enum style severity_style(enum severity s)
{
	switch (s) {
	case SEVERITY_CRITICAL:
	case SEVERITY_HIGH:
		return STYLE_RED;
	case SEVERITY_MEDIUM:
		return STYLE_YELLOW;
	default:
		return STYLE_CYAN;
	}
}
