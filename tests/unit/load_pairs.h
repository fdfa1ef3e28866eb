/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loopback TCP pairs with a traffic engine at each end, for the tests of src/load. */
#ifndef ND_TESTS_LOAD_PAIRS_H
#define ND_TESTS_LOAD_PAIRS_H

#include "src/load/load.h"

enum { MAX_PAIRS = 300 };

struct pairs {
	int client[MAX_PAIRS], server[MAX_PAIRS];
	size_t n;
};
struct ends { struct load *sender, *receiver; };

/* One flow, 64 KiB blocks, all else the kernel's choice. */
extern const struct run_spec load_plain;

void pause_ms(unsigned int ms);
uint64_t now_us(void);

/* n connected pairs; the client ends are prepared as a session would do. */
void connect_pairs(struct pairs *p, size_t n, const struct run_spec *spec);
/* load_create() with n sockets, on any CPU. */
int create_load(const struct run_spec *spec, enum load_role role, const int *fds, size_t n,
		struct load **out, struct error *err);
/* Clients send, servers receive. */
struct ends start_ends(const struct pairs *p, const struct run_spec *spec);
void stop_ends(struct ends *e);

/* True when the bytes of l reach at least `goal` within two seconds. */
bool reaches(const struct load *l, uint64_t goal);
/* Waits until no bytes have moved for 100 ms: a busy machine may be late. */
uint64_t settled_bytes(const struct load *l);
/* Waits up to two seconds for that many flows to break. */
size_t broken(const struct load *l, size_t goal, int *first_errno);
/* The counters of l now; the caller frees them. */
struct counters *sample(struct load *l);

#endif
