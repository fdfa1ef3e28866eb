/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Naming and changing qdiscs and classes.  Pure; text in the diagnosis' arena. */
#ifndef ND_RULES_QDISC_H
#define ND_RULES_QDISC_H

#include "src/diagnose/rule.h"

/* "1:10"; the minor part of a qdisc is left out: "8003:". */
const char *qdisc_handle(struct rule_output *out, uint64_t handle);
/* "tbf 8003: on veth-a", "htb class 1:10 on eth0" */
const char *qdisc_words(struct rule_output *out, const struct qdisc_facts *q,
			const struct link_facts *link);
/* "local.qdiscs[tbf 8003: on veth-a].rate_bps" */
const char *qdisc_fact(struct rule_output *out, enum side s, const struct qdisc_facts *q,
		       const struct link_facts *link, const char *member);
/* Where it is attached, for tc: "dev veth-a root", "dev eth0 parent 1:10 handle 20:". */
const char *qdisc_place(struct rule_output *out, const struct qdisc_facts *q,
			const struct link_facts *link);

#endif
