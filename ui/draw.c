/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"

void draw_stack(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		unsigned int columns, const struct bar_part *parts, size_t n)
{
	double sum = 0;
	unsigned int at = 0;

	/* Ends are rounded, not parts: so the whole is never longer than its sum. */
	for (size_t i = 0; i < n; i++) {
		if (isnan(parts[i].share) || parts[i].share <= 0)
			continue;
		sum = fmin(sum + parts[i].share, 1);
		unsigned int end = (unsigned int)(sum * columns + 0.5);
		for (; at < end && at < columns; at++)
			canvas_put(c, a, x + at, y, parts[i].ink, (unsigned char)parts[i].letter);
	}
	for (; at < columns; at++)
		canvas_put(c, a, x + at, y, INK_DIM, c->utf8 ? 0xb7 : '.');
}

void draw_range(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		unsigned int columns, double scale, double low, double high, double mark,
		enum ink ink)
{
	double per_cell = scale > 0 && isfinite(scale) ? columns / scale : 0;
	double at = mark >= 0 ? fmin(floor(mark * per_cell), (double)columns - 1) : -1;

	for (unsigned int i = 0; i < columns; i++) {
		/* A cell belongs to the bar when its middle does. */
		double middle = i + 0.5;
		if (at == i)
			canvas_mark(c, a, x + i, y, INK_RATE, MARK_HERE);
		else if (i == columns - 1 && high * per_cell > columns + 0.5)
			canvas_mark(c, a, x + i, y, ink, MARK_BEYOND);
		else if (middle <= low * per_cell)
			canvas_mark(c, a, x + i, y, ink, MARK_FULL);
		else if (middle <= high * per_cell)
			canvas_mark(c, a, x + i, y, ink, MARK_MAYBE);
	}
}

/* What `eighths` of a cell, 1..8, look like. */
static uint32_t block(const struct canvas *c, unsigned int eighths)
{
	static const char ascii[] = "..,,::||#";

	return c->utf8 ? 0x2580 + eighths : (unsigned char)ascii[eighths];
}

static void draw_column(struct canvas *c, struct area a, unsigned int x, enum ink ink,
			double value, double max)
{
	double full = max > 0 ? fmin(fmax(value / max, 0), 1) * 8 * a.rows : 0;
	unsigned int eighths = (unsigned int)(full + 0.5);

	/* A little is not nothing. */
	if (!eighths && value > 0)
		eighths = 1;
	for (unsigned int y = a.rows; y-- && eighths;) {
		unsigned int here = eighths < 8 ? eighths : 8;
		canvas_put(c, a, x, y, ink, block(c, here));
		eighths -= here;
	}
}

void draw_graph(struct canvas *c, struct area a, enum ink ink, const double *values, size_t n,
		double max)
{
	unsigned int columns = a.columns < CANVAS_MAX_COLUMNS ? a.columns : CANVAS_MAX_COLUMNS;
	size_t each = columns ? (n + columns - 1) / columns : 0;

	if (!each || !a.rows)
		return;
	for (size_t i = 0; max <= 0 && i < n; i++)
		max = values[i] > max ? values[i] : max;
	/* From the right, so that the newest group is whole. */
	for (unsigned int x = columns, k = 0; x-- && (size_t)k * each < n; k++) {
		size_t end = n - k * each, begin = end > each ? end - each : 0;
		double most = NAN;
		for (size_t i = begin; i < end; i++)
			most = isnan(most) || values[i] > most ? values[i] : most;
		if (!isnan(most))
			draw_column(c, a, x, ink, most, max);
	}
}

static unsigned int needed(const struct table *t)
{
	unsigned int sum = 0, shown = 0;

	for (size_t i = 0; i < t->n; i++) {
		sum += t->width[i];
		shown += t->width[i] > 0;
	}
	return sum + (shown ? shown - 1 : 0);
}

static bool drop_one(struct table *t)
{
	size_t victim = t->n;

	for (size_t i = 0; i < t->n; i++) {
		unsigned int keep = t->columns[i].keep;
		if (t->width[i] && keep && (victim == t->n || keep <= t->columns[victim].keep))
			victim = i;
	}
	if (victim == t->n)
		return false;
	t->width[victim] = 0;
	return true;
}

void table_layout(struct table *t, const struct column *columns, size_t n, unsigned int width)
{
	unsigned int grow = 0, x = 0;

	*t = (struct table){ .columns = columns, .n = n < TABLE_MAX_COLUMNS ? n
									   : TABLE_MAX_COLUMNS };
	for (size_t i = 0; i < t->n; i++)
		t->width[i] = columns[i].least;
	while (needed(t) > width && drop_one(t))
		;
	for (size_t i = 0; i < t->n; i++)
		grow += t->width[i] ? columns[i].grow : 0;
	unsigned int left = width > needed(t) ? width - needed(t) : 0;
	for (size_t i = 0; i < t->n; i++) {
		if (!t->width[i])
			continue;
		if (columns[i].grow) {
			unsigned int more = left * columns[i].grow / grow;
			t->width[i] += more;
			left -= more;
			grow -= columns[i].grow;
		}
		t->x[i] = x;
		x += t->width[i] + 1;
	}
}

void table_cell(struct canvas *c, struct area a, unsigned int y, const struct table *t, size_t i,
		enum ink ink, const char *s)
{
	if (i >= t->n || !t->width[i] || y >= a.rows || t->x[i] >= a.columns)
		return;
	struct area cell = { a.x + t->x[i], a.y + y, t->width[i], 1 };
	if (cell.columns > a.columns - t->x[i])
		cell.columns = a.columns - t->x[i];
	if (t->columns[i].right)
		canvas_text_right(c, cell, 0, ink, s);
	else
		canvas_text(c, cell, 0, 0, ink, s);
}

void table_head(struct canvas *c, struct area a, unsigned int y, const struct table *t, int sorted,
		bool descending)
{
	for (size_t i = 0; i < t->n; i++) {
		char title[64];
		snprintf(title, sizeof(title), "%s%s", t->columns[i].title,
			 sorted >= 0 && (size_t)sorted == i ? descending ? "v" : "^" : "");
		table_cell(c, a, y, t, i, INK_TITLE, title);
	}
}

size_t list_first(size_t selected, size_t n, size_t page)
{
	if (n <= page)
		return 0;
	size_t first = selected > page / 2 ? selected - page / 2 : 0;
	return first > n - page ? n - page : first;
}

static void show_unknown(enum nd_known k, char out[SHOWN_CAP])
{
	if (k == ND_UNREAD)
		snprintf(out, SHOWN_CAP, "?");
	else
		snprintf(out, SHOWN_CAP, "? (%s)", nd_known_word(k));
}

void show_rate(struct nd_f64 bps, char out[SHOWN_CAP])
{
	if (bps.k == ND_KNOWN)
		format_rate(bps.v, out, SHOWN_CAP);
	else
		show_unknown(bps.k, out);
}

void show_rate_u64(struct nd_u64 bps, char out[SHOWN_CAP])
{
	show_rate(bps.k == ND_KNOWN ? nd_f64((double)bps.v) : nd_f64_unknown(bps.k), out);
}

void show_ago(double seconds, char out[SHOWN_CAP])
{
	static const struct { double from, seconds; const char *unit; } steps[] = {
		{ 0, 1, "s" }, { 120, 60, "min" }, { 7200, 3600, "h" }, { 172800, 86400, "days" },
	};
	size_t i = ARRAY_SIZE(steps) - 1;

	seconds = fmax(seconds, 0);
	while (i && seconds < steps[i].from)
		i--;
	snprintf(out, SHOWN_CAP, "%.0f %s ago", floor(seconds / steps[i].seconds), steps[i].unit);
}

void show_share(struct nd_f64 share, char out[SHOWN_CAP])
{
	if (share.k == ND_KNOWN)
		format_quantity(share.v, UNIT_SHARE, out, SHOWN_CAP);
	else
		show_unknown(share.k, out);
}

void show_count(struct nd_u64 n, char out[SHOWN_CAP])
{
	if (n.k == ND_KNOWN)
		snprintf(out, SHOWN_CAP, "%" PRIu64, n.v);
	else
		show_unknown(n.k, out);
}

const char *shown_text(struct nd_str s)
{
	return s.k == ND_KNOWN && s.v ? s.v : "?";
}
