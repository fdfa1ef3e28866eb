/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "rules/pcie.h"
#include "rules/thresholds.h"

#define SMALL_PAYLOAD 128
#define BETTER_PAYLOAD 256

/* One that cannot take 256 bytes, or does not say: then *why is not ND_KNOWN. */
static const struct pci_facts *hinders(const struct pcie_path *path, enum nd_known *why)
{
	size_t i;

	*why = ND_KNOWN;
	for (i = 0; i < path->n; i++) {
		const struct pci_facts *ends[] = { path->hops[i].device, path->hops[i].above };
		size_t j;

		for (j = 0; j < ARRAY_SIZE(ends); j++) {
			if (!ends[j])
				continue;
			if (ends[j]->payload_max_bytes.k != ND_KNOWN) {
				*why = ends[j]->payload_max_bytes.k;
				return ends[j];
			}
			if (ends[j]->payload_max_bytes.v < BETTER_PAYLOAD)
				return ends[j];
		}
	}
	return NULL;
}

/* How a kernel parameter is kept is the distribution's business. */
static void add_commands(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	const char *os = in->facts->host.os.k == ND_KNOWN ? in->facts->host.os.v : "";

	if (strstr(os, "Debian") || strstr(os, "Ubuntu")) {
		finding_command(out, f, "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX "
				"pci=pcie_bus_perf\"' >/etc/default/grub.d/netdoctor.cfg");
		finding_command(out, f, "update-grub && reboot");
		finding_undo(out, f, "rm /etc/default/grub.d/netdoctor.cfg");
		finding_undo(out, f, "update-grub && reboot");
	} else {
		finding_command(out, f, "grubby --update-kernel=ALL --args=pci=pcie_bus_perf && "
				"reboot");
		finding_undo(out, f, "grubby --update-kernel=ALL --remove-args=pci=pcie_bus_perf "
			     "&& reboot");
	}
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct pcie_path *path, enum run_direction d)
{
	const struct pcie_hop *h = pcie_path_narrowest(path);
	const char *address = pcie_address(path->hops[0].device);
	struct pcie_link after = pcie_link_now(h);
	struct finding *f = rule_fire(out);

	after.mps = BETTER_PAYLOAD;
	f->subject = address;
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_REBOOT;
	f->title = rule_text(out, "PCIe packets of %s carry %d bytes, though every part on the way "
			     "takes %d", address, SMALL_PAYLOAD, BETTER_PAYLOAD);
	finding_number(out, f, rule_text(out, "%s.pci[%s].payload_bytes", side_word(in->side),
					 address), path->hops[0].mps, UNIT_BYTES,
		       rule_text(out, ">= %d", BETTER_PAYLOAD), "PCIe DevCtl");
	finding_hop(in, out, f, h, d);
	finding_limited_by_hop(in, out, f, d);
	add_commands(in, out, f);
	/* The payload size is one for all hops: no other bounds it from below. */
	if (pcie_goodput_of(in, &after, d, &f->after_low_bps, &f->after_high_bps))
		finding_lifts(f, CEILING_PCIE, f->after_low_bps, f->after_high_bps);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	enum run_direction d = RUN_FORWARD;
	const struct pci_facts *nic, *other;
	struct pcie_path path;
	struct pcie_link now;
	enum nd_known why;

	if (!pcie_rule_path(in, out, &path))
		return;
	nic = path.hops[0].device;
	if (!(path.hops[0].mps > 0)) {
		rule_missing(out, rule_text(out, "%s.pci[%s].payload_bytes", side_word(in->side),
					    pcie_address(nic)),
			     nic->payload_bytes.k == ND_KNOWN ? ND_INVALID : nic->payload_bytes.k,
			     NULL);
		return;
	}
	if (path.hops[0].mps > SMALL_PAYLOAD) {
		rule_clear(out, "PCIe packets carry %.0f bytes", path.hops[0].mps);
		return;
	}
	now = pcie_link_now(pcie_path_narrowest(&path));
	if (pcie_carries_wire(in, &now)) {
		rule_clear(out, "PCIe packets carry 128 bytes, which is enough for the line rate");
		return;
	}
	other = hinders(&path, &why);
	if (other && why != ND_KNOWN) {
		rule_missing(out, rule_text(out, "%s.pci[%s].payload_max_bytes",
					    side_word(in->side), pcie_address(other)), why, NULL);
		return;
	}
	if (other) {
		rule_clear(out, "PCIe packets carry 128 bytes, and %s takes no more",
			   pcie_address(other));
		return;
	}
	if (!pcie_limits(in, pcie_path_narrowest(&path), PCIE_MPS_LIMIT_REACHED, &d)) {
		rule_clear(out, "PCIe packets carry 128 bytes, but the link was not full");
		return;
	}
	fire(in, out, &path, d);
}

const struct rule rule_pcie_mps_128 = {
	.id = "pcie-mps-128",
	.title = "PCIe packets carry 128 bytes where 256 would do",
	.scope = RULE_PER_HOST,
	.reads = "PCIe DevCtl of the NIC (payload size), DevCap of each device up to the root port "
		 "(as root); measured rate",
	.fires_when = "the payload size is 128, all on the way can do 256, the link carries less "
		      "than the line rate, and the rate is >= 0.85 of what it carries",
	.why = "Each PCIe packet has 20 to 28 bytes of header. With 128 bytes a packet a tenth "
	       "more of the link goes into headers than with 256.",
	.fix = "Boot with pci=pcie_bus_perf, or set the payload size in the BIOS.",
	.not_when = "Devices are plugged while the machine runs, or talk to each other directly: "
		    "pcie_bus_perf may break them; try pcie_bus_safe.",
	.references = "Linux Documentation/admin-guide/kernel-parameters.txt, pci=pcie_bus_perf\n"
		      "Neugebauer et al., Understanding PCIe performance for end host networking, "
		      "SIGCOMM 2018",
	.evaluate = evaluate,
};
