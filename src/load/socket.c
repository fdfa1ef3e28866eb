/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/core/text.h"
#include "src/load/udp_socket.h"

#ifndef SO_MAX_PACING_RATE
#define SO_MAX_PACING_RATE 47
#endif

/* linux/in6.h cannot be included beside every libc's netinet/in.h. */
#ifndef IPV6_FLOWLABEL_MGR
#define IPV6_FLOWLABEL_MGR 32
#define IPV6_FLOWINFO_SEND 33
#endif
enum { FLOW_LABEL_GET = 0, FLOW_LABEL_CREATE = 1, FLOW_LABEL_SHARE_ANY = 255 };
struct flow_label_request {	/* struct in6_flowlabel_req */
	struct in6_addr dst;
	uint32_t label;		/* big-endian */
	uint8_t action, share;
	uint16_t flags, expires, linger;
	uint32_t padding;
};

#define SYSCTL_AVAILABLE "/proc/sys/net/ipv4/tcp_available_congestion_control"
#define SYSCTL_ALLOWED "/proc/sys/net/ipv4/tcp_allowed_congestion_control"

enum { PACED_QUEUE_MS = 10, PACED_QUEUE_LEAST = 16 * 1024 };

struct buffer_option {
	int option;
	const char *name, *limit_sysctl;
};

static const struct buffer_option send_buffer = {
	.option = SO_SNDBUF, .name = "SO_SNDBUF", .limit_sysctl = "net.core.wmem_max"
};
static const struct buffer_option receive_buffer = {
	.option = SO_RCVBUF, .name = "SO_RCVBUF", .limit_sysctl = "net.core.rmem_max"
};

static int set_buffer(int fd, const struct buffer_option *b, uint64_t bytes, struct error *err)
{
	int want = (int)bytes, got = 0;
	socklen_t len = sizeof(got);

	if (bytes == 0)
		return 0;
	if (bytes > INT32_MAX / 2)
		return error_set(err, EINVAL, "%s %" PRIu64 ": more than the kernel takes (%d)",
				 b->name, bytes, INT32_MAX / 2);
	if (setsockopt(fd, SOL_SOCKET, b->option, &want, sizeof(want)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, b->option, &got, &len) < 0)
		return error_set(err, errno, "%s %d: %s", b->name, want, strerror(errno));
	/* The kernel doubles the value for its overhead, and caps it without an error. */
	if (got / 2 < want)
		return error_set(err, ENOBUFS, "%s %d: the kernel gave only %d; raise it with "
				 "'sysctl -w %s=%d' or ask for less", b->name, want, got / 2,
				 b->limit_sysctl, want);
	return 0;
}

static int set_mss(int fd, uint64_t bytes, struct error *err)
{
	int v = (int)bytes;

	if (bytes == 0)
		return 0;
	if (bytes > INT32_MAX || setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &v, sizeof(v)) < 0)
		return error_set(err, bytes > INT32_MAX ? EINVAL : errno,
				 "TCP_MAXSEG %" PRIu64 ": refused by the kernel, which takes "
				 "88 to 32767", bytes);
	return 0;
}

static int set_pacing(int fd, uint64_t bps, struct error *err)
{
	uint64_t rate = bps / 8, got = 0;
	socklen_t len = sizeof(got);

	if (bps == 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &got, &len) < 0)
		return error_set(err, errno, "SO_MAX_PACING_RATE %" PRIu64 " bytes/s: %s", rate,
				 strerror(errno));
	/* Before 5.0 the kernel reads only 32 bits: a rate above 34 Gbit/s would become another. */
	if (len < sizeof(got) && rate > UINT32_MAX)
		return error_set(err, EOPNOTSUPP, "SO_MAX_PACING_RATE %" PRIu64 " bytes/s: this "
				 "kernel takes 32 bits only; pace below 34 Gbit/s", rate);
	return 0;
}

static int set_tos(int fd, uint64_t tos, struct error *err)
{
	int v = (int)tos, domain = AF_INET;
	socklen_t len = sizeof(domain);

	if (tos == 0)
		return 0;
	if (tos > 255)
		return error_set(err, EINVAL, "IP_TOS %" PRIu64 ": more than 8 bits", tos);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0)
		return error_set(err, errno, "SO_DOMAIN: %s", strerror(errno));
	if (domain == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &v, sizeof(v)) < 0)
		return error_set(err, errno, "IPV6_TCLASS %d: %s", v, strerror(errno));
	/* An IPv6 socket that carries mapped IPv4 addresses uses this one. */
	if (setsockopt(fd, IPPROTO_IP, IP_TOS, &v, sizeof(v)) < 0 && domain != AF_INET6)
		return error_set(err, errno, "IP_TOS %d: %s", v, strerror(errno));
	return 0;
}

int load_prepare_address(int fd, const struct run_spec *spec, struct sockaddr *to,
			 struct error *err)
{
	struct sockaddr_in6 *a = (struct sockaddr_in6 *)to;
	struct flow_label_request r = {
		.label = htonl((uint32_t)spec->flow_label), .action = FLOW_LABEL_GET,
		.share = FLOW_LABEL_SHARE_ANY, .flags = FLOW_LABEL_CREATE
	};
	int on = 1;

	if (spec->flow_label == 0)
		return 0;
	if (to->sa_family != AF_INET6 || IN6_IS_ADDR_V4MAPPED(&a->sin6_addr))
		return error_set(err, EOPNOTSUPP, "flow label: IPv6 has one, IPv4 has not");
	r.dst = a->sin6_addr;
	/* The kernel wants labels registered before they are used. */
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &r, sizeof(r)) < 0)
		return error_set(err, errno, "IPV6_FLOWLABEL_MGR %#" PRIx64 ": %s",
				 spec->flow_label, strerror(errno));
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, &on, sizeof(on)) < 0)
		return error_set(err, errno, "IPV6_FLOWINFO_SEND: %s", strerror(errno));
	a->sin6_flowinfo = r.label;
	return 0;
}

/* One line of a sysctl, "" when unreadable. */
static void read_sysctl(const char *path, char *buf, size_t cap)
{
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, buf, cap - 1);
		close(fd);
	}
	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

static bool has_word(const char *list, const char *word)
{
	char copy[1024], *cursor = copy, *w;
	size_t len = strnlen(list, sizeof(copy) - 1);

	memcpy(copy, list, len);
	copy[len] = '\0';
	while ((w = next_word(&cursor)) != NULL)
		if (strcmp(w, word) == 0)
			return true;
	return false;
}

static int set_congestion_control(int fd, const char *name, struct error *err)
{
	char list[1024];

	if (!*name)
		return 0;
	/*
	 * Asked for by a privileged process, the kernel loads the module of a name it does not
	 * know.  Nothing may change this machine, least of all at a peer's word: look first.
	 */
	read_sysctl(SYSCTL_AVAILABLE, list, sizeof(list));
	if (*list && !has_word(list, name))
		return error_set(err, ENOENT, "congestion control %s: not loaded here (there are: "
				 "%s); try 'modprobe tcp_%s'", name, list, name);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0)
		return 0;
	if (errno == EPERM) {
		read_sysctl(SYSCTL_ALLOWED, list, sizeof(list));
		return error_set(err, EPERM, "congestion control %s: only root may choose it here "
				 "(allowed for all: %s); run as root or add it to "
				 "net.ipv4.tcp_allowed_congestion_control", name, list);
	}
	return error_set(err, errno, "congestion control %s: %s", name, strerror(errno));
}

/*
 * What a paced sender has handed over waits in a send buffer that grows to megabytes, and is asked
 * for more when a third of it is free: at a low rate that is most of a second, by which the count
 * of a window is wrong.  So no more than this waits there.
 */
static int keep_queue_short(int fd, uint64_t pacing_bps, struct error *err)
{
	uint64_t bytes = pacing_bps / 8 * PACED_QUEUE_MS / 1000;
	int lowat;

	if (bytes == 0 || bytes > INT32_MAX)
		return 0;
	lowat = bytes > PACED_QUEUE_LEAST ? (int)bytes : PACED_QUEUE_LEAST;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof(lowat)) < 0)
		return error_set(err, errno, "TCP_NOTSENT_LOWAT %d: %s", lowat, strerror(errno));
	return 0;
}

int socket_set_options(int fd, const struct run_spec *spec, enum load_role role,
		       struct error *err)
{
	int rc = set_tos(fd, spec->tos, err);	/* a receiver's, too: its ACKs take the same way */
	int no_delay = spec->no_delay;

	if (rc == 0 && spec->protocol == RUN_UDP)
		rc = udp_set_options(fd, spec, role, err);
	if (rc)
		return rc;
	if (role == LOAD_RECEIVE)
		return set_buffer(fd, &receive_buffer, spec->rcvbuf_bytes, err);
	/* 0 as well: a listener may hand it down, and bulk traffic wants full segments. */
	if (spec->protocol == RUN_TCP &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay)) < 0)
		return error_set(err, errno, "TCP_NODELAY %d: %s; is this a TCP socket?", no_delay,
				 strerror(errno));
	rc = set_buffer(fd, &send_buffer, spec->sndbuf_bytes, err);
	if (rc == 0 && spec->protocol == RUN_TCP)
		rc = set_congestion_control(fd, spec->congestion_control, err);
	if (rc == 0)
		rc = set_pacing(fd, spec->pacing_bps, err);
	if (rc == 0 && role == LOAD_SEND && spec->protocol == RUN_TCP)
		rc = keep_queue_short(fd, spec->pacing_bps, err);
	return rc;
}

static struct nd_u64 port_of(const void *address)
{
	const struct sockaddr *a = address;

	if (a->sa_family == AF_INET)
		return nd_u64(ntohs(((const struct sockaddr_in *)address)->sin_port));
	if (a->sa_family == AF_INET6)
		return nd_u64(ntohs(((const struct sockaddr_in6 *)address)->sin6_port));
	return nd_u64_unknown(ND_NOT_APPLICABLE);
}

int load_socket_ports(int fd, struct nd_u64 *local, struct nd_u64 *peer)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return -errno;
	*local = port_of(&a);
	len = sizeof(a);
	if (getpeername(fd, (struct sockaddr *)&a, &len) < 0)
		return -errno;
	*peer = port_of(&a);
	return 0;
}

int load_prepare_socket(int fd, const struct run_spec *spec, enum load_role role,
			struct error *err)
{
	/* The end that connects limits both directions: it announces this MSS and clamps to it. */
	int rc = spec->protocol == RUN_TCP ? set_mss(fd, spec->mss_bytes, err) : 0;

	return rc ? rc : socket_set_options(fd, spec, role, err);
}
