/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/keep.h"

#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

void finding_keep_ethtool(struct rule_output *out, struct finding *f, const struct link_facts *l,
			  const char *option, const char *words)
{
	const char *line;

	if (l->name.k != ND_KNOWN || !nd_str_is(l->kind, "physical") ||
	    l->name.v[strspn(l->name.v, PLAIN)])
		return;
	while (*words == ' ')
		words++;
	/* A .link file would replace the distribution's, and with it the link's name. */
	line = rule_text(out, "ACTION==\"add\", SUBSYSTEM==\"net\", NAME==\"%s\", "
			 "RUN+=\"/usr/sbin/ethtool %s %s %s\"", l->name.v, option, l->name.v,
			 words);
	finding_persist(out, f, "echo %s >>/etc/udev/rules.d/90-netdoctor.rules",
			rule_shell(out, line));
}

void finding_sysctl(struct rule_output *out, struct finding *f, const char *name,
		    unsigned long long wanted, struct nd_u64 old)
{
	finding_command(out, f, "sysctl -w %s=%llu", name, wanted);
	finding_persist(out, f, "echo '%s = %llu' >>/etc/sysctl.d/90-netdoctor.conf", name, wanted);
	if (old.k == ND_KNOWN)
		finding_undo(out, f, "sysctl -w %s=%llu", name, (unsigned long long)old.v);
}
