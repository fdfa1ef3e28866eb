/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Driver and firmware: ETHTOOL_GDRVINFO, which never got a netlink message.
 */
#include "probes/ethtool.h"

#include <string.h>

#include "src/core/text.h"

/* Driver text: trimmed and printable; "" and "N/A" are how drivers say that they have none. */
static struct nd_str driver_text(struct arena *mem, const char *field, size_t cap)
{
	char buf[128] = "";
	char *s;

	memcpy(buf, field, cap < sizeof(buf) ? cap : sizeof(buf) - 1);
	s = trim(buf);
	text_make_printable(s);
	if (!s[0] || !strcmp(s, "N/A"))
		return nd_str_unknown(ND_NOT_SUPPORTED);
	s = arena_strdup(mem, s);
	return s ? nd_str(s) : nd_str_unknown(ND_FAILED);
}

void driver_read(struct source *src, bool software, struct facts *f, struct link_facts *link)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int rc = source_ethtool(src, link->name.v, &info, sizeof(info));

	if (rc) {
		enum nd_known why = software ? ND_NOT_APPLICABLE : nd_known_from_errno(-rc);

		link->driver = link->firmware = nd_str_unknown(why);
		return;
	}
	link->driver = driver_text(f->mem, info.driver, sizeof(info.driver));
	link->firmware = software ? nd_str_unknown(ND_NOT_APPLICABLE) :
				    driver_text(f->mem, info.fw_version, sizeof(info.fw_version));
}
