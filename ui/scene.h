/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scene: all that a view draws from, const to it.  What is not known yet is
 * NULL or unknown: a view must draw something sensible with any of it missing,
 * from the first frame (nothing known) on.  Text in it may be a peer's.
 */
#ifndef ND_UI_SCENE_H
#define ND_UI_SCENE_H

#include "src/core/text.h"
#include "src/diagnose/rule.h"
#include "ui/history.h"

enum scene_mode { SCENE_DIAGNOSE, SCENE_TEST, SCENE_SERVE, SCENE_SHOW };

enum scene_phase {
	SCENE_CONNECTING,
	SCENE_READING,		/* facts of both hosts */
	SCENE_WARMUP,		/* traffic flows, not yet counted */
	SCENE_RUNNING,
	SCENE_BETWEEN,		/* a run has ended, the next is being chosen */
	SCENE_OVER		/* all is there, or it failed: `problem` */
};

struct scene_progress {
	enum scene_phase phase;
	unsigned int run, runs;		/* run k of n; n 0: not known */
	enum run_direction direction;
	bool bidirectional;		/* the other one at the same time */
	enum run_purpose purpose;
	uint64_t streams;		/* of each direction */
	double elapsed_s, total_s;	/* of this run; total 0: not known */
};

/* A client of `serve`. */
enum { SCENE_MAX_CLIENTS = 256 };
struct scene_client {
	char address[64];
	bool iperf3;			/* a plain one, else a netdoctor */
	bool running;
	bool shown;			/* its exam is the scene's */
	enum run_direction direction;	/* of the run, as this host sees it */
	bool bidirectional;
	uint64_t streams;
	unsigned int runs;		/* that ended well */
	struct nd_f64 since_s;		/* screen's clock: its last run ended; unknown: none */
	struct nd_f64 rate_bps[2];	/* now; by direction, as this host sees it */
};

struct scene {
	enum scene_mode mode;
	const char *peer;		/* as the user wrote it; NULL: an embedded one */
	const char *file;		/* SCENE_SHOW: what is shown */
	const struct exam *exam;	/* NULL: nothing yet */
	const struct diagnosis *diagnosis;	/* of that exam; NULL: none yet */
	const struct exam *before;	/* the exam of the run before a re-run; NULL */
	const struct diagnosis *diagnosis_before;
	const struct history *history[EXAM_ENDS];
	struct scene_progress progress;
	const char *problem, *remark;	/* one line each, NULL: none */
	const struct scene_client *clients;	size_t nclients;
	const struct scene_client *left;	/* who left last, .since_s: when; NULL: none */
	const char *invitation;		/* SCENE_SERVE: lines on how to become a client */
	double now_s;			/* the screen's clock */
	double cursor_s;		/* the moment to show, <= now_s */
	bool paused;			/* the cursor stands still */
};

/* The sample of an end at the cursor.  NULL: nothing then (between runs the last one). */
const struct history_sample *scene_sample(const struct scene *s, enum side side);
/* Whether it tells of the cursor's moment, and not of a time before it. */
bool scene_is_fresh(const struct scene *s, const struct history_sample *h);
/* The last sample of a run at or before the cursor.  NULL: none. */
const struct history_sample *scene_last_of_run(const struct scene *s, enum side side);
/* Whether something goes on now, and the cursor is there: "now" is a word for it. */
bool scene_is_now(const struct scene *s);
/* Screen's clock: when the last run of that direction ended; unknown: none did, or it goes on. */
struct nd_f64 scene_ended_s(const struct scene *s, enum run_direction d);
/* "alpha", else the address or "local host"/"peer host"; untrusted. */
const char *scene_host(const struct scene *s, enum side side);
/* The end whose count is a direction's rate: the receiver, or who was seen. */
enum side scene_counting_side(const struct scene *s, enum run_direction d);
/* What that end counted in a sample; unknown when it is of no run of that direction. */
struct nd_f64 scene_sample_rate(const struct history_sample *h, enum side side,
				enum run_direction d);
/* The rate of a direction at the cursor; unknown when not in such a run. */
struct nd_f64 scene_rate(const struct scene *s, enum run_direction d);
/* "forward", "reverse", "in both directions" */
const char *scene_direction_word(enum run_direction d, bool bidirectional);
/* The direction's row of the diagnosis, NULL. */
const struct direction_result *scene_result(const struct scene *s, enum run_direction d);
/* What is being done, for a person: "run 2 of 3: one stream reverse, to split ...". */
void scene_doing(const struct scene *s, struct text *out);

#endif
