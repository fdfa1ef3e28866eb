/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/core/text.h"

static const char *const known_words[ND_KNOWN_STATES] = {
	[ND_UNREAD] = "unread",
	[ND_KNOWN] = "known",
	[ND_ABSENT] = "absent",
	[ND_NOT_PERMITTED] = "not-permitted",
	[ND_NOT_SUPPORTED] = "not-supported",
	[ND_NOT_APPLICABLE] = "not-applicable",
	[ND_INVALID] = "invalid",
	[ND_RESET] = "reset",
	[ND_FAILED] = "failed",
};

const char *nd_known_word(enum nd_known k)
{
	if ((unsigned int)k >= ND_KNOWN_STATES)
		return known_words[ND_INVALID];
	return known_words[k];
}

int nd_known_from_word(const char *word, enum nd_known *out)
{
	if (!word)
		return -EINVAL;
	for (unsigned int i = 0; i < ND_KNOWN_STATES; i++) {
		if (!strcmp(word, known_words[i])) {
			*out = (enum nd_known)i;
			return 0;
		}
	}
	return -EINVAL;
}

enum nd_known nd_known_from_errno(int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
		return ND_NOT_PERMITTED;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case ENOTDIR:
	case ESRCH:
	case ENODATA:
	case ENETUNREACH:	/* route look-ups: there is no route */
	case EHOSTUNREACH:
		return ND_ABSENT;
	case EOPNOTSUPP:
	case ENOSYS:
	case ENOTTY:
	case ENOPROTOOPT:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return ND_NOT_SUPPORTED;
	case EINVAL:
	case ERANGE:
	case EFBIG:
	case E2BIG:
	case EMSGSIZE:
	case EBADMSG:
	case EPROTO:
	case EILSEQ:
	case EOVERFLOW:
		return ND_INVALID;
	default:
		return ND_FAILED;
	}
}

bool nd_u64_is(struct nd_u64 a, uint64_t v)
{
	return a.k == ND_KNOWN && a.v == v;
}

bool nd_str_is(struct nd_str a, const char *v)
{
	return a.k == ND_KNOWN && a.v && v && !strcmp(a.v, v);
}

bool nd_is_true(struct nd_bool a)
{
	return a.k == ND_KNOWN && a.v;
}

bool nd_is_false(struct nd_bool a)
{
	return a.k == ND_KNOWN && !a.v;
}

void nd_cpus_set(struct nd_cpus *m, unsigned int cpu)
{
	if (cpu >= ND_MAX_CPUS) {
		m->k = ND_INVALID;
		return;
	}
	/* A mask that already lost a CPU stays invalid. */
	if (m->k != ND_INVALID)
		m->k = ND_KNOWN;
	m->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool nd_cpus_has(const struct nd_cpus *m, unsigned int cpu)
{
	return m->k == ND_KNOWN && cpu < ND_MAX_CPUS && (m->bits[cpu / 64] >> (cpu % 64) & 1);
}

bool nd_cpus_only(const struct nd_cpus *m, unsigned int *cpu)
{
	if (nd_cpus_count(m) != 1)
		return false;
	for (unsigned int i = 0; i < ND_MAX_CPUS; i++)
		if (nd_cpus_has(m, i))
			*cpu = i;
	return true;
}

unsigned int nd_cpus_count(const struct nd_cpus *m)
{
	unsigned int n = 0;

	if (m->k != ND_KNOWN)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(m->bits); i++)
		n += (unsigned int)__builtin_popcountll(m->bits[i]);
	return n;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Length of text without the newline or blanks the kernel ends it with. */
static size_t trimmed_length(const char *text)
{
	size_t n = strlen(text);

	while (n && is_space(text[n - 1]))
		n--;
	return n;
}

/* One CPU number at *p, before end; saturates so that a long number cannot wrap. */
static int take_cpu(const char **p, const char *end, unsigned int *out)
{
	const char *s = *p;
	unsigned int v = 0;

	if (s == end || *s < '0' || *s > '9')
		return -EINVAL;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		if (v < 1000000)
			v = v * 10 + (unsigned int)(*s - '0');
	*p = s;
	*out = v;
	return 0;
}

static int parse_list(const char *text, struct nd_cpus *m)
{
	const char *p = text, *end = text + trimmed_length(text);

	m->k = ND_KNOWN;
	while (p < end) {
		unsigned int first, last;

		if (take_cpu(&p, end, &first))
			return -EINVAL;
		last = first;
		if (p < end && *p == '-') {
			p++;
			if (take_cpu(&p, end, &last) || last < first)
				return -EINVAL;
		}
		if (p < end) {
			if (*p != ',' || p + 1 == end)
				return -EINVAL;
			p++;
		}
		if (last >= ND_MAX_CPUS)
			return -ERANGE;
		for (unsigned int cpu = first; cpu <= last; cpu++)
			nd_cpus_set(m, cpu);
	}
	return 0;
}

/* What does not parse leaves no CPUs behind. */
static int parse_cpus(const char *text, int (*parse)(const char *, struct nd_cpus *),
		      struct nd_cpus *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = text ? parse(text, out) : -EINVAL;
	if (rc)
		*out = (struct nd_cpus){ .k = ND_INVALID };
	return rc;
}

int nd_cpus_parse_list(const char *text, struct nd_cpus *out)
{
	return parse_cpus(text, parse_list, out);
}

/* Reads from the right: the last group of 32 bits holds CPUs 0..31. */
static int parse_mask(const char *text, struct nd_cpus *m)
{
	size_t i = trimmed_length(text);
	unsigned int group = 0;

	m->k = ND_KNOWN;
	if (!i)
		return -EINVAL;
	for (;;) {
		unsigned int digits = 0;

		for (; i && text[i - 1] != ','; i--, digits++) {
			int d = hex_digit(text[i - 1]);
			unsigned int cpu = group * 32 + digits * 4;

			if (d < 0 || digits == 8)
				return -EINVAL;
			if (!d)
				continue;
			if (cpu >= ND_MAX_CPUS)
				return -ERANGE;
			m->bits[cpu / 64] |= (uint64_t)d << (cpu % 64);
		}
		if (!digits)
			return -EINVAL;
		if (!i)
			return 0;
		i--;
		/* Groups past the mask only need to be zero; do not count further. */
		if (group < ND_MAX_CPUS / 32)
			group++;
	}
}

int nd_cpus_parse_mask(const char *text, struct nd_cpus *out)
{
	return parse_cpus(text, parse_mask, out);
}

void nd_cpus_format_list(const struct nd_cpus *m, char *buf, size_t cap)
{
	size_t len = 0;

	if (!cap)
		return;
	buf[0] = '\0';
	for (unsigned int cpu = 0; cpu < ND_MAX_CPUS; cpu++) {
		char range[32];
		unsigned int last = cpu;
		size_t n;

		if (!nd_cpus_has(m, cpu))
			continue;
		while (nd_cpus_has(m, last + 1))
			last++;
		if (last > cpu)
			snprintf(range, sizeof(range), "%s%u-%u", len ? "," : "", cpu, last);
		else
			snprintf(range, sizeof(range), "%s%u", len ? "," : "", cpu);
		n = strlen(range);
		/* Whole ranges only: a number cut in half would name another CPU. */
		if (n >= cap - len)
			return;
		memcpy(buf + len, range, n + 1);
		len += n;
		cpu = last;
	}
}
