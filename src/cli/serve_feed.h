/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Serve feed: from what the service does for its clients, in the server's threads, to the stage
 * of a screen.  The exam that is shown is this end of the runs of one client: of the one that
 * runs, or came last.
 */
#ifndef ND_CLI_SERVE_FEED_H
#define ND_CLI_SERVE_FEED_H

#include "src/exam/service.h"
#include "ui/stage.h"

struct serve_feed;

/* begun_s: of the screen's clock.  NULL: no memory.  The stage must outlive the feed. */
struct serve_feed *serve_feed_new(struct stage *stage, double begun_s);
/* When no thread of the server uses it any more.  NULL is fine. */
void serve_feed_free(struct serve_feed *f);
/* This host before there is a client; e is shown, and must outlive the feed. */
void serve_feed_host(struct serve_feed *f, const struct exam *e);
/* Whether a client runs. */
bool serve_feed_busy(struct serve_feed *f);
/* This host while nobody runs; not shown when somebody does. */
void serve_feed_idle(struct serve_feed *f, const struct end_live *live);
/* For exam_service_watch(); lives as long as the feed. */
const struct exam_watcher *serve_feed_watcher(const struct serve_feed *f);

#endif
