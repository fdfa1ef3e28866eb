/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a limit is reached: shared by the ladder, the verdict and the rules.
 * Shares are 0..1 of the limit or of a core's time.
 */
#ifndef ND_MODEL_LIMITS_H
#define ND_MODEL_LIMITS_H

/* A ceiling explains a rate inside this share of it; above, the model or a fact is wrong. */
#define LIMIT_BINDS_FROM 0.93
#define LIMIT_BINDS_TO 1.03
/* The PCIe model is known to a few percent only: published tables against measured rates. */
#define PCIE_BINDS_FROM 0.90
#define PCIE_BINDS_TO 1.06
/* Two runs of a few seconds agree within this share of each other. */
#define REPEATS_WITHIN 0.90
/* Goal of the user: reached within the noise of a few seconds' window. */
#define TARGET_MET 0.97

/*
 * /proc/stat counts 10 ms ticks: over a window of a second a full core reads
 * 0.97 to 1.  Below CORE_BUSY a core had room, and rate / busy is no ceiling.
 */
#define CORE_SATURATED 0.95
#define CORE_BUSY 0.85
/* Mean over all CPUs: with more of them one or two always have gaps. */
#define ALL_CORES_SATURATED 0.90
/* Share of its window a thread ran; exact clock, so a little is lost to interrupts. */
#define WORKER_SATURATED 0.95
/* Full CPUs that other work takes this much of are no limit that has to be. */
#define OTHER_WORK_SHARE 0.25
/* How sure a proof by CPU cost is while other work contends for the CPUs. */
#define CONFIDENCE_OTHER_WORK 0.6
/* A cgroup quota limits when it throttled us, or when this much of it was used. */
#define QUOTA_USED 0.90
#define THROTTLED_SHARE 0.01

/* Advice about a resource is noise while less than this of it is in use. */
#define STATIC_ADVICE_FROM 0.70
/* Spread over more cores, cache and NUMA traffic leave this much of the sum. */
#define SPREAD_EFFICIENCY 0.68	/* 0.85 between cores x 0.80 between nodes */

/* Of the line rate: how much a finding would win makes its severity. */
#define SEVERITY_CRITICAL_FROM 0.30
#define SEVERITY_HIGH_FROM 0.10
#define SEVERITY_MEDIUM_FROM 0.03

/* Fewer losses than this and slow start still shows in the rate: up to 2.3 x the formula. */
#define LOSS_MIN_EVENTS 30
/* The loss formulas were within this of measured rates. */
#define LOSS_MODEL_SPREAD 0.25

#endif
