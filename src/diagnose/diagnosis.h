/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Diagnosis: what an exam means.  Ceilings, findings in rank order, the plan,
 * the verdict, and what was ruled out or could not be seen.  One arena owns it;
 * const to reports and screens.
 */
#ifndef ND_DIAGNOSE_DIAGNOSIS_H
#define ND_DIAGNOSE_DIAGNOSIS_H

#include "src/exam/exam.h"

enum ceiling_kind {
	CEILING_NONE,		/* a finding that lifts no ceiling */
	CEILING_WIRE,
	CEILING_PCIE,
	CEILING_CPU,
	CEILING_WINDOW_SEND,
	CEILING_WINDOW_RECEIVE,
	CEILING_LOSS,
	CEILING_SHAPER,
	CEILING_KINDS
};
const char *ceiling_word(enum ceiling_kind k);	/* "wire", "pcie", "cpu", "window-send", ... */

enum ceiling_basis { BASIS_COMPUTED, BASIS_MEASURED, BASIS_CONFIGURED };
const char *ceiling_basis_word(enum ceiling_basis b);

#define CEILING_MAX_INPUTS 12
struct ceiling_input { const char *name; double value; enum unit unit; };

/* An upper bound in bit/s of goodput for one direction, due to one side. */
struct ceiling {
	enum ceiling_kind kind;
	enum side side;
	enum run_direction direction;
	/*
	 * Not known but high_bps > 0: no limit was seen, the numbers are an estimate of where
	 * one would be (a core with room).  They cap what a fix promises and are no ceiling.
	 */
	bool known;
	/* The run's own rate limit, that a person asked for or the server allows: no fault. */
	bool asked_for;
	double low_bps, high_bps;
	enum ceiling_basis basis;
	struct ceiling_input inputs[CEILING_MAX_INPUTS];
	size_t ninputs;
	const char *formula;		/* with the names of the inputs */
	const char *why_unknown;	/* when not known: which fact, and how to get it */
	const char *subject;		/* "eth0", "0000:3b:00.0", "cpu 3" or NULL */
};

struct ladder { struct ceiling *ceilings; size_t n; };

/* The ceiling of a kind and side, NULL when the ladder has none. */
const struct ceiling *ladder_find(const struct ladder *l, enum run_direction d, enum ceiling_kind k,
				  enum side s);
/*
 * The lowest known ceiling of a direction (by its high end), leaving out kind `except`
 * (CEILING_NONE: none left out).
 */
const struct ceiling *ladder_lowest(const struct ladder *l, enum run_direction d,
				    enum ceiling_kind except);
/* A direction's known ceilings into `to`, the lowest first: how many, cap at most. */
size_t ladder_known(const struct ladder *l, enum run_direction d, const struct ceiling **to,
		    size_t cap);
/*
 * The bit/s at the right end of bars that show those, with the lowest (may be NULL) and a rate
 * that was seen (0: none) well inside.  0: nothing to draw.
 */
double ladder_scale(const struct ceiling *const *known, size_t n, const struct ceiling *lowest,
		    double seen_bps);

enum severity { SEVERITY_INFO, SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH, SEVERITY_CRITICAL };
const char *severity_word(enum severity s);	/* "info", "low", "medium", "high", "critical" */
enum proof { PROOF_STATIC, PROOF_CAUSAL, PROOF_EXPERIMENT };
const char *proof_word(enum proof p);
const char *proof_text(enum proof p);	/* for a person: "shown by an experiment" */
enum risk {
	RISK_NONE, RISK_QUEUE_RESTART, RISK_LINK_FLAP, RISK_REBOOT, RISK_HANDS_ON,
	RISK_AFFECTS_OTHERS, RISK_LOWERS_SECURITY
};
const char *risk_word(enum risk r);
const char *risk_text(enum risk r);	/* for a person: "takes a reboot" */

struct evidence {
	/* A path: "local.links[eth0].rx_ring", "runs[1-forward-all-streams].peer.cores[3].busy". */
	const char *fact;
	const char *text;	/* a word, or NULL: value counts */
	double value;
	enum unit unit;
	const char *threshold;	/* ">= 0.95", or NULL */
	const char *source;	/* "/proc/stat", "ethtool RINGS_GET", "TCP_INFO" */
};

#define FINDING_MAX_EVIDENCE 16
#define FINDING_MAX_COMMANDS 6
#define FINDING_MAX_ALSO 8

struct rule;

struct finding {
	const struct rule *rule;
	unsigned int rank;		/* from 1 */
	enum severity severity;
	enum proof proof;
	/* 0..1, how sure it is that this limits; of a plain fact, which claims no such thing: 1. */
	double confidence;
	enum side side;
	bool has_direction;
	enum run_direction direction;
	const char *subject;		/* "eth0", "cpu 3" ...; may be NULL */
	const char *title;		/* one line a person would say, with the numbers in it */
	const char *why;
	struct evidence evidence[FINDING_MAX_EVIDENCE];
	size_t nevidence;
	/* What the fix would lift: the ceiling's new value.  after_known false: cannot say. */
	enum ceiling_kind lifts;
	/* A second ceiling, at either side, that the same fix lifts as far (buffers set by -w). */
	enum ceiling_kind lifts_too;
	bool after_known;
	double after_low_bps, after_high_bps;	/* of it alone; HUGE_VAL: no limit any more */
	/* Filled by the engine: against all other ceilings of the direction. */
	bool gain_known;
	double gain_low_bps, gain_high_bps, rate_low_bps, rate_high_bps;
	const char *fix;
	const char *commands[FINDING_MAX_COMMANDS], *persist[FINDING_MAX_COMMANDS],
		   *undo[FINDING_MAX_COMMANDS];
	size_t ncommands, npersist, nundo;
	enum risk risk;
	const char *also[FINDING_MAX_ALSO];	/* ids of rules of the same cause, folded in */
	size_t nalso;
};

/* Static, of severity info, and lifting nothing. */
bool finding_is_plain_fact(const struct finding *f);

struct plan_step { const struct finding *finding; double before_bps, after_bps; };

struct unseen { const struct rule *rule; const char *missing, *how; };	/* could not be evaluated */
struct ruled_out { const struct rule *rule; const char *because; };

enum verdict { VERDICT_HEALTHY, VERDICT_LIMITED, VERDICT_UNEXPLAINED, VERDICT_INCONCLUSIVE };
const char *verdict_word(enum verdict v);

struct direction_result {
	enum run_direction direction;
	bool measured;			/* if only beside the other, in a bidirectional run */
	double measured_bps;
	struct nd_f64 target_bps;	/* --target, else unknown */
	const struct ceiling *bottleneck;	/* lowest ceiling, NULL: none known */
	struct nd_f64 explained;	/* measured / bottleneck (inside its interval: 1) */
};

/* Each direction while the other went on, beside what it reaches alone; by run_direction. */
struct both_ways {
	const struct run *run;		/* NULL: not measured, and nothing counts */
	struct {
		double measured_bps;
		struct nd_f64 alone_bps, share;	/* of what it reaches alone */
		bool lower;			/* by more than two runs differ anyway */
	} of[2];
	const char *text;		/* one sentence on what this says */
};

struct diagnosis {
	struct arena *mem;
	enum verdict verdict;
	const char *summary;
	struct direction_result directions[2];	size_t ndirections;
	struct both_ways both;
	struct ladder ladder;
	struct finding *findings;	size_t nfindings;	/* in rank order */
	struct plan_step *plan;		size_t nplan;
	struct unseen *unseen;		size_t nunseen;
	struct ruled_out *ruled_out;	size_t nruled_out;
};

/* Pure.  0 or -ENOMEM.  The exam must outlive the diagnosis. */
int diagnose(const struct exam *exam, struct diagnosis **out);
/* Only the rules that need no traffic, for one host's facts in exam->facts[SIDE_LOCAL]. */
int diagnose_static(const struct exam *exam, struct diagnosis **out);
void diagnosis_free(struct diagnosis *d);

/* 0 healthy or target met, 1 warning findings, 2 critical findings, 3 could not tell. */
int diagnosis_exit_code(const struct diagnosis *d);

#endif
