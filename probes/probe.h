/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes: each reads one source of facts or counters.
 *
 * Every probe is read_x(), which does I/O through the source, and a pure
 * parse_x(buf, len, out) that a unit test and a fuzzer can call.  A probe never
 * prints and never stops the others: what it could not read stays unknown, with
 * the reason, and its result row says what happened.
 */
#ifndef ND_PROBES_PROBE_H
#define ND_PROBES_PROBE_H

#include "src/core/counters.h"
#include "src/core/error.h"
#include "src/core/facts.h"
#include "src/core/source.h"

/* Phases run in this order; within one, order in probes.c. */
enum probe_phase {
	PROBE_HOST,	/* nothing known yet */
	PROBE_LINKS,	/* host facts there */
	PROBE_DEVICES,	/* links there: ethtool, PCI, queues, IRQs */
	PROBE_PHASES
};

struct probe_context {
	const char *peer_address;	/* numeric address for the route look-up, NULL: none */
	const char *local_address;	/* source address of the session, NULL: none */
	const char *const *only_links;	/* names; NULL: every physical link */
	size_t nonly_links;
	/* Also those of software that are up and belong to no other link: no route says which. */
	bool software_links;
};

struct probe {
	const char *name;		/* "ethtool" */
	const char *summary;		/* what it reads, one line */
	enum probe_phase phase;
	/* 0, or -errno: nothing at all could be read.  detail explains (may stay empty). */
	int (*collect)(struct source *src, const struct probe_context *ctx, struct facts *f,
		       struct error *detail);
};

/* When a counter source is read. */
enum counter_rate {
	COUNTER_EVERY_SAMPLE,	/* cheap: at 10 Hz */
	COUNTER_EVERY_SECOND,	/* sysfs walks, long files: twice a second */
	COUNTER_AT_ENDS		/* slow (driver statistics): first and last only */
};

struct counter_probe {
	const char *name;
	enum counter_rate rate;
	/* Appends its rows to c.  f tells which links, vectors and devices matter.  0 or -errno. */
	int (*sample)(struct source *src, const struct facts *f, struct counters *c);
};

extern const struct probe *const probes_table[];
extern const size_t probes_count;
extern const struct counter_probe *const counter_probes_table[];
extern const size_t counter_probes_count;

/* Runs every probe in phase order and records one probe_result each.  0 or -ENOMEM. */
int probes_collect(struct source *src, const struct probe_context *ctx, struct facts *f);
/* Reads all counters whose rate is at most `rate` (AT_ENDS reads everything), and the clock. */
int probes_sample(struct source *src, const struct facts *f, enum counter_rate rate,
		  struct counters *c);

/*
 * Links whose details are worth reading: the stack the route leaves by (the link,
 * what it runs over, members of a bond, a veth's peer), and every physical link;
 * with only_links the named ones and what they run over instead of the latter.  With
 * software_links and no names: also links of software that stand for themselves.
 * ctx may be NULL.
 */
bool probe_link_wanted(const struct probe_context *ctx, const struct facts *f,
		       const struct link_facts *link);
/*
 * What a probe does with one link; data is the caller's own.  0 or -errno.  It may
 * append rows to other sections of f, but no links.
 */
typedef int (*probe_link_fn)(struct source *src, struct facts *f, struct link_facts *link,
			     void *data);
/*
 * The loop of every probe of links: calls `each` for the wanted ones in the order of
 * f, until it answers other than 0, which is returned.
 */
int probe_each_wanted_link(struct source *src, const struct probe_context *ctx, struct facts *f,
			   probe_link_fn each, void *data);
/* All of them at once, at most cap of them in out; returns how many there are. */
size_t probe_wanted_links(const struct probe_context *ctx, const struct facts *f,
			  const struct link_facts **out, size_t cap);
/*
 * Whether /sys/class/net/NAME is this very link.  Sysfs shows the network
 * namespace it was mounted in, which need not be ours, and names repeat.
 */
bool probe_sysfs_shows(struct source *src, const struct link_facts *link);

#endif
