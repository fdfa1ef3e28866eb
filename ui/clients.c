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

/* From the client's side, whose name is in the row. */
static const char *does(const struct scene_client *client)
{
	if (!client->running)
		return "no run";
	if (client->bidirectional)
		return "both";
	return client->direction == RUN_FORWARD ? "receives" : "sends";
}

static void client_row(const struct scene_client *client, struct canvas *c, struct area in,
		       unsigned int y, const struct table *t)
{
	enum ink ink = client->running ? INK_PLAIN : INK_DIM;
	char number[SHOWN_CAP];

	table_cell(c, in, y, t, ADDRESS, client->shown ? INK_STRONG : ink, client->address);
	table_cell(c, in, y, t, PROGRAM, ink, client->iperf3 ? "iperf3" : "netdoctor");
	table_cell(c, in, y, t, DOES, ink, does(client));
	if (client->running) {
		format_rate(client->rate_bps, number, sizeof(number));
		table_cell(c, in, y, t, RATE, INK_RATE, number);
		snprintf(number, sizeof(number), "%" PRIu64, client->streams);
		table_cell(c, in, y, t, STREAMS, ink, number);
	}
	snprintf(number, sizeof(number), "%u", client->runs);
	table_cell(c, in, y, t, RUNS, ink, number);
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
	if (!s->nclients) {
		canvas_wrap(c, in, 0, INK_DIM, "nobody is connected");
		return;
	}
	/* Wider, the eye loses the row. */
	if (in.columns > MOST_COLUMNS)
		in.columns = MOST_COLUMNS;
	table_layout(&t, columns, ARRAY_SIZE(columns), in.columns);
	table_head(c, in, 0, &t, -1, false);
	for (int turn = 1; turn >= 0; turn--)
		for (size_t i = 0; i < s->nclients; i++) {
			if (s->clients[i].running != turn)
				continue;
			/* The last row is for how many more there are. */
			if (y + 1 >= in.rows && left > 1)
				break;
			client_row(&s->clients[i], c, in, y++, &t);
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
