/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Screens of recorded exams for tests: an app that shows one, and its canvas as text.
 * Locale and time are fixed, so what is drawn is the same everywhere.
 */
#ifndef ND_TESTS_UNIT_SCREEN_FIXTURE_H
#define ND_TESTS_UNIT_SCREEN_FIXTURE_H

#include "ui/app.h"
#include "ui/replay.h"

struct screen {
	struct exam *exam;
	struct diagnosis *diagnosis;
	struct history *history[EXAM_ENDS];
	struct app app;
};

/* Of tests/exams/base/NAME.json. */
struct screen *screen_of_recorded(const char *name);
/* Of an exam, which the screen then owns. */
struct screen *screen_of(struct exam *e);
void screen_free(struct screen *s);

/* What is shown at that size; the caller frees it with text_free(). */
struct text screen_text(const struct screen *s, unsigned int columns, unsigned int rows,
			bool utf8);
/*
 * Compares the current view with tests/screens/NAME-VIEW-80x24.txt, -120x40 and -200x60;
 * NETDOCTOR_BLESS=1 writes them.
 */
void screen_check(const struct screen *s, const char *name);

#endif
