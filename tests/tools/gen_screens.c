/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts screens of recorded exams into documents; `make docs` runs it.
 *
 *	gen_screens FILE...
 *
 * A file has lines "... screen: EXAM VIEW COLUMNS ROWS CHARSET" and "... end of screen" (in
 * whatever its comments are); what is between them is replaced by that view of
 * tests/exams/base/EXAM.json, CHARSET being utf8 or ascii.  In files named *.1 lines that mdoc
 * would take for its own are escaped.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/app.h"
#include "ui/replay.h"

enum { FILE_CAP = 8 * 1024 * 1024, WORD_CAP = 64, MAX_COLUMNS = 300, MAX_ROWS = 100 };

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "gen_screens: %s: %s\n", what, why);
	return -EINVAL;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = calloc(1, FILE_CAP);
	size_t n = f && s ? fread(s, 1, FILE_CAP - 1, f) : 0;

	if (f)
		fclose(f);
	if (!n) {
		free(s);
		complain(path, "cannot be read");
		return NULL;
	}
	return s;
}

struct wish { char exam[WORD_CAP], view[WORD_CAP]; unsigned int columns, rows; bool utf8; };

static bool next_field(char **cursor, char out[WORD_CAP])
{
	char *word = next_word(cursor);

	if (!word || strlen(word) >= WORD_CAP)
		return false;
	memcpy(out, word, strlen(word) + 1);
	return true;
}

/* The words behind "screen:" in a line. */
static int parse_wish(const char *words, size_t n, struct wish *w)
{
	char copy[256], columns[WORD_CAP], rows[WORD_CAP], charset[WORD_CAP], *at = copy;
	uint64_t x, y;

	snprintf(copy, sizeof(copy), "%.*s", (int)n, words);
	if (!next_field(&at, w->exam) || !next_field(&at, w->view) ||
	    !next_field(&at, columns) || !next_field(&at, rows) || !next_field(&at, charset) ||
	    parse_u64(columns, &x) || parse_u64(rows, &y) || x > MAX_COLUMNS || y > MAX_ROWS)
		return complain(copy, "not EXAM VIEW COLUMNS ROWS CHARSET");
	w->columns = (unsigned int)x;
	w->rows = (unsigned int)y;
	w->utf8 = !strcmp(charset, "utf8");
	return 0;
}

static struct exam *read_exam(const char *name)
{
	struct error err = { "no exam" };
	struct exam *e = NULL;
	char path[128];

	snprintf(path, sizeof(path), "tests/exams/base/%s.json", name);
	char *bytes = read_file(path);
	cJSON *obj = bytes ? cJSON_Parse(bytes) : NULL;
	if (exam_from_json(cJSON_GetObjectItemCaseSensitive(obj, "exam"), &e, &err))
		complain(path, err.text);
	cJSON_Delete(obj);
	free(bytes);
	return e;
}

static bool choose_view(struct app *a, const char *name)
{
	for (size_t i = 0; i < views_count; i++)
		if (!strcmp(views_table[i]->name, name)) {
			app_key(a, '1' + (uint32_t)i);
			return true;
		}
	return false;
}

static int draw(const struct wish *w, struct app *a, struct text *out)
{
	struct canvas c;

	if (!choose_view(a, w->view))
		return complain(w->view, "no such view");
	if (canvas_init(&c, w->columns, w->rows, w->utf8))
		return -ENOMEM;
	app_draw(a, &c);
	canvas_to_text(&c, out);
	canvas_free(&c);
	return out->failed ? -ENOMEM : 0;
}

static int screen(const struct wish *w, struct text *out)
{
	struct history *history[EXAM_ENDS] = { history_new(), history_new() };
	struct exam *e = read_exam(w->exam);
	struct diagnosis *d = NULL;
	struct app *a = calloc(1, sizeof(*a));
	int rc = -EINVAL;

	if (a && e && history[0] && history[1] && !diagnose(e, &d)) {
		app_init(a, SCENE_SHOW);
		rc = replay_exam(&a->scene, e, d, history);
		if (!rc)
			rc = draw(w, a, out);
		app_free(a);
	}
	free(a);
	if (d)
		diagnosis_free(d);
	exam_free(e);
	history_free(history[0]);
	history_free(history[1]);
	return rc;
}

static void add_line(const char *s, size_t n, bool mdoc, struct text *out)
{
	if (mdoc && (*s == '.' || *s == '\''))
		text_add(out, "\\&");
	for (size_t i = 0; i < n; i++) {
		if (mdoc && s[i] == '\\')
			text_add(out, "\\e");
		else
			text_addn(out, &s[i], 1);
	}
}

/* Adds the screen, each line as the document wants it. */
static int add_screen(const char *line, size_t n, bool mdoc, struct text *out)
{
	const char *words = strstr(line, "screen:") + strlen("screen:");
	struct text drawn = TEXT_INIT;
	struct wish w;
	int rc = parse_wish(words, n - (size_t)(words - line), &w);

	if (!rc)
		rc = screen(&w, &drawn);
	for (const char *s = drawn.data; !rc && s && *s;) {
		size_t length = strcspn(s, "\n") + 1;
		add_line(s, length, mdoc, out);
		s += length;
	}
	text_free(&drawn);
	return rc;
}

static bool line_has(const char *line, size_t n, const char *what)
{
	const char *at = strstr(line, what);

	return at && at + strlen(what) <= line + n;
}

/* Fences and .Bd lines that directly follow the mark, and precede the end, are kept. */
static bool is_frame(const char *line)
{
	return !strncmp(line, "```", 3) || !strncmp(line, ".Bd", 3) || !strncmp(line, ".Ed", 3);
}

static int fill(const char *path, const char *from, struct text *out)
{
	bool mdoc = strlen(path) > 2 && !strcmp(path + strlen(path) - 2, ".1"), inside = false;

	while (*from) {
		size_t n = strcspn(from, "\n");
		size_t whole = n + (from[n] == '\n');
		if (line_has(from, n, "end of screen"))
			inside = false;
		if (!inside || is_frame(from))
			text_addn(out, from, whole);
		if (!inside && line_has(from, n, "screen: ")) {
			const char *frame = from + whole;
			size_t length = strcspn(frame, "\n") + 1;
			inside = true;
			if (is_frame(frame)) {
				text_addn(out, frame, length);
				whole += length;
			}
			int rc = add_screen(from, n, mdoc, out);
			if (rc)
				return rc;
		}
		from += whole;
	}
	return inside ? complain(path, "a screen without its end") : out->failed ? -ENOMEM : 0;
}

static int update(const char *path)
{
	char *have = read_file(path);
	struct text t = TEXT_INIT;
	int rc = have ? fill(path, have, &t) : -EINVAL;

	if (!rc && strcmp(have, t.data) != 0) {
		FILE *f = fopen(path, "w");
		bool written = f && fwrite(t.data, 1, t.len, f) == t.len;
		if ((f && fclose(f)) || !written)
			rc = complain(path, "cannot be written");
	}
	text_free(&t);
	free(have);
	return rc;
}

int main(int argc, char **argv)
{
	/* The width of characters is asked of the locale. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "C.utf8");
	for (int i = 1; i < argc; i++)
		if (update(argv[i]))
			return 1;
	return 0;
}
