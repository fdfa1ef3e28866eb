/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live samples on the wire: what a peer tells while a run goes on. */
#ifndef ND_EXAM_LIVE_H
#define ND_EXAM_LIVE_H

#include "src/exam/end.h"

cJSON *live_to_json(const struct end_live *live);	/* NULL: no memory; the caller frees */
/* False, and *out untouched, when the message makes no sense. */
bool live_from_json(const cJSON *obj, struct end_live *out);

#endif
