/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pcie.h"
#include "rules/thresholds.h"

/* What the path carries without this hop: its next narrowest. */
static const struct pcie_hop *next_narrowest(const struct pcie_path *path,
					     const struct pcie_hop *h)
{
	const struct pcie_hop *next = NULL;
	size_t i;

	for (i = 0; i < path->n; i++)
		if (&path->hops[i] != h &&
		    (!next || pcie_hop_raw_bps(&path->hops[i]) < pcie_hop_raw_bps(next)))
			next = &path->hops[i];
	return next;
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct pcie_path *path, const struct pcie_hop *h)
{
	const struct pcie_hop *own = &path->hops[0];
	const char *address = pcie_address(h->device);
	struct pcie_link after = pcie_link_now(next_narrowest(path, h));
	enum run_direction d = RUN_FORWARD;
	bool limited = pcie_limits(in, h, PCIE_LIMIT_REACHED, &d);
	struct finding *f = rule_fire(out);

	f->subject = address;
	f->severity = limited ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	f->risk = RISK_HANDS_ON;
	f->title = rule_text(out, "the PCIe link above the card, of %s, runs at %s; the card's own "
			     "at %s", address, pcie_link_text(out, h->mtps, h->width),
			     pcie_link_text(out, own->mtps, own->width));
	finding_hop(in, out, f, h, d);
	finding_hop(in, out, f, own, d);
	if (limited)
		finding_limited_by_hop(in, out, f, d);
	finding_command(out, f, "lspci -tv");
	finding_command(out, f, "lspci -s %s -vv | grep -E 'LnkCap|LnkSta'",
			rule_shell(out, address));
	finding_lifts_hop(in, f, path, h, &after, d);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct pcie_hop *h;
	struct pcie_path path;
	struct pcie_link now;

	if (!pcie_rule_path(in, out, &path))
		return;
	h = pcie_path_narrowest(&path);
	if (path.n < 2 || pcie_hop_raw_bps(h) >= 0.99 * pcie_hop_raw_bps(&path.hops[0])) {
		rule_clear(out, "no PCIe link above the card is narrower than its own");
		return;
	}
	now = pcie_link_now(h);
	if (pcie_carries_wire(in, &now)) {
		rule_clear(out, "a PCIe link above the card is narrower, but carries the line "
			   "rate");
		return;
	}
	fire(in, out, &path, h);
}

const struct rule rule_pcie_upstream_bottleneck = {
	.id = "pcie-upstream-bottleneck",
	.title = "a PCIe link between the card and the CPU is narrower than the card's own",
	.scope = RULE_PER_HOST,
	.reads = "PCIe LnkSta of each link from the NIC to the root port, sampled while traffic "
		 "flows; line rate; measured rate",
	.fires_when = "a link above the card's own carries less than that, and less than the line "
		      "rate; causal when the rate is >= 0.9 of what it carries",
	.why = "Behind a switch, a riser or the chipset the card shares a link to the CPU, which "
	       "may be slower than the slot. Nothing about the card itself shows it.",
	.fix = "Use a slot straight on the CPU, or one behind a wider link.",
	.not_when = "The link still carries the line rate. Other devices behind it take their "
		    "part: they are not seen here.",
	.references = "Linux drivers/pci/pci.c pcie_bandwidth_available()",
	.evaluate = evaluate,
};
