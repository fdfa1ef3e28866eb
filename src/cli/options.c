/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/core/text.h"
#include "src/core/units.h"

#define MAX_OPTIONS 64
#define MAX_FOREIGN 64
/* getopt_long's return values for options without a letter start above any character. */
#define LONG_ONLY 256
/* An option that says what is so anyhow. */
#define IMPLIED (LONG_ONLY + MAX_OPTIONS)

int complain(int code, const char *fmt, ...)
{
	struct error e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	text_make_printable(e.text);
	fprintf(stderr, "netdoctor: %s\n", e.text);
	return code;
}

static void print_option(const struct option_row *o)
{
	char left[64];

	snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
		 o->argument ? " " : "", o->argument ? o->argument : "");
	printf("  %-28s %s\n", left, o->help);
}

void command_help(const struct command *c)
{
	printf("Usage: netdoctor %s%s%s%s\n%s\n", c->name, c->noptions ? " [OPTIONS]" : "",
	       c->arguments ? " " : "", c->arguments ? c->arguments : "", c->description);
	printf("\nOptions:\n");
	for (size_t i = 0; i < c->noptions; i++)
		print_option(&c->options[i]);
	printf("  %-28s %s\n", "-h, --help", "show this and exit");
}

static int wrong(const struct command *c, const struct option_row *o, const char *value,
		 const char *want)
{
	complain(EXIT_USAGE, "%s: --%s %s: %s (see netdoctor %s --help)", c->name, o->name, value,
		 want, c->name);
	return -1;
}

static int store_choice(const struct command *c, const struct option_row *o, const char *value,
			unsigned int *out)
{
	struct text list = TEXT_INIT;

	for (unsigned int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*out = i;
			text_free(&list);
			return 0;
		}
		text_printf(&list, "%s%s", i ? ", " : "want one of: ", o->choices[i]);
	}
	wrong(c, o, value, list.failed ? "not a choice" : list.data);
	text_free(&list);
	return -1;
}

/* Seconds with a fraction to whole milliseconds. */
static int parse_seconds(const char *value, uint64_t *ms)
{
	char whole[32];
	double s;
	int rc;

	/* People write .5, JSON's numbers never begin so. */
	if (value[0] == '.' && strlen(value) < sizeof(whole) - 1) {
		snprintf(whole, sizeof(whole), "0%s", value);
		value = whole;
	}
	rc = parse_f64(value, &s);

	if (rc)
		return rc;
	if (!(s >= 0 && s <= 1e7))
		return -ERANGE;
	*ms = (uint64_t)llround(s * 1000);
	return 0;
}

static int wrong_number(const struct command *c, const struct option_row *o, const char *value)
{
	char want[128], low[32], high[32];
	unsigned long long min = o->min, max = o->max;

	if (o->want)
		return wrong(c, o, value, o->want);
	switch (o->kind) {
	case OPTION_SECONDS:
		snprintf(want, sizeof(want), "want %g to %g seconds", (double)min / 1000,
			 (double)max / 1000);
		break;
	case OPTION_RATE:
		format_rate((double)min, low, sizeof(low));
		format_rate((double)max, high, sizeof(high));
		snprintf(want, sizeof(want), "want a rate such as 9.4G or 940M, %s to %s", low,
			 high);
		break;
	case OPTION_SIZE:
		snprintf(want, sizeof(want), "want bytes such as 64K or 4M, %llu to %llu", min,
			 max);
		break;
	default:
		snprintf(want, sizeof(want), "want %llu to %llu", min, max);
	}
	return wrong(c, o, value, want);
}

static int store(const struct command *c, const struct option_row *o, const char *value,
		 void *settings)
{
	char *at = (char *)settings + o->offset;
	uint64_t v = 0;
	int rc = -EINVAL;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_CHOICE:
		return store_choice(c, o, value, (unsigned int *)at);
	case OPTION_NUMBER:
		rc = strncmp(value, "0x", 2) ? parse_u64(value, &v) : parse_hex_u64(value + 2, &v);
		break;
	case OPTION_SECONDS:
		rc = parse_seconds(value, &v);
		break;
	case OPTION_RATE:
		rc = parse_rate(value, &v);
		break;
	case OPTION_SIZE:
		rc = parse_size(value, &v);
		break;
	}
	if (rc || v < o->min || v > o->max)
		return wrong_number(c, o, value);
	*(uint64_t *)at = v;
	return 0;
}

static size_t row_named(const struct command *c, const char *name)
{
	size_t i = 0;

	while (i < c->noptions && strcmp(c->options[i].name, name))
		i++;
	return i;
}

static size_t foreign_count(const struct command *c)
{
	size_t n = 0;

	while (c->foreign && c->foreign[n].name)
		n++;
	return n;
}

/* Those that are taken: under our name, or as what is so anyhow. */
static void add_foreign(const struct command *c, struct option *longs, char *letters, size_t l)
{
	for (const struct foreign_option *f = c->foreign; f && f->name; f++) {
		size_t row = f->same ? row_named(c, f->same) : c->noptions;
		bool ours = row < c->noptions;

		if (f->instead)
			continue;
		*longs++ = (struct option){
			.name = f->name,
			.has_arg = ours && c->options[row].argument ? required_argument
								    : no_argument,
			.val = ours ? (int)(LONG_ONLY + row) : IMPLIED,
		};
		if (f->letter && !ours)
			letters[l++] = f->letter;
	}
	*longs = (struct option){ 0 };
	letters[l] = '\0';
}

/* getopt's forms of a command's table; the leading ':' tells a missing argument from an unknown
 * option. */
static void make_getopt(const struct command *c, struct option *longs, char *letters)
{
	size_t l = 0;

	letters[l++] = ':';
	for (size_t i = 0; i < c->noptions; i++) {
		const struct option_row *o = &c->options[i];
		longs[i] = (struct option){
			.name = o->name,
			.has_arg = o->argument ? required_argument : no_argument,
			.val = (int)(LONG_ONLY + i),
		};
		if (!o->letter)
			continue;
		letters[l++] = o->letter;
		if (o->argument)
			letters[l++] = ':';
	}
	letters[l++] = 'h';
	longs[c->noptions] = (struct option){ .name = "help", .has_arg = no_argument, .val = 'h' };
	longs[c->noptions + 1] = (struct option){ 0 };
	add_foreign(c, longs + c->noptions + 1, letters, l);
}

/* NULL: a letter that says what is so anyhow. */
static const struct option_row *row_for(const struct command *c, int opt)
{
	if (opt >= LONG_ONLY)
		return &c->options[opt - LONG_ONLY];
	for (size_t i = 0; i < c->noptions; i++)
		if (c->options[i].letter == opt)
			return &c->options[i];
	return NULL;
}

/* The options that a word begins, as " or "-separated names: what its writer may have meant. */
static void add_meant(const struct option *longs, const char *word, size_t len, struct text *out)
{
	for (; longs->name; longs++)
		if (len > 2 && strlen(longs->name) > len - 2 &&
		    strncmp(longs->name, word + 2, len - 2) == 0)
			text_printf(out, "%s--%s", out->len ? " or " : "", longs->name);
}

static int not_an_option(const struct command *c, const struct option *longs, const char *word)
{
	const struct foreign_option *f = foreign_find(c->foreign, word);
	struct text meant = TEXT_INIT;

	if (f && f->instead) {
		complain(EXIT_USAGE, "%s: unknown option %s, which is iperf3's: %s (see netdoctor "
			 "%s --help)", c->name, word, f->instead, c->name);
		return -1;
	}
	if (strncmp(word, "--", 2) == 0)
		add_meant(longs, word, strcspn(word, "="), &meant);
	complain(EXIT_USAGE, "%s: unknown option %s%s%s (see netdoctor %s --help)", c->name, word,
		 meant.len ? ": in full: " : "", meant.len ? meant.data : "", c->name);
	text_free(&meant);
	return -1;
}

/*
 * The word that getopt has taken for this long option was an abbreviation: getopt reads "--key" as
 * "--key-file" where there is no --key, and what a script abbreviates may mean something else when
 * a later release has more options.  NULL: it was written in full.
 */
static const char *abbreviation(char **argv, const struct option *taken)
{
	const char *word = argv[optind - 1];

	if (optarg == word)
		word = argv[optind - 2];
	return strcspn(word, "=") == strlen(taken->name) + 2 ? NULL : word;
}

/* getopt's optopt is the letter, which in "-qZ" is not all of the word, or 0 or a LONG_ONLY. */
static int not_understood(const struct command *c, const struct option *longs,
			  bool lacks_argument, const char *word)
{
	char letter[] = { '-', (char)optopt, '\0' };
	bool is_letter = optopt > 0 && optopt < LONG_ONLY && strncmp(word, "--", 2) != 0;

	if (is_letter)
		word = letter;
	if (!lacks_argument)
		return not_an_option(c, longs, word);
	complain(EXIT_USAGE, "%s: missing argument after %s (see netdoctor %s --help)", c->name,
		 word, c->name);
	return -1;
}

int options_parse(const struct command *c, int argc, char **argv, void *settings,
		  const char **operands, size_t max_operands, size_t *noperands)
{
	struct option longs[MAX_OPTIONS + MAX_FOREIGN + 2];
	char letters[2 * MAX_OPTIONS + MAX_FOREIGN + 3];
	int opt, taken = -1;

	*noperands = 0;
	if (c->noptions > MAX_OPTIONS || foreign_count(c) > MAX_FOREIGN)
		return complain(-1, "%s: option table too long", c->name);
	make_getopt(c, longs, letters);
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, letters, longs, &taken)) != -1) {
		if (opt == '?' || opt == ':')
			return not_understood(c, longs, opt == ':', argv[optind - 1]);
		const char *word = taken >= 0 ? abbreviation(argv, &longs[taken]) : NULL;
		if (word)
			return not_an_option(c, longs, word);
		taken = -1;
		if (opt == IMPLIED)
			continue;
		if (opt == 'h') {
			command_help(c);
			return 1;
		}
		const struct option_row *o = row_for(c, opt);
		if (o && store(c, o, optarg, settings))
			return -1;
	}
	for (; optind < argc; optind++) {
		if (*noperands == max_operands) {
			complain(EXIT_USAGE, "%s: one argument too many: %s", c->name,
				 argv[optind]);
			return -1;
		}
		operands[(*noperands)++] = argv[optind];
	}
	return 0;
}
