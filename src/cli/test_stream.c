/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/test_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "src/exam/run_json.h"

static void name_the_test(struct test_stream *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[PEER_COOKIE_BYTES - 1] = { 0 };

	/* A name, no secret: without random bytes it is a dull one. */
	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) < 0)
		bytes[0] = 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		s->cookie[i] = letters[bytes[i] % 32];
}

void test_stream_init(struct test_stream *s, const struct test_settings *settings,
		      const struct peer_target *target)
{
	struct utsname u;

	*s = (struct test_stream){
		.lines = settings->json_stream,
		.json = { .tool_version = NETDOCTOR_VERSION, .host = target->host,
			  .port = target->port },
	};
	s->json.only_end = !settings->interval_ms;
	name_the_test(s);
	if (uname(&u) == 0)
		snprintf(s->system_info, sizeof(s->system_info), "%s %s %s %s %s", u.sysname,
			 u.nodename, u.release, u.version, u.machine);
	s->json.system_info = s->system_info;
	s->json.cookie = s->cookie;
	if (!settings->total_bytes && !settings->total_blocks)
		s->json.duration_ms = settings->time_ms == TEST_UNSET ? TEST_USUAL_TIME_MS
								      : settings->time_ms;
}

/* Prints item, which is deleted, between two texts; `open`: an object, and members will follow. */
static void print_part(struct test_stream *s, const char *before, cJSON *item, const char *after,
		       bool open)
{
	char *text = item ? cJSON_PrintUnformatted(item) : NULL;

	if (!text)
		s->failed = true;
	else if (open)	/* its last brace gives way */
		text[strlen(text) - 1] = item->child ? ',' : '\0';
	if (!s->failed && printf("%s%s%s", before, text, after) < 0)
		s->failed = true;
	cJSON_free(text);
	cJSON_Delete(item);
}

static void print_text(struct test_stream *s, const char *text)
{
	if (!s->failed && (fputs(text, stdout) < 0 || fflush(stdout)))
		s->failed = true;
}

static void print(struct test_stream *s, const char *before, cJSON *item, const char *after)
{
	print_part(s, before, item, after, false);
	print_text(s, "");
}

static void print_event(struct test_stream *s, const char *event, cJSON *data)
{
	char before[64];

	snprintf(before, sizeof(before), "{\"event\":\"%s\",\"data\":", event);
	print(s, before, data, "}\n");
}

static void print_start(struct test_stream *s, const struct flow_begin *flows)
{
	cJSON *start = test_json_start(&s->json, flows);

	s->started = true;
	if (s->lines)
		print_event(s, "start", start);
	else
		print(s, "{\"start\":", start, ",\n\"intervals\":[");
}

static void print_interval(struct test_stream *s, const struct exam_progress *p)
{
	cJSON *interval = test_json_interval(&s->json, p->beats[SIDE_LOCAL], p->beats[SIDE_PEER]);

	if (s->lines)
		print_event(s, "interval", interval);
	else
		print(s, s->intervals ? ",\n" : "\n", interval, "");
	s->intervals++;
}

static void note_time(struct test_json *j)
{
	struct timespec ts;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	j->begun_ns = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	if (gmtime_r(&ts.tv_sec, &tm))
		strftime(j->begun_text, sizeof(j->begun_text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

void test_stream_progress(struct test_stream *s, const struct exam_progress *p)
{
	if (p->phase == EXAM_RUN_CONNECTED) {
		s->json.exam = p->exam;
		s->json.spec = p->spec;
		note_time(&s->json);
		print_start(s, p->flows);
	} else if (p->phase == EXAM_BEAT) {
		print_interval(s, p);
	}
}

/* What a report holds of a run: row by row, as trees of 2048 flows take 25 MB. */
static void print_extra(struct test_stream *s, const struct exam *e)
{
	const struct run *r = e->nruns ? &e->runs[0] : NULL;

	print_part(s, "{\"path\":", row_to_json(path_fields, path_nfields, &e->path), "", false);
	if (r) {
		print_part(s, ",\"run\":", run_rest_to_json(r), "\"flows\":[", true);
		for (size_t i = 0; i < run_flow_rows(r); i++)
			print_part(s, i ? "," : "", run_flow_to_json(r, i), "", false);
		print_text(s, "]}");
	}
	print_text(s, "}");
}

static const struct run *measured(const struct exam *e)
{
	const struct run *r = e && e->nruns ? &e->runs[0] : NULL;

	return r && (r->ends[SIDE_LOCAL].present || r->ends[SIDE_PEER].present) ? r : NULL;
}

int test_stream_end(struct test_stream *s, const struct exam *e, const char *problem)
{
	cJSON *end = test_json_end(&s->json, measured(e));

	if (!s->started && !s->lines)
		print_start(s, NULL);
	if (s->lines) {
		if (problem)
			print_event(s, "error", json_string(problem));
		print_part(s, "{\"event\":\"end\",\"data\":", end, "", e);
		if (e) {
			print_text(s, "\"netdoctor\":");
			print_extra(s, e);
			print_text(s, "}");
		}
		print_text(s, "}\n");
		return s->failed ? -1 : 0;
	}
	print(s, "\n],\n\"end\":", end, "");
	if (e) {
		print_text(s, ",\n\"netdoctor\":");
		print_extra(s, e);
	}
	if (problem)
		print(s, ",\n\"error\":", json_string(problem), "");
	print_text(s, "}\n");
	return s->failed ? -1 : 0;
}
