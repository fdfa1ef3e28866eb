/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/clients.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"
#include "ui/draw.h"

enum { MOST_COLUMNS = 90 };
enum { ADDRESS, PROGRAM, DOES, RATE, STREAMS, RUNS };
static const struct column columns[] = {
	[ADDRESS] = { .title = "client", .least = 11, .grow = 1 },
	[PROGRAM] = { .title = "program", .least = 9, .keep = 2 },
	[DOES] = { .title = "does", .least = 8 },
	[RATE] = { .title = "rate now", .least = 11, .right = true },
	[STREAMS] = { .title = "flows", .least = 5, .keep = 3, .right = true },
	[RUNS] = { .title = "runs", .least = 4, .keep = 1, .right = true },
};

/* The two directions of a client that does both have a row each. */
static unsigned int client_rows(const struct scene_client *client)
{
	return client->running && client->bidirectional ? 2 : 1;
}

/* From the client's side, whose name is in the row. */
static const char *does(enum run_direction d)
{
	return d == RUN_FORWARD ? "receives" : "sends";
}

static void direction_cells(const struct scene_client *client, enum run_direction d,
			    struct canvas *c, struct area in, unsigned int y,
			    const struct table *t)
{
	char rate[SHOWN_CAP] = "?";

	table_cell(c, in, y, t, DOES, INK_PLAIN, does(d));
	if (client->rate_bps[d].k == ND_KNOWN)
		show_rate(client->rate_bps[d], rate);
	table_cell(c, in, y, t, RATE, INK_RATE, rate);
}

static void run_cells(const struct scene_client *client, struct canvas *c, struct area in,
		      unsigned int y, const struct table *t)
{
	char number[SHOWN_CAP];

	direction_cells(client, client->direction, c, in, y, t);
	if (client_rows(client) > 1)
		direction_cells(client, run_other_direction(client->direction), c, in, y + 1, t);
	snprintf(number, sizeof(number), "%" PRIu64, client->streams);
	table_cell(c, in, y, t, STREAMS, INK_PLAIN, number);
}

/* Who does not run has no rate: what there is to say takes the place of both. */
static void idle_cells(const struct scene *s, const struct scene_client *client, struct canvas *c,
		       struct area in, unsigned int y, const struct table *t)
{
	struct area a = { in.x + t->x[DOES], in.y + y,
			  t->x[RATE] + t->width[RATE] - t->x[DOES], 1 };
	char ago[SHOWN_CAP];

	if (client->since_s.k != ND_KNOWN) {
		canvas_text(c, a, 0, 0, INK_DIM, "no run yet");
		return;
	}
	show_ago(s->now_s - client->since_s.v, ago);
	canvas_printf(c, a, 0, 0, INK_DIM, "%s %s", client == s->left ? "left" : "ended", ago);
}

static void client_row(const struct scene *s, const struct scene_client *client, struct canvas *c,
		       struct area in, unsigned int y, const struct table *t)
{
	enum ink ink = client->running ? INK_PLAIN : INK_DIM;
	char runs[SHOWN_CAP];

	table_cell(c, in, y, t, ADDRESS, client->shown ? INK_STRONG : ink, client->address);
	table_cell(c, in, y, t, PROGRAM, ink, client->iperf3 ? "iperf3" : "netdoctor");
	if (client->running)
		run_cells(client, c, in, y, t);
	else
		idle_cells(s, client, c, in, y, t);
	snprintf(runs, sizeof(runs), "%u", client->runs);
	table_cell(c, in, y, t, RUNS, ink, runs);
}

static void nobody(const struct scene *s, struct canvas *c, struct area in)
{
	struct table t;

	if (!s->left) {
		canvas_wrap(c, in, 0, INK_DIM, "nobody has been here yet");
		return;
	}
	table_layout(&t, columns, ARRAY_SIZE(columns), in.columns);
	table_head(c, in, 0, &t, -1, false);
	client_row(s, s->left, c, in, 1, &t);
}

unsigned int clients_rows(const struct scene *s)
{
	unsigned int n = 3;	/* frame and heading */

	for (size_t i = 0; i < s->nclients; i++)
		n += client_rows(&s->clients[i]);
	return n;
}

void clients_draw(const struct scene *s, struct canvas *c, struct area a)
{
	size_t running = 0, left = s->nclients;
	unsigned int y = 1;
	struct table t;
	char title[48];

	for (size_t i = 0; i < s->nclients; i++)
		running += s->clients[i].running;
	snprintf(title, sizeof(title), s->nclients ? "Clients: %zu, %zu in a run" : "Clients: none",
		 s->nclients, running);
	struct area in = canvas_box(c, a, INK_BORDER, title);
	/* Wider, the eye loses the row. */
	if (in.columns > MOST_COLUMNS)
		in.columns = MOST_COLUMNS;
	if (!s->nclients) {
		nobody(s, c, in);
		return;
	}
	table_layout(&t, columns, ARRAY_SIZE(columns), in.columns);
	table_head(c, in, 0, &t, -1, false);
	bool full = false;
	for (int turn = 1; turn >= 0; turn--)
		for (size_t i = 0; i < s->nclients && !full; i++) {
			if (s->clients[i].running != turn)
				continue;
			unsigned int n = client_rows(&s->clients[i]);
			/* The last row is for how many more there are. */
			full = y + n + (left > 1) > in.rows;
			if (full)
				break;
			client_row(s, &s->clients[i], c, in, y, &t);
			y += n;
			left--;
		}
	if (left)
		canvas_printf(c, in, 0, in.rows - 1, INK_DIM, "and %zu more", left);
}

/* Without a frame: what is selected with the mouse is the command alone. */
struct area clients_invitation(const struct scene *s, struct canvas *c, struct area a)
{
	for (const char *line = s->invitation; line && *line;) {
		const char *end = strchrnul(line, '\n');
		char text[400];
		snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
		const char *words = text + strspn(text, " ");
		enum ink ink = !strncmp(text, "WARNING", 7) ? INK_WARN
			       : *text == ' ' ? INK_STRONG : INK_PLAIN;
		unsigned int rows = *words ? canvas_wrap_rows(c, a.columns, words) : 0;
		canvas_wrap(c, area_take_top(&a, rows), 0, ink, words);
		line = *end ? end + 1 : end;
	}
	return a;
}
