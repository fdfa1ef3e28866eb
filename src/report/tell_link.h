/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host is, in a few lines: its links, its CPUs, its socket buffers. */
#ifndef ND_REPORT_TELL_LINK_H
#define ND_REPORT_TELL_LINK_H

#include "src/report/sheet.h"

/* Links that matter for a check: all but loopback that are up or physical. */
bool link_matters(const struct link_facts *l);
void tell_link(struct sheet *p, const struct facts *f, const struct link_facts *l);
void tell_host(struct sheet *p, const struct facts *f);

#endif
