/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pieces of an HTML sheet.  Words from outside may stand as text, or as the value of an
 * attribute in double quotes.
 */
#ifndef ND_REPORT_HTML_PARTS_H
#define ND_REPORT_HTML_PARTS_H

#include "src/report/sheet.h"

/* On one line, white space folded. */
void html_words(struct text *out, const char *s);
/* As it is, to be copied. */
void html_verbatim(struct text *out, const char *s);
/* How a run went on: its rate, and how busy the busiest cores of both ends were. */
void html_history(struct sheet *p, const struct run *r);
/* x of scale in 0..1; 0 where there is no number. */
double html_share(double x, double scale);

#endif
