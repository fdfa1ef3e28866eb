/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a browser or a ticket would make of a report: its markup alone, words left out.
 * Two reports that differ in words from outside alone must have the same.
 */
#ifndef ND_TESTS_UNIT_MARKUP_CHECK_H
#define ND_TESTS_UNIT_MARKUP_CHECK_H

#include "src/core/text.h"

/*
 * Fails the test unless it is well-formed: every element closed in order, attributes in double
 * quotes, no script, style attribute, event handler or link, & only in entities.
 * Adds the tags.
 */
void html_markup(const char *html, struct text *tags);
/* Adds of each line how it begins, and what is markup in it outside of code. */
void markdown_markup(const char *markdown, struct text *marks);

#endif
