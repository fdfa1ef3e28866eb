/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words from outside in Markdown that is pasted into tickets: GitHub's and GitLab's.
 *
 * What they could read as more than a word stands in a code span: inside one there is no
 * markup, no HTML, no link, nobody is mentioned, no issue is referred to, and fd00:ab:1 is
 * no emoji.  The same words may stand in a paragraph, a list, a heading or a cell.
 */
#ifndef ND_REPORT_MARKDOWN_WORDS_H
#define ND_REPORT_MARKDOWN_WORDS_H

#include "src/core/text.h"

/* White space folded, after something that is no block's begin: "**why**: ", "| ". */
void markdown_words(struct text *out, const char *s);
/* The same for the begin of a line, or of an item. */
void markdown_line(struct text *out, const char *s);
/* Of a fence around what no line break is in: longer than all runs of backticks in it. */
unsigned int markdown_fence(const char *const *lines, size_t n);

#endif
