/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damage to JSON for tests of readers: the same for the same seed. */
#ifndef ND_TESTS_UNIT_JSON_DAMAGE_H
#define ND_TESTS_UNIT_JSON_DAMAGE_H

#include <stdint.h>

#include <cjson/cJSON.h>

/* Replaces one node below obj by a strange value.  seed must not be 0. */
void json_damage(cJSON *obj, uint64_t *seed);

#endif
