/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view.h"

const struct view *const views_table[] = {
	&view_overview,
	&view_cores,
	&view_queues,
	&view_ladder,
	&view_flows,
	&view_findings,
};
const size_t views_count = ARRAY_SIZE(views_table);
