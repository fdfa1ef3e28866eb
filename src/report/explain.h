/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a rule does, in words: for `netdoctor explain` and for docs/rules/.
 * All append to `out`; 0 or -ENOMEM.
 */
#ifndef ND_REPORT_EXPLAIN_H
#define ND_REPORT_EXPLAIN_H

#include "src/core/text.h"
#include "src/diagnose/rule.h"
#include "src/report/report.h"

int explain_rule(const struct rule *r, const struct report_options *o, struct text *out);
/* One line a rule, in table order. */
int explain_list(const struct rule *const *rules, size_t n, struct text *out);

/* A page of docs/rules/ and its index. */
int explain_rule_markdown(const struct rule *r, struct text *out);
int explain_index_markdown(const struct rule *const *rules, size_t n, struct text *out);

#endif
