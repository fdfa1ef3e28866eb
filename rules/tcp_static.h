/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Advice about buffer limits that are too small for a path: shared by tcp-?mem-max-small. */
#ifndef ND_RULES_TCP_STATIC_H
#define ND_RULES_TCP_STATIC_H

#include "rules/tcp_buffer.h"

struct tcp_static {
	const char *member;		/* "tcp_rmem_max" */
	struct nd_u64 limit;		/* of the host; ND_UNREAD: it was not seen */
	struct tcp_memory memory;
	enum ceiling_kind kind;
	double factor, least;		/* of the suggestion: x BDP, and at least */
	void (*rates)(const struct rule_input *in, const struct tcp_sender *s, double buffer,
		      double *low, double *high);
};
void tcp_static_evaluate(const struct rule_input *in, struct rule_output *out,
			 const struct tcp_static *w);

#endif
