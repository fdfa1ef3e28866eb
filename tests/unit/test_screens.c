/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every view of recorded exams, and of those that break things, as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/report_fixture.h"
#include "tests/unit/screen_fixture.h"

static void check_all_views(struct screen *s, const char *name)
{
	for (size_t i = 0; i < views_count; i++) {
		app_key(&s->app, '1' + (uint32_t)i);
		assert_int_equal(s->app.current, i);
		screen_check(s, name);
	}
	screen_free(s);
}

static void recorded_exams(void **state)
{
	(void)state;
	check_all_views(screen_of_recorded("lan-25g-cpu-bound"), "cpu-bound");
	check_all_views(screen_of_recorded("lan-10g"), "healthy");
}

static void unknowns_everywhere(void **state)
{
	(void)state;
	check_all_views(screen_of(build_unread()), "unread");
}

static void no_peer_facts(void **state)
{
	struct exam *e = build_one_host();

	(void)state;
	build_unseen_end(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9), SIDE_PEER);
	check_all_views(screen_of(e), "one-ended");
}

/* A name of 300 bytes that tries to act on the terminal and to turn the text around. */
static void hostile_names(void **state)
{
	struct exam *e = build_hot_core_exam();
	char name[301];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = "\033[2J\r\n\xe2\x80\xae\xffwide\xe4\xb8\xad"[i % 18];
	name[sizeof(name) - 1] = '\0';
	build_facts(e, SIDE_PEER)->host.hostname = build_str(e, name);
	build_link(e, SIDE_PEER)->name = build_str(e, name);
	build_link(e, SIDE_PEER)->driver = build_str(e, name);
	e->path.peer_address = build_str(e, name);
	e->problem = build_str(e, name);
	check_all_views(screen_of(e), "hostile");
}

/* From the first frame on, before anything is known. */
static void nothing_yet(void **state)
{
	static const enum scene_mode modes[] = { SCENE_DIAGNOSE, SCENE_TEST, SCENE_SERVE };

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
		struct screen s = { .exam = NULL };
		app_init(&s.app, modes[m]);
		for (size_t i = 0; i < views_count; i++) {
			app_key(&s.app, '1' + (uint32_t)i);
			if (modes[m] == SCENE_DIAGNOSE)
				screen_check(&s, "nothing-yet");
			struct text t = screen_text(&s, 80, 24, false);
			text_free(&t);
		}
		app_free(&s.app);
	}
}

/* What a live run tells: facts, and samples of which only the hot core is known. */
static void while_a_run_goes_on(void **state)
{
	struct screen *s = screen_of(build_two_hosts());
	struct scene *scene = &s->app.scene;

	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
			struct history_core hot = {
				3, 190, HISTORY_UNKNOWN, HISTORY_UNKNOWN, HISTORY_UNKNOWN,
				HISTORY_UNKNOWN, HISTORY_UNKNOWN
			};
			struct history_sample h = {
				.at_s = 1 + i / 10.0, .seconds = 0.1, .run = 1, .warm = i < 10,
				.direction = RUN_FORWARD, .cores = &hot, .ncores = 1,
			};
			*(side == SIDE_LOCAL ? &h.sent_bps : &h.received_bps) =
				nd_f64(5e9 + 1e8 * i);
			assert_int_equal(history_add(s->history[side], &h), 0);
		}
	scene->mode = SCENE_DIAGNOSE;
	scene->peer = "beta";
	scene->paused = false;
	scene->remark = "the peer allows runs of 3 s";
	scene->progress = (struct scene_progress){
		.phase = SCENE_RUNNING, .run = 1, .runs = 3, .streams = 8, .elapsed_s = 3,
		.total_s = 5,
	};
	app_set_time(&s->app, 4);
	check_all_views(s, "live");
}

static void help(void **state)
{
	struct screen *s = screen_of_recorded("lan-10g");
	struct text t;

	(void)state;
	app_key(&s->app, '?');
	t = screen_text(s, 80, 40, false);
	golden_check_file("tests/screens/help.txt", t.data);
	/* Each view and each key is in it. */
	for (size_t i = 0; i < views_count; i++)
		assert_non_null(strstr(t.data, views_table[i]->about));
	text_free(&t);
	screen_free(s);
}

/* No key of a view hides what the help says that key does everywhere. */
static void keys_mean_one_thing(void **state)
{
	(void)state;
	for (size_t v = 0; v < views_count; v++)
		for (size_t k = 0; k < views_table[v]->nkeys; k++)
			for (size_t i = 0; i < app_nkeys; i++)
				for (size_t j = 0; j < ARRAY_SIZE(app_keys[i].keys); j++)
					if (app_keys[i].keys[j] > ' ' && app_keys[i].name &&
					    app_keys[i].keys[j] == views_table[v]->keys[k].key &&
					    app_keys[i].keys[j] < 0x7f)
						fail_msg("%s: %s", views_table[v]->name,
							 views_table[v]->keys[k].name);
}

/* Keys and sizes at random, the same in each run: nothing may be out of bounds. */
static void random_keys_and_sizes(void **state)
{
	static const char *const exams[] = { "lan-25g-cpu-bound", "wan-10g-20ms" };
	uint64_t seed = 0x6e6574646f63746fULL;

	(void)state;
	for (size_t e = 0; e < ARRAY_SIZE(exams); e++) {
		struct screen *s = screen_of_recorded(exams[e]);
		double clock = 0;
		for (unsigned int i = 0; i < 4000; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			uint32_t r = (uint32_t)(seed >> 32);
			uint32_t key = r & 1 ? UI_KEY_UP + (r >> 8) % (UI_KEYS_END - UI_KEY_UP)
					     : (r >> 8) % 0x80;
			/* 'q' and its kin are keys as all others: the app goes on. */
			app_key(&s->app, key);
			s->app.quit = false;
			app_request_done(&s->app, NULL);
			app_set_time(&s->app, clock += 0.1);
			assert_true(s->app.scene.cursor_s >= 0 &&
				    s->app.scene.cursor_s <= s->app.scene.now_s);
			assert_true(s->app.current < views_count);
			size_t n = app_rows(&s->app);
			assert_true(s->app.states[s->app.current].selected <= (n ? n - 1 : 0));
			if (i % 16)
				continue;
			struct text t = screen_text(s, (r >> 4) % 320, (r >> 16) % 110, r & 2);
			text_free(&t);
		}
		screen_free(s);
	}
}

static void pause_and_scroll_back(void **state)
{
	struct screen *s = screen_of_recorded("lan-10g");
	struct scene *scene = &s->app.scene;
	double end = scene->now_s;

	(void)state;
	assert_true(end > 4);
	app_key(&s->app, UI_KEY_LEFT);
	assert_true(scene->cursor_s < end && scene->paused);
	double before = scene->cursor_s;
	app_key(&s->app, 'h');
	assert_true(scene->cursor_s < before);
	app_key(&s->app, UI_KEY_RIGHT);
	assert_true(scene->cursor_s == before);
	app_key(&s->app, 'g');
	assert_true(scene->cursor_s == 0);
	/* Playing goes on with the clock and stops at the end. */
	app_set_time(&s->app, 10);
	app_key(&s->app, ' ');
	app_set_time(&s->app, 11.5);
	assert_true(scene->cursor_s == 1.5 && app_moves(&s->app));
	app_set_time(&s->app, 1000);
	assert_true(scene->cursor_s == end && scene->paused && !app_moves(&s->app));
	screen_free(s);
}

static void live_time(void **state)
{
	struct app a;

	(void)state;
	app_init(&a, SCENE_DIAGNOSE);
	app_set_time(&a, 2);
	assert_true(a.scene.cursor_s == 2);
	app_key(&a, 'p');
	app_set_time(&a, 3);
	assert_true(a.scene.cursor_s == 2 && a.scene.now_s == 3);
	app_key(&a, 'p');
	assert_true(a.scene.cursor_s == 3);
	app_free(&a);
}

static void report_is_asked_for(void **state)
{
	struct screen *s = screen_of_recorded("lan-10g");

	(void)state;
	app_key(&s->app, 'w');
	for (const char *k = "a.jsonx"; *k; k++)
		app_key(&s->app, (uint32_t)*k);
	app_key(&s->app, UI_KEY_BACKSPACE);
	assert_int_equal(s->app.request.wish, WISH_NONE);
	app_key(&s->app, UI_KEY_ENTER);
	assert_int_equal(s->app.request.wish, WISH_REPORT);
	assert_string_equal(s->app.report_file, "a.json");
	app_request_done(&s->app, "wrote \033]0;x\a");
	assert_null(strchr(s->app.message, '\033'));
	screen_free(s);
}

static void click(struct screen *s, unsigned int x, unsigned int y)
{
	struct canvas c;

	assert_int_equal(canvas_init(&c, 120, 40, true), 0);
	app_draw(&s->app, &c);
	app_click(&s->app, canvas_link_at(&c, x, y));
	canvas_free(&c);
}

/* Where a text is drawn; what is under it is what a click there means. */
static void find_on_screen(const struct screen *s, const char *what, unsigned int *x,
			   unsigned int *y)
{
	struct text t = screen_text(s, 120, 40, false);
	const char *at = strstr(t.data, what), *line = at;

	assert_non_null(at);
	while (line > t.data && line[-1] != '\n')
		line--;
	*x = (unsigned int)(at - line);
	*y = 0;
	for (const char *p = t.data; p < line; p++)
		*y += *p == '\n';
	text_free(&t);
}

static void clicks(void **state)
{
	struct screen *s = screen_of_recorded("lan-25g-cpu-bound");
	unsigned int x, y;

	(void)state;
	find_on_screen(s, "5 Flows", &x, &y);
	click(s, x, y);
	assert_int_equal(s->app.current, 4);
	find_on_screen(s, "   2 peer", &x, &y);
	click(s, x + 3, y);
	assert_int_equal(s->app.states[4].selected, 2);
	assert_false(s->app.states[4].open);
	click(s, x + 3, y);
	assert_true(s->app.states[4].open);
	find_on_screen(s, "? help", &x, &y);
	click(s, x, y);
	assert_true(s->app.help);
	click(s, x, y);
	assert_false(s->app.help);
	/* Nothing is there. */
	click(s, 119, 2);
	click(s, 5000, 5000);
	app_key(&s->app, 'm');
	assert_true(s->app.mouse);
	app_key(&s->app, 'm');
	assert_false(s->app.mouse);
	screen_free(s);
}

/* However often a key is pressed, the same number of the other brings the page back. */
static void pages_stop_at_their_end(void **state)
{
	struct screen *s = screen_of_recorded("lan-25g-cpu-bound");
	struct canvas c;

	(void)state;
	app_key(&s->app, '6');
	for (unsigned int i = 0; i < 500; i++)
		app_key(&s->app, UI_KEY_PAGE_DOWN);
	assert_int_equal(canvas_init(&c, 80, 24, true), 0);
	app_draw(&s->app, &c);
	assert_true(c.pages);
	app_drawn(&s->app, &c);
	assert_int_equal(app_state(&s->app)->scroll, c.page_end);
	app_key(&s->app, '?');
	for (unsigned int i = 0; i < 500; i++)
		app_key(&s->app, UI_KEY_DOWN);
	app_draw(&s->app, &c);
	app_drawn(&s->app, &c);
	assert_int_equal(s->app.help_scroll, c.page_end);
	assert_true(c.page_end > 0 && c.page_end < 60);
	canvas_free(&c);
	screen_free(s);
}

static void nothing_to_copy_is_said(void **state)
{
	struct screen *s = screen_of_recorded("lan-10g");
	struct text t;

	(void)state;
	app_key(&s->app, '6');
	app_key(&s->app, 'c');
	assert_int_equal(s->app.request.wish, WISH_NONE);
	t = screen_text(s, 120, 40, false);
	assert_non_null(strstr(t.data, "nothing to copy"));
	text_free(&t);
	app_key(&s->app, 'b');
	assert_non_null(strstr(s->app.message, "nothing to compare with"));
	screen_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_exams),
		cmocka_unit_test(unknowns_everywhere),
		cmocka_unit_test(no_peer_facts),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(while_a_run_goes_on),
		cmocka_unit_test(help),
		cmocka_unit_test(keys_mean_one_thing),
		cmocka_unit_test(random_keys_and_sizes),
		cmocka_unit_test(pause_and_scroll_back),
		cmocka_unit_test(live_time),
		cmocka_unit_test(report_is_asked_for),
		cmocka_unit_test(clicks),
		cmocka_unit_test(pages_stop_at_their_end),
		cmocka_unit_test(nothing_to_copy_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
