/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/qdisc.h"

/* TC_H_ROOT of linux/pkt_sched.h. */
#define PARENT_ROOT 0xffffffffu

const char *qdisc_handle(struct rule_output *out, uint64_t handle)
{
	unsigned int major = (unsigned int)(handle >> 16) & 0xffff;
	unsigned int minor = (unsigned int)handle & 0xffff;

	return minor ? rule_text(out, "%x:%x", major, minor) : rule_text(out, "%x:", major);
}

static const char *kind_of(const struct qdisc_facts *q)
{
	return q->kind.k == ND_KNOWN ? q->kind.v : "qdisc";
}

static const char *name_of(const struct link_facts *link)
{
	return link && link->name.k == ND_KNOWN ? link->name.v : "?";
}

const char *qdisc_words(struct rule_output *out, const struct qdisc_facts *q,
			const struct link_facts *link)
{
	return rule_text(out, "%s %s%s on %s", kind_of(q), nd_is_true(q->is_class) ? "class " : "",
			 qdisc_handle(out, q->handle.v), name_of(link));
}

const char *qdisc_fact(struct rule_output *out, enum side s, const struct qdisc_facts *q,
		       const struct link_facts *link, const char *member)
{
	return rule_text(out, "%s.qdiscs[%s].%s", side_word(s), qdisc_words(out, q, link), member);
}

const char *qdisc_place(struct rule_output *out, const struct qdisc_facts *q,
			const struct link_facts *link)
{
	const char *dev = rule_shell(out, name_of(link));
	const char *parent;

	if (q->parent.v != PARENT_ROOT)
		parent = rule_text(out, "parent %s", qdisc_handle(out, q->parent.v));
	else if (nd_is_true(q->is_class))
		parent = rule_text(out, "parent %s", qdisc_handle(out, q->handle.v & ~0xffffull));
	else
		parent = "root";

	/* The kernel's default qdiscs have no handle: they cannot be named by it. */
	if (!q->handle.v)
		return rule_text(out, "dev %s %s", dev, parent);
	return rule_text(out, "dev %s %s %s %s", dev, parent,
			 nd_is_true(q->is_class) ? "classid" : "handle",
			 qdisc_handle(out, q->handle.v));
}
