/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pcie-* rules share: what a link between NIC and root port carries.  Pure. */
#ifndef ND_RULES_PCIE_H
#define ND_RULES_PCIE_H

#include "src/diagnose/rule.h"
#include "src/model/pcie.h"

/* The path of in->side's port; false: there is none, or it is not known, and the rule said so. */
bool pcie_rule_path(const struct rule_input *in, struct rule_output *out, struct pcie_path *path);
/*
 * Goodput of a link of this speed, width and payload size (0: not known) in the direction's
 * packets: bit/s, false: unknown.
 */
bool pcie_goodput_of(const struct rule_input *in, const struct pcie_link *l, enum run_direction d,
		     double *low_bps, double *high_bps);
/* The hop as it runs now. */
struct pcie_link pcie_link_now(const struct pcie_hop *h);
/* The hop at the most both its ends can. */
struct pcie_link pcie_link_best(const struct pcie_hop *h);

/*
 * A direction whose rate reached `share` of what the hop carries, and not more than it can, nor
 * all of the wire; false: none, or the hop was not seen under traffic.
 */
bool pcie_limits(const struct rule_input *in, const struct pcie_hop *h, double share,
		 enum run_direction *d);
/* The hop carries more than the port's wire both ways: it costs nothing. */
bool pcie_carries_wire(const struct rule_input *in, const struct pcie_link *l);
/*
 * The fix makes the hop carry [low, high]; the path's other hops bound it.  A finding with a
 * direction when `limited`, else advice.
 */
void finding_lifts_hop(const struct rule_input *in, struct finding *f,
		       const struct pcie_path *path, const struct pcie_hop *h,
		       const struct pcie_link *after, enum run_direction d);
/* Marks the finding as seen limiting in this direction, with the rate as evidence. */
void finding_limited_by_hop(const struct rule_input *in, struct rule_output *out,
			    struct finding *f, enum run_direction d);
/* Speed and width of the hop, what they carry. */
void finding_hop(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct pcie_hop *h, enum run_direction d);
/* "8 GT/s x4" */
const char *pcie_link_text(struct rule_output *out, double mtps, double width);
/* The device's address; never NULL. */
const char *pcie_address(const struct pci_facts *d);

#endif
