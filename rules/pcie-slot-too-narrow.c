/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pcie.h"
#include "rules/thresholds.h"

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct pcie_path *path, const struct pcie_hop *h)
{
	const char *card = pcie_address(h->device), *slot = pcie_address(h->above);
	struct pcie_link best = pcie_link_best(h), able = best;
	enum run_direction d = RUN_FORWARD;
	bool limited = pcie_limits(in, h, PCIE_LIMIT_REACHED, &d);
	struct finding *f = rule_fire(out);

	able.mtps = h->device_max_mtps;
	able.width = h->device_max_width;
	f->subject = card;
	f->severity = limited ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	f->risk = RISK_HANDS_ON;
	f->title = rule_text(out, "the card %s can do %s, but its slot (%s) only %s", card,
			     pcie_link_text(out, able.mtps, able.width), slot,
			     pcie_link_text(out, best.mtps, best.width));
	finding_hop(in, out, f, h, d);
	finding_number(out, f, rule_text(out, "%s.pci[%s].max_speed_mtps", side_word(in->side),
					 slot), h->above_max_mtps, UNIT_MEGATRANSFERS,
		       rule_text(out, "%g of the card", h->device_max_mtps), "PCIe LnkCap");
	finding_number(out, f, rule_text(out, "%s.pci[%s].max_width", side_word(in->side), slot),
		       h->above_max_width, UNIT_COUNT,
		       rule_text(out, "%g of the card", h->device_max_width), "PCIe LnkCap");
	if (limited)
		finding_limited_by_hop(in, out, f, d);
	/* Every slot's port, and what it could do: where to move the card. */
	finding_command(out, f, "lspci -vv | grep -E '^[0-9a-f].*PCI bridge|LnkCap:'");
	finding_lifts_hop(in, f, path, h, &able, d);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct pcie_hop *h;
	struct pcie_path path;
	struct pcie_link best;
	const char *lacking;

	if (!pcie_rule_path(in, out, &path))
		return;
	h = &path.hops[0];
	lacking = !(h->device_max_mtps > 0) || !(h->device_max_width > 0) ?
		  pcie_address(h->device) :
		  !(h->above_max_mtps > 0) || !(h->above_max_width > 0) ?
		  h->above ? pcie_address(h->above) : "the slot" : NULL;
	if (lacking) {
		rule_missing(out, rule_text(out, "%s.pci[%s].max_width", side_word(in->side),
					    lacking), ND_UNREAD, NULL);
		return;
	}
	best = pcie_link_best(h);
	if (pcie_hop_raw_max_bps(h) >=
	    0.99 * pcie_raw_bps(h->device_max_mtps, h->device_max_width)) {
		rule_clear(out, "the slot can do what the card can");
		return;
	}
	if (pcie_carries_wire(in, &best)) {
		rule_clear(out, "the slot can do less than the card, but carries the line rate");
		return;
	}
	fire(in, out, &path, h);
}

const struct rule rule_pcie_slot_too_narrow = {
	.id = "pcie-slot-too-narrow",
	.title = "the card sits in a slot that is too narrow or too slow for it",
	.scope = RULE_PER_HOST,
	.reads = "PCIe LnkCap of the card and of the port it is plugged into, LnkSta of both "
		 "sampled while traffic flows; line rate; measured rate",
	.fires_when = "the port's speed x width at best is below the card's, and carries less than "
		      "the line rate; causal when the rate is >= 0.9 of what the link carries",
	.why = "A slot may have fewer lanes wired than its length shows, or belong to an older "
	       "generation. The card works in it, at the speed of the slot.",
	.fix = "Move the card to a slot with enough lanes straight to the CPU; the board's manual "
	       "and LnkCap of each port say which.",
	.not_when = "The slot still carries the line rate of the port that is used.",
	.references = "Linux drivers/pci/pci.c pcie_bandwidth_available()\n"
		      "Neugebauer et al., Understanding PCIe performance for end host networking, "
		      "SIGCOMM 2018",
	.evaluate = evaluate,
};
