/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exams built in C, for tests of ladder, rules and diagnosis. */
#ifndef ND_TESTS_UNIT_EXAM_FIXTURE_H
#define ND_TESTS_UNIT_EXAM_FIXTURE_H

#include "src/exam/exam.h"

#define GBIT 1e9

/*
 * Two hosts, a 10G port each (eth0, MTU 1500, PCI 0000:01:00.0 on a gen3 x8 slot), eight CPUs,
 * default sysctls of Linux 6.12; no runs.  All pointers are owned by the exam.
 */
struct exam *fixture_exam(void);
/* Two namespaces of one machine: veth, no line rate, no PCI, two CPUs. */
struct exam *fixture_veth_exam(void);

/* Appends a complete all-streams run: busy is that of each core at both ends. */
struct run *fixture_run(struct exam *e, enum run_direction d, double goodput_bps,
			unsigned int streams, double busy);

/* To change what the builder made. */
struct facts *fixture_facts(struct exam *e, enum side s);
struct link_facts *fixture_link(struct exam *e, enum side s);
struct qdisc_facts *fixture_add_qdisc(struct exam *e, enum side s, const char *kind,
				      uint64_t rate_bps);
struct pci_facts *fixture_pci(struct exam *e, enum side s, const char *address);
void fixture_set_core(struct run_end *end, size_t i, double busy, double softirq);

#endif
