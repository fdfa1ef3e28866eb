/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/screen_fixture.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/report_fixture.h"

static cJSON *read_json(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t cap = 8u << 20;
	char *bytes = malloc(cap);
	cJSON *obj;

	if (!f || !bytes)
		fail_msg("cannot read %s", path);
	size_t n = fread(bytes, 1, cap - 1, f);
	bytes[n] = '\0';
	fclose(f);
	obj = cJSON_Parse(bytes);
	free(bytes);
	assert_non_null(obj);
	return obj;
}

struct screen *screen_of(struct exam *e)
{
	struct screen *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	/* wcwidth() asks the locale; without this one the test of wide characters is skipped. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "C.utf8");
	s->exam = e;
	assert_int_equal(diagnose(e, &s->diagnosis), 0);
	for (int side = 0; side < EXAM_ENDS; side++) {
		s->history[side] = history_new();
		assert_non_null(s->history[side]);
	}
	app_init(&s->app, SCENE_SHOW);
	assert_int_equal(replay_exam(&s->app.scene, e, s->diagnosis, s->history), 0);
	return s;
}

struct screen *screen_of_recorded(const char *name)
{
	char path[128];
	struct error err = { "" };
	struct exam *e = NULL;

	snprintf(path, sizeof(path), "tests/exams/base/%s.json", name);
	cJSON *obj = read_json(path);
	if (exam_from_json(cJSON_GetObjectItemCaseSensitive(obj, "exam"), &e, &err))
		fail_msg("%s: %s", path, err.text);
	cJSON_Delete(obj);
	return screen_of(e);
}

void screen_free(struct screen *s)
{
	app_free(&s->app);
	diagnosis_free(s->diagnosis);
	exam_free(s->exam);
	for (int side = 0; side < EXAM_ENDS; side++)
		history_free(s->history[side]);
	free(s);
}

struct text screen_text(const struct screen *s, unsigned int columns, unsigned int rows,
			bool utf8)
{
	struct text t = TEXT_INIT;
	struct canvas c;

	assert_int_equal(canvas_init(&c, columns, rows, utf8), 0);
	app_draw(&s->app, &c);
	text_add(&t, "");
	canvas_to_text(&c, &t);
	canvas_free(&c);
	assert_false(t.failed);
	assert_terminal_safe(t.data);
	return t;
}

void screen_check(const struct screen *s, const char *name)
{
	static const unsigned int sizes[][2] = { { 80, 24 }, { 120, 40 }, { 200, 60 } };
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct text t = screen_text(s, sizes[i][0], sizes[i][1], true);
		snprintf(path, sizeof(path), "tests/screens/%s-%s-%ux%u.txt", name,
			 app_view(&s->app)->name, sizes[i][0], sizes[i][1]);
		for (char *p = path; *p; p++)
			*p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p == ' ' ? '-' : *p;
		golden_check_file(path, t.data);
		text_free(&t);
	}
}
