/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/exam_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LINE_RATE_MBPS 10000
static const uint64_t boot_ns = 3600 * UINT64_C(1000000000);

static void *row(struct arena *mem, void *rows, size_t *n, size_t size)
{
	void *r = arena_append_row(mem, rows, n, size);

	assert_non_null(r);
	return r;
}

#define ROW(f_, member_) row((f_)->mem, &(f_)->member_, &(f_)->n##member_, sizeof(*(f_)->member_))

static struct nd_cpus all_cpus(void)
{
	struct nd_cpus m = { .k = ND_KNOWN };

	for (unsigned int i = 0; i < BUILD_CPUS; i++)
		nd_cpus_set(&m, i);
	return m;
}

static void add_host(struct facts *f, const char *name, const char *boot_id)
{
	f->host = (struct host_facts){
		.hostname = nd_str(name),
		.kernel = nd_str("6.1.0-31-amd64"),
		.machine = nd_str("x86_64"),
		.os = nd_str("Debian GNU/Linux 12 (bookworm)"),
		.tool_version = nd_str("0.1.0"),
		.boot_id = nd_str(boot_id),
		.virtualization = nd_str("none"),
		.container = nd_str("none"),
		.cpu_model = nd_str("Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz"),
		.net_admin = nd_bool(true),
		.sys_admin = nd_bool(true),
		.root = nd_bool(true),
		.irq_time_accounting = nd_bool(true),
		.page_bytes = nd_u64(4096),
		.clock_ticks_per_second = nd_u64(100),
		.memory_bytes = nd_u64(UINT64_C(64) << 30),
		.cpus_online = all_cpus(),
		.cpus_allowed = all_cpus(),
		.monotonic_ns = nd_u64(boot_ns),
		.wall_ns = nd_u64(UINT64_C(1767225600000000000)),
	};
	for (unsigned int i = 0; i < BUILD_CPUS; i++) {
		struct cpu_facts *c = ROW(f, cpus);

		*c = (struct cpu_facts){
			.cpu = nd_u64(i), .node = nd_u64(0), .package = nd_u64(0),
			.core = nd_u64(i), .governor = nd_str("performance"),
			.driver = nd_str("intel_pstate"), .current_khz = nd_u64(3200000),
			.limit_khz = nd_u64(3200000), .hardware_khz = nd_u64(3200000),
		};
		nd_cpus_set(&c->siblings, i);
	}
}

static void add_sysctl(struct facts *f)
{
	f->sysctl = (struct sysctl_facts){
		.rmem_max = nd_u64(212992), .wmem_max = nd_u64(212992),
		.rmem_default = nd_u64(212992), .wmem_default = nd_u64(212992),
		.tcp_rmem_min = nd_u64(4096), .tcp_rmem_default = nd_u64(131072),
		.tcp_rmem_max = nd_u64(6291456),
		.tcp_wmem_min = nd_u64(4096), .tcp_wmem_default = nd_u64(16384),
		.tcp_wmem_max = nd_u64(4194304),
		.tcp_mem_low = nd_u64(767520), .tcp_mem_pressure = nd_u64(1023361),
		.tcp_mem_high = nd_u64(1535040),
		.netdev_max_backlog = nd_u64(1000), .netdev_budget = nd_u64(300),
		.netdev_budget_usecs = nd_u64(8000), .optmem_max = nd_u64(20480),
		.default_qdisc = nd_str("fq_codel"), .tcp_congestion_control = nd_str("cubic"),
		.tcp_available_congestion_control = nd_str("reno cubic"),
		.tcp_allowed_congestion_control = nd_str("reno cubic"),
		.tcp_window_scaling = nd_u64(1), .tcp_timestamps = nd_u64(1),
		.tcp_sack = nd_u64(1), .tcp_mtu_probing = nd_u64(0),
		.tcp_moderate_rcvbuf = nd_u64(1), .tcp_slow_start_after_idle = nd_u64(1),
		.tcp_no_metrics_save = nd_u64(0), .tcp_ecn = nd_u64(2),
		.tcp_limit_output_bytes = nd_u64(1048576), .tcp_notsent_lowat = nd_u64(4294967295),
		.rps_sock_flow_entries = nd_u64(0), .busy_poll = nd_u64(0),
		.ip_forward = nd_u64(0), .tcp_adv_win_scale = nd_i64(1),
	};
}

static void add_pci(struct facts *f)
{
	struct pci_facts *nic = ROW(f, pci), *port;

	*nic = (struct pci_facts){
		.address = nd_str("0000:3b:00.0"), .parent = nd_str("0000:3a:00.0"),
		.type = nd_str("endpoint"), .name = nd_str("Intel 82599ES 10-Gigabit SFP+"),
		.driver = nd_str("ixgbe"), .vendor_id = nd_u64(0x8086), .device_id = nd_u64(0x10fb),
		.class_code = nd_u64(0x020000), .speed_mtps = nd_u64(5000), .width = nd_u64(8),
		.max_speed_mtps = nd_u64(5000), .max_width = nd_u64(8),
		.payload_bytes = nd_u64(256), .payload_max_bytes = nd_u64(512),
		.read_request_bytes = nd_u64(512), .relaxed_ordering = nd_bool(true),
		.aspm = nd_str("disabled"), .aspm_supported = nd_str("L0s"),
		.numa_node = nd_i64(0), .removable = nd_bool(false),
		.physical_function = nd_str_unknown(ND_NOT_APPLICABLE),
	};
	port = ROW(f, pci);
	*port = (struct pci_facts){
		.address = nd_str("0000:3a:00.0"), .parent = nd_str_unknown(ND_NOT_APPLICABLE),
		.type = nd_str("root-port"),
		.name = nd_str("Intel Sky Lake-E PCI Express Root Port A"),
		.driver = nd_str("pcieport"), .vendor_id = nd_u64(0x8086),
		.device_id = nd_u64(0x2030), .class_code = nd_u64(0x060400),
		.speed_mtps = nd_u64(5000), .width = nd_u64(8), .max_speed_mtps = nd_u64(8000),
		.max_width = nd_u64(8), .payload_bytes = nd_u64(256),
		.payload_max_bytes = nd_u64(256), .read_request_bytes = nd_u64(128),
		.relaxed_ordering = nd_bool(false), .aspm = nd_str("disabled"),
		.aspm_supported = nd_str("L1"), .numa_node = nd_i64(0),
		.removable = nd_bool(false),
		.physical_function = nd_str_unknown(ND_NOT_APPLICABLE),
	};
}

static void add_features(struct facts *f)
{
	static const char *const on[] = {
		"tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-generic-segmentation",
		"rx-gro", "tx-checksum-ip-generic", "rx-checksum", "tx-scatter-gather",
		"rx-hashing",
	};

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		struct feature_facts *x = ROW(f, features);

		*x = (struct feature_facts){
			.ifindex = nd_u64(BUILD_IFINDEX), .name = nd_str(on[i]),
			.active = nd_bool(true), .changeable = nd_bool(true),
		};
	}
}

static void add_link(struct facts *f, const char *mac)
{
	struct link_facts *l = ROW(f, links);

	*l = (struct link_facts){
		.ifindex = nd_u64(BUILD_IFINDEX), .name = nd_str("eth0"),
		.kind = nd_str("physical"), .driver = nd_str("ixgbe"),
		.firmware = nd_str("0x61bf0001"), .bus = nd_str("pci"),
		.pci_address = nd_str("0000:3b:00.0"), .mac = nd_str(mac),
		.operstate = nd_str("up"), .up = nd_bool(true), .carrier = nd_bool(true),
		.mtu = nd_u64(1500), .tx_queue_length = nd_u64(1000),
		.tx_queues = nd_u64(BUILD_CPUS), .rx_queues = nd_u64(BUILD_CPUS),
		.lower_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE),
		.master_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE), .qdisc = nd_str("mq"),
		.gso_max_bytes = nd_u64(65536), .gro_max_bytes = nd_u64(65536),
		.numa_node = nd_i64(0), .xdp = nd_bool(false), .xdp_generic = nd_bool(false),
		.napi_threaded = nd_bool(false), .speed_mbps = nd_u64(LINE_RATE_MBPS),
		.supported_max_mbps = nd_u64(LINE_RATE_MBPS),
		.advertised_max_mbps = nd_u64(LINE_RATE_MBPS),
		.partner_max_mbps = nd_u64(LINE_RATE_MBPS), .duplex = nd_str("full"),
		.autoneg = nd_bool(true), .port = nd_str("tp"), .rx_ring = nd_u64(512),
		.rx_ring_max = nd_u64(4096), .tx_ring = nd_u64(512), .tx_ring_max = nd_u64(4096),
		.combined_channels = nd_u64(BUILD_CPUS), .combined_channels_max = nd_u64(63),
		.rx_channels = nd_u64_unknown(ND_NOT_APPLICABLE),
		.rx_channels_max = nd_u64_unknown(ND_NOT_APPLICABLE),
		.tx_channels = nd_u64_unknown(ND_NOT_APPLICABLE),
		.tx_channels_max = nd_u64_unknown(ND_NOT_APPLICABLE), .rx_usecs = nd_u64(1),
		.rx_frames = nd_u64_unknown(ND_NOT_SUPPORTED), .tx_usecs = nd_u64(0),
		.tx_frames = nd_u64_unknown(ND_NOT_SUPPORTED), .adaptive_rx = nd_bool(true),
		.adaptive_tx = nd_bool(false), .pause_autoneg = nd_bool(false),
		.pause_rx = nd_bool(false), .pause_tx = nd_bool(false),
		.rss_table_size = nd_u64(128), .rss_queues_used = nd_u64(BUILD_CPUS),
	};
}

static void add_queues_and_irqs(struct facts *f)
{
	static const char *const names[BUILD_CPUS] = {
		"eth0-TxRx-0", "eth0-TxRx-1", "eth0-TxRx-2", "eth0-TxRx-3"
	};

	for (unsigned int i = 0; i < BUILD_CPUS; i++) {
		struct queue_facts *q;
		struct irq_facts *irq;

		for (unsigned int tx = 0; tx < 2; tx++) {
			q = ROW(f, queues);
			*q = (struct queue_facts){
				.ifindex = nd_u64(BUILD_IFINDEX),
				.direction = nd_str(tx ? "tx" : "rx"), .index = nd_u64(i),
				.flow_entries = tx ? nd_u64_unknown(ND_NOT_APPLICABLE) : nd_u64(0),
			};
			q->steering.k = ND_KNOWN;
			if (tx)
				nd_cpus_set(&q->steering, i);
		}
		irq = ROW(f, irqs);
		*irq = (struct irq_facts){
			.irq = nd_u64(100 + i), .ifindex = nd_u64(BUILD_IFINDEX),
			.name = nd_str(names[i]), .node = nd_i64(0),
		};
		nd_cpus_set(&irq->affinity, i);
		nd_cpus_set(&irq->effective, i);
	}
}

static void add_path(struct facts *f, const char *from, const char *to)
{
	struct address_facts *a = ROW(f, addresses);
	struct qdisc_facts *q = ROW(f, qdiscs);
	struct cgroup_facts *g = ROW(f, cgroups);
	struct probe_result *p = ROW(f, probes);

	f->route = (struct route_facts){
		.to = nd_str(to), .from = nd_str(from),
		.gateway = nd_str_unknown(ND_NOT_APPLICABLE), .type = nd_str("unicast"),
		.ifindex = nd_u64(BUILD_IFINDEX), .mtu = nd_u64_unknown(ND_NOT_APPLICABLE),
		.advmss = nd_u64_unknown(ND_NOT_APPLICABLE),
		.window = nd_u64_unknown(ND_NOT_APPLICABLE),
		.initcwnd = nd_u64_unknown(ND_NOT_APPLICABLE),
		.congestion_window_lock = nd_u64_unknown(ND_NOT_APPLICABLE),
		.congestion_control = nd_str_unknown(ND_NOT_APPLICABLE),
	};
	*a = (struct address_facts){
		.ifindex = nd_u64(BUILD_IFINDEX), .address = nd_str(from),
		.prefix_length = nd_u64(24),
	};
	*q = (struct qdisc_facts){
		.ifindex = nd_u64(BUILD_IFINDEX), .handle = nd_u64(0),
		.parent = nd_u64(4294967295), .is_class = nd_bool(false), .kind = nd_str("mq"),
		.rate_bps = nd_u64_unknown(ND_NOT_APPLICABLE),
		.ceil_bps = nd_u64_unknown(ND_NOT_APPLICABLE),
		.burst_bytes = nd_u64_unknown(ND_NOT_APPLICABLE),
		.limit_bytes = nd_u64_unknown(ND_NOT_APPLICABLE),
		.limit_packets = nd_u64_unknown(ND_NOT_APPLICABLE),
	};
	*g = (struct cgroup_facts){
		.path = nd_str("/"), .version = nd_u64(2),
		.quota_us = nd_u64_unknown(ND_NOT_APPLICABLE),
		.period_us = nd_u64_unknown(ND_NOT_APPLICABLE), .cpuset = all_cpus(),
	};
	*p = (struct probe_result){
		.probe = nd_str("host"), .state = nd_str("ok"), .took_us = nd_u64(840),
	};
}

static struct facts *new_host(const char *name, const char *boot_id, const char *mac,
			      const char *from, const char *to)
{
	struct facts *f = facts_new(0);

	assert_non_null(f);
	add_host(f, name, boot_id);
	add_sysctl(f);
	add_pci(f);
	add_link(f, mac);
	add_features(f);
	add_queues_and_irqs(f);
	add_path(f, from, to);
	return f;
}

static struct exam *new_exam(void)
{
	struct exam *e = exam_new();

	assert_non_null(e);
	e->runs = arena_alloc_array(e->mem, BUILD_MAX_RUNS, sizeof(*e->runs));
	assert_non_null(e->runs);
	return e;
}

struct exam *build_one_host(void)
{
	struct exam *e = new_exam();

	e->facts[SIDE_LOCAL] = new_host("alpha", "11111111-1111-4111-8111-111111111111",
					"02:00:00:00:00:01", "10.0.0.1", "10.0.0.2");
	e->path = (struct path_facts){
		.local_address = nd_str("10.0.0.1"), .peer_address = nd_str("10.0.0.2"),
		.idle_rtt_us = nd_u64(110), .same_machine = nd_bool_unknown(ND_UNREAD),
		.loopback = nd_bool(false),
	};
	e->wishes.target_bps = nd_u64_unknown(ND_NOT_APPLICABLE);
	e->wishes.link_speed_bps = nd_u64_unknown(ND_NOT_APPLICABLE);
	return e;
}

struct exam *build_two_hosts(void)
{
	struct exam *e = build_one_host();

	e->facts[SIDE_PEER] = new_host("beta", "22222222-2222-4222-8222-222222222222",
				       "02:00:00:00:00:02", "10.0.0.2", "10.0.0.1");
	e->path.same_machine = nd_bool(false);
	return e;
}

struct exam *build_unread(void)
{
	struct exam *e = new_exam();

	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		e->facts[s] = facts_new(0);
		assert_non_null(e->facts[s]);
	}
	return e;
}

struct facts *build_facts(struct exam *e, enum side s)
{
	/* The builder made them; only published exams are const. */
	return (struct facts *)e->facts[s];
}

struct link_facts *build_link(struct exam *e, enum side s)
{
	return &build_facts(e, s)->links[0];
}

struct nd_str build_str(struct exam *e, const char *s)
{
	char *copy = arena_strdup(e->mem, s);

	assert_non_null(copy);
	return nd_str(copy);
}
