/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LINE_CAP = 400 };

struct stage {
	pthread_mutex_t lock;
	int news;
	struct exam exam, before;	/* .mem NULL: none */
	struct diagnosis *diagnosis, *diagnosis_before;
	struct history *history[EXAM_ENDS];
	struct scene_progress progress;
	char problem[LINE_CAP], remark[LINE_CAP];
	struct scene_client clients[SCENE_MAX_CLIENTS];
	size_t nclients;
	struct scene_client left;
	bool has_left;
};

struct stage *stage_new(void)
{
	struct stage *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int side = 0; side < EXAM_ENDS; side++)
		s->history[side] = history_new();
	if (s->news < 0 || !s->history[SIDE_LOCAL] || !s->history[SIDE_PEER]) {
		stage_free(s);
		return NULL;
	}
	return s;
}

void stage_free(struct stage *s)
{
	if (!s)
		return;
	diagnosis_free(s->diagnosis);
	diagnosis_free(s->diagnosis_before);
	for (int side = 0; side < EXAM_ENDS; side++)
		history_free(s->history[side]);
	if (s->news >= 0)
		close(s->news);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int stage_news_fd(const struct stage *s)
{
	return s->news;
}

static void lock(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
}

static void unlock_with_news(struct stage *s)
{
	uint64_t one = 1;

	pthread_mutex_unlock(&s->lock);
	/* Full: nobody has looked since, and will. */
	if (write(s->news, &one, sizeof(one)) < 0)
		return;
}

static void keep_line(char to[LINE_CAP], const char *text)
{
	snprintf(to, LINE_CAP, "%s", text ? text : "");
	text_make_printable(to);
}

void stage_progress(struct stage *s, const struct scene_progress *p)
{
	lock(s);
	s->progress = *p;
	unlock_with_news(s);
}

void stage_remark(struct stage *s, const char *text)
{
	lock(s);
	keep_line(s->remark, text);
	unlock_with_news(s);
}

void stage_over(struct stage *s, const char *problem)
{
	lock(s);
	s->progress = (struct scene_progress){ .phase = SCENE_OVER };
	keep_line(s->problem, problem);
	unlock_with_news(s);
}

void stage_exam(struct stage *s, const struct exam *e, struct diagnosis *d)
{
	lock(s);
	diagnosis_free(s->diagnosis);
	s->exam = *e;
	s->diagnosis = d;
	unlock_with_news(s);
}

static void forget(struct exam *shown, struct diagnosis **d)
{
	diagnosis_free(*d);
	*d = NULL;
	memset(shown, 0, sizeof(*shown));
}

void stage_forget(struct stage *s, const struct exam *e)
{
	lock(s);
	if (s->exam.mem == e->mem)
		forget(&s->exam, &s->diagnosis);
	if (s->before.mem == e->mem)
		forget(&s->before, &s->diagnosis_before);
	unlock_with_news(s);
}

void stage_sample(struct stage *s, enum side side, const struct history_sample *sample)
{
	lock(s);
	history_add(s->history[side], sample);
	unlock_with_news(s);
}

void stage_run_ended(struct stage *s, unsigned int number, double window_at_s)
{
	lock(s);
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		if (!number || number > s->exam.nruns ||
		    !s->exam.runs[number - 1].ends[side].nintervals)
			continue;
		history_retell_run(s->history[side], &s->exam.runs[number - 1], number, side,
				   window_at_s);
	}
	unlock_with_news(s);
}

void stage_again(struct stage *s)
{
	lock(s);
	diagnosis_free(s->diagnosis_before);
	s->before = s->exam;
	s->diagnosis_before = s->diagnosis;
	s->diagnosis = NULL;
	memset(&s->exam, 0, sizeof(s->exam));
	for (int side = 0; side < EXAM_ENDS; side++)
		history_clear(s->history[side]);
	s->progress = (struct scene_progress){ .phase = SCENE_CONNECTING };
	s->problem[0] = s->remark[0] = '\0';
	unlock_with_news(s);
}

void stage_clients(struct stage *s, const struct scene_client *clients, size_t n,
		   const struct scene_client *left)
{
	lock(s);
	s->has_left = left;
	if (left)
		s->left = *left;
	s->nclients = n < SCENE_MAX_CLIENTS ? n : SCENE_MAX_CLIENTS;
	memcpy(s->clients, clients, s->nclients * sizeof(*clients));
	unlock_with_news(s);
}

void stage_hold(struct stage *s, struct scene *scene)
{
	lock(s);
	scene->exam = s->exam.mem ? &s->exam : NULL;
	scene->diagnosis = s->diagnosis;
	scene->before = s->before.mem ? &s->before : NULL;
	scene->diagnosis_before = s->diagnosis_before;
	for (int side = 0; side < EXAM_ENDS; side++)
		scene->history[side] = s->history[side];
	scene->progress = s->progress;
	scene->problem = *s->problem ? s->problem : NULL;
	scene->remark = *s->remark ? s->remark : NULL;
	scene->clients = s->clients;
	scene->nclients = s->nclients;
	scene->left = s->has_left ? &s->left : NULL;
}

void stage_release(struct stage *s)
{
	pthread_mutex_unlock(&s->lock);
}
