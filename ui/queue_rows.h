/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queues of one host's port: its interrupt vectors, the CPU that serves each, and what each
 * carried.  A link of software has none: its packets are counted per CPU instead.  Pure.
 */
#ifndef ND_UI_QUEUE_ROWS_H
#define ND_UI_QUEUE_ROWS_H

#include "ui/shown_run.h"

enum { QUEUE_ROWS_MAX = HISTORY_MAX_QUEUES, QUEUE_NAME_CAP = 64 };

struct queue_row {
	char name[QUEUE_NAME_CAP];	/* "queue 3", else the vector's name; untrusted */
	struct nd_u64 irq;
	struct nd_u64 cpu;		/* that serves it */
	struct nd_f64 irqs_ps, rx_pps, tx_pps;
	struct history_core load;	/* of that CPU */
	double share;			/* of the interrupts, else of the packets; NAN: unknown */
};

struct queue_rows {
	struct queue_row *rows;		size_t n;
	bool per_cpu;			/* rows are CPUs: softnet's packets */
	double most;			/* largest share; NAN: unknown */
	size_t busiest;			/* its row */
};

/* 0 or -ENOMEM (then empty).  queue_rows_free() in any case. */
int queue_rows_make(const struct scene *s, const struct shown_run *r, enum side side,
		    struct queue_rows *out);
void queue_rows_free(struct queue_rows *rows);
/* The busiest of several has more than twice its even part. */
bool queue_rows_uneven(const struct queue_rows *rows);

#endif
