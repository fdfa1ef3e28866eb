/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to keep a setting over a reboot.  Pure. */
#ifndef ND_RULES_KEEP_H
#define ND_RULES_KEEP_H

#include "src/diagnose/rule.h"

/*
 * A udev rule that runs `ethtool OPTION NAME WORDS` when the link appears.  Nothing for software
 * links (whoever makes them sets them up) and for names that udev's syntax could not hold.
 */
void finding_keep_ethtool(struct rule_output *out, struct finding *f, const struct link_facts *l,
			  const char *option, const char *words);

/*
 * Sets a sysctl ("net.core.netdev_budget") to a number: command, the line that keeps it, and the
 * way back to `old` (nothing of that when it is unknown).
 */
void finding_sysctl(struct rule_output *out, struct finding *f, const char *name,
		    unsigned long long wanted, struct nd_u64 old);

#endif
