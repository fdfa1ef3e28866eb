/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Service: what `netdoctor serve` does for its clients.  Gives src/peer the
 * facts of this host and carries out this end of their runs.
 */
#ifndef ND_EXAM_SERVICE_H
#define ND_EXAM_SERVICE_H

#include "src/exam/end.h"
#include "src/peer/peer.h"

struct exam_service;

struct exam_service *exam_service_new(void);	/* NULL: no memory */
void exam_service_free(struct exam_service *s);
/*
 * Has each test of a plain iperf3 client told, one at a time, from the threads of the server; the
 * exam ends with the call.  Before exam_service_callbacks().
 */
void exam_service_on_test(struct exam_service *s,
			  void (*on_test)(void *state, const struct exam *exam), void *state);
/*
 * Who looks on, as a screen does.  Called from the server's threads, those of different
 * clients at once; what is not taken over ends with the call.
 */
struct exam_watcher {
	void *state;
	/* This host, as the client was told. */
	void (*facts)(void *state, const struct peer_client_info *client, const cJSON *facts);
	void (*begins)(void *state, const struct peer_client_info *client,
		       const struct run_spec *spec);
	/* The newest interval, and a beat that has ended, or NULL. */
	void (*live)(void *state, const struct peer_client_info *client,
		     const struct end_live *live, const struct beat *beat);
	/* NULL: it came to nothing.  Takes over mem, where its rows are, and end->window. */
	void (*ended)(void *state, const struct peer_client_info *client,
		      const struct run_spec *spec, const struct run_end *end,
		      struct arena *mem);
	/* What a plain iperf3 client says of its own end. */
	void (*told)(void *state, const struct peer_client_info *client,
		     const struct peer_results *theirs);
	void (*gone)(void *state, const struct peer_client_info *client);
	uint64_t report_ms;		/* how often beats are wanted */
};
/* Before exam_service_callbacks(); w must outlive s. */
void exam_service_watch(struct exam_service *s, const struct exam_watcher *w);
/* The callbacks over s, which must outlive the server. */
struct peer_service exam_service_callbacks(struct exam_service *s);

#endif
