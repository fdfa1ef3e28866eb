/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building the ladder, private to the ladder_*.c files. */
#ifndef ND_DIAGNOSE_LADDER_H
#define ND_DIAGNOSE_LADDER_H

#include "src/diagnose/engine.h"
#include "src/model/wire.h"

struct ladder_builder {
	const struct exam *exam;
	struct arena *mem;
	struct ladder *ladder;
	struct ceiling scratch;		/* handed out when memory has run out */
	bool failed;
};

/* One direction of the exam with what its packets look like. */
struct ladder_path {
	enum run_direction direction;
	const struct run *run;		/* NULL: no traffic was driven */
	const struct run_end *sender, *receiver;	/* NULL with run */
	double measured_bps;		/* 0 without a run */
	double streams;
	struct wire_packet packet;
	double mss;			/* of one segment or datagram; 0: take the device's MTU */
};

void ladder_path_init(const struct exam *exam, enum run_direction d, struct ladder_path *p);

/* A new, unknown row.  Never NULL. */
struct ceiling *ceiling_add(struct ladder_builder *b, const struct ladder_path *p,
			    enum ceiling_kind kind, enum side side);
void ceiling_input(struct ceiling *c, const char *name, double value, enum unit unit);
void ceiling_set(struct ceiling *c, double low_bps, double high_bps, enum ceiling_basis basis,
		 const char *formula);
void ceiling_unknown(struct ladder_builder *b, struct ceiling *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for what the host itself would have told; says what to do about it. */
void ceiling_unseen(struct ladder_builder *b, struct ceiling *c, const char *what);
const char *ladder_text(struct ladder_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Payload of one packet: the connection's, else what the device's MTU allows; 0 unknown. */
double path_segment(const struct ladder_path *p, const struct link_facts *link);
/* Layer-2 bytes of that packet, as NIC and qdisc see it (no preamble, FCS, gap). */
double path_frame(const struct ladder_path *p, double segment);

void ladder_add_wire(struct ladder_builder *b, const struct ladder_path *p, enum side side);
void ladder_add_pcie(struct ladder_builder *b, const struct ladder_path *p, enum side side);
void ladder_add_cpu(struct ladder_builder *b, const struct ladder_path *p);
void ladder_add_windows(struct ladder_builder *b, const struct ladder_path *p);
void ladder_add_loss(struct ladder_builder *b, const struct ladder_path *p);
/* What windows and losses are to TCP. */
void ladder_add_datagrams(struct ladder_builder *b, const struct ladder_path *p);
void ladder_add_shaper(struct ladder_builder *b, const struct ladder_path *p);

#endif
