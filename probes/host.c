/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The host itself: names, kernel, processor, memory, privileges, clocks.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

#ifndef NETDOCTOR_VERSION
#define NETDOCTOR_VERSION "0.1.0"
#endif

/* Fewer interrupts could each be too short to fill a tick of 10 ms. */
enum { INTERRUPTS_TELLING = 100000 };

/* "key : value" of /proc/cpuinfo and /proc/meminfo; the value, or NULL when the key differs. */
static char *value_of(char *line, const char *key)
{
	char *colon = strchr(line, ':');
	size_t len = strlen(key);

	if (!colon || strncmp(line, key, len) || strspn(line + len, " \t") !=
	    (size_t)(colon - line) - len)
		return NULL;
	return trim(colon + 1);
}

static bool has_word(char *list, const char *word)
{
	char *w;

	while ((w = next_word(&list))) {
		if (!strcmp(w, word))
			return true;
	}
	return false;
}

static struct nd_str keep(const char *s, struct arena *mem)
{
	char *copy = arena_strdup(mem, s);

	return copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
}

void parse_cpuinfo(char *text, struct arena *mem, struct nd_str *model,
		   struct nd_bool *hypervisor)
{
	/* x86; POWER; MIPS; s390 and arm64 name no model in this file. */
	static const char *const model_keys[] = { "model name", "cpu", "cpu model" };
	char *line;

	*model = nd_str_unknown(ND_ABSENT);
	*hypervisor = nd_bool_unknown(ND_ABSENT);
	while ((line = next_line(&text))) {
		char *value;

		for (size_t i = 0; i < ARRAY_SIZE(model_keys) && model->k != ND_KNOWN; i++) {
			value = value_of(line, model_keys[i]);
			if (value && *value)
				*model = keep(value, mem);
		}
		value = value_of(line, "flags");
		if (value) {
			*hypervisor = nd_bool(has_word(value, "hypervisor"));
			return;		/* the other CPUs say the same */
		}
	}
}

/* In place: "a \"b\" c" -> a "b" c, as a shell would read it. */
static char *unquote(char *s)
{
	char quote = *s == '"' || *s == '\'' ? *s : '\0';
	char *out = s, *in = quote ? s + 1 : s;

	for (; *in && *in != quote; in++) {
		if (*in == '\\' && quote == '"' && in[1])
			in++;
		*out++ = *in;
	}
	*out = '\0';
	return s;
}

struct nd_str parse_os_release(char *text, struct arena *mem)
{
	static const char key[] = "PRETTY_NAME=";
	char *line;

	while ((line = next_line(&text))) {
		line = trim(line);
		if (strncmp(line, key, sizeof(key) - 1))
			continue;
		line = unquote(line + sizeof(key) - 1);
		return *line ? keep(line, mem) : nd_str_unknown(ND_INVALID);
	}
	return nd_str_unknown(ND_ABSENT);
}

struct nd_u64 parse_memory_total(char *text)
{
	char *line;

	while ((line = next_line(&text))) {
		char *value = value_of(line, "MemTotal"), *word;
		uint64_t kib;

		if (!value)
			continue;
		word = next_word(&value);
		if (!word || parse_u64(word, &kib) || kib > UINT64_MAX / 1024)
			return nd_u64_unknown(ND_INVALID);
		return nd_u64(kib * 1024);
	}
	return nd_u64_unknown(ND_ABSENT);
}

struct nd_bool parse_irq_accounting(char *config)
{
	char *line;

	while ((line = next_line(&config))) {
		if (!strcmp(line, "CONFIG_IRQ_TIME_ACCOUNTING=y") ||
		    !strcmp(line, "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y"))
			return nd_bool(true);
		if (!strcmp(line, "# CONFIG_IRQ_TIME_ACCOUNTING is not set"))
			return nd_bool(false);
	}
	return nd_bool_unknown(ND_ABSENT);
}

struct nd_bool parse_irq_accounting_evidence(char *stat)
{
	enum { IRQ_COLUMN = 6 };
	uint64_t irq_ticks = UINT64_MAX, interrupts = 0;
	char *line;

	while ((line = next_line(&stat))) {
		char *word = next_word(&line);

		if (word && !strcmp(word, "cpu")) {
			for (int i = 0; i < IRQ_COLUMN - 1; i++)
				next_word(&line);
			word = next_word(&line);
			if (!word || parse_u64(word, &irq_ticks))
				irq_ticks = UINT64_MAX;
		} else if (word && !strcmp(word, "intr")) {
			word = next_word(&line);
			if (!word || parse_u64(word, &interrupts))
				interrupts = 0;
			break;
		}
	}
	/* Also what a kernel shows that could, but gave up for want of a stable clock. */
	if (!irq_ticks && interrupts >= INTERRUPTS_TELLING)
		return nd_bool(false);
	return nd_bool_unknown(ND_ABSENT);
}

static struct nd_bool read_irq_accounting(struct source *src, const char *release)
{
	static const struct { const char *before, *after; } configs[] = {
		{ "/boot/config-", "" },
		{ "/lib/modules/", "/config" },
	};
	struct nd_bool out = nd_bool_unknown(ND_ABSENT);
	char path[160], *text;

	if (source_read_all(src, "/proc/stat", PROC_FILE_MAX, &text) >= 0) {
		out = parse_irq_accounting_evidence(text);
		free(text);
	}
	/* A recorded release must not lead out of the directory. */
	for (size_t i = 0; i < ARRAY_SIZE(configs) && out.k != ND_KNOWN && !strchr(release, '/');
	     i++) {
		snprintf(path, sizeof(path), "%s%s%s", configs[i].before, release,
			 configs[i].after);
		if (source_read_all(src, path, PROC_FILE_MAX, &text) < 0)
			continue;
		out = parse_irq_accounting(text);
		free(text);
	}
	return out;
}

static void read_files(struct source *src, struct arena *mem, struct host_facts *host)
{
	struct nd_bool hypervisor = nd_bool_unknown(ND_ABSENT);
	char *text, line[64];
	ssize_t n;

	n = source_read_all(src, "/etc/os-release", 65536, &text);
	if (n == -ENOENT)
		n = source_read_all(src, "/usr/lib/os-release", 65536, &text);
	host->os = n < 0 ? nd_str_unknown(nd_known_from_errno((int)-n))
			 : parse_os_release(text, mem);
	if (n >= 0)
		free(text);
	n = source_read_all(src, "/proc/cpuinfo", PROC_FILE_MAX, &text);
	host->cpu_model = nd_str_unknown(n < 0 ? nd_known_from_errno((int)-n) : ND_ABSENT);
	if (n >= 0) {
		parse_cpuinfo(text, mem, &host->cpu_model, &hypervisor);
		free(text);
	}
	n = source_read_all(src, "/proc/meminfo", 65536, &text);
	host->memory_bytes = n < 0 ? nd_u64_unknown(nd_known_from_errno((int)-n))
				   : parse_memory_total(text);
	if (n >= 0)
		free(text);
	n = source_read_line(src, line, sizeof(line), "/proc/sys/kernel/random/boot_id");
	host->boot_id = n ? nd_str_unknown(nd_known_from_errno((int)-n)) : keep(line, mem);
	host->cpus_online = source_read_cpu_list(src, "/sys/devices/system/cpu/online");
	read_virtualization(src, hypervisor, host);
}

static void take_sysinfo(const struct sysinfo_record *info, struct arena *mem,
			 struct host_facts *host)
{
	host->hostname = keep(info->nodename, mem);
	host->kernel = keep(info->release, mem);
	host->machine = keep(info->machine, mem);
	host->clock_ticks_per_second = nd_u64(info->clock_ticks_per_second);
	host->page_bytes = nd_u64(info->page_bytes);
	host->root = nd_bool(info->effective_uid == 0);
	host->net_admin = nd_bool(info->net_admin);
	host->sys_admin = nd_bool(info->sys_admin);
	host->cpus_allowed = info->allowed;
}

static void set_sysinfo_unknown(enum nd_known k, struct host_facts *host)
{
	host->hostname = host->kernel = host->machine = nd_str_unknown(k);
	host->clock_ticks_per_second = host->page_bytes = nd_u64_unknown(k);
	host->root = host->net_admin = host->sys_admin = nd_bool_unknown(k);
	host->cpus_allowed = (struct nd_cpus){ .k = k };
}

static int collect_host(struct source *src, const struct probe_context *ctx, struct facts *f,
			struct error *detail)
{
	struct sysinfo_record info;
	int rc = source_sysinfo(src, &info);

	(void)ctx;
	if (rc)
		set_sysinfo_unknown(nd_known_from_errno(-rc), &f->host);
	else
		take_sysinfo(&info, f->mem, &f->host);
	read_files(src, f->mem, &f->host);
	f->host.tool_version = nd_str(NETDOCTOR_VERSION);
	f->host.irq_time_accounting = read_irq_accounting(src, rc ? "" : info.release);
	f->host.monotonic_ns = nd_u64(source_monotonic_ns(src));
	f->host.wall_ns = nd_u64(source_wall_ns(src));
	return rc ? error_set(detail, -rc, "cannot ask for system information: %s",
			      strerror(-rc)) : 0;
}

const struct probe probe_host = {
	.name = "host",
	.summary = "kernel, processor, memory, privileges, virtualisation, container",
	.phase = PROBE_HOST,
	.collect = collect_host,
};
