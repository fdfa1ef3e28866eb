/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/load.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/load/socket.h"
#include "src/load/task_stat.h"
#include "src/load/tcp_info.h"
#include "src/load/worker.h"

/* What the sampling thread knows about a flow; workers never look here. */
struct flow_record {
	struct nd_u64 local_port, peer_port;
	char congestion_control[16];	/* "": the kernel would not tell */
	struct tcp_info_history history;
};

struct load {
	struct run_spec spec;
	enum load_role role;
	struct flow *flows;
	struct flow_record *records;
	size_t nflows;
	struct worker *workers;
	size_t nworkers;
	unsigned char *pattern;
	struct source *src;	/* for /proc; used by load_sample() alone */
};

static void *aligned_array(size_t count, size_t size)
{
	void *p = aligned_alloc(CACHE_LINE_BYTES, count * size);

	if (p)
		memset(p, 0, count * size);
	return p;
}

/* CPUs this process may run on; grows the set because a large machine does not fit cpu_set_t. */
static size_t allowed_cpus(void)
{
	size_t count = 1;

	for (size_t cpus = 1024; cpus <= 64 * 1024; cpus *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = CPU_ALLOC(cpus);
		int rc = set ? sched_getaffinity(0, bytes, set) : -1;

		if (rc == 0)
			count = (size_t)CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (rc == 0)
			break;
	}
	return count ? count : 1;
}

/* Bytes that nothing on the way can compress or recognise as zero. */
static unsigned char *new_pattern(size_t bytes)
{
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
	unsigned char *p = malloc(bytes);

	for (size_t i = 0; p && i < bytes; i++) {
		x ^= x << 13;	/* xorshift64 */
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (unsigned char)(x >> 56);
	}
	return p;
}

static struct nd_u64 address_port(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return nd_u64(ntohs(((const struct sockaddr_in *)a)->sin_port));
	if (a->ss_family == AF_INET6)
		return nd_u64(ntohs(((const struct sockaddr_in6 *)a)->sin6_port));
	return nd_u64_unknown(ND_NOT_APPLICABLE);
}

static int record_flow(struct load *l, size_t i, struct error *err)
{
	struct flow_record *r = &l->records[i];
	struct sockaddr_storage local = { 0 }, peer = { 0 };
	socklen_t local_len = sizeof(local), peer_len = sizeof(peer);
	socklen_t name_len = sizeof(r->congestion_control) - 1;
	int fd = l->flows[i].fd, rc;

	if (getsockname(fd, (struct sockaddr *)&local, &local_len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
		return error_set(err, errno, "flow %zu: the connection is gone: %s", i,
				 strerror(errno));
	r->local_port = address_port(&local);
	r->peer_port = address_port(&peer);
	rc = socket_set_options(fd, &l->spec, l->role, err);
	if (rc)
		return rc;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, r->congestion_control, &name_len) < 0)
		r->congestion_control[0] = '\0';
	return 0;
}

static int set_up_flows(struct load *l, const int *fds, struct error *err)
{
	for (size_t i = 0; i < l->nflows; i++) {
		struct worker *w = &l->workers[i % l->nworkers];
		int rc;

		l->flows[i].fd = fds[i];
		rc = record_flow(l, i, err);
		if (rc)
			return rc;
		rc = worker_add(w, &l->flows[i]);
		if (rc)
			return error_set(err, -rc, "flow %zu: cannot watch its socket: %s", i,
					 strerror(-rc));
	}
	return 0;
}

static int set_up_workers(struct load *l, struct error *err)
{
	size_t cpus = allowed_cpus();
	size_t count = l->nflows < cpus ? l->nflows : cpus;

	l->workers = aligned_array(count, sizeof(*l->workers));
	if (!l->workers)
		return error_set(err, ENOMEM, "traffic workers: out of memory");
	for (; l->nworkers < count; l->nworkers++) {
		struct worker *w = &l->workers[l->nworkers];
		int rc = worker_open(w, l->role, &l->spec, l->pattern,
				     (l->nflows + count - 1) / count);

		if (rc) {
			worker_close(w);
			return error_set(err, -rc, "traffic worker %zu: %s", l->nworkers,
					 strerror(-rc));
		}
	}
	return 0;
}

static void free_load(struct load *l)
{
	for (size_t i = 0; i < l->nworkers; i++)
		worker_close(&l->workers[i]);
	if (l->src)
		source_close(l->src);
	free(l->workers);
	free(l->flows);
	free(l->records);
	free(l->pattern);
	free(l);
}

int load_create(const struct run_spec *spec, enum load_role role, const int *fds, size_t n,
		struct load **out, struct error *err)
{
	struct load *l;
	int rc = -ENOMEM;

	*out = NULL;
	if (n == 0 || n > RUN_MAX_STREAMS)
		return error_set(err, EINVAL, "%zu flows: 1 to %d are possible", n,
				 (int)RUN_MAX_STREAMS);
	if (spec->block_bytes == 0 || spec->block_bytes > RUN_MAX_BLOCK_BYTES)
		return error_set(err, EINVAL, "block size: 1 to %d bytes are possible",
				 (int)RUN_MAX_BLOCK_BYTES);
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_set(err, ENOMEM, "traffic engine: out of memory");
	l->spec = *spec;
	l->role = role;
	l->nflows = n;
	l->flows = aligned_array(n, sizeof(*l->flows));
	l->records = calloc(n, sizeof(*l->records));
	if (role == LOAD_SEND)
		l->pattern = new_pattern(spec->block_bytes);
	if (!l->flows || !l->records || (role == LOAD_SEND && !l->pattern)) {
		error_set(err, ENOMEM, "traffic engine: out of memory");
		goto out;
	}
	rc = source_open_live(&l->src);
	if (rc) {
		error_set(err, -rc, "traffic engine: %s", strerror(-rc));
		goto out;
	}
	rc = set_up_workers(l, err);
	if (rc == 0)
		rc = set_up_flows(l, fds, err);
out:
	if (rc)
		free_load(l);
	else
		*out = l;
	return rc;
}

int load_start(struct load *l, struct error *err)
{
	for (size_t i = 0; i < l->nworkers; i++) {
		int rc = worker_start(&l->workers[i]);

		if (rc)
			return error_set(err, -rc, "traffic worker %zu: cannot start a thread: %s; "
					 "is there a process limit (ulimit -u, pids cgroup)?",
					 i, strerror(-rc));
	}
	return 0;
}

/* Room for n more rows at the end of an arena-owned array; NULL when out of memory. */
static void *append_rows(struct arena *mem, void *rows, size_t count, size_t n, size_t size)
{
	void *grown = arena_alloc_array(mem, count + n, size);

	if (grown && count)
		memcpy(grown, rows, count * size);
	return grown;
}

static int sample_flow(struct load *l, size_t i, struct arena *mem, const char **last_name,
		       struct flow_sample *out)
{
	struct flow *f = &l->flows[i];
	struct flow_record *r = &l->records[i];

	read_flow_socket(f->fd, &r->history, out);
	out->flow = nd_u64(i);
	out->direction = nd_str(l->role == LOAD_SEND ? "send" : "receive");
	out->local_port = r->local_port;
	out->peer_port = r->peer_port;
	out->bytes = nd_u64(atomic_load_explicit(&f->bytes, memory_order_relaxed));
	out->calls = nd_u64(atomic_load_explicit(&f->calls, memory_order_relaxed));
	out->blocked_us = nd_u64(flow_blocked_us(f));
	if (!r->congestion_control[0]) {
		out->congestion_control = nd_str_unknown(ND_NOT_SUPPORTED);
		return 0;
	}
	/* Flows nearly always share one name: one copy in the arena will do. */
	if (!*last_name || strcmp(*last_name, r->congestion_control) != 0)
		*last_name = arena_strdup(mem, r->congestion_control);
	if (!*last_name)
		return -ENOMEM;
	out->congestion_control = nd_str(*last_name);
	return 0;
}

static void sample_worker(struct load *l, size_t i, struct worker_sample *out)
{
	const struct worker *w = &l->workers[i];
	int tid = atomic_load_explicit(&w->tid, memory_order_acquire);

	if (tid)
		read_task(l->src, tid, atomic_load_explicit(&w->cpu_clock, memory_order_relaxed),
			  out);
	else
		task_unknown(ND_NOT_APPLICABLE, out);
	out->worker = nd_u64(i);
	out->flows = nd_u64(w->nflows);
}

int load_sample(struct load *l, struct counters *c)
{
	struct flow_sample *flows = append_rows(c->mem, c->flows, c->nflows, l->nflows,
						sizeof(*flows));
	struct worker_sample *workers = append_rows(c->mem, c->workers, c->nworkers, l->nworkers,
						    sizeof(*workers));
	const char *name = NULL;

	if (!flows || !workers)
		return -ENOMEM;
	for (size_t i = 0; i < l->nflows; i++)
		if (sample_flow(l, i, c->mem, &name, &flows[c->nflows + i]))
			return -ENOMEM;
	for (size_t i = 0; i < l->nworkers; i++)
		sample_worker(l, i, &workers[c->nworkers + i]);
	c->flows = flows;
	c->nflows += l->nflows;
	c->workers = workers;
	c->nworkers += l->nworkers;
	return 0;
}

uint64_t load_bytes(const struct load *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->nflows; i++)
		sum += atomic_load_explicit(&l->flows[i].bytes, memory_order_relaxed);
	return sum;
}

size_t load_broken_flows(const struct load *l, int *first_errno)
{
	size_t count = 0;

	*first_errno = 0;
	for (size_t i = 0; i < l->nflows; i++) {
		int e = atomic_load_explicit(&l->flows[i].broken, memory_order_relaxed);

		if (!e)
			continue;
		if (count++ == 0)
			*first_errno = e;
	}
	return count;
}

void load_quiesce(struct load *l)
{
	for (size_t i = 0; i < l->nworkers; i++)
		worker_command(&l->workers[i], WORKER_QUIESCE);
}

void load_stop(struct load *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nworkers; i++)
		worker_command(&l->workers[i], WORKER_STOP);
	for (size_t i = 0; i < l->nworkers; i++)
		worker_join(&l->workers[i]);
	for (size_t i = 0; i < l->nflows; i++)
		close(l->flows[i].fd);
	free_load(l);
}
