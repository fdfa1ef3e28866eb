/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One-ended runs: the other end is a plain iperf3, which tells no more than
 * struct peer_results holds.  What we know in its form, and what it says in
 * ours.  Pure.
 */
#ifndef ND_EXAM_ONE_ENDED_H
#define ND_EXAM_ONE_ENDED_H

#include "src/exam/exam.h"
#include "src/peer/peer.h"

/*
 * first and last: this host when the warm-up was over and at the window's end, NULL: not reached;
 * final: its flows when traffic had stopped.  All bytes count from counted_from on (first, or NULL:
 * from the beginning), over so many seconds.
 */
struct one_ended_samples {
	const struct counters *first, *last, *counted_from, *final;
	double seconds;
};
/* n flows.  The caller frees out also after an error.  0 or -ENOMEM. */
int one_ended_results(const struct one_ended_samples *s, size_t n, struct peer_results *out);

/*
 * Up to release 3.13 an iperf3 does not tell how many of its datagrams belong to the warm-up: about
 * as many as we have counted there.
 */
void one_ended_omit(const struct peer_results *ours, struct peer_results *told);

/*
 * An iperf3's end of a run, its role for the run's direction being this; rows in mem.  The window
 * is the longest that its flows tell, else fallback_ns.  All that it does not tell stays ND_UNREAD:
 * with a netdoctor there it would be known.  0 or -ENOMEM.
 */
int one_ended_end(const struct peer_results *r, const struct run_spec *spec, enum load_role role,
		  struct nd_u64 fallback_ns, struct arena *mem, struct run_end *out);

/*
 * Adds a run that a client asked us for, its direction as we see it; the client tells nothing of
 * its own end.  end and its rows, in memory that outlives e, are taken over.  0 or -ENOMEM.
 */
int one_ended_add_run(struct exam *e, const struct run_spec *spec, const struct run_end *end);
/* What an iperf3 client says of its end of the exam's last run. */
int one_ended_hear(struct exam *e, const struct peer_results *theirs);
/* The client's and our address; program NULL: not known.  0 or -ENOMEM. */
int one_ended_path(struct exam *e, const struct peer_client_info *client, const char *program);

/*
 * An exam of this end of a test that an iperf3 client asked us for: one run, the directions as we
 * see them.  Takes over local.  end: as run_end_to_json() made it.  0, -EINVAL, -ENOMEM.
 */
int one_ended_exam(struct facts *local, const struct peer_client_info *client,
		   const struct run_spec *spec, const cJSON *end, const struct peer_results *theirs,
		   struct exam **out, struct error *err);

#endif
