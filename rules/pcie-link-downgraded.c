/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/rule.h"

#include <math.h>

#include "rules/thresholds.h"
#include "src/model/pcie.h"
#include "src/model/wire.h"

static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };

/* Goodput of a hop at a speed and width, in the direction's packets; false: unknown. */
static bool goodput_at(const struct rule_input *in, const struct pcie_hop *h, double mtps,
		       double width, enum run_direction d, double *low, double *high)
{
	const struct pcie_link link = { mtps, width, h->mps, h->mrrs };
	double segment, frame;

	if (!rule_packet(in->exam, d, in->side, &segment, &frame))
		return false;
	return pcie_goodput(&link, run_receiver(d) == in->side, frame, segment, low, high);
}

/* Speed and width both ends of the link could run at. */
static void best_of(const struct pcie_hop *h, double *mtps, double *width)
{
	*mtps = h->device_max_mtps;
	*width = h->device_max_width;
	if (h->above_max_mtps > 0)
		*mtps = fmin(*mtps, h->above_max_mtps);
	if (h->above_max_width > 0)
		*width = fmin(*width, h->above_max_width);
}

/* The direction this link was seen limiting, else NULL. */
static const enum run_direction *limited_direction(const struct rule_input *in,
						   const struct pcie_hop *h)
{
	double low, high;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		const struct run *run = exam_main_run(in->exam, directions[i]);

		if (run && h->under_load &&
		    goodput_at(in, h, h->mtps, h->width, directions[i], &low, &high) &&
		    (double)run->goodput_bps.v >= PCIE_LIMIT_REACHED * low &&
		    (double)run->goodput_bps.v <= PCIE_BINDS_TO * high)
			return &directions[i];
	}
	return NULL;
}

/* Even so narrowed the link carries more than the port's wire: nothing is lost. */
static bool wide_enough(const struct rule_input *in, const struct pcie_hop *h)
{
	struct nd_f64 line = exam_line_rate(in->exam, in->side);
	double low, high;

	return line.k == ND_KNOWN &&
	       goodput_at(in, h, h->mtps, h->width, RUN_FORWARD, &low, &high) && low >= line.v;
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct pcie_hop *h)
{
	const enum run_direction *limited = limited_direction(in, h);
	enum run_direction d = limited ? *limited : RUN_FORWARD;
	const char *address = h->device->address.v, *side = side_word(in->side);
	struct finding *f = rule_fire(out);
	double mtps, width, low, high;

	best_of(h, &mtps, &width);
	f->subject = address;
	f->severity = limited ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	f->risk = RISK_HANDS_ON;
	if (limited) {
		f->proof = PROOF_CAUSAL;
		f->has_direction = true;
		f->direction = d;
	}
	f->title = rule_text(out, "the PCIe link of %s runs at %g GT/s x%g, not the %g GT/s x%g "
			     "both its ends can do", address, h->mtps / 1000, h->width, mtps / 1000,
			     width);
	finding_number(out, f, rule_text(out, "%s.pci[%s].speed_mtps", side, address), h->mtps,
		       UNIT_MEGATRANSFERS, rule_text(out, "< %g", mtps), "PCIe LnkSta");
	finding_number(out, f, rule_text(out, "%s.pci[%s].width", side, address), h->width,
		       UNIT_COUNT, rule_text(out, "< %g", width), "PCIe LnkSta");
	if (goodput_at(in, h, h->mtps, h->width, d, &low, &high)) {
		finding_number(out, f, "PCIe goodput, at least", low, UNIT_BITS_PER_SECOND, NULL,
			       "model");
		finding_number(out, f, "PCIe goodput, at most", high, UNIT_BITS_PER_SECOND, NULL,
			       "model");
	}
	if (limited)
		finding_number(out, f, rule_text(out, "runs[%s].goodput_bps",
						 exam_main_run(in->exam, d)->id.v),
			       (double)exam_main_run(in->exam, d)->goodput_bps.v,
			       UNIT_BITS_PER_SECOND,
			       rule_text(out, ">= %g of it", PCIE_LIMIT_REACHED), "traffic run");
	finding_command(out, f, "lspci -s %s -vv | grep -E 'LnkCap|LnkSta'",
			rule_shell(out, address));
	if (goodput_at(in, h, mtps, width, d, &low, &high))
		finding_lifts(f, CEILING_PCIE, low, high);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct pcie_hop *h = NULL;
	struct pcie_path path;
	size_t i;

	pcie_path_of(in->exam, in->side, &path);
	if (!path.n && !path.why_unknown) {
		rule_not_applicable(out, "the link to the peer is not a PCIe device");
		return;
	}
	if (!path.n) {
		rule_missing(out, rule_text(out, "%s.pci: %s", side_word(in->side),
					    path.why_unknown), path.reason, NULL);
		return;
	}
	for (i = 0; i < path.n && !h; i++)
		if (pcie_hop_raw_max_bps(&path.hops[i]) > 0 &&
		    pcie_hop_raw_bps(&path.hops[i]) < 0.99 * pcie_hop_raw_max_bps(&path.hops[i]))
			h = &path.hops[i];
	if (!h) {
		rule_clear(out, "each PCIe link runs as fast and as wide as both its ends can");
		return;
	}
	if (wide_enough(in, h)) {
		rule_clear(out, "a PCIe link runs below its best, but still carries the line rate");
		return;
	}
	fire(in, out, h);
}

const struct rule rule_pcie_link_downgraded = {
	.id = "pcie-link-downgraded",
	.title = "a PCIe link runs slower or narrower than both its ends can",
	.scope = RULE_PER_HOST,
	.reads = "PCIe LnkSta and LnkCap of both ends of each link from the NIC to the root port, "
		 "sampled while traffic flows; measured rate",
	.fires_when = "speed x width of a link < what both its ends can do, and that carries less "
		      "than the line rate; causal when it was so under traffic and the rate is "
		      ">= 0.9 of what it carries",
	.why = "Speed and width are negotiated when the link comes up. A dirty contact, a bad "
	       "riser, a BIOS setting or shared lanes make both ends settle for less, and "
	       "nothing complains.",
	.fix = "Reseat the card (clean its contacts, leave out the riser), set the slot's speed "
	       "to auto in the BIOS, check bifurcation and lane sharing in the board's manual, "
	       "update the card's firmware.",
	.not_when = "Idle links rest at a lower speed: without traffic this is only advice. "
		    "Virtual functions, devices inside the chipset and Thunderbolt tunnels show "
		    "no real link.",
	.references = "Linux drivers/pci/pci.c pcie_bandwidth_available()\n"
		      "Neugebauer et al., Understanding PCIe performance for end host networking, "
		      "SIGCOMM 2018",
	.evaluate = evaluate,
};
