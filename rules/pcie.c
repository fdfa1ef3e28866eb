/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pcie.h"

#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };

bool pcie_rule_path(const struct rule_input *in, struct rule_output *out, struct pcie_path *path)
{
	pcie_path_of(in->exam, in->side, path);
	if (path->n)
		return true;
	if (!path->why_unknown)
		rule_not_applicable(out, "the link to the peer is not a PCIe device");
	else if (path->reason == ND_NOT_APPLICABLE)
		rule_not_applicable(out, "%s", path->why_unknown);
	else
		rule_missing(out, rule_text(out, "%s.pci: %s", side_word(in->side),
					    path->why_unknown), path->reason, NULL);
	return false;
}

bool pcie_goodput_of(const struct rule_input *in, const struct pcie_link *l, enum run_direction d,
		     double *low_bps, double *high_bps)
{
	double segment, frame;

	if (!rule_packet(in->exam, d, in->side, &segment, &frame))
		return false;
	return pcie_goodput(l, run_receiver(d) == in->side, frame, segment, low_bps, high_bps);
}

struct pcie_link pcie_link_now(const struct pcie_hop *h)
{
	return (struct pcie_link){ h->mtps, h->width, h->mps, h->mrrs };
}

struct pcie_link pcie_link_best(const struct pcie_hop *h)
{
	struct pcie_link l = { h->device_max_mtps, h->device_max_width, h->mps, h->mrrs };

	if (h->above_max_mtps > 0)
		l.mtps = fmin(l.mtps, h->above_max_mtps);
	if (h->above_max_width > 0)
		l.width = fmin(l.width, h->above_max_width);
	return l;
}

/* Of a side's wire; HUGE_VAL when unknown: then any link may be too narrow for it. */
static double wire_goodput(const struct rule_input *in, enum side s, enum run_direction d)
{
	const struct ceiling *c = ladder_find(in->ladder, d, CEILING_WIRE, s);
	struct nd_f64 line = exam_line_rate(in->exam, s);

	if (c && c->known)
		return c->high_bps;
	return line.k == ND_KNOWN ? line.v : HUGE_VAL;
}

static bool limits_direction(const struct rule_input *in, const struct pcie_link *now,
			     double share, enum run_direction d)
{
	const struct run *run = exam_main_run(in->exam, d);
	double low, high, rate = run ? (double)run->goodput_bps.v : 0;

	if (!run || !pcie_goodput_of(in, now, d, &low, &high))
		return false;
	if (rate < share * low || rate > PCIE_BINDS_TO * high)
		return false;
	/* The intervals overlap: a wire that is full needs no second reason. */
	return rate < TARGET_MET * wire_goodput(in, SIDE_LOCAL, d) &&
	       rate < TARGET_MET * wire_goodput(in, SIDE_PEER, d);
}

bool pcie_limits(const struct rule_input *in, const struct pcie_hop *h, double share,
		 enum run_direction *d)
{
	struct pcie_link now = pcie_link_now(h);
	size_t i;

	for (i = 0; h->under_load && i < ARRAY_SIZE(directions); i++) {
		if (limits_direction(in, &now, share, directions[i])) {
			*d = directions[i];
			return true;
		}
	}
	return false;
}

bool pcie_carries_wire(const struct rule_input *in, const struct pcie_link *l)
{
	double low, high;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++)
		if (!pcie_goodput_of(in, l, directions[i], &low, &high) ||
		    low < wire_goodput(in, in->side, directions[i]))
			return false;
	return true;
}

void finding_lifts_hop(const struct rule_input *in, struct finding *f,
		       const struct pcie_path *path, const struct pcie_hop *h,
		       const struct pcie_link *after, enum run_direction d)
{
	double low, high, other_low, other_high;
	size_t i;

	if (!pcie_goodput_of(in, after, d, &low, &high))
		return;
	for (i = 0; i < path->n; i++) {
		struct pcie_link other = pcie_link_now(&path->hops[i]);

		if (&path->hops[i] == h ||
		    !pcie_goodput_of(in, &other, d, &other_low, &other_high))
			continue;
		low = fmin(low, other_low);
		high = fmin(high, other_high);
	}
	finding_lifts(f, CEILING_PCIE, low, high);
}

void finding_limited_by_hop(const struct rule_input *in, struct rule_output *out,
			    struct finding *f, enum run_direction d)
{
	const struct run *run = exam_main_run(in->exam, d);

	f->proof = PROOF_CAUSAL;
	f->has_direction = true;
	f->direction = d;
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run_name(run)),
		       (double)run->goodput_bps.v, UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g of what the link carries", PCIE_LIMIT_REACHED),
		       "traffic run");
}

const char *pcie_address(const struct pci_facts *d)
{
	return d && d->address.k == ND_KNOWN ? d->address.v : "?";
}

const char *pcie_link_text(struct rule_output *out, double mtps, double width)
{
	return rule_text(out, "%g GT/s x%g", mtps / 1000, width);
}

void finding_hop(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct pcie_hop *h, enum run_direction d)
{
	const char *address = pcie_address(h->device), *side = side_word(in->side);
	struct pcie_link now = pcie_link_now(h);
	double low, high;

	finding_number(out, f, rule_text(out, "%s.pci[%s].speed_mtps", side, address), h->mtps,
		       UNIT_MEGATRANSFERS, NULL, "PCIe LnkSta");
	finding_number(out, f, rule_text(out, "%s.pci[%s].width", side, address), h->width,
		       UNIT_COUNT, NULL, "PCIe LnkSta");
	if (!pcie_goodput_of(in, &now, d, &low, &high))
		return;
	finding_number(out, f, "PCIe goodput, at least", low, UNIT_BITS_PER_SECOND, NULL, "model");
	finding_number(out, f, "PCIe goodput, at most", high, UNIT_BITS_PER_SECOND, NULL, "model");
}
