/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/schema_words.h"

#include <string.h>

#include "src/core/units.h"
#include "src/diagnose/diagnosis.h"

/* Each enum has its own type, and calling through another function type is undefined. */
#define WORD(name_) static const char *name_##_at(unsigned int i) { return name_##_word(i); }
WORD(side)
WORD(run_direction)
WORD(run_purpose)
WORD(run_status)
WORD(ceiling)
WORD(ceiling_basis)
WORD(severity)
WORD(proof)
WORD(risk)
WORD(verdict)
WORD(unit)

/* "known" is no reason for being unknown, "unread" members are left out. */
static const char *unknown_at(unsigned int i)
{
	return nd_known_word(i);
}

struct word_set {
	const char *name;
	unsigned int first, last;
	const char *(*at)(unsigned int i);
};

static const struct word_set sets[] = {
	{ "side", SIDE_LOCAL, SIDE_BOTH, side_at },
	{ "direction", RUN_FORWARD, RUN_REVERSE, run_direction_at },
	{ "purpose", 0, RUN_PURPOSES - 1, run_purpose_at },
	{ "status", RUN_COMPLETE, RUN_FAILED, run_status_at },
	{ "ceiling", CEILING_NONE + 1, CEILING_KINDS - 1, ceiling_at },
	{ "basis", BASIS_COMPUTED, BASIS_CONFIGURED, ceiling_basis_at },
	{ "severity", SEVERITY_INFO, SEVERITY_CRITICAL, severity_at },
	{ "proof", PROOF_STATIC, PROOF_EXPERIMENT, proof_at },
	{ "risk", RISK_NONE, RISK_LOWERS_SECURITY, risk_at },
	{ "verdict", VERDICT_HEALTHY, VERDICT_INCONCLUSIVE, verdict_at },
	{ "unit", UNIT_NONE, UNIT_COUNT_OF_UNITS - 1, unit_at },
	{ "unknown", ND_ABSENT, ND_KNOWN_STATES - 1, unknown_at },
};

const char *schema_word(const char *set, unsigned int i)
{
	for (size_t k = 0; k < ARRAY_SIZE(sets); k++) {
		if (strcmp(sets[k].name, set) != 0)
			continue;
		return i <= sets[k].last - sets[k].first ? sets[k].at(sets[k].first + i) : NULL;
	}
	return NULL;
}
