/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/html_parts.h"

void html_verbatim(struct text *out, const char *s)
{
	struct text escaped = TEXT_INIT;

	text_add_escaped(&escaped, s);
	out->failed |= escaped.failed;
	for (const char *c = escaped.data; c && *c; c++) {
		switch (*c) {
		case '&':
			text_add(out, "&amp;");
			break;
		case '<':
			text_add(out, "&lt;");
			break;
		case '>':
			text_add(out, "&gt;");
			break;
		case '"':
			text_add(out, "&quot;");
			break;
		case '\'':
			text_add(out, "&#39;");
			break;
		default:
			text_addn(out, c, 1);
		}
	}
	text_free(&escaped);
}

static void add_word(struct text *out, const char *word, bool first)
{
	(void)first;
	html_verbatim(out, word);
}

void html_words(struct text *out, const char *s)
{
	sheet_add_words(out, s, add_word);
}
