/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host is, in a few lines: its links, its CPUs, its socket buffers. */
#ifndef ND_REPORT_TEXT_LINK_H
#define ND_REPORT_TEXT_LINK_H

#include "src/report/pen.h"

/* Links that matter for a check: all but loopback that are up or physical. */
bool text_link_matters(const struct link_facts *l);
void text_link(const struct pen *p, const struct facts *f, const struct link_facts *l);
void text_host(const struct pen *p, const struct facts *f);

#endif
