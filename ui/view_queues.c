/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues: how evenly the NIC's queues are used, what is dropped, and which counters moved. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"
#include "ui/core_bar.h"
#include "ui/draw.h"
#include "ui/moved.h"
#include "ui/page.h"
#include "ui/queue_rows.h"

enum { BOTH_COLUMNS = 160, BESIDE_COLUMNS = 130, HEAD_ROWS = 3, ROOMY = 14 };

enum queue_column {
	COLUMN_NAME, COLUMN_CPU, COLUMN_IRQS, COLUMN_SHARE, COLUMN_BAR, COLUMN_RX, COLUMN_TX,
	COLUMN_BUSY, COLUMN_LOAD, QUEUE_COLUMNS
};
static const struct column queue_columns[QUEUE_COLUMNS] = {
	[COLUMN_NAME] = { .title = "queue", .least = 9, .grow = 1 },
	[COLUMN_CPU] = { .title = "CPU", .least = 4, .right = true },
	[COLUMN_IRQS] = { .title = "IRQ/s", .least = 7, .right = true },
	[COLUMN_SHARE] = { .title = "of all", .least = 6, .keep = 4, .right = true },
	[COLUMN_BAR] = { .title = "", .least = 10, .grow = 2, .keep = 3 },
	[COLUMN_RX] = { .title = "rx pkt/s", .least = 9, .keep = 2, .right = true },
	[COLUMN_TX] = { .title = "tx pkt/s", .least = 9, .keep = 1, .right = true },
	[COLUMN_BUSY] = { .title = "busy", .least = 5, .right = true },
	[COLUMN_LOAD] = { .title = "CPU's time", .least = 10, .grow = 1, .keep = 5 },
};

enum moved_column { COLUMN_COUNTER, COLUMN_PS, COLUMN_TOTAL, MOVED_COLUMNS };
static const struct column moved_columns[MOVED_COLUMNS] = {
	[COLUMN_COUNTER] = { .title = "counter", .least = 12, .grow = 1 },
	[COLUMN_PS] = { .title = "per s", .least = 10, .right = true },
	[COLUMN_TOTAL] = { .title = "in the run", .least = 12, .keep = 1, .right = true },
};

/* 1234567 -> "1.23 M".  Unknown: why, if the word fits. */
static void show_number(struct nd_f64 n, unsigned int columns, char out[SHOWN_CAP])
{
	static const char *const letters[] = { "", " k", " M", " G", " T", " P", " E" };
	size_t i = 0;

	if (n.k != ND_KNOWN) {
		const char *why = n.k == ND_NOT_APPLICABLE ? "-" : nd_known_word(n.k);
		snprintf(out, SHOWN_CAP, "%s", strlen(why) <= columns ? why : "?");
		return;
	}
	double v = n.v;
	for (; v >= 999.5 && i + 1 < ARRAY_SIZE(letters); i++)
		v /= 1000;
	snprintf(out, SHOWN_CAP, i || v >= 100 || v == floor(v) ? "%.3g%s" : "%.2g%s", v,
		 letters[i]);
}

static void number_cell(struct canvas *c, struct area a, unsigned int y, const struct table *t,
			size_t column, enum ink ink, struct nd_f64 n)
{
	char shown[SHOWN_CAP];

	show_number(n, t->width[column], shown);
	table_cell(c, a, y, t, column, n.k == ND_KNOWN ? ink : INK_DIM, shown);
}

static void value_of(struct text *out, const char *label, struct nd_u64 now, struct nd_u64 most)
{
	char shown[SHOWN_CAP];

	show_count(now, shown);
	text_printf(out, "%s%s %s", out->len ? ", " : "", label, shown);
	if (most.k == ND_KNOWN)
		text_printf(out, " of %" PRIu64, most.v);
}

static const char *on_off(struct nd_bool b)
{
	return b.k != ND_KNOWN ? "?" : b.v ? "on" : "off";
}

static void settings(const struct link_facts *l, struct text *out)
{
	value_of(out, "rx ring", l->rx_ring, l->rx_ring_max);
	value_of(out, "tx ring", l->tx_ring, l->tx_ring_max);
	text_printf(out, ", pause rx %s tx %s", on_off(l->pause_rx), on_off(l->pause_tx));
	if (l->combined_channels.k == ND_KNOWN && l->combined_channels.v)
		value_of(out, "channels", l->combined_channels, l->combined_channels_max);
	else
		value_of(out, "rx queues", l->rx_queues, nd_u64_unknown(ND_UNREAD));
	value_of(out, "RSS uses", l->rss_queues_used, nd_u64_unknown(ND_UNREAD));
	if (l->rx_usecs.k == ND_KNOWN)
		text_printf(out, ", rx-usecs %" PRIu64 "%s", l->rx_usecs.v,
			    nd_is_true(l->adaptive_rx) ? " adaptive" : "");
}

/* The egress link at the cursor, while its run goes on. */
static void link_now(const struct scene *scene, const struct shown_run *r, enum side side,
		     struct text *out, bool *some)
{
	const struct history_sample *s = r->sample[side];
	char rx[SHOWN_CAP], tx[SHOWN_CAP], dropped[SHOWN_CAP], when[SHOWN_CAP];

	if (!s || s->link_rx_pps.k != ND_KNOWN || s->link_tx_pps.k != ND_KNOWN) {
		text_add(out, "drops and errors: told when the run has ended");
		return;
	}
	*some = s->link_dropped_ps.k == ND_KNOWN && s->link_dropped_ps.v > 0;
	show_number(s->link_rx_pps, SHOWN_CAP, rx);
	show_number(s->link_tx_pps, SHOWN_CAP, tx);
	show_number(s->link_dropped_ps, SHOWN_CAP, dropped);
	shown_run_when(scene, r, when, sizeof(when));
	text_printf(out, "%s rx %s pkt/s, tx %s pkt/s, dropped and errors %s/s", when, rx, tx,
		    dropped);
}

/* What the link itself counted as lost in the run. */
static void losses(const struct scene *scene, const struct link_facts *l,
		   const struct shown_run *r, enum side side, struct text *out, bool *some)
{
	const struct run_end *end = shown_run_end(r, side);
	const struct link_sample *s = end && end->window && l->ifindex.k == ND_KNOWN
		? counters_link(end->window, l->ifindex.v) : NULL;

	*some = false;
	if (!s && r->number && !r->run) {
		link_now(scene, r, side, out, some);
		return;
	}
	if (!s) {
		text_add(out, "drops and errors: not known, the run was not seen here");
		return;
	}
	const struct { const char *name; struct nd_u64 n; } counts[] = {
		{ "rx_dropped", s->rx_dropped }, { "rx_missed_errors", s->rx_missed_errors },
		{ "rx_errors", s->rx_errors }, { "tx_dropped", s->tx_dropped },
		{ "tx_errors", s->tx_errors },
	};
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		*some |= counts[i].n.k == ND_KNOWN && counts[i].n.v;
		value_of(out, counts[i].name, counts[i].n, nd_u64_unknown(ND_UNREAD));
	}
}

static void draw_text(struct canvas *c, struct area a, enum ink ink, struct text *t)
{
	if (t->data && !t->failed)
		canvas_text(c, a, 0, 0, ink, t->data);
	text_free(t);
}

/* Settings, in two rows where they need them and the list does not; then losses and evenness. */
static void draw_head(const struct scene *s, const struct shown_run *r, enum side side,
		      const struct queue_rows *queues, struct canvas *c, struct area *a)
{
	const struct link_facts *l = s->exam ? exam_port(s->exam, side) : NULL;
	struct text t = TEXT_INIT;
	bool some;

	if (!l) {
		canvas_text(c, area_take_top(a, HEAD_ROWS), 0, 0, INK_DIM, "link: not known");
		return;
	}
	settings(l, &t);
	if (t.data && !t.failed && a->rows >= ROOMY)
		canvas_wrap(c, area_take_top(a, canvas_wrap_rows(c, a->columns, t.data)), 0,
			    INK_PLAIN, t.data);
	else if (t.data && !t.failed)
		canvas_text(c, area_take_top(a, 1), 0, 0, INK_PLAIN, t.data);
	text_free(&t);
	losses(s, l, r, side, &t, &some);
	draw_text(c, area_take_top(a, 1), some ? INK_BAD : INK_PLAIN, &t);
	struct area last = area_take_top(a, 1);
	if (isnan(queues->most) || queues->n < 2)
		return;
	text_printf(&t, "%s: %.0f %% of %s; evenly it would be %.0f %%",
		    queues->rows[queues->busiest].name, queues->most * 100,
		    queues->per_cpu ? "the packets" : "the interrupts",
		    100.0 / (double)queues->n);
	if (queue_rows_uneven(queues))
		text_add(&t, ": UNEVEN");
	draw_text(c, last, queue_rows_uneven(queues) ? INK_WARN : INK_GOOD, &t);
}

static void draw_queue(const struct queue_rows *queues, const struct queue_row *q,
		       const struct table *t, struct canvas *c, struct area a, unsigned int y)
{
	bool most = queue_rows_uneven(queues) && q == &queues->rows[queues->busiest];
	char shown[SHOWN_CAP];

	table_cell(c, a, y, t, COLUMN_NAME, most ? INK_WARN : INK_STRONG, q->name);
	if (q->cpu.k == ND_KNOWN)
		snprintf(shown, sizeof(shown), "%" PRIu64, q->cpu.v);
	else
		snprintf(shown, sizeof(shown), "%s",
			 q->cpu.k == ND_NOT_APPLICABLE ? "many" : "?");
	table_cell(c, a, y, t, COLUMN_CPU, INK_PLAIN, shown);
	number_cell(c, a, y, t, COLUMN_IRQS, INK_PLAIN, q->irqs_ps);
	number_cell(c, a, y, t, COLUMN_RX, INK_PLAIN, q->rx_pps);
	number_cell(c, a, y, t, COLUMN_TX, INK_PLAIN, q->tx_pps);
	snprintf(shown, sizeof(shown), isnan(q->share) ? "?" : "%.0f %%", q->share * 100);
	table_cell(c, a, y, t, COLUMN_SHARE, most ? INK_WARN : INK_PLAIN, shown);
	if (t->width[COLUMN_BAR] && !isnan(q->share))
		draw_range(c, a, t->x[COLUMN_BAR], y, t->width[COLUMN_BAR], queues->most,
			   q->share, q->share, -1, most ? INK_WARN : INK_RATE);
	core_percent(c, a, t->x[COLUMN_BUSY], y, &q->load);
	if (t->width[COLUMN_LOAD])
		core_bar(c, a, t->x[COLUMN_LOAD], y, t->width[COLUMN_LOAD], &q->load);
}

/* Both lists of the chosen host are one to the cursor: the second begins at `from`. */
struct cursor { bool here; size_t from, selected; };

static void list_row(struct canvas *c, struct area row, const struct cursor *cursor, size_t i)
{
	if (cursor->here)
		canvas_list_row(c, row, cursor->from + i, cursor->from + i == cursor->selected);
}

static size_t first_row(const struct cursor *cursor, size_t n, size_t page)
{
	bool inside = cursor->here && cursor->selected >= cursor->from &&
		      cursor->selected - cursor->from < n;

	return list_first(inside ? cursor->selected - cursor->from : 0, n, page);
}

static void draw_queues(const struct scene *s, const struct shown_run *r, enum side side,
			const struct queue_rows *queues, struct canvas *c, struct area a,
			const struct cursor *cursor)
{
	struct table t;

	draw_head(s, r, side, queues, c, &a);
	if (!queues->n) {
		canvas_wrap(c, a, 0, INK_DIM, "no queue is known: neither interrupt vectors of "
			    "this link nor packets of its CPUs were read");
		return;
	}
	table_layout(&t, queue_columns, QUEUE_COLUMNS, a.columns);
	table_head(c, area_take_top(&a, 1), 0, &t, -1, false);
	size_t first = first_row(cursor, queues->n, a.rows);
	for (unsigned int y = 0; y < a.rows && first + y < queues->n; y++) {
		draw_queue(queues, &queues->rows[first + y], &t, c, a, y);
		list_row(c, area_row(a, y), cursor, first + y);
	}
}

static enum ink class_ink(enum moved_class class)
{
	return class == MOVED_LOST ? INK_BAD : class == MOVED_HELD ? INK_WARN : INK_PLAIN;
}

static void draw_moved(const struct moved_list *moved, bool going_on, struct canvas *c,
		       struct area a, const struct cursor *cursor)
{
	char shown[SHOWN_CAP];
	struct table t;

	if (!moved->n) {
		canvas_wrap(c, a, 0, INK_DIM, moved->why == ND_KNOWN
			    ? "no counter moved" : going_on ? "told when the run has ended"
			    : "not known: no counters were read");
		return;
	}
	table_layout(&t, moved_columns, MOVED_COLUMNS, a.columns);
	table_head(c, area_take_top(&a, 1), 0, &t, -1, false);
	size_t first = first_row(cursor, moved->n, a.rows);
	for (unsigned int y = 0; y < a.rows && first + y < moved->n; y++) {
		const struct moved *m = &moved->rows[first + y];
		table_cell(c, a, y, &t, COLUMN_COUNTER, class_ink(m->class), m->name);
		number_cell(c, a, y, &t, COLUMN_PS, class_ink(m->class), m->ps);
		snprintf(shown, sizeof(shown), m->total.k == ND_KNOWN ? "%.0f" : "-", m->total.v);
		table_cell(c, a, y, &t, COLUMN_TOTAL, INK_PLAIN, shown);
		list_row(c, area_row(a, y), cursor, first + y);
	}
}

static void queues_title(const struct scene *s, enum side side, bool per_cpu, struct text *out)
{
	const struct link_facts *l = s->exam ? exam_port(s->exam, side) : NULL;
	char rate[SHOWN_CAP];

	text_printf(out, "%s: ", scene_host(s, side));
	if (!l) {
		text_add(out, "queues");
		return;
	}
	text_printf(out, "%s %s", shown_text(l->name),
		    shown_text(l->driver.k == ND_KNOWN ? l->driver : l->kind));
	show_rate(exam_line_rate(s->exam, side), rate);
	text_printf(out, ", %s%s", rate, per_cpu ? ", packets by CPU" : "");
}

/* What the view lists of one host. */
struct lists { struct queue_rows queues; struct moved_list moved; };

/* 0 or -ENOMEM (then one of them is empty).  lists_free() in any case. */
static int lists_make(const struct scene *s, const struct shown_run *r, enum side side,
		      struct lists *out)
{
	int queues = queue_rows_make(s, r, side, &out->queues);
	int moved = moved_make(s, r, side, &out->moved);

	return queues ? queues : moved;
}

static void lists_free(struct lists *l)
{
	queue_rows_free(&l->queues);
	moved_free(&l->moved);
}

static void draw_side(const struct scene *s, const struct view_state *v,
		      const struct shown_run *r, enum side side, struct canvas *c, struct area a)
{
	struct text title = TEXT_INIT;
	struct lists l;

	if (lists_make(s, r, side, &l)) {
		lists_free(&l);
		return;
	}
	const struct cursor upper_rows = { side == v->side, 0, v->selected };
	const struct cursor lower_rows = { side == v->side, l.queues.n, v->selected };
	struct area upper = a.columns >= BESIDE_COLUMNS ? area_take_left(&a, a.columns * 3 / 5)
							: area_take_top(&a, a.rows * 3 / 5);
	char moved[80] = "Counters that moved in the run", when[SHOWN_CAP];
	shown_run_when(s, r, when, sizeof(when));
	if (l.moved.momentary)
		snprintf(moved, sizeof(moved), "Counters that moved %s", when);
	queues_title(s, side, l.queues.per_cpu, &title);
	if (title.data && !title.failed)
		draw_queues(s, r, side, &l.queues, c, page_box(c, upper, v, title.data),
			    &upper_rows);
	draw_moved(&l.moved, r->number && !r->run, c,
		   page_box(c, a, v, moved), &lower_rows);
	text_free(&title);
	lists_free(&l);
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	struct shown_run r;

	shown_run_find(s, v, &r);
	shown_run_draw(s, &r, c, area_take_top(&a, 1));
	shown_run_draw_hosts(s, v, &r, s->mode != SCENE_SERVE && a.columns >= BOTH_COLUMNS &&
			     a.rows >= 16, draw_side, c, a);
}

static size_t rows(const struct scene *s, const struct view_state *v)
{
	struct shown_run r;
	struct lists l;

	shown_run_find(s, v, &r);
	lists_make(s, &r, v->side, &l);
	size_t n = l.queues.n + l.moved.n;
	lists_free(&l);
	return n;
}

static void row_text(const struct scene *s, const struct view_state *v, size_t row,
		     struct text *out)
{
	struct shown_run r;
	struct lists l;

	shown_run_find(s, v, &r);
	lists_make(s, &r, v->side, &l);
	if (row < l.queues.n)
		text_add(out, l.queues.rows[row].name);
	else if (row - l.queues.n < l.moved.n)
		text_add(out, l.moved.rows[row - l.queues.n].name);
	lists_free(&l);
}

static bool key(const struct scene *s, struct view_state *v, uint32_t k, struct view_request *r)
{
	(void)r;
	return shown_run_key(s, v, k);
}

static const struct key_row keys[] = { SHOWN_RUN_KEY_ROWS };

const struct view view_queues = {
	.name = "Queues",
	.about = "queues of the NIC, drops, rings, the counters that moved",
	.draw = draw,
	.rows = rows,
	.row_text = row_text,
	.key = key,
	.keys = keys,
	.nkeys = ARRAY_SIZE(keys),
};
