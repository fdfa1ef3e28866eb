/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flows: how fast each is, what holds it back, and which queue and CPU it comes in by. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"
#include "ui/draw.h"
#include "ui/flow_rows.h"
#include "ui/page.h"
#include "ui/vectors.h"

/* Wider, the eye loses the row, and a bar says no more. */
enum { MOST_COLUMNS = 160 };

enum flow_column {
	COLUMN_FLOW, COLUMN_WAY, COLUMN_RATE, COLUMN_CWND, COLUMN_RWND, COLUMN_RTT,
	COLUMN_RETRANSMITS, COLUMN_LIMITED, COLUMN_CPU, COLUMN_QUEUE, COLUMN_SENDER_CPU, COLUMNS
};
static const struct column columns[COLUMNS] = {
	[COLUMN_FLOW] = { .title = "flow", .least = 5, .right = true },
	[COLUMN_WAY] = { .title = "to", .least = 5, .keep = 1 },
	[COLUMN_RATE] = { .title = "rate", .least = 11, .right = true },
	[COLUMN_CWND] = { .title = "cwnd", .least = 8, .keep = 6, .right = true },
	[COLUMN_RWND] = { .title = "rwnd", .least = 8, .keep = 5, .right = true },
	[COLUMN_RTT] = { .title = "RTT", .least = 8, .keep = 7, .right = true },
	[COLUMN_RETRANSMITS] = { .title = "retr/s", .least = 7, .keep = 8, .right = true },
	[COLUMN_LIMITED] = { .title = "limited by", .least = 10, .grow = 1, .keep = 9 },
	[COLUMN_CPU] = { .title = "CPU", .least = 4, .keep = 4, .right = true },
	[COLUMN_QUEUE] = { .title = "queue", .least = 6, .keep = 3, .right = true },
	[COLUMN_SENDER_CPU] = { .title = "its CPU", .least = 8, .keep = 2, .right = true },
};
/* The column that each order sorts by. */
static const enum flow_column sorted_column[FLOW_SORTS] = {
	[FLOW_SORT_NUMBER] = COLUMN_FLOW, [FLOW_SORT_RATE] = COLUMN_RATE,
	[FLOW_SORT_CWND] = COLUMN_CWND, [FLOW_SORT_RWND] = COLUMN_RWND,
	[FLOW_SORT_RTT] = COLUMN_RTT, [FLOW_SORT_RETRANSMITS] = COLUMN_RETRANSMITS,
	[FLOW_SORT_LIMITED] = COLUMN_LIMITED, [FLOW_SORT_CPU] = COLUMN_CPU,
};
static const char *const sorts[FLOW_SORTS] = {
	[FLOW_SORT_NUMBER] = "flow", [FLOW_SORT_RATE] = "rate", [FLOW_SORT_CWND] = "cwnd",
	[FLOW_SORT_RWND] = "rwnd", [FLOW_SORT_RTT] = "RTT",
	[FLOW_SORT_RETRANSMITS] = "retransmits", [FLOW_SORT_LIMITED] = "limited by",
	[FLOW_SORT_CPU] = "CPU",
};

/* Which queue a CPU serves: -1 none or not known, -2 several. */
struct queue_of_cpu { int of[ND_MAX_CPUS]; };

static void map_queues(const struct scene *s, enum side side, struct queue_of_cpu *map)
{
	const struct facts *f = s->exam ? s->exam->facts[side] : NULL;
	const struct link_facts *port = f ? exam_port(s->exam, side) : NULL;
	unsigned int cpu, queue;

	for (size_t i = 0; i < ND_MAX_CPUS; i++)
		map->of[i] = -1;
	for (size_t i = 0; port && port->ifindex.k == ND_KNOWN && i < f->nirqs; i++) {
		const struct irq_facts *irq = &f->irqs[i];
		if (!nd_u64_is(irq->ifindex, port->ifindex.v) || irq->name.k != ND_KNOWN ||
		    !vector_queue(irq->name.v, &queue) || !vector_cpu(irq, &cpu))
			continue;
		map->of[cpu] = map->of[cpu] == -1 ? (int)queue : -2;
	}
}

static void cell(struct canvas *c, struct area a, unsigned int y, const struct table *t,
		 enum flow_column column, enum ink ink, struct nd_f64 value, enum unit unit)
{
	char shown[SHOWN_CAP];

	if (value.k != ND_KNOWN) {
		const char *why = value.k == ND_NOT_APPLICABLE ? "-" : nd_known_word(value.k);
		table_cell(c, a, y, t, column, INK_DIM,
			   strlen(why) <= t->width[column] ? why : "?");
		return;
	}
	format_quantity(value.v, unit, shown, sizeof(shown));
	table_cell(c, a, y, t, column, ink, shown);
}

static void cpu_cells(const struct flow_row *row, const struct queue_of_cpu *queues,
		      const struct table *t, struct canvas *c, struct area a, unsigned int y)
{
	struct nd_u64 cpu = row->cpu[side_other(row->sender)];
	char shown[SHOWN_CAP] = "?";

	show_count(cpu, shown);
	table_cell(c, a, y, t, COLUMN_CPU, INK_PLAIN, cpu.k == ND_KNOWN ? shown : "?");
	int queue = cpu.k == ND_KNOWN && cpu.v < ND_MAX_CPUS ? queues->of[cpu.v] : -1;
	snprintf(shown, sizeof(shown), queue >= 0 ? "%d" : queue == -2 ? "many" : "?", queue);
	table_cell(c, a, y, t, COLUMN_QUEUE, INK_PLAIN, shown);
	show_count(row->cpu[row->sender], shown);
	table_cell(c, a, y, t, COLUMN_SENDER_CPU, INK_DIM,
		   row->cpu[row->sender].k == ND_KNOWN ? shown : "?");
}

/* What TCP's own clocks say held it: r the receiver's window, b the send buffer, n the network. */
static void limited_bar(const struct flow_row *row, struct canvas *c, struct area a,
			unsigned int x, unsigned int y, unsigned int width)
{
	if (row->busy.k != ND_KNOWN) {
		const char *why = nd_known_word(row->busy.k);
		canvas_text(c, (struct area){ a.x + x, a.y, width, a.rows }, 0, y, INK_DIM,
			    strlen(why) <= width ? why : "?");
		return;
	}
	double rwnd = row->rwnd_limited.k == ND_KNOWN ? row->rwnd_limited.v : 0;
	double sndbuf = row->sndbuf_limited.k == ND_KNOWN ? row->sndbuf_limited.v : 0;
	struct bar_part parts[] = {
		{ rwnd, 'r', INK_BAD }, { sndbuf, 'b', INK_WARN },
		{ row->busy.v - rwnd - sndbuf, 'n', INK_RATE },
	};
	draw_stack(c, a, x, y, width, parts, ARRAY_SIZE(parts));
}

static void draw_flow(const struct flow_row *row, const struct queue_of_cpu *queues,
		      const struct table *t, struct canvas *c, struct area a, unsigned int y)
{
	char shown[SHOWN_CAP];

	snprintf(shown, sizeof(shown), "%" PRIu32, row->flow);
	table_cell(c, a, y, t, COLUMN_FLOW, INK_STRONG, shown);
	table_cell(c, a, y, t, COLUMN_WAY, INK_DIM,
		   row->sender_known ? side_word(side_other(row->sender)) : "?");
	cell(c, a, y, t, COLUMN_RATE, INK_RATE, row->rate_bps, UNIT_BITS_PER_SECOND);
	cell(c, a, y, t, COLUMN_CWND, INK_PLAIN, row->cwnd_bytes, UNIT_BYTES);
	cell(c, a, y, t, COLUMN_RWND, INK_PLAIN, row->snd_wnd_bytes, UNIT_BYTES);
	cell(c, a, y, t, COLUMN_RTT, INK_PLAIN, row->rtt_us, UNIT_MICROSECONDS);
	struct nd_f64 retransmits = row->retransmits_ps;
	bool some = retransmits.k == ND_KNOWN && retransmits.v > 0;
	if (some && retransmits.v < 10) {
		snprintf(shown, sizeof(shown), "%.2g", retransmits.v);
		table_cell(c, a, y, t, COLUMN_RETRANSMITS, INK_WARN, shown);
	} else {
		if (some)
			retransmits.v = round(retransmits.v);
		cell(c, a, y, t, COLUMN_RETRANSMITS, some ? INK_WARN : INK_PLAIN, retransmits,
		     UNIT_COUNT);
	}
	if (t->width[COLUMN_LIMITED])
		limited_bar(row, c, a, t->x[COLUMN_LIMITED], y, t->width[COLUMN_LIMITED]);
	cpu_cells(row, queues, t, c, a, y);
}

/* Of the flows of one direction whose rate is known. */
struct rate_sum { size_t n; double sum, least, most; };

static struct rate_sum sum_of(const struct flow_rows *flows, enum side sender)
{
	struct rate_sum sum = { .least = HUGE_VAL };

	for (size_t i = 0; i < flows->n; i++) {
		const struct flow_row *row = &flows->rows[i];
		if (row->rate_bps.k != ND_KNOWN || row->sender != sender)
			continue;
		sum.n++;
		sum.sum += row->rate_bps.v;
		sum.least = fmin(sum.least, row->rate_bps.v);
		sum.most = fmax(sum.most, row->rate_bps.v);
	}
	return sum;
}

static unsigned int draw_rates(const struct rate_sum *of, struct canvas *c, struct area row,
			       unsigned int x)
{
	char all[48], low[48], high[48];

	format_rate(of->sum, all, sizeof(all));
	format_rate(of->least, low, sizeof(low));
	format_rate(of->most, high, sizeof(high));
	x += canvas_text(c, row, x, 0, INK_RATE, all);
	/* Twice as fast as the slowest is more than chance. */
	return x + canvas_printf(c, row, x, 0, of->most > 2 * of->least ? INK_WARN : INK_PLAIN,
				 strcmp(low, high) ? ", %s to %s each" : ", %s each", low, high);
}

/* "4 flows, 14.1 Gbit/s, 3.52 Gbit/s to 3.53 Gbit/s each"; both ways: each for itself */
static void draw_sum(const struct flow_rows *flows, struct canvas *c, struct area row)
{
	struct rate_sum sums[EXAM_ENDS];
	unsigned int x = canvas_printf(c, row, 0, 0, INK_STRONG, "%zu flow%s", flows->n,
				       flows->n == 1 ? "" : "s");

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
		sums[side] = sum_of(flows, side);
	bool both = sums[SIDE_LOCAL].n && sums[SIDE_PEER].n;
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		if (!sums[side].n)
			continue;
		x += canvas_text(c, row, x, 0, INK_PLAIN, both && side ? "; " : ", ");
		if (both)
			x += canvas_printf(c, row, x, 0, INK_DIM, "to %s ",
					   side_word(side_other(side)));
		x = draw_rates(&sums[side], c, row, x);
	}
	if (!sums[SIDE_LOCAL].n && !sums[SIDE_PEER].n) {
		canvas_text(c, row, x, 0, INK_DIM, ", rates not known");
		return;
	}
	static const char brief[] = "; r rwnd, b sndbuf, n network";
	static const char full[] = "; limited by r receiver's window, b send buffer, n network";
	canvas_text(c, row, x, 0, INK_DIM, x + sizeof(full) > row.columns ? brief : full);
}

struct about_flow { const struct scene *s; const struct shown_run *r; const struct flow_row *row; };

static void show_member(const struct field *f, const struct flow_summary *of, char *out,
			size_t cap)
{
	enum nd_known k = ND_KNOWN;

	snprintf(out, cap, of ? "?" : "not seen");
	if (!of)
		return;
	const char *at = (const char *)of + f->offset;
	if (f->kind == FIELD_U64) {
		const struct nd_u64 *v = (const void *)at;
		k = v->k;
		format_quantity((double)v->v, f->unit, out, cap);
	} else if (f->kind == FIELD_F64) {
		const struct nd_f64 *v = (const void *)at;
		k = v->k;
		format_quantity(v->v, f->unit, out, cap);
	} else if (f->kind == FIELD_BOOL) {
		const struct nd_bool *v = (const void *)at;
		k = v->k;
		snprintf(out, cap, "%s", v->v ? "yes" : "no");
	} else if (f->kind == FIELD_STR) {
		const struct nd_str *v = (const void *)at;
		k = v->k;
		snprintf(out, cap, "%s", k == ND_KNOWN ? v->v : "");
	}
	if (k != ND_KNOWN)
		snprintf(out, cap, "? (%s)", nd_known_word(k));
}

/* Every member of both ends' summaries, side by side. */
static void write_flow(struct page *p, const void *about)
{
	const struct about_flow *of = about;
	const struct flow_summary *ends[EXAM_ENDS];
	char value[EXAM_ENDS][SHOWN_CAP];

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
		ends[side] = flow_summary_of(of->r, side, of->row->flow);
	if (!ends[SIDE_LOCAL] && !ends[SIDE_PEER]) {
		page_text(p, INK_DIM, "the run has not ended: both ends' summaries of the flow "
			  "come with its end");
		return;
	}
	page_printf(p, INK_TITLE, "%-21s %-19s %s", "", "local", "peer");
	for (size_t i = 0; i < flow_summary_nfields; i++) {
		for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
			show_member(&flow_summary_fields[i], ends[side], value[side], SHOWN_CAP);
		page_printf(p, INK_PLAIN, "%-21s %-19s %s", flow_summary_fields[i].name,
			    value[SIDE_LOCAL], value[SIDE_PEER]);
	}
}

static void draw_table(const struct scene *s, const struct view_state *v,
		       const struct flow_rows *flows, size_t selected, struct canvas *c,
		       struct area a)
{
	struct queue_of_cpu queues[EXAM_ENDS];
	unsigned int sort = v->sort < FLOW_SORTS ? v->sort : 0;
	struct table t;

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
		map_queues(s, side, &queues[side]);
	draw_sum(flows, c, area_take_top(&a, 1));
	if (a.columns > MOST_COLUMNS)
		a.columns = MOST_COLUMNS;
	table_layout(&t, columns, COLUMNS, a.columns);
	table_head(c, area_take_top(&a, 1), 0, &t, (int)sorted_column[sort],
		   (sort == FLOW_SORT_NUMBER) == v->ascending);
	size_t first = list_first(selected, flows->n, a.rows);
	for (unsigned int y = 0; y < a.rows && first + y < flows->n; y++) {
		const struct flow_row *row = &flows->rows[first + y];
		draw_flow(row, &queues[side_other(row->sender)], &t, c, a, y);
		canvas_list_row(c, area_row(a, y), first + y, first + y == selected);
	}
}

/* "Flows", and of a moment: which, and whether these are all. */
static void list_title(const struct scene *s, const struct shown_run *r,
		       const struct flow_rows *flows, char *out, size_t cap)
{
	const struct scene_progress *p = &s->progress;
	uint64_t streams = p->bidirectional ? 2 * p->streams : p->streams;
	char when[SHOWN_CAP];

	shown_run_when(s, r, when, sizeof(when));
	if (!flows->momentary)
		snprintf(out, cap, "Flows");
	else if (r->number == p->run && streams > flows->n)
		snprintf(out, cap, "Flows %s: the first %zu of %" PRIu64, when, flows->n, streams);
	else
		snprintf(out, cap, "Flows %s", when);
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	struct flow_rows flows;
	struct shown_run r;

	shown_run_find(s, v, &r);
	shown_run_draw(s, &r, c, area_take_top(&a, 1));
	if (flow_rows_make(v, &r, &flows)) {
		flow_rows_free(&flows);
		return;
	}
	size_t selected = v->selected < flows.n ? v->selected : 0;
	if (!flows.n) {
		canvas_wrap(c, page_box(c, a, v, "Flows"), 0, INK_DIM,
			    r.number ? "no flow was seen in this run" : "no flow yet");
	} else if (v->open) {
		struct about_flow of = { s, &r, &flows.rows[selected] };
		char title[48];
		snprintf(title, sizeof(title), "Flow %" PRIu32 ": Enter goes back",
			 of.row->flow);
		page_draw(c, page_box(c, a, v, title), v->scroll, write_flow, &of);
	} else {
		char title[120];
		list_title(s, &r, &flows, title, sizeof(title));
		draw_table(s, v, &flows, selected, c, page_box(c, a, v, title));
	}
	flow_rows_free(&flows);
}

static size_t rows(const struct scene *s, const struct view_state *v)
{
	struct shown_run r;

	shown_run_find(s, v, &r);
	return flow_rows_count(&r);
}

static void row_text(const struct scene *s, const struct view_state *v, size_t row,
		     struct text *out)
{
	struct flow_rows flows;
	struct shown_run r;

	shown_run_find(s, v, &r);
	flow_rows_make(v, &r, &flows);
	if (row < flows.n) {
		const struct flow_row *f = &flows.rows[row];
		const struct flow_summary *local = flow_summary_of(&r, SIDE_LOCAL, f->flow);
		text_printf(out, "flow %" PRIu32, f->flow);
		if (local && local->local_port.k == ND_KNOWN)
			text_printf(out, " port %" PRIu64, local->local_port.v);
		if (f->cpu[side_other(f->sender)].k == ND_KNOWN)
			text_printf(out, " cpu %" PRIu64, f->cpu[side_other(f->sender)].v);
	}
	flow_rows_free(&flows);
}

static bool key(const struct scene *s, struct view_state *v, uint32_t k, struct view_request *r)
{
	struct flow_rows flows;
	struct shown_run shown;
	bool taken = false;

	(void)r;
	if (k == 'o')
		return false;	/* both hosts are in each row */
	if (!v->open)
		return shown_run_key(s, v, k);
	shown_run_find(s, v, &shown);
	flow_rows_make(v, &shown, &flows);
	if (v->selected < flows.n) {
		struct about_flow of = { s, &shown, &flows.rows[v->selected] };
		taken = page_key(v, k, write_flow, &of);
	}
	flow_rows_free(&flows);
	return taken || shown_run_key(s, v, k);
}

static const struct key_row keys[] = {
	{ .key = UI_KEY_ENTER, .name = "Enter", .does = "one flow" },
	{ .key = ']', .name = "[ ]", .does = "run" },
	PAGE_KEY_ROWS,
};

const struct view view_flows = {
	.name = "Flows",
	.about = "every flow: its rate, what limits it, its queue and CPU",
	.draw = draw,
	.rows = rows,
	.row_text = row_text,
	.key = key,
	.keys = keys,
	.nkeys = ARRAY_SIZE(keys),
	.sorts = sorts,
	.nsorts = ARRAY_SIZE(sorts),
};
