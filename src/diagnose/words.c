/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/diagnosis.h"

static const char *word_of(const char *const *words, size_t n, size_t i)
{
	return i < n && words[i] ? words[i] : "unknown";
}

const char *ceiling_word(enum ceiling_kind k)
{
	static const char *const words[CEILING_KINDS] = {
		[CEILING_NONE] = "none",
		[CEILING_WIRE] = "wire",
		[CEILING_PCIE] = "pcie",
		[CEILING_CPU] = "cpu",
		[CEILING_WINDOW_SEND] = "window-send",
		[CEILING_WINDOW_RECEIVE] = "window-receive",
		[CEILING_LOSS] = "loss",
		[CEILING_SHAPER] = "shaper",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)k);
}

const char *ceiling_basis_word(enum ceiling_basis b)
{
	static const char *const words[] = {
		[BASIS_COMPUTED] = "computed",
		[BASIS_MEASURED] = "measured",
		[BASIS_CONFIGURED] = "configured",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)b);
}

const char *severity_word(enum severity s)
{
	static const char *const words[] = {
		[SEVERITY_INFO] = "info",
		[SEVERITY_LOW] = "low",
		[SEVERITY_MEDIUM] = "medium",
		[SEVERITY_HIGH] = "high",
		[SEVERITY_CRITICAL] = "critical",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)s);
}

const char *proof_word(enum proof p)
{
	static const char *const words[] = {
		[PROOF_STATIC] = "static",
		[PROOF_CAUSAL] = "causal",
		[PROOF_EXPERIMENT] = "experiment",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)p);
}

const char *proof_text(enum proof p)
{
	static const char *const texts[] = {
		[PROOF_STATIC] = "from the configuration alone, not seen limiting",
		[PROOF_CAUSAL] = "seen limiting while traffic flowed",
		[PROOF_EXPERIMENT] = "shown by an experiment",
	};

	return word_of(texts, ARRAY_SIZE(texts), (size_t)p);
}

const char *risk_word(enum risk r)
{
	static const char *const words[] = {
		[RISK_NONE] = "none",
		[RISK_QUEUE_RESTART] = "queue-restart",
		[RISK_LINK_FLAP] = "link-flap",
		[RISK_REBOOT] = "reboot",
		[RISK_HANDS_ON] = "hands-on",
		[RISK_AFFECTS_OTHERS] = "affects-others",
		[RISK_LOWERS_SECURITY] = "lowers-security",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)r);
}

const char *risk_text(enum risk r)
{
	static const char *const texts[] = {
		[RISK_NONE] = "none",
		[RISK_QUEUE_RESTART] = "the queues restart: under a second of loss",
		[RISK_LINK_FLAP] = "the link goes down for seconds, remote shells over it may drop",
		[RISK_REBOOT] = "takes a reboot",
		[RISK_HANDS_ON] = "takes hands on the hardware",
		[RISK_AFFECTS_OTHERS] = "can slow down other work on this machine",
		[RISK_LOWERS_SECURITY] = "lowers isolation or security",
	};

	return word_of(texts, ARRAY_SIZE(texts), (size_t)r);
}

const char *verdict_word(enum verdict v)
{
	static const char *const words[] = {
		[VERDICT_HEALTHY] = "healthy",
		[VERDICT_LIMITED] = "limited",
		[VERDICT_UNEXPLAINED] = "unexplained",
		[VERDICT_INCONCLUSIVE] = "inconclusive",
	};

	return word_of(words, ARRAY_SIZE(words), (size_t)v);
}
