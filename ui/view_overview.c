/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overview: both hosts and the path between them, the rate against its ceilings, the answer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"
#include "ui/clients.h"
#include "ui/core_bar.h"
#include "ui/draw.h"
#include "ui/rungs.h"
#include "ui/shown_run.h"
#include "ui/timescale.h"
#include "ui/view.h"

enum { HOST_ROWS = 7, PATH_COLUMNS = 22, WIDE = 110, ENOUGH_ROWS = 25 };

/* The busiest core: at the cursor, and when all is over in the run that the answer is about. */
static bool find_hot_core(const struct scene *s, enum side side, struct history_core *out)
{
	struct history_core cores[HISTORY_MAX_CORES];
	const struct view_state by_cursor = { 0 };
	struct shown_run r;

	shown_run_find_hosts(s, &by_cursor, &r);
	struct history_sample sample = { .cores = cores,
					 .ncores = shown_run_cores(&r, side, cores) };
	const struct history_core *hot = history_hot_core(&sample);
	if (hot)
		*out = *hot;
	return hot;
}

/* One line of a host's box: what is not known is left out, not shown as 0. */
static void hot_core_line(const struct scene *s, enum side side, struct canvas *c, struct area a)
{
	struct history_core hot;

	if (!find_hot_core(s, side, &hot) || a.columns < 20) {
		canvas_text(c, a, 0, 0, INK_DIM,
			    scene_sample(s, side) ? "cores: not known" : "cores: idle");
		return;
	}
	unsigned int x = canvas_printf(c, a, 0, 0, INK_DIM, "cpu %u ", hot.cpu);
	unsigned int bar = a.columns > x + 6 ? a.columns - x - 6 : 0;
	if (bar > 40)
		bar = 40;
	core_bar(c, a, x, 0, bar, &hot);
	core_percent(c, a, x + bar + 1, 0, &hot);
}

static void nic_line(const struct exam *e, enum side side, struct canvas *c, struct area a)
{
	const struct link_facts *l = e ? exam_egress(e, side) : NULL;
	struct nd_f64 rate = e && l ? exam_line_rate(e, side) : nd_f64_unknown(ND_UNREAD);
	char shown[SHOWN_CAP];

	if (!l) {
		canvas_text(c, a, 0, 0, INK_DIM, "link: ?");
		return;
	}
	unsigned int x = canvas_text(c, a, 0, 0, INK_STRONG, shown_text(l->name));
	if (rate.k == ND_KNOWN) {
		show_rate(rate, shown);
		x += canvas_printf(c, a, x, 0, INK_PLAIN, " %s", shown);
	}
	if (l->mtu.k == ND_KNOWN)
		canvas_printf(c, a, x, 0, INK_PLAIN, " MTU %" PRIu64, l->mtu.v);
}

static struct nd_u64 queues_of(const struct link_facts *l)
{
	if (l->combined_channels.k == ND_KNOWN && l->combined_channels.v)
		return l->combined_channels;
	return l->rx_channels.k == ND_KNOWN ? l->rx_channels : l->rx_queues;
}

static void driver_line(const struct exam *e, enum side side, struct canvas *c, struct area a)
{
	const struct link_facts *l = e ? exam_port(e, side) : NULL;
	unsigned int x;

	if (!l)
		return;
	struct nd_str what = l->driver.k == ND_KNOWN ? l->driver : l->kind;
	x = canvas_text(c, a, 0, 0, INK_PLAIN, shown_text(what));
	struct nd_u64 queues = queues_of(l);
	if (queues.k == ND_KNOWN)
		x += canvas_printf(c, a, x, 0, INK_PLAIN, ", %" PRIu64 " queue%s", queues.v,
				   queues.v == 1 ? "" : "s");
	if (l->numa_node.k == ND_KNOWN && l->numa_node.v >= 0)
		canvas_printf(c, a, x, 0, INK_PLAIN, ", node %" PRId64, l->numa_node.v);
}

static void pci_line(const struct exam *e, enum side side, struct canvas *c, struct area a)
{
	const struct link_facts *l = e ? exam_port(e, side) : NULL;
	const struct pci_facts *p = l && l->pci_address.k == ND_KNOWN
		? facts_pci(e->facts[side], l->pci_address.v) : NULL;
	char speed[SHOWN_CAP];

	if (!p || p->speed_mtps.k != ND_KNOWN || p->width.k != ND_KNOWN)
		return;
	format_quantity((double)p->speed_mtps.v, UNIT_MEGATRANSFERS, speed, sizeof(speed));
	unsigned int x = canvas_printf(c, a, 0, 0, INK_PLAIN, "PCIe %s x%" PRIu64, speed,
				       p->width.v);
	if (p->max_width.k == ND_KNOWN && p->max_width.v > p->width.v)
		canvas_printf(c, a, x, 0, INK_WARN, " of x%" PRIu64, p->max_width.v);
}

static void cpus_line(const struct exam *e, enum side side, struct canvas *c, struct area a)
{
	const struct facts *f = e ? e->facts[side] : NULL;

	if (!f)
		return;
	unsigned int x = 0;
	if (f->host.cpus_online.k == ND_KNOWN)
		x = canvas_printf(c, a, 0, 0, INK_PLAIN, "%u CPUs, ",
				  nd_cpus_count(&f->host.cpus_online));
	canvas_text(c, a, x, 0, INK_PLAIN, shown_text(f->host.cpu_model));
}

static void host_box(const struct scene *s, enum side side, struct canvas *c, struct area a)
{
	static void (*const lines[])(const struct exam *, enum side, struct canvas *,
				     struct area) = { nic_line, driver_line, pci_line, cpus_line };
	char title[128];

	snprintf(title, sizeof(title), "%s: %s", side_word(side), scene_host(s, side));
	struct area in = canvas_box(c, a, INK_BORDER, title);
	hot_core_line(s, side, c, area_row(in, 0));
	if (s->exam && !s->exam->facts[side] && s->progress.phase > SCENE_READING) {
		canvas_wrap(c, in, 1, INK_DIM, "not seen");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++)
		lines[i](s->exam, side, c, area_row(in, i + 1));
}

static void arrow_line(const struct scene *s, enum run_direction d, struct canvas *c,
		       struct area a)
{
	const struct direction_result *r = scene_result(s, d);
	struct nd_f64 now = scene_rate(s, d);
	bool forward = d == RUN_FORWARD;
	char rate[SHOWN_CAP] = "-";

	if (now.k == ND_KNOWN)
		show_rate(now, rate);
	else if (r && r->measured)
		format_rate(r->measured_bps, rate, sizeof(rate));
	for (unsigned int x = 0; x < a.columns; x++)
		canvas_mark(c, a, x, 0, INK_BORDER, MARK_HORIZONTAL);
	canvas_mark(c, a, forward ? a.columns - 1 : 0, 0, INK_BORDER,
		    forward ? MARK_RIGHT : MARK_LEFT);
	char shown[SHOWN_CAP + 2];
	snprintf(shown, sizeof(shown), " %s ", rate);
	unsigned int n = (unsigned int)strlen(shown);
	canvas_text(c, a, a.columns > n ? (a.columns - n) / 2 : 0, 0,
		    now.k == ND_KNOWN ? INK_RATE : INK_PLAIN, shown);
}

static void centred(struct canvas *c, struct area a, enum ink ink, const char *s)
{
	unsigned int n = canvas_text_columns(c, s);

	canvas_text(c, a, a.columns > n ? (a.columns - n) / 2 : 0, 0, ink, s);
}

/* Median round trips under load, where they were measured: "loaded 4.1/2.3 ms". */
static void loaded_line(const struct exam *e, struct canvas *c, struct area a)
{
	struct text t = TEXT_INIT;

	for (enum run_direction d = RUN_FORWARD; d <= RUN_REVERSE; d++) {
		const struct run *r = exam_main_run(e, d);
		double ms = r && r->loaded.p50_us.k == ND_KNOWN ? r->loaded.p50_us.v / 1e3 : -1;
		if (ms >= 0)
			text_printf(&t, "%s%.*f", t.len ? "/" : "loaded ",
				    ms < 1 ? 3 : ms < 10 ? 1 : 0, ms);
	}
	if (t.len)
		text_add(&t, " ms");
	if (t.data && !t.failed)
		centred(c, a, INK_DIM, t.data);
	text_free(&t);
}

static void path_box(const struct scene *s, struct canvas *c, struct area a)
{
	const struct path_facts *p = s->exam ? &s->exam->path : NULL;
	const struct facts *f = s->exam ? s->exam->facts[SIDE_LOCAL] : NULL;
	char line[128];

	arrow_line(s, RUN_FORWARD, c, area_row(a, 2));
	arrow_line(s, RUN_REVERSE, c, area_row(a, 3));
	if (!p)
		return;
	if (p->peer_address.k == ND_KNOWN)
		centred(c, area_row(a, 1), INK_DIM, p->peer_address.v);
	if (p->idle_rtt_us.k == ND_KNOWN) {
		snprintf(line, sizeof(line), "RTT %.3g ms", (double)p->idle_rtt_us.v / 1e3);
		centred(c, area_row(a, 4), INK_DIM, line);
	}
	loaded_line(s->exam, c, area_row(a, 6));
	if (nd_is_true(p->same_machine))
		centred(c, area_row(a, 5), INK_WARN, "same machine");
	else if (f && f->route.gateway.k == ND_KNOWN) {
		snprintf(line, sizeof(line), "via %s", f->route.gateway.v);
		centred(c, area_row(a, 5), INK_DIM, line);
	}
}

static void hosts(const struct scene *s, struct canvas *c, struct area a)
{
	if (s->mode == SCENE_SERVE) {
		unsigned int least = a.columns < 100 ? 30 : 38;
		host_box(s, SIDE_LOCAL, c, area_take_left(&a, least));
		clients_draw(s, c, a);
		return;
	}
	unsigned int path = a.columns > 2 * PATH_COLUMNS ? PATH_COLUMNS : 0;
	struct area left = area_take_left(&a, (a.columns - path) / 2);
	struct area middle = area_take_left(&a, path);

	host_box(s, SIDE_LOCAL, c, left);
	path_box(s, c, middle);
	host_box(s, SIDE_PEER, c, a);
}

/* A server's clients get what others do not need. */
static unsigned int host_rows(const struct scene *s, unsigned int all)
{
	unsigned int wanted = s->mode == SCENE_SERVE ? clients_rows(s) : 0;
	unsigned int most = all > ENOUGH_ROWS ? all - ENOUGH_ROWS : 0;

	wanted = wanted < most ? wanted : most;
	return wanted > HOST_ROWS ? wanted : HOST_ROWS;
}

static void rung_row(const struct rungs *r, const struct ceiling *ceiling, struct canvas *c,
		     struct area row)
{
	enum { LABEL = 23 };
	unsigned int columns = row.columns >= 68 ? 26 : 16;
	char label[64], range[SHOWN_CAP];
	bool lowest = ceiling == r->lowest;
	double mark = r->now_bps.k == ND_KNOWN ? r->now_bps.v
		      : r->measured_bps.k == ND_KNOWN ? r->measured_bps.v : -1;

	rung_label(ceiling, label, sizeof(label));
	rung_range(ceiling, range, sizeof(range));
	canvas_text(c, row, 0, 0, lowest ? INK_BAD : INK_PLAIN, lowest ? ">" : " ");
	struct area text = { row.x + 2, row.y, LABEL - 3, 1 };
	canvas_text(c, text, 0, 0, lowest ? INK_STRONG : INK_PLAIN, label);
	struct area rest = row;
	area_take_left(&rest, LABEL);
	struct area right = area_take_right(&rest, columns);
	area_take_right(&rest, 1);
	canvas_text_right(c, right, 0, lowest ? INK_STRONG : INK_PLAIN, range);
	draw_range(c, rest, 0, 0, rest.columns, r->scale, ceiling->low_bps, ceiling->high_bps,
		   mark, lowest ? INK_BAD : INK_CEILING);
}

static void unknown_row(const struct ceiling *ceiling, struct canvas *c, struct area row)
{
	char label[64];

	rung_label(ceiling, label, sizeof(label));
	canvas_printf(c, row, 0, 0, INK_DIM, "? %-20s %s", label,
		      ceiling->why_unknown ? ceiling->why_unknown : "not known");
}

static void ladder_head(const struct scene *s, enum run_direction d, const struct rungs *r,
			struct canvas *c, struct area row)
{
	char rate[SHOWN_CAP];
	unsigned int x = canvas_printf(c, row, 0, 0, INK_TITLE, "%s",
				       d == RUN_FORWARD ? "Forward" : "Reverse");

	x += canvas_printf(c, row, x, 0, INK_DIM, " %s ", side_word(run_sender(d)));
	canvas_mark(c, row, x++, 0, INK_DIM, MARK_RIGHT);
	x += canvas_printf(c, row, x, 0, INK_DIM, " %s: ", side_word(run_receiver(d)));
	if (r->now_bps.k == ND_KNOWN) {
		show_rate(r->now_bps, rate);
		x += canvas_printf(c, row, x, 0, INK_RATE, "%s now", rate);
	}
	if (r->measured_bps.k == ND_KNOWN) {
		show_rate(r->measured_bps, rate);
		x += canvas_printf(c, row, x, 0, INK_STRONG, "%s%s measured",
				   r->now_bps.k == ND_KNOWN ? ", " : "", rate);
	} else if (r->now_bps.k != ND_KNOWN) {
		x += canvas_text(c, row, x, 0, INK_DIM, "not measured yet");
	}
	struct nd_f64 ended = scene_ended_s(s, d);
	if (s->mode == SCENE_SERVE && s->progress.phase != SCENE_OVER && ended.k == ND_KNOWN) {
		show_ago(s->cursor_s - ended.v, rate);
		x += canvas_printf(c, row, x, 0, INK_DIM, ", ended %s", rate);
	}
	const struct direction_result *result = scene_result(s, d);
	if (!result || !result->measured || result->explained.k != ND_KNOWN)
		return;
	/* The last is the mark of the row below. */
	static const char *const of_what[] = { "the lowest ceiling", "the lowest", ">" };
	char share[SHOWN_CAP];
	for (size_t i = 0; i < ARRAY_SIZE(of_what); i++) {
		snprintf(share, sizeof(share), ", %.0f %% of %s", result->explained.v * 100,
			 of_what[i]);
		if (x + strlen(share) <= row.columns)
			break;
	}
	canvas_text(c, row, x, 0, INK_PLAIN, share);
}

static void ladder(const struct scene *s, enum run_direction d, struct canvas *c, struct area a)
{
	struct rungs r;

	rungs_make(s, d, &r);
	ladder_head(s, d, &r, c, area_row(a, 0));
	if (!r.nknown)
		canvas_text(c, area_row(a, 1), 2, 0, INK_DIM, "no ceiling is known yet");
	unsigned int y = 1;
	for (size_t i = 0; i < r.nknown && y < a.rows; i++)
		rung_row(&r, r.known[i], c, area_row(a, y++));
	for (size_t i = 0; i < r.nunknown && y < a.rows; i++)
		unknown_row(r.unknown[i], c, area_row(a, y++));
}

/* What was measured of both at once has no ceilings: it stands above those of each alone. */
static void ladders_title(const struct diagnosis *d, char *title, size_t cap)
{
	char forward[SHOWN_CAP], reverse[SHOWN_CAP];

	snprintf(title, cap, "Rate and ceilings");
	if (!d || !d->both.run)
		return;
	format_rate(d->both.of[RUN_FORWARD].measured_bps, forward, sizeof(forward));
	format_rate(d->both.of[RUN_REVERSE].measured_bps, reverse, sizeof(reverse));
	snprintf(title, cap, "Rate and ceilings; both at once: %s forward, %s reverse", forward,
		 reverse);
}

static void ladders(const struct scene *s, struct canvas *c, struct area a)
{
	char title[160];

	ladders_title(s->diagnosis, title, sizeof(title));
	struct area in = canvas_box(c, a, INK_BORDER, title);
	struct area top = area_take_top(&in, (in.rows + 1) / 2);

	ladder(s, RUN_FORWARD, c, top);
	ladder(s, RUN_REVERSE, c, in);
}

static void rate_graph(const struct scene *s, enum run_direction d, struct canvas *c,
		       struct area a)
{
	double values[CANVAS_MAX_COLUMNS], most = 0;
	char label[SHOWN_CAP];

	if (!a.rows || a.columns < 24)
		return;
	struct area left = area_take_left(&a, 14);
	struct timescale t = timescale_for(s, a.columns);
	for (unsigned int i = 0; i < t.columns; i++) {
		values[i] = timescale_rate(&t, s, d, i);
		most = values[i] > most ? values[i] : most;
	}
	format_rate(most, label, sizeof(label));
	if (left.rows > 1 || !(most > 0)) {
		canvas_text(c, left, 0, 0, INK_DIM, run_direction_word(d));
		if (most > 0)
			canvas_text(c, left, 0, 1, INK_DIM, label);
	} else {
		/* One row for both: the arrow of the path above. */
		canvas_mark(c, left, 0, 0, INK_DIM, d == RUN_FORWARD ? MARK_RIGHT : MARK_LEFT);
		canvas_text(c, left, 2, 0, INK_DIM, label);
	}
	draw_graph(c, a, INK_RATE, values, t.columns, most);
}

static void graphs(const struct scene *s, struct canvas *c, struct area a)
{
	struct timescale t = timescale_for(s, a.columns > 16 ? a.columns - 16 : 0);
	char title[64];

	snprintf(title, sizeof(title), "Rate, the %s%.0f s", s->paused ? "" : "last ",
		 t.to_s - t.from_s);
	if (s->paused)
		snprintf(title, sizeof(title), "Rate, %.0f s to %.1f s", t.from_s, t.to_s);
	struct area in = canvas_box(c, a, INK_BORDER, title);
	struct area top = area_take_top(&in, (in.rows + 1) / 2);
	rate_graph(s, RUN_FORWARD, c, top);
	rate_graph(s, RUN_REVERSE, c, in);
}

static enum ink severity_ink(enum severity severity)
{
	return severity >= SEVERITY_HIGH ? INK_BAD : severity >= SEVERITY_LOW ? INK_WARN
									     : INK_PLAIN;
}

static void gain(const struct finding *f, struct canvas *c, struct area in)
{
	struct area row = area_row(in, 0);
	char before[SHOWN_CAP], after[SHOWN_CAP];
	unsigned int x = canvas_printf(c, row, 0, 0, INK_DIM, "%s, %s, %s",
				       severity_word(f->severity), proof_word(f->proof),
				       side_word(f->side));

	if (f->gain_known && isfinite(f->gain_high_bps) && isfinite(f->rate_high_bps)) {
		format_rate(f->gain_high_bps, before, sizeof(before));
		format_rate(f->rate_high_bps, after, sizeof(after));
		x += canvas_printf(c, row, x, 0, INK_GOOD, "; the fix wins up to %s (to %s)",
				   before, after);
	}
	if (!f->fix)
		return;
	if (in.rows > 1)
		canvas_wrap(c, in, 1, INK_PLAIN, f->fix);
	else
		canvas_printf(c, row, x, 0, INK_PLAIN, "; %s", f->fix);
}

static void answer(const struct scene *s, struct canvas *c, struct area a)
{
	const struct diagnosis *d = s->diagnosis;
	const struct finding *f = d && d->nfindings ? &d->findings[0] : NULL;
	bool over = s->progress.phase == SCENE_OVER;
	char title[64] = "Finding";

	if (over && d)
		snprintf(title, sizeof(title), "Verdict: %s", verdict_word(d->verdict));
	else if (d && d->nfindings > 1)
		snprintf(title, sizeof(title), "Finding 1 of %zu so far", d->nfindings);
	struct area in = canvas_box(c, a, INK_BORDER, title);
	if (s->problem) {
		unsigned int n = canvas_wrap(c, in, 0, INK_BAD, s->problem);
		area_take_top(&in, n);
	}
	bool told = over && d && d->summary && in.rows > 2;
	if (told) {
		unsigned int n = canvas_wrap(c, in, 0, INK_STRONG, d->summary);
		area_take_top(&in, n);
	}
	if (over && d && d->both.run && in.rows > 3) {
		unsigned int n = canvas_wrap(c, in, 0, INK_PLAIN, d->both.text);
		area_take_top(&in, n);
	}
	if (!f) {
		canvas_text(c, in, 0, 0, INK_DIM, d ? "no finding" : "nothing is known yet");
		return;
	}
	/* A summary that names it has said so. */
	if (f->title && !(told && strstr(d->summary, f->title))) {
		unsigned int n = canvas_wrap(c, in, 0, severity_ink(f->severity), f->title);
		area_take_top(&in, n);
	}
	gain(f, c, in);
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	(void)v;
	if (s->mode == SCENE_SERVE)
		a = clients_invitation(s, c, a);
	hosts(s, c, area_take_top(&a, host_rows(s, a.rows)));
	unsigned int rest = a.rows;
	answer(s, c, area_take_bottom(&a, rest >= 24 ? 7 : rest >= 12 ? 4 : 3));
	if (a.columns >= WIDE) {
		struct area right = area_take_right(&a, a.columns * 2 / 5);
		graphs(s, c, right);
	} else if (a.rows >= 10) {
		graphs(s, c, area_take_bottom(&a, a.rows >= 16 ? 6 : 4));
	}
	ladders(s, c, a);
}

const struct view view_overview = {
	.name = "Overview",
	.about = "hosts, path, rate against its ceilings, first finding",
	.draw = draw,
};
