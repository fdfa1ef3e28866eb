/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/moved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they are asked: "rx_dropped_bytes" is a loss first of all. */
static const struct { const char *part; enum moved_class class; } words[] = {
	{ .part = "drop", .class = MOVED_LOST },
	{ .part = "discard", .class = MOVED_LOST },
	{ .part = "miss", .class = MOVED_LOST },
	{ .part = "err", .class = MOVED_LOST },
	{ .part = "fail", .class = MOVED_LOST },
	{ .part = "lost", .class = MOVED_LOST },
	{ .part = "overflow", .class = MOVED_LOST },
	{ .part = "overrun", .class = MOVED_LOST },
	{ .part = "fifo", .class = MOVED_LOST },
	{ .part = "timeout", .class = MOVED_LOST },
	{ .part = "retrans", .class = MOVED_LOST },
	{ .part = "no_buf", .class = MOVED_LOST },
	{ .part = "nobuf", .class = MOVED_LOST },
	{ .part = "no_dma", .class = MOVED_LOST },
	{ .part = "out_of_buf", .class = MOVED_LOST },
	{ .part = "prune", .class = MOVED_LOST },
	{ .part = "crc", .class = MOVED_LOST },
	{ .part = "collision", .class = MOVED_LOST },
	{ .part = "lossprobe", .class = MOVED_LOST },
	{ .part = "aer_", .class = MOVED_LOST },
	{ .part = "carrier_changes", .class = MOVED_LOST },
	{ .part = "pause", .class = MOVED_HELD },
	{ .part = "xoff", .class = MOVED_HELD },
	{ .part = "throttl", .class = MOVED_HELD },
	{ .part = "squeeze", .class = MOVED_HELD },
	{ .part = "stall", .class = MOVED_HELD },
	{ .part = "stopped", .class = MOVED_HELD },
	{ .part = "collapse", .class = MOVED_HELD },
	{ .part = "requeue", .class = MOVED_HELD },
	{ .part = "overlimit", .class = MOVED_HELD },
	{ .part = "zerowindow", .class = MOVED_HELD },
	{ .part = "flow_limit", .class = MOVED_HELD },
	{ .part = "pressure", .class = MOVED_HELD },
	{ .part = "reorder", .class = MOVED_HELD },
	{ .part = "dsack", .class = MOVED_HELD },
	{ .part = "ofoqueue", .class = MOVED_HELD },
	{ .part = "_busy", .class = MOVED_HELD },
	{ .part = "byte", .class = MOVED_BYTES },
	{ .part = "octet", .class = MOVED_BYTES },
};

enum moved_class moved_class_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i].part))
			return words[i].class;
	return MOVED_PACKETS;
}

static int by_interest(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->class != y->class)
		return (int)x->class - (int)y->class;
	double p = x->ps.k == ND_KNOWN ? x->ps.v : x->total.v;
	double q = y->ps.k == ND_KNOWN ? y->ps.v : y->total.v;
	if (p > q || p < q)
		return p > q ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct gathering {
	const struct scene *s;
	const struct facts *facts;
	double seconds;			/* 0: not known */
	struct moved_list *out;
	bool some_known;
};

static void add(struct gathering *g, const char *name, uint64_t value)
{
	struct moved_list *l = g->out;

	g->some_known = true;
	if (!value || l->n == MOVED_MAX)
		return;
	/* The rows of one name are of CPUs: one sum. */
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->rows[i].name, name)) {
			l->rows[i].total.v += (double)value;
			return;
		}
	struct moved *m = &l->rows[l->n++];
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->class = moved_class_of(name);
	m->total = nd_f64((double)value);
}

static const char *link_name(const struct gathering *g, uint64_t ifindex)
{
	const struct link_facts *l = facts_link(g->facts, ifindex);

	return l && l->name.k == ND_KNOWN ? l->name.v : "link ?";
}

static void add_member(struct gathering *g, const char *of, const struct field *f,
		       const void *row)
{
	char name[MOVED_NAME_CAP];
	struct nd_u64 value;

	if (f->kind != FIELD_U64 || !(f->flags & FIELD_COUNTER))
		return;
	memcpy(&value, (const char *)row + f->offset, sizeof(value));
	if (value.k != ND_KNOWN)
		return;
	snprintf(name, sizeof(name), "%s %s", of, f->name);
	add(g, name, value.v);
}

static void add_members(struct gathering *g, const char *of, const char *section,
			const void *row, bool telling_only)
{
	const struct section *s = schema_section(&counters_schema, section);

	for (size_t i = 0; s && i < s->nfields; i++)
		if (!telling_only || moved_class_of(s->fields[i].name) <= MOVED_HELD)
			add_member(g, of, &s->fields[i], row);
}

static void add_named(struct gathering *g, struct nd_str name, struct nd_u64 value)
{
	if (name.k == ND_KNOWN && value.k == ND_KNOWN)
		add(g, name.v, value.v);
}

static void gather(struct gathering *g, const struct counters *w)
{
	char of[MOVED_NAME_CAP];

	for (size_t i = 0; i < w->nlinks; i++)
		if (w->links[i].ifindex.k == ND_KNOWN)
			add_members(g, link_name(g, w->links[i].ifindex.v), "links", &w->links[i],
				    false);
	for (size_t i = 0; i < w->nnics; i++)
		add_named(g, w->nics[i].name, w->nics[i].value);
	for (size_t i = 0; i < w->nmibs; i++)
		add_named(g, w->mibs[i].name, w->mibs[i].value);
	for (size_t i = 0; i < w->nsoftnet; i++)
		add_members(g, "softnet", "softnet", &w->softnet[i], false);
	/* What passes every level of a tree of qdiscs the link has told already. */
	for (size_t i = 0; i < w->nqdiscs; i++) {
		snprintf(of, sizeof(of), "%s %x:", "qdisc",
			 (unsigned int)(w->qdiscs[i].handle.v >> 16));
		add_members(g, of, "qdiscs", &w->qdiscs[i], true);
	}
	for (size_t i = 0; i < w->ncgroups; i++)
		add_members(g, "cgroup", "cgroups", &w->cgroups[i], true);
	for (size_t i = 0; i < w->npci; i++)
		add_members(g, w->pci[i].address.k == ND_KNOWN ? w->pci[i].address.v : "pci ?",
			    "pci", &w->pci[i], true);
}

static void add_sample(struct moved_list *out, const struct history_sample *sample)
{
	out->momentary = true;
	out->why = ND_KNOWN;
	for (size_t i = 0; i < sample->ncounters && out->n < MOVED_MAX; i++) {
		struct moved *m = &out->rows[out->n++];
		snprintf(m->name, sizeof(m->name), "%s", sample->counters[i].name);
		m->class = moved_class_of(m->name);
		m->ps = nd_f64(sample->counters[i].ps);
	}
}

int moved_make(const struct scene *s, const struct shown_run *r, enum side side,
	       struct moved_list *out)
{
	const struct history_sample *sample = r->sample[side];
	const struct run_end *end = shown_run_end(r, side);
	struct gathering g = { .s = s, .facts = s->exam ? s->exam->facts[side] : NULL,
			       .out = out };

	*out = (struct moved_list){ .why = ND_UNREAD };
	out->rows = calloc(MOVED_MAX, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	if (sample && sample->ncounters) {
		add_sample(out, sample);
	} else if (end && end->window) {
		if (end->window_ns.k == ND_KNOWN)
			g.seconds = (double)end->window_ns.v / 1e9;
		gather(&g, end->window);
		out->why = g.some_known ? ND_KNOWN : ND_UNREAD;
		for (size_t i = 0; i < out->n && g.seconds > 0; i++)
			out->rows[i].ps = nd_f64(out->rows[i].total.v / g.seconds);
	}
	if (out->n)
		qsort(out->rows, out->n, sizeof(*out->rows), by_interest);
	return 0;
}

void moved_free(struct moved_list *list)
{
	free(list->rows);
	*list = (struct moved_list){ 0 };
}
