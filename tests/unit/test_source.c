/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/core_test.h"

struct fixture {
	struct source *src;
	char dir[32];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->dir, "/tmp/nd-source-XXXXXX");
	if (!mkdtemp(f->dir) || source_open_live(&f->src))
		return -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	struct names names;
	char path[128];

	if (!source_list(f->src, f->dir, &names)) {
		for (size_t i = 0; i < names.n; i++) {
			snprintf(path, sizeof(path), "%s/%s", f->dir, names.v[i]);
			remove(path);
		}
		names_free(&names);
	}
	rmdir(f->dir);
	source_close(f->src);
	free(f);
	return 0;
}

static void make_file(const struct fixture *f, const char *name, const char *data, size_t len,
		      char path[64])
{
	FILE *out;

	snprintf(path, 64, "%s/%s", f->dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, len, out), len);
	fclose(out);
}

static void files_are_read_whole(void **state)
{
	struct fixture *f = *state;
	char path[64], buf[16];

	make_file(f, "a", "0123456789", 10, path);
	assert_int_equal(source_read(f->src, path, buf, sizeof(buf)), 10);
	assert_string_equal(buf, "0123456789");
	assert_int_equal(source_read(f->src, path, buf, 11), 10);
	assert_string_equal(buf, "0123456789");
	assert_int_equal(source_read(f->src, path, buf, 10), -EFBIG);
	assert_string_equal(buf, "");
	assert_int_equal(source_read(f->src, path, buf, 1), -EFBIG);
	assert_int_equal(source_read(f->src, path, buf, 0), -EINVAL);
	make_file(f, "empty", "", 0, path);
	assert_int_equal(source_read(f->src, path, buf, 1), 0);
	assert_string_equal(buf, "");
}

static void unreadable_files_say_why(void **state)
{
	struct fixture *f = *state;
	char buf[16], path[64];

	assert_int_equal(source_read(f->src, "/nonexistent/x", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(source_read(f->src, "relative", buf, sizeof(buf)), -EINVAL);
	assert_int_equal(source_read(f->src, "", buf, sizeof(buf)), -EINVAL);
	assert_int_equal(source_read(f->src, f->dir, buf, sizeof(buf)), -EISDIR);
	/* A FIFO that nobody writes to must not hold us up. */
	snprintf(path, sizeof(path), "%s/fifo", f->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(source_read(f->src, path, buf, sizeof(buf)), 0);
	/* Nor a file without end. */
	assert_int_equal(source_read(f->src, "/dev/zero", buf, sizeof(buf)), -EFBIG);
}

static void any_length_is_read(void **state)
{
	struct fixture *f = *state;
	size_t len = 100000;
	char *data = malloc(len), path[64], *text;

	for (size_t i = 0; i < len; i++)
		data[i] = (char)('a' + i % 26);
	make_file(f, "long", data, len, path);
	assert_int_equal(source_read_all(f->src, path, 1 << 20, &text), len);
	assert_memory_equal(text, data, len);
	assert_int_equal(text[len], '\0');
	free(text);
	assert_int_equal(source_read_all(f->src, path, len, &text), len);
	free(text);
	assert_int_equal(source_read_all(f->src, path, len - 1, &text), -EFBIG);
	assert_null(text);
	assert_int_equal(source_read_all(f->src, "/nonexistent", 100, &text), -ENOENT);
	assert_int_equal(source_read_all(f->src, path, SIZE_MAX, &text), -EINVAL);
	free(data);
}

/* stat() says 0 for all of /proc and 4096 for all of /sys. */
static void kernel_files_are_read_whole(void **state)
{
	struct fixture *f = *state;
	char *text, buf[4096];

	assert_true(source_read_all(f->src, "/proc/self/status", 1 << 20, &text) > 100);
	assert_non_null(strstr(text, "\nCpus_allowed_list:"));
	free(text);
	assert_true(source_read(f->src, "/proc/version", buf, sizeof(buf)) > 10);
}

static void typed_readers_judge(void **state)
{
	struct fixture *f = *state;
	char path[64], line[8];
	struct nd_cpus cpus;

	make_file(f, "n", "  1500 \n", 8, path);
	assert_true(nd_u64_is(source_read_u64(f->src, "%s/%s", f->dir, "n"), 1500));
	make_file(f, "m", "-1\n", 3, path);
	assert_int_equal(source_read_i64(f->src, "%s", path).v, -1);
	assert_int_equal(source_read_i64(f->src, "%s", path).k, ND_KNOWN);
	assert_int_equal(source_read_u64(f->src, "%s", path).k, ND_INVALID);
	assert_int_equal(source_read_u64(f->src, "%s/none", f->dir).k, ND_ABSENT);
	assert_int_equal(source_read_i64(f->src, "%s/none", f->dir).k, ND_ABSENT);
	assert_int_equal(source_read_u64(f->src, "%04096d", 0).k, ND_FAILED);
	make_file(f, "c", "0-3,8\n", 6, path);
	cpus = source_read_cpu_list(f->src, "%s", path);
	assert_int_equal(nd_cpus_count(&cpus), 5);
	cpus = source_read_cpu_list(f->src, "%s/none", f->dir);
	assert_int_equal(cpus.k, ND_ABSENT);
	assert_int_equal(source_read_u64(f->src, "%s", path).k, ND_INVALID);
	make_file(f, "l", "\tperf \nsecond\n", 14, path);
	assert_int_equal(source_read_line(f->src, line, sizeof(line), "%s", path), -EFBIG);
	assert_string_equal(line, "");
	make_file(f, "l", "perf \nx", 7, path);
	assert_int_equal(source_read_line(f->src, line, sizeof(line), "%s", path), 0);
	assert_string_equal(line, "perf");
}

static void directories_are_listed_sorted(void **state)
{
	struct fixture *f = *state;
	struct names names;
	char path[64];

	make_file(f, "b", "", 0, path);
	make_file(f, "a", "", 0, path);
	make_file(f, ".hidden", "", 0, path);
	assert_int_equal(source_list(f->src, f->dir, &names), 0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.v[0], ".hidden");
	assert_string_equal(names.v[1], "a");
	assert_string_equal(names.v[2], "b");
	names_free(&names);
	assert_int_equal(names.n, 0);
	assert_int_equal(source_list(f->src, "/nonexistent", &names), -ENOENT);
	assert_int_equal(source_list(f->src, path, &names), -ENOTDIR);
	assert_int_equal(source_list(f->src, ".", &names), -EINVAL);
	assert_int_equal(names.n, 0);
}

static void links_are_read(void **state)
{
	struct fixture *f = *state;
	char path[64], buf[16];

	snprintf(path, sizeof(path), "%s/link", f->dir);
	assert_int_equal(symlink("../0000:3b:00.0", path), 0);
	assert_int_equal(source_readlink(f->src, path, buf, 16), 15);
	assert_string_equal(buf, "../0000:3b:00.0");
	assert_int_equal(source_readlink(f->src, path, buf, 15), -ENAMETOOLONG);
	assert_string_equal(buf, "");
	assert_int_equal(source_readlink(f->src, f->dir, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(source_readlink(f->src, "/nonexistent", buf, sizeof(buf)), -ENOENT);
}

struct link_request {
	struct nlmsghdr h;
	struct ifinfomsg i;
};

static struct link_request link_request(uint16_t flags)
{
	return (struct link_request){
		.h = { .nlmsg_len = sizeof(struct link_request), .nlmsg_type = RTM_GETLINK,
		       .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
	};
}

static int ask(const struct fixture *f, const struct link_request *req, size_t len,
	       struct bytes *replies)
{
	return source_netlink(f->src, NETLINK_ROUTE, req, len, replies);
}

/* Walks the messages; returns how many, and whether link 1 was among them. */
static unsigned int count_links(const struct bytes *b, bool *loopback)
{
	unsigned int n = 0;

	*loopback = false;
	for (size_t at = 0; at < b->len; n++) {
		struct link_request m;

		assert_true(b->len - at >= sizeof(m));
		memcpy(&m, b->data + at, sizeof(m));
		assert_int_equal(m.h.nlmsg_type, RTM_NEWLINK);
		assert_true(m.h.nlmsg_len >= sizeof(m) && m.h.nlmsg_len <= b->len - at);
		assert_int_equal(m.h.nlmsg_seq, 0);
		assert_int_equal(m.h.nlmsg_pid, 0);
		if (m.i.ifi_index == 1)
			*loopback = true;
		at += NLMSG_ALIGN(m.h.nlmsg_len);
	}
	return n;
}

static void links_are_dumped(void **state)
{
	struct fixture *f = *state;
	struct link_request req = link_request(NLM_F_DUMP);
	struct bytes replies = { 0 }, again = { 0 };
	unsigned int first;
	bool loopback;

	assert_int_equal(ask(f, &req, sizeof(req), &replies), 0);
	first = count_links(&replies, &loopback);
	assert_true(first > 0 && loopback);
	/* Appends; the same socket serves many requests. */
	for (unsigned int i = 2; i < 20; i++)
		assert_int_equal(ask(f, &req, sizeof(req), &replies), 0);
	assert_int_equal(count_links(&replies, &loopback), 19 * first);
	assert_int_equal(ask(f, &req, sizeof(req), &again), 0);
	assert_int_equal(count_links(&again, &loopback), first);
	bytes_free(&replies);
	bytes_free(&again);
}

static void one_link_is_asked_for(void **state)
{
	struct fixture *f = *state;
	struct link_request req = link_request(0);
	struct bytes replies = { 0 };
	bool loopback;

	req.i.ifi_index = 1;
	assert_int_equal(ask(f, &req, sizeof(req), &replies), 0);
	assert_int_equal(count_links(&replies, &loopback), 1);
	assert_true(loopback);
	/* With an ACK of the caller's asking it is no different. */
	req.h.nlmsg_flags |= NLM_F_ACK;
	assert_int_equal(ask(f, &req, sizeof(req), &replies), 0);
	assert_int_equal(count_links(&replies, &loopback), 2);
	req.i.ifi_index = 0x7ffffff0;
	assert_int_equal(ask(f, &req, sizeof(req), &replies), -ENODEV);
	assert_int_equal(count_links(&replies, &loopback), 2);
	bytes_free(&replies);
}

static void generic_netlink_answers(void **state)
{
	struct {
		struct nlmsghdr h;
		struct genlmsghdr g;
		struct nlattr a;
		char name[8];
	} req = {
		.h = { .nlmsg_len = sizeof(req), .nlmsg_type = GENL_ID_CTRL,
		       .nlmsg_flags = NLM_F_REQUEST },
		.g = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		.a = { .nla_len = sizeof(req.a) + 7, .nla_type = CTRL_ATTR_FAMILY_NAME },
		.name = "nlctrl",
	};
	struct fixture *f = *state;
	struct bytes replies = { 0 };
	struct nlmsghdr h;

	assert_int_equal(source_netlink(f->src, NETLINK_GENERIC, &req, sizeof(req), &replies), 0);
	assert_true(replies.len > sizeof(h));
	memcpy(&h, replies.data, sizeof(h));
	assert_int_equal(h.nlmsg_type, GENL_ID_CTRL);
	assert_int_equal(NLMSG_ALIGN(h.nlmsg_len), replies.len);
	bytes_free(&replies);
	memcpy(req.name, "nosuch", 7);
	assert_int_equal(source_netlink(f->src, NETLINK_GENERIC, &req, sizeof(req), &replies),
			 -ENOENT);
	assert_int_equal(replies.len, 0);
	bytes_free(&replies);
}

static void bad_requests_are_refused(void **state)
{
	static const uint16_t changing[] = {
		RTM_NEWLINK, RTM_DELLINK, RTM_SETLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE,
		RTM_DELROUTE, RTM_NEWQDISC, RTM_DELQDISC, RTM_NEWTCLASS, RTM_DELTFILTER,
		RTM_NEWNEIGH, RTM_DELRULE, RTM_SETDCB, RTM_NEWNSID, RTM_DELNEXTHOP, 0, 1, 2,
	};
	static const uint16_t reading[] = {
		RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETQDISC, RTM_GETTCLASS, RTM_GETSTATS,
	};
	struct fixture *f = *state;
	struct link_request req = link_request(NLM_F_DUMP);
	struct bytes replies = { 0 };

	assert_int_equal(ask(f, &req, 15, &replies), -EINVAL);
	req.h.nlmsg_len = sizeof(req) + 4;
	assert_int_equal(ask(f, &req, sizeof(req), &replies), -EINVAL);
	req.h.nlmsg_len = 4;
	assert_int_equal(ask(f, &req, sizeof(req), &replies), -EINVAL);
	/* A second message hidden behind the first. */
	req.h.nlmsg_len = sizeof(req.h);
	assert_int_equal(ask(f, &req, sizeof(req), &replies), -EINVAL);
	req.h.nlmsg_len = sizeof(req);
	assert_int_equal(source_netlink(f->src, 99, &req, sizeof(req), &replies), -EINVAL);
	assert_int_equal(source_netlink(f->src, -1, &req, sizeof(req), &replies), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(changing); i++) {
		req.h.nlmsg_type = changing[i];
		assert_int_equal(ask(f, &req, sizeof(req), &replies), -EPERM);
	}
	for (size_t i = 0; i < ARRAY_SIZE(reading); i++) {
		req.h.nlmsg_type = reading[i];
		assert_int_not_equal(ask(f, &req, sizeof(req), &replies), -EPERM);
	}
	bytes_free(&replies);
}

/* Neither index nor name: the kernel says so, and the next request works. */
static void kernel_errors_come_through(void **state)
{
	struct fixture *f = *state;
	struct link_request req = link_request(0);
	struct bytes replies = { 0 };
	bool loopback;

	assert_int_equal(ask(f, &req, sizeof(req), &replies), -EINVAL);
	assert_int_equal(replies.len, 0);
	req = link_request(NLM_F_DUMP);
	assert_int_equal(ask(f, &req, sizeof(req), &replies), 0);
	assert_true(count_links(&replies, &loopback) > 0);
	bytes_free(&replies);
}

static void ethtool_only_reads(void **state)
{
	static const uint32_t changing[] = {
		ETHTOOL_SSET, ETHTOOL_SRINGPARAM, ETHTOOL_SCOALESCE, ETHTOOL_NWAY_RST, ETHTOOL_TEST,
		ETHTOOL_SFEATURES, ETHTOOL_SCHANNELS, ETHTOOL_RESET, ETHTOOL_FLASHDEV,
		ETHTOOL_PHYS_ID, ETHTOOL_SRXFH, ETHTOOL_SRSSH, ETHTOOL_SLINKSETTINGS, 0, 0xffff,
	};
	struct fixture *f = *state;
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };

	assert_int_equal(source_ethtool(f->src, "lo", &link, sizeof(link)), 0);
	assert_int_equal(link.data, 1);
	assert_int_equal(source_ethtool(f->src, "nd-none", &link, sizeof(link)), -ENODEV);
	assert_int_equal(source_ethtool(f->src, "", &link, sizeof(link)), -EINVAL);
	assert_int_equal(source_ethtool(f->src, "sixteen-letters-", &link, sizeof(link)), -EINVAL);
	assert_int_equal(source_ethtool(f->src, "lo", &link, 3), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(changing); i++) {
		link.cmd = changing[i];
		assert_int_equal(source_ethtool(f->src, "lo", &link, sizeof(link)), -EPERM);
	}
}

static void system_is_described(void **state)
{
	struct fixture *f = *state;
	struct sysinfo_record s;
	cpu_set_t set;

	assert_int_equal(source_sysinfo(f->src, &s), 0);
	assert_string_equal(s.sysname, "Linux");
	assert_true(strlen(s.release) > 0 && strlen(s.machine) > 0);
	assert_true(s.clock_ticks_per_second >= 100 && s.clock_ticks_per_second <= 1024);
	assert_true(s.page_bytes >= 4096);
	assert_int_equal(s.effective_uid, geteuid());
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(s.allowed.k, ND_KNOWN);
	assert_int_equal(nd_cpus_count(&s.allowed), CPU_COUNT(&set));
}

static void clocks_run(void **state)
{
	struct fixture *f = *state;
	uint64_t a = source_monotonic_ns(f->src), b = source_monotonic_ns(f->src);
	uint64_t now = (uint64_t)time(NULL);

	assert_true(a > 0 && b >= a);
	assert_true(source_wall_ns(f->src) / 1000000000 + 2 >= now);
	assert_true(source_is_live(f->src));
	assert_string_equal(source_root(f->src), "");
}

static void close_nothing(void *state)
{
	++*(int *)state;
}

/* What an implementation lacks is unsupported, not a crash. */
static void missing_operations_answer(void **state)
{
	static const struct source_ops ops = { .close = close_nothing };
	struct link_request req = link_request(0);
	struct ethtool_value v = { .cmd = ETHTOOL_GLINK };
	struct sysinfo_record info;
	struct bytes b = { 0 };
	struct names names;
	struct source *s;
	int closed = 0;
	char buf[8];

	(void)state;
	assert_int_equal(source_open(&ops, &closed, "/snap", false, &s), 0);
	assert_int_equal(source_read(s, "/x", buf, sizeof(buf)), -EOPNOTSUPP);
	assert_int_equal(source_readlink(s, "/x", buf, sizeof(buf)), -EOPNOTSUPP);
	assert_int_equal(source_list(s, "/x", &names), -EOPNOTSUPP);
	assert_int_equal(source_netlink(s, NETLINK_ROUTE, &req, sizeof(req), &b), -EOPNOTSUPP);
	assert_int_equal(source_ethtool(s, "lo", &v, sizeof(v)), -EOPNOTSUPP);
	assert_int_equal(source_sysinfo(s, &info), -EOPNOTSUPP);
	assert_int_equal(source_monotonic_ns(s), 0);
	assert_int_equal(source_read_u64(s, "/x").k, ND_NOT_SUPPORTED);
	assert_string_equal(source_root(s), "/snap");
	assert_false(source_is_live(s));
	source_close(s);
	assert_int_equal(closed, 1);
	source_close(NULL);
}

static ssize_t read_einval(void *state, const char *path, char *buf, size_t cap)
{
	(void)state;
	(void)path;
	(void)buf;
	(void)cap;
	return -EINVAL;
}

/* sysfs "speed" of a link that is down: the driver cannot tell. */
static void einval_from_a_file_is_not_supported(void **state)
{
	static const struct source_ops ops = { .read = read_einval };
	struct source *s;

	(void)state;
	assert_int_equal(source_open(&ops, NULL, NULL, false, &s), 0);
	assert_int_equal(source_read_i64(s, "/sys/class/net/%s/speed", "eth0").k, ND_NOT_SUPPORTED);
	assert_string_equal(source_root(s), "");
	source_close(s);
}

static void bytes_grow(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(bytes_append(&b, &i, sizeof(i)), 0);
	for (uint32_t i = 0; i < 10000; i++)
		assert_memory_equal(b.data + i * sizeof(i), &i, sizeof(i));
	assert_int_equal(bytes_append(&b, NULL, SIZE_MAX - 3), -ENOMEM);
	assert_int_equal(b.len, 40000);
	bytes_free(&b);
	assert_null(b.data);
	assert_int_equal(bytes_append(&b, NULL, 0), 0);
	bytes_free(&b);
}

#define LIVE(test_) cmocka_unit_test_setup_teardown(test_, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE(files_are_read_whole),
		LIVE(unreadable_files_say_why),
		LIVE(any_length_is_read),
		LIVE(kernel_files_are_read_whole),
		LIVE(typed_readers_judge),
		LIVE(directories_are_listed_sorted),
		LIVE(links_are_read),
		LIVE(links_are_dumped),
		LIVE(one_link_is_asked_for),
		LIVE(generic_netlink_answers),
		LIVE(bad_requests_are_refused),
		LIVE(kernel_errors_come_through),
		LIVE(ethtool_only_reads),
		LIVE(system_is_described),
		LIVE(clocks_run),
		cmocka_unit_test(missing_operations_answer),
		cmocka_unit_test(einval_from_a_file_is_not_supported),
		cmocka_unit_test(bytes_grow),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
