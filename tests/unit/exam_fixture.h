/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults and circumstances for the exams of exam_builder.h. */
#ifndef ND_TESTS_UNIT_EXAM_FIXTURE_H
#define ND_TESTS_UNIT_EXAM_FIXTURE_H

#include "tests/unit/exam_builder.h"

#define GBIT 1e9
#define FIXTURE_NIC "0000:3b:00.0"
#define FIXTURE_PORT "0000:3a:00.0"

/* Two namespaces of one machine: veth, no line rate, no PCI, `cpus` (up to BUILD_CPUS) CPUs. */
struct exam *fixture_veth_exam(size_t cpus);
/* Every core of both ends this busy, with our work: half in softirqs, the rest in our threads. */
void fixture_busy(struct run *r, double busy);
/* Each of our threads ran this share of the window. */
void fixture_workers(struct run *r, double busy);

struct pci_facts *fixture_pci(struct exam *e, enum side s, const char *address);
/* Both ends of the NIC's link at this speed and width; in the samples of r too unless NULL. */
void fixture_pcie_link(struct exam *e, struct run *r, enum side s, uint64_t mtps, uint64_t width);
struct qdisc_facts *fixture_add_qdisc(struct exam *e, enum side s, const char *kind,
				      uint64_t rate_bps);
/* Bytes a qdisc or class carried in the run's window, at its sender. */
void fixture_qdisc_bytes(struct run *r, const struct qdisc_facts *q, uint64_t bytes);
void fixture_quota(struct exam *e, struct run *r, enum side s, double cores, double throttled);

#endif
