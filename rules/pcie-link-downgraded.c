/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pcie.h"
#include "rules/thresholds.h"

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct pcie_path *path, const struct pcie_hop *h)
{
	const char *address = pcie_address(h->device);
	struct pcie_link best = pcie_link_best(h);
	enum run_direction d = RUN_FORWARD;
	bool limited = pcie_limits(in, h, PCIE_LIMIT_REACHED, &d);
	struct finding *f = rule_fire(out);

	f->subject = address;
	f->severity = limited ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	f->risk = RISK_HANDS_ON;
	f->title = rule_text(out, "the PCIe link of %s runs at %s, not the %s both its ends can do",
			     address, pcie_link_text(out, h->mtps, h->width),
			     pcie_link_text(out, best.mtps, best.width));
	finding_hop(in, out, f, h, d);
	finding_number(out, f, rule_text(out, "%s.pci[%s].max_speed_mtps of both ends",
					 side_word(in->side), address), best.mtps,
		       UNIT_MEGATRANSFERS, NULL, "PCIe LnkCap");
	finding_number(out, f, rule_text(out, "%s.pci[%s].max_width of both ends",
					 side_word(in->side), address), best.width, UNIT_COUNT,
		       NULL, "PCIe LnkCap");
	if (limited)
		finding_limited_by_hop(in, out, f, d);
	finding_command(out, f, "lspci -s %s -vv | grep -E 'LnkCap|LnkSta'",
			rule_shell(out, address));
	finding_lifts_hop(in, f, path, h, &best, d);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct pcie_hop *h = NULL;
	struct pcie_path path;
	struct pcie_link now;
	size_t i;

	if (!pcie_rule_path(in, out, &path))
		return;
	for (i = 0; i < path.n && !h; i++)
		if (pcie_hop_raw_max_bps(&path.hops[i]) > 0 &&
		    pcie_hop_raw_bps(&path.hops[i]) < 0.99 * pcie_hop_raw_max_bps(&path.hops[i]))
			h = &path.hops[i];
	if (!h) {
		rule_clear(out, "each PCIe link runs as fast and as wide as both its ends can");
		return;
	}
	now = pcie_link_now(h);
	/* Even so narrowed it carries more than the port's wire: nothing is lost. */
	if (pcie_carries_wire(in, &now)) {
		rule_clear(out, "a PCIe link runs below its best, but still carries the line rate");
		return;
	}
	fire(in, out, &path, h);
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
