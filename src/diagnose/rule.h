/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules: exam -> fired / clear / not applicable / unknown.
 *
 * A rule is one const struct in its own file, file name = id.  The engine calls
 * evaluate() once for each scope (host, direction ...) that exists, with the
 * relevant parts of the exam picked out.  evaluate() must end in exactly one of
 * rule_fire(), rule_clear(), rule_not_applicable() or rule_missing() per call
 * (several rule_fire() are fine: one per subject).  Pure: no I/O, no clock.
 */
#ifndef ND_DIAGNOSE_RULE_H
#define ND_DIAGNOSE_RULE_H

#include "src/diagnose/diagnosis.h"

enum rule_scope {
	RULE_PER_HOST,		/* facts alone: `check` runs it too */
	RULE_PER_SENDER,	/* per direction: side = the sending end */
	RULE_PER_RECEIVER,	/* per direction: side = the receiving end */
	RULE_PER_EXAM		/* once */
};

struct rule_input {
	const struct exam *exam;
	const struct ladder *ladder;
	/* all but PER_EXAM: */
	enum side side;
	const struct facts *facts;		/* of side; NULL: not seen (never NULL PER_HOST) */
	const struct facts *other_facts;	/* of the other end, or NULL */
	const struct link_facts *link;		/* egress link of side, NULL unknown */
	const struct link_facts *port;		/* bottom link of side, NULL unknown */
	/* PER_SENDER, PER_RECEIVER: */
	enum run_direction direction;
	const struct run *run;			/* the main run of the direction, never NULL */
	const struct run_end *end;		/* side's end; may have present == false */
	const struct run_end *other_end;
	double measured_bps;
};

struct rule_output;	/* the engine's */

struct rule {
	const char *id, *title;
	enum rule_scope scope;
	const char *reads;	/* facts and counters, for people */
	const char *fires_when;	/* with the thresholds */
	const char *why;	/* the mechanism, two or three sentences */
	const char *fix;	/* general form */
	const char *not_when;	/* exclusions */
	const char *references;	/* newline separated */
	bool tcp;		/* of what only TCP has: does not apply to a run of datagrams */
	void (*evaluate)(const struct rule_input *in, struct rule_output *out);
};

/*
 * Starts a finding: rule, side, direction, why, fix and proof (static PER_HOST, else causal)
 * are preset.  Severity is computed from the gain; what the rule sets is the least it has.
 * Never NULL: when memory runs out the engine hands out a scratch finding and fails later.
 */
struct finding *rule_fire(struct rule_output *out);
void rule_clear(struct rule_output *out, const char *because, ...)
	__attribute__((format(printf, 2, 3)));
void rule_not_applicable(struct rule_output *out, const char *because, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * A fact it needs is unknown: its path, the reason, and how a person could make it
 * known (NULL: by the reason).
 */
void rule_missing(struct rule_output *out, const char *fact, enum nd_known reason, const char *how);

/* Text in the diagnosis' arena; "" when memory ran out. */
const char *rule_text(struct rule_output *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void finding_number(struct rule_output *out, struct finding *f, const char *fact, double value,
		    enum unit unit, const char *threshold, const char *source);
void finding_word(struct rule_output *out, struct finding *f, const char *fact, const char *text,
		  const char *threshold, const char *source);
/*
 * Shell commands for the host of the finding's side; words that came from outside go
 * through rule_shell().
 */
void finding_command(struct rule_output *out, struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void finding_persist(struct rule_output *out, struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void finding_undo(struct rule_output *out, struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *rule_shell(struct rule_output *out, const char *word);
/* The fix lifts this ceiling to [low, high] bit/s; HUGE_VAL: no longer a limit. */
void finding_lifts(struct finding *f, enum ceiling_kind kind, double after_low_bps,
		   double after_high_bps);

/*
 * The PCIe links between a NIC and its root port, nearest the NIC first.  A link is seen from
 * two ends; speed and width are the larger of all readings, those under traffic included, as
 * idle links may rest at a lower speed.  0: not known.
 */
struct pcie_hop {
	const struct pci_facts *device;	/* lower end: the NIC or a switch's upstream port */
	const struct pci_facts *above;	/* upper end: a root or downstream port; NULL not seen */
	double mtps, width;		/* as negotiated */
	double device_max_mtps, device_max_width, above_max_mtps, above_max_width;
	double mps, mrrs;		/* of the NIC; 0 not known */
	bool under_load;		/* a reading was taken while traffic flowed */
};
#define PCIE_MAX_HOPS 8
struct pcie_path {
	struct pcie_hop hops[PCIE_MAX_HOPS];
	size_t n;
	const char *why_unknown;	/* n == 0: why no link is known; NULL: no PCI device */
	enum nd_known reason;
};
/* ends: those of runs whose readings count, or NULL entries.  Static text, borrows from facts. */
void pcie_path_find(const struct facts *f, const struct link_facts *port,
		    const struct run_end *const *ends, size_t nends, struct pcie_path *out);
/* With the readings of all runs of an exam. */
void pcie_path_of(const struct exam *e, enum side s, struct pcie_path *out);
/* Raw bandwidth a hop runs at, and the most both of its ends can: bit/s, 0 not known. */
double pcie_hop_raw_bps(const struct pcie_hop *h);
double pcie_hop_raw_max_bps(const struct pcie_hop *h);
/* The hop with the least bandwidth (of equals the one nearest the root), NULL: none known. */
const struct pcie_hop *pcie_path_narrowest(const struct pcie_path *p);

/* One full packet of a direction: payload and layer-2 bytes; false: not even the MTU is known. */
bool rule_packet(const struct exam *e, enum run_direction d, enum side s, double *segment,
		 double *frame);

/*
 * Share (0..1) of a host's CPU time that went to neither our traffic threads (of both ends when
 * they share the machine) nor softirqs and interrupts: at least that much was other work.
 */
struct nd_f64 rule_other_work(const struct exam *e, const struct run *run, enum side s);

/*
 * The tightest rate limit of a qdisc or class that a direction's packets pass on the sender, on
 * the link to the peer or below it.
 */
struct rule_shaper {
	const struct qdisc_facts *qdisc;
	const struct link_facts *link;	/* it is on */
	double rate_bps;	/* layer-2 bit/s, all streams together */
	double next_bps;	/* of the next limit on their way; 0: no other */
};
/* False: none is configured, or the sender's links are not known. */
bool rule_shaper_of(const struct exam *e, enum run_direction d, struct rule_shaper *out);

/* What a direction's sender lost in the main run. */
struct rule_loss {
	bool datagrams;		/* UDP: nobody sends them again, and their rate does not yield */
	double counted;		/* segments sent again; datagrams that never came */
	double segments;	/* less those that had only been late (DSACK) */
	double share;		/* of the bytes, of datagrams of their number sent */
	struct nd_f64 sockets;	/* of the datagrams: lost by the receiver's sockets */
	/*
	 * Losses as congestion control feels them: one burst, or one dropped aggregate of
	 * segmentation offload, is one.  Recoveries, loss probes and timeouts of the sending
	 * host; the segments when it does not count those.
	 */
	double events;
	bool events_counted;
	double event_share;	/* events / segments sent: the loss of the formulas */
	double timeouts;	/* of our flows, 0 when unknown */
};
/* False: the sender's retransmissions, or the receiver's count of datagrams, are not known. */
bool rule_loss_of(const struct exam *e, enum run_direction d, struct rule_loss *out);

/* What went out, bit/s: of datagrams with those that were lost, of TCP what is measured. */
double rule_sent_bps(const struct exam *e, enum run_direction d);

extern const struct rule *const rules_table[];
extern const size_t rules_count;
const struct rule *rule_by_id(const char *id);

#endif
