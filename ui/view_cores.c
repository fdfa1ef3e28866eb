/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cores: what every core of both hosts does, and what it is there for. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ui/core_bar.h"
#include "ui/core_rows.h"
#include "ui/draw.h"
#include "ui/page.h"
#include "ui/timescale.h"
#include "ui/vectors.h"

enum {
	BOTH_COLUMNS = 64,	/* below this one host is shown */
	WIDE_SIDE = 52,		/* a side this wide has a graph in each row */
	LONG_MARKS = 34, LONG_NODE_MARKS = 28,	/* columns they take in words */
	PERCENT = 6, BAR = 40, GRAPH = 12, LONG_GRAPH = 60,	/* a column a second */
	NODE_LABEL = 15, CORE_LABEL = 8
};

/* Columns of one side's rows. */
struct row_layout { unsigned int label, bar, graph; bool brief; };

static struct row_layout layout_for(unsigned int columns, bool folded)
{
	struct row_layout l = { .label = folded ? NODE_LABEL : CORE_LABEL };
	unsigned int left;

	unsigned int others = l.label + PERCENT + BAR + LONG_MARKS + 2;
	if (columns >= WIDE_SIDE)
		l.graph = columns < others + GRAPH ? GRAPH
			  : columns > others + LONG_GRAPH ? LONG_GRAPH : columns - others;
	left = l.label + PERCENT + (l.graph ? l.graph + 1 : 0) + 1;
	left = columns > left ? columns - left : 0;
	unsigned int least = folded ? 7 : 10;
	l.bar = left / 2 < least ? (left < least ? left : least) : left / 2 > BAR ? BAR : left / 2;
	l.brief = left < l.bar + (folded ? LONG_NODE_MARKS : LONG_MARKS);
	return l;
}

static void worker_mark(uint64_t worker, bool brief, struct text *out)
{
	text_printf(out, "%s%s%" PRIu64, out->len ? brief ? " " : ", " : "",
		    brief ? "w" : "worker ", worker);
}

/* Our threads on a core: of the run's end, while it goes on of the moment. */
static void worker_marks(const struct shown_run *r, enum side side, unsigned int cpu, bool brief,
			 struct text *out)
{
	const struct history_sample *sample = r->sample[side];
	const struct run_end *end = shown_run_end(r, side);
	const struct counters *w = end ? end->window : NULL;

	for (size_t i = 0; w && i < w->nworkers; i++)
		if (nd_u64_is(w->workers[i].cpu, cpu) && w->workers[i].worker.k == ND_KNOWN)
			worker_mark(w->workers[i].worker.v, brief, out);
	for (size_t i = 0; !w && sample && i < sample->nworkers; i++)
		if (sample->workers[i] == cpu)
			worker_mark(i, brief, out);
}

/* What a core is there for: vectors, and our threads where they ran last. */
static void core_marks(const struct scene *s, const struct shown_run *r, enum side side,
		       unsigned int cpu, bool brief, struct text *out)
{
	const struct facts *f = s->exam ? s->exam->facts[side] : NULL;
	unsigned int at, shown = 0, more = 0;

	worker_marks(r, side, cpu, brief, out);
	for (size_t i = 0; f && i < f->nirqs; i++) {
		if (!vector_cpu(&f->irqs[i], &at) || at != cpu)
			continue;
		if (shown++ >= 2) {
			more++;
			continue;
		}
		text_printf(out, "%s%s", out->len ? brief ? " " : ", " : "",
			    brief ? "" : "serves ");
		vector_name(f, &f->irqs[i], brief, out);
	}
	if (more)
		text_printf(out, " +%u", more);
}

/* The node's link, when the NIC is there. */
static const char *nic_of_node(const struct scene *s, enum side side, const struct core_row *row)
{
	const struct link_facts *l = s->exam ? exam_port(s->exam, side) : NULL;
	bool here = l && row->node >= 0 && l->numa_node.k == ND_KNOWN &&
		    l->numa_node.v == row->node;

	return here ? shown_text(l->name) : NULL;
}

/* The mean of many hides the one that is full. */
static void node_marks(const struct scene *s, enum side side, const struct core_row *row,
		       bool brief, struct text *out)
{
	const char *nic = nic_of_node(s, side, row);
	double most = history_share(row->hot.busy) * 100;

	if (row->hot.busy == HISTORY_UNKNOWN)
		text_add(out, "max ?");
	else if (brief)
		text_printf(out, "max %.0f %%", most);
	else
		text_printf(out, "cpu %u %.0f %%", row->hot.cpu, most);
	if (nic && !brief)
		text_printf(out, ", %s is here", nic);
}

/* Samples list cores in order and without holes on nearly all machines. */
static const struct history_core *core_in(const struct history_sample *s, unsigned int cpu)
{
	if (!s)
		return NULL;
	return cpu < s->ncores && s->cores[cpu].cpu == cpu ? &s->cores[cpu]
							   : history_core(s, cpu);
}

static void core_graph(const struct scene *s, enum side side, unsigned int cpu, struct canvas *c,
		       struct area a)
{
	struct timescale t = timescale_for(s, a.columns);
	double values[CANVAS_MAX_COLUMNS];

	for (unsigned int i = 0; i < t.columns; i++) {
		const struct history_core *core =
			core_in(timescale_sample(&t, s->history[side], i), cpu);
		values[i] = core ? history_share(core->busy) : NAN;
	}
	draw_graph(c, a, INK_RATE, values, t.columns, 1);
}

static void row_label(const struct core_row *row, const struct core_rows *rows, bool nic,
		      struct canvas *c, struct area a)
{
	if (!row->is_node) {
		canvas_printf(c, a, rows->folded ? 2 : 0, 0, INK_PLAIN, "cpu %u", row->load.cpu);
		return;
	}
	canvas_mark(c, a, 0, 0, INK_KEY, row->open ? MARK_OPEN : MARK_CLOSED);
	if (nic)
		canvas_mark(c, a, 1, 0, INK_WARN, MARK_BULLET);
	if (row->node < 0)
		canvas_printf(c, a, 2, 0, INK_STRONG, "node ? (%u)", row->ncores);
	else
		canvas_printf(c, a, 2, 0, INK_STRONG, "node %" PRId64 " (%u)", row->node,
			      row->ncores);
}

static void draw_row(const struct scene *s, const struct shown_run *r, enum side side,
		     const struct core_rows *rows, const struct core_row *row, struct canvas *c,
		     struct area a)
{
	struct row_layout l = layout_for(a.columns, rows->folded);
	struct text marks = TEXT_INIT;
	struct area rest = a;

	row_label(row, rows, row->is_node && nic_of_node(s, side, row), c,
		  area_take_left(&rest, l.label));
	core_bar(c, area_take_left(&rest, l.bar), 0, 0, l.bar, &row->load);
	core_percent(c, area_take_left(&rest, PERCENT), 1, 0, &row->load);
	area_take_left(&rest, 1);
	if (l.graph) {
		struct area graph = area_take_left(&rest, l.graph);
		core_graph(s, side, row->is_node ? row->hot.cpu : row->load.cpu, c, graph);
		area_take_left(&rest, 1);
	}
	if (row->is_node)
		node_marks(s, side, row, l.brief, &marks);
	else
		core_marks(s, r, side, row->load.cpu, l.brief, &marks);
	if (marks.data && !marks.failed)
		canvas_text(c, rest, 0, 0,
			    row->is_node && history_share(row->hot.busy) >= 0.9 ? INK_BAD : INK_DIM,
			    marks.data);
	text_free(&marks);
}

static void hot_lines(const struct scene *s, const struct shown_run *r, enum side side,
		      const struct core_rows *rows, struct canvas *c, struct area a)
{
	struct text t = TEXT_INIT;
	unsigned int cpu = rows->hot.cpu;

	if (rows->hot.busy == HISTORY_UNKNOWN) {
		canvas_text(c, a, 0, 0, INK_DIM, "the hot core is not known");
		return;
	}
	text_printf(&t, "hot: cpu %u %.0f %%: ", cpu, history_share(rows->hot.busy) * 100);
	core_filled_by(&rows->hot, a.columns >= 48 ? 3 : 1, &t);
	if (t.data && !t.failed)
		canvas_text(c, area_row(a, 0), 0, 0,
			    history_share(rows->hot.busy) >= 0.9 ? INK_BAD : INK_STRONG, t.data);
	text_free(&t);
	struct area second = area_row(a, 1);
	core_marks(s, r, side, cpu, false, &t);
	if (t.data && !t.failed)
		canvas_text(c, area_take_left(&second, second.columns * 2 / 3), 5, 0, INK_PLAIN,
			    t.data);
	text_free(&t);
	area_take_left(&second, 1);
	core_graph(s, side, cpu, c, second);
}

/* Why there is no core to show. */
static const char *why_none(const struct scene *s, enum side side)
{
	const struct exam *e = s->exam;

	if (s->mode == SCENE_SERVE && side == SIDE_PEER)
		return "not known here: the client sees both hosts";
	if (e && !e->facts[side] && s->progress.phase == SCENE_OVER)
		return side == SIDE_PEER ? "not known: the peer was not seen"
					 : "not known: this host was not seen";
	if (e && e->facts[side])
		return "not known: its CPUs were not read";
	return "nothing is known yet";
}

static void side_title(const struct scene *s, const struct view_state *v, enum side side,
		       const struct core_rows *rows, struct text *out)
{
	const struct link_facts *l = s->exam ? exam_port(s->exam, side) : NULL;

	text_printf(out, "%s%s: ", v->side == side ? "> " : "", scene_host(s, side));
	if (rows->ncores)
		text_printf(out, "%zu core%s", rows->ncores, rows->ncores == 1 ? "" : "s");
	else
		text_add(out, "cores unknown");
	if (l && l->numa_node.k == ND_KNOWN && l->numa_node.v >= 0)
		text_printf(out, ", %s on node %" PRId64, shown_text(l->name), l->numa_node.v);
}

static void draw_side(const struct scene *s, const struct view_state *v,
		      const struct shown_run *r, enum side side, struct canvas *c, struct area a)
{
	struct text title = TEXT_INIT;
	struct core_rows rows;
	struct area in = { a.x, a.y, 0, 0 };

	if (core_rows_make(s, v, r, side, &rows)) {
		core_rows_free(&rows);
		return;
	}
	side_title(s, v, side, &rows, &title);
	if (title.data && !title.failed)
		in = page_box(c, a, v, title.data);
	text_free(&title);
	if (!rows.n)
		canvas_wrap(c, in, 0, INK_DIM, why_none(s, side));
	else if (in.rows >= 5)
		hot_lines(s, r, side, &rows, c, area_take_bottom(&in, 2));
	size_t selected = v->selected < rows.n ? v->selected : rows.n ? rows.n - 1 : 0;
	size_t first = list_first(selected, rows.n, in.rows);
	for (unsigned int y = 0; y < in.rows && first + y < rows.n; y++) {
		struct area row = area_row(in, y);
		draw_row(s, r, side, &rows, &rows.rows[first + y], c, row);
		if (side == v->side)
			canvas_list_row(c, row, first + y, first + y == selected);
	}
	core_rows_free(&rows);
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	struct shown_run r;
	struct area head = area_take_top(&a, 1);

	shown_run_find_hosts(s, v, &r);
	if (head.columns >= 100)
		canvas_text_right(c, area_take_right(&head, 44), 0, INK_DIM,
				  "u user s system q softirq i irq t steal");
	shown_run_draw(s, &r, c, head);
	/* A server sees itself alone. */
	shown_run_draw_hosts(s, v, &r, s->mode != SCENE_SERVE && a.columns >= BOTH_COLUMNS,
			     draw_side, c, a);
}

static size_t rows(const struct scene *s, const struct view_state *v)
{
	struct shown_run r;
	struct core_rows list;
	size_t n;

	shown_run_find_hosts(s, v, &r);
	core_rows_make(s, v, &r, v->side, &list);
	n = list.n;
	core_rows_free(&list);
	return n;
}

static void row_text(const struct scene *s, const struct view_state *v, size_t row,
		     struct text *out)
{
	struct shown_run r;
	struct core_rows list;

	shown_run_find_hosts(s, v, &r);
	core_rows_make(s, v, &r, v->side, &list);
	if (row < list.n && list.rows[row].is_node) {
		text_printf(out, "node %" PRId64 " ", list.rows[row].node);
		node_marks(s, v->side, &list.rows[row], false, out);
	} else if (row < list.n) {
		struct text marks = TEXT_INIT;
		core_marks(s, &r, v->side, list.rows[row].load.cpu, false, &marks);
		text_printf(out, "cpu %u %s", list.rows[row].load.cpu,
			    marks.data && !marks.failed ? marks.data : "");
		text_free(&marks);
	}
	core_rows_free(&list);
}

static bool same_row(const struct core_row *a, const struct core_row *b)
{
	return a->is_node == b->is_node && a->group == b->group &&
	       (a->is_node || a->load.cpu == b->load.cpu);
}

static void unfold(const struct scene *s, struct view_state *v, uint64_t unfolded)
{
	struct shown_run r;
	struct core_rows list;
	struct core_row row = { 0 };

	shown_run_find_hosts(s, v, &r);
	core_rows_make(s, v, &r, v->side, &list);
	bool keep = list.folded && v->selected < list.n;
	if (keep)
		row = list.rows[v->selected];
	core_rows_free(&list);
	v->unfolded = unfolded;
	if (!keep)
		return;
	if (!row.is_node)
		v->unfolded |= core_group_bit(v->side, row.group);
	core_rows_make(s, v, &r, v->side, &list);
	for (size_t i = 0; i < list.n; i++)
		if (same_row(&list.rows[i], &row))
			v->selected = i;
	core_rows_free(&list);
}

/* Folds or unfolds the group of the selected row; the selection stays on it. */
static void toggle(const struct scene *s, struct view_state *v)
{
	struct shown_run r;
	struct core_rows list;

	shown_run_find_hosts(s, v, &r);
	core_rows_make(s, v, &r, v->side, &list);
	if (list.folded && v->selected < list.n) {
		size_t head = v->selected;
		while (head && !list.rows[head].is_node)
			head--;
		v->unfolded ^= core_group_bit(v->side, list.rows[head].group);
		v->selected = head;
	}
	core_rows_free(&list);
}

static bool key(const struct scene *s, struct view_state *v, uint32_t k, struct view_request *r)
{
	(void)r;
	if (k == UI_KEY_ENTER) {
		toggle(s, v);
		return true;
	}
	if (k == 'u') {
		v->unfolded = v->unfolded == UINT64_MAX ? 0 : UINT64_MAX;
		v->selected = 0;
		return true;
	}
	return shown_run_key(s, v, k);
}

static const struct key_row keys[] = {
	{ .key = UI_KEY_ENTER, .name = "Enter", .does = "unfold" },
	{ .key = 'u', .name = "u", .does = "unfold all" },
	SHOWN_RUN_KEY_ROWS,
};
static const char *const sorts[] = { [CORE_SORT_CPU] = "number", [CORE_SORT_BUSY] = "busiest" };

const struct view view_cores = {
	.name = "Cores",
	.about = "every core of both hosts, what fills it and what it serves",
	.draw = draw,
	.rows = rows,
	.row_text = row_text,
	.unfold = unfold,
	.key = key,
	.keys = keys,
	.nkeys = ARRAY_SIZE(keys),
	.sorts = sorts,
	.nsorts = ARRAY_SIZE(sorts),
};
