/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/load/socket.h"
#include "src/load/task_stat.h"
#include "src/load/tcp_info.h"
#include "src/load/udp.h"
#include "src/load/worker.h"

/* What the sampling thread knows about a flow; workers never look here. */
struct flow_record {
	struct nd_u64 local_port, peer_port;
	char congestion_control[16];	/* "": the kernel would not tell */
	struct tcp_info_history history;
	bool asked;
};

struct load {
	struct run_spec spec;
	struct load_common common;
	struct flow *flows;
	struct flow_record *records;
	/* What sockets told last, a row a flow, where not all are asked each time; else NULL. */
	struct flow_sample *told;
	size_t next_asked;	/* flow whose turn it is */
	size_t nflows, nopen;	/* nopen: flows whose ops->open() went well */
	struct worker *workers;
	size_t nworkers;
	unsigned int *cpus;	/* where the workers run; NULL: wherever we may */
	size_t ncpus;
	unsigned char *pattern;
	struct source *src;	/* for /proc; used by load_sample() alone */
};

enum {
	MAX_CPUS = 64 * 1024,
	BURSTS_PER_SECOND = 250,
	MIN_BURST_BYTES = 1448
};

static void *aligned_array(size_t count, size_t size)
{
	/* aligned_alloc() wants a multiple of the alignment. */
	size_t bytes = (count * size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
	void *p = aligned_alloc(CACHE_LINE_BYTES, bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

/* CPUs this process may run on; grows the set because a large machine does not fit cpu_set_t. */
static size_t allowed_cpus(void)
{
	size_t count = 1;

	for (size_t cpus = 1024; cpus <= MAX_CPUS; cpus *= 2) {
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

/* The same bytes in a file that is nothing but page cache.  A descriptor or -errno. */
static int new_file(const unsigned char *pattern, size_t bytes)
{
	int fd = memfd_create("netdoctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < bytes; ) {
		ssize_t n = write(fd, pattern + done, bytes - done);

		if (n <= 0) {
			int rc = n ? -errno : -EIO;

			close(fd);
			return rc;
		}
		done += (size_t)n;
	}
	/* Best effort: nobody else has it. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	return fd;
}

static int record_flow(struct load *l, size_t i, struct error *err)
{
	struct flow_record *r = &l->records[i];
	socklen_t name_len = sizeof(r->congestion_control) - 1;
	int fd = l->flows[i].fd, rc;

	rc = load_socket_ports(fd, &r->local_port, &r->peer_port);
	if (rc)
		return error_set(err, -rc, "flow %zu: the connection is gone: %s", i,
				 strerror(-rc));
	rc = socket_set_options(fd, &l->spec, l->flows[i].role, err);
	if (rc)
		return rc;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, r->congestion_control, &name_len) < 0)
		r->congestion_control[0] = '\0';
	return 0;
}

/* A burst is the time between two wakes of a paced worker, but no more than a turn's worth. */
static uint64_t burst_bytes(const struct run_spec *spec)
{
	uint64_t bytes = spec->rate_bps / 8 / BURSTS_PER_SECOND;

	if (spec->burst_blocks)
		return spec->burst_blocks * spec->block_bytes;
	if (bytes > spec->block_bytes)
		return spec->block_bytes;
	/* A stream has no blocks on the wire, and a big one now and then is no steady rate. */
	if (spec->protocol == RUN_TCP)
		return bytes > MIN_BURST_BYTES ? bytes : MIN_BURST_BYTES;
	return spec->block_bytes;
}

static int set_up_flow(struct load *l, size_t i, int fd, enum load_role role, struct error *err)
{
	struct flow *f = &l->flows[i];
	int rc;

	f->fd = fd;
	f->role = role;
	f->common = &l->common;
	f->ops = flow_kind(&l->spec, role, err);
	if (!f->ops)
		return -EOPNOTSUPP;
	if (role == LOAD_SEND) {
		f->limited = l->common.amount.total || l->spec.rate_bps;
		pace_open(&f->pace, l->spec.rate_bps, burst_bytes(&l->spec), 0);
	}
	/* Datagrams that are not taken in are lost, and nobody who sends them waits. */
	if (role == LOAD_RECEIVE && l->spec.protocol == RUN_TCP && l->spec.receive_bps) {
		f->limited = true;
		pace_open(&f->pace, l->spec.receive_bps,
			  l->spec.receive_bps / 8 / BURSTS_PER_SECOND, 0);
	}
	rc = record_flow(l, i, err);
	if (rc == 0 && f->ops->open)
		rc = f->ops->open(f, err);
	if (rc)
		return rc;
	l->nopen++;
	rc = worker_add(&l->workers[i % l->nworkers], f);
	if (rc)
		return error_set(err, -rc, "flow %zu: cannot watch its socket: %s", i,
				 strerror(-rc));
	return 0;
}

static int set_up_workers(struct load *l, struct error *err)
{
	size_t cpus = l->ncpus ? l->ncpus : allowed_cpus();
	size_t count = l->nflows < cpus ? l->nflows : cpus;

	if (count == 0)
		return error_set(err, EINVAL, "a run without flows");
	l->workers = aligned_array(count, sizeof(*l->workers));
	if (!l->workers)
		return error_set(err, ENOMEM, "traffic workers: out of memory");
	for (; l->nworkers < count; l->nworkers++) {
		struct worker *w = &l->workers[l->nworkers];
		int rc = worker_open(w, &l->spec, (l->nflows + count - 1) / count);

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
	for (size_t i = 0; i < l->nopen; i++)
		if (l->flows[i].ops->close)
			l->flows[i].ops->close(&l->flows[i]);
	if (l->src)
		source_close(l->src);
	free(l->workers);
	free(l->flows);
	free(l->records);
	free(l->told);
	free(l->cpus);
	if (l->common.file_fd >= 0)
		close(l->common.file_fd);
	free(l->pattern);
	free(l);
}

static int check_config(const struct load_config *c, struct error *err)
{
	if (c->n == 0 || c->n > RUN_MAX_STREAMS)
		return error_set(err, EINVAL, "%zu flows: 1 to %d are possible", c->n,
				 (int)RUN_MAX_STREAMS);
	if (c->spec->block_bytes == 0 || c->spec->block_bytes > RUN_MAX_BLOCK_BYTES)
		return error_set(err, EINVAL, "block size: 1 to %d bytes are possible",
				 (int)RUN_MAX_BLOCK_BYTES);
	for (size_t i = 0; i < c->ncpus; i++)
		if (c->cpus[i] >= MAX_CPUS)
			return error_set(err, EINVAL, "CPU %u: no machine has that many",
					 c->cpus[i]);
	return 0;
}

static size_t count_senders(const struct load_config *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->n; i++)
		count += run_flow_role(c->spec, c->role, i) == LOAD_SEND;
	return count;
}

/* Everything but workers and flows. */
static int set_up_common(struct load *l, const struct load_config *c, struct error *err)
{
	size_t senders = count_senders(c);
	int rc;

	l->common.file_fd = -1;
	l->spec = *c->spec;
	l->nflows = c->n;
	l->ncpus = c->ncpus;
	l->flows = aligned_array(c->n, sizeof(*l->flows));
	l->records = calloc(c->n, sizeof(*l->records));
	if (c->n > LOAD_SOCKETS_A_SAMPLE)
		l->told = calloc(c->n, sizeof(*l->told));
	if (c->ncpus)
		l->cpus = calloc(c->ncpus, sizeof(*l->cpus));
	if (senders)
		l->pattern = new_pattern(c->spec->block_bytes);
	if (!l->flows || !l->records || (c->ncpus && !l->cpus) || (senders && !l->pattern) ||
	    (c->n > LOAD_SOCKETS_A_SAMPLE && !l->told))
		return error_set(err, ENOMEM, "traffic engine: out of memory");
	if (c->ncpus)
		memcpy(l->cpus, c->cpus, c->ncpus * sizeof(*l->cpus));
	l->common.spec = &l->spec;
	l->common.pattern = l->pattern;
	l->common.end_closes = c->end_closes;
	amount_open(&l->common.amount, c->spec, senders);
	if (senders && c->spec->send_path == RUN_SEND_FILE) {
		l->common.file_fd = new_file(l->pattern, c->spec->block_bytes);
		if (l->common.file_fd < 0)
			return error_set(err, -l->common.file_fd, "a file to send from, "
					 "memfd_create(): %s", strerror(-l->common.file_fd));
	}
	rc = source_open_live(&l->src);
	return rc ? error_set(err, -rc, "traffic engine: %s", strerror(-rc)) : 0;
}

int load_create(const struct load_config *config, struct load **out, struct error *err)
{
	struct load *l;
	int rc = check_config(config, err);

	*out = NULL;
	if (rc)
		return rc;
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_set(err, ENOMEM, "traffic engine: out of memory");
	rc = set_up_common(l, config, err);
	if (rc == 0)
		rc = set_up_workers(l, err);
	for (size_t i = 0; rc == 0 && i < l->nflows; i++)
		rc = set_up_flow(l, i, config->fds[i],
				 run_flow_role(config->spec, config->role, i), err);
	if (rc)
		free_load(l);
	else
		*out = l;
	return rc;
}

static int start_error(const struct load *l, size_t worker, int rc, struct error *err)
{
	if (rc == -EINVAL && l->ncpus)
		return error_set(err, EINVAL, "traffic worker %zu: CPU %u is not there or not "
				 "allowed to this process", worker, l->cpus[worker % l->ncpus]);
	return error_set(err, -rc, "traffic worker %zu: cannot start a thread: %s; is there a "
			 "process limit (ulimit -u, pids cgroup)?", worker, strerror(-rc));
}

int load_start(struct load *l, struct error *err)
{
	uint64_t now = monotonic_ns();

	for (size_t i = 0; i < l->nflows; i++)
		l->flows[i].pace.due_ns = (double)now;
	for (size_t i = 0; i < l->nworkers; i++) {
		int rc = worker_start(&l->workers[i],
				      l->ncpus ? (long)l->cpus[i % l->ncpus] : -1);

		if (rc)
			return start_error(l, i, rc, err);
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

/* ask: else what it told last, if it ever did. */
static void sample_socket(struct load *l, size_t i, bool ask, struct flow_sample *out)
{
	struct flow_sample *told = l->told ? &l->told[i] : out;
	struct flow_record *r = &l->records[i];

	if (ask || !l->told || !r->asked)
		read_flow_socket(l->flows[i].fd, &r->history, told);
	r->asked = true;
	*out = *told;
}

static int sample_flow(struct load *l, size_t i, bool ask, struct arena *mem,
		       const char **last_name, struct flow_sample *out)
{
	struct flow *f = &l->flows[i];
	struct flow_record *r = &l->records[i];

	sample_socket(l, i, ask, out);
	out->flow = nd_u64(i);
	out->direction = nd_str(f->role == LOAD_SEND ? "send" : "receive");
	out->local_port = r->local_port;
	out->peer_port = r->peer_port;
	out->bytes = nd_u64(atomic_load_explicit(&f->bytes, memory_order_relaxed));
	out->calls = nd_u64(atomic_load_explicit(&f->calls, memory_order_relaxed));
	out->blocked_us = nd_u64(flow_blocked_us(f));
	out->zerocopy_sends = out->zerocopy_copied = nd_u64_unknown(ND_NOT_APPLICABLE);
	if (l->spec.protocol != RUN_UDP)
		udp_sample_not_udp(out);
	if (f->ops->sample)
		f->ops->sample(f, out);
	if (out->congestion_control.k == ND_NOT_APPLICABLE)
		return 0;
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

/* Rows of all flows, of which `asks` from next_asked on are asked anew. */
static int sample(struct load *l, size_t asks, struct counters *c)
{
	struct flow_sample *flows = append_rows(c->mem, c->flows, c->nflows, l->nflows,
						sizeof(*flows));
	struct worker_sample *workers = append_rows(c->mem, c->workers, c->nworkers, l->nworkers,
						    sizeof(*workers));
	const char *name = NULL;

	if (!flows || !workers)
		return -ENOMEM;
	if (l->nflows == 0)
		return 0;
	for (size_t i = 0; i < l->nflows; i++)
		if (sample_flow(l, i, (i + l->nflows - l->next_asked) % l->nflows < asks, c->mem,
				&name, &flows[c->nflows + i]))
			return -ENOMEM;
	l->next_asked = (l->next_asked + asks) % l->nflows;
	for (size_t i = 0; i < l->nworkers; i++)
		sample_worker(l, i, &workers[c->nworkers + i]);
	c->flows = flows;
	c->nflows += l->nflows;
	c->workers = workers;
	c->nworkers += l->nworkers;
	return 0;
}

int load_sample(struct load *l, struct counters *c)
{
	return sample(l, l->nflows, c);
}

int load_sample_in_turn(struct load *l, struct counters *c)
{
	return sample(l, l->told ? LOAD_SOCKETS_A_SAMPLE : l->nflows, c);
}

uint64_t load_bytes(const struct load *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->nflows; i++)
		sum += atomic_load_explicit(&l->flows[i].bytes, memory_order_relaxed);
	return sum;
}

uint64_t load_bytes_of(const struct load *l, enum load_role role)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->nflows; i++)
		if (l->flows[i].role == role)
			sum += flow_bytes(&l->flows[i]);
	return sum;
}

uint64_t load_flow_bytes(const struct load *l, size_t flow)
{
	return flow_bytes(&l->flows[flow]);
}

void load_begin_amount(struct load *l, uint64_t sent_before)
{
	amount_begin(&l->common.amount, sent_before);
}

void load_mark(struct load *l, enum load_mark mark)
{
	atomic_store_explicit(&l->common.mark, (int)mark, memory_order_relaxed);
}

bool load_marked(const struct load *l, size_t flow, struct load_marked *out)
{
	const struct flow *f = flow < l->nflows ? &l->flows[flow] : NULL;

	return f && l->spec.udp_marks && f->ops->marked && f->ops->marked(f, out);
}

bool load_done(const struct load *l)
{
	uint64_t goal = atomic_load_explicit(&l->common.amount.goal, memory_order_relaxed);

	return goal && load_bytes_of(l, LOAD_SEND) >= goal;
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

size_t load_open_receivers(const struct load *l)
{
	size_t count = 0;

	for (size_t i = 0; i < l->nflows; i++)
		count += l->flows[i].role == LOAD_RECEIVE &&
			 !atomic_load_explicit(&l->flows[i].ended, memory_order_relaxed);
	return count;
}

bool load_unread(const struct load *l)
{
	for (size_t i = 0; i < l->nflows; i++) {
		int bytes = 0;

		if (l->flows[i].role == LOAD_RECEIVE &&
		    !atomic_load_explicit(&l->flows[i].ended, memory_order_relaxed) &&
		    ioctl(l->flows[i].fd, SIOCINQ, &bytes) == 0 && bytes > 0)
			return true;
	}
	return false;
}

bool load_quiesced(const struct load *l)
{
	for (size_t i = 0; i < l->nworkers; i++)
		if (!atomic_load_explicit(&l->workers[i].quiesced, memory_order_acquire))
			return false;
	return true;
}

void load_quiesce(struct load *l)
{
	for (size_t i = 0; i < l->nworkers; i++)
		worker_command(&l->workers[i], WORKER_QUIESCE);
}

void load_halt(struct load *l)
{
	for (size_t i = 0; i < l->nworkers; i++)
		worker_command(&l->workers[i], WORKER_STOP);
	for (size_t i = 0; i < l->nworkers; i++)
		worker_join(&l->workers[i]);
}

void load_stop(struct load *l)
{
	if (!l)
		return;
	load_halt(l);
	for (size_t i = 0; i < l->nflows; i++)
		close(l->flows[i].fd);
	free_load(l);
}
