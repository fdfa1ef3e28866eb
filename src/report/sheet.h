/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sheet: a report piece by piece.  What is said is told once (tell.h); text, Markdown
 * and HTML are kinds of sheet that write each piece their way.
 *
 * Strings are passed on as they were found, line breaks and all: a kind escapes what it
 * writes.  A failed allocation shows in out->failed.
 */
#ifndef ND_REPORT_SHEET_H
#define ND_REPORT_SHEET_H

#include "src/diagnose/diagnosis.h"
#include "src/report/pen.h"

/* What sheet_open() opens: labelled fields or a list. */
enum block {
	BLOCK_HOSTS,
	BLOCK_RUN,
	BLOCK_LINK,
	BLOCK_FINDING,
	BLOCK_ITEMS,
	BLOCK_STEPS,	/* numbered from 1 */
	BLOCKS
};

enum rung_kind { RUNG_MEASURED, RUNG_CEILING, RUNG_UNKNOWN, RUNG_CORE };
struct rung {
	enum rung_kind kind;
	const char *what, *side;	/* "cpu", "peer"; side "": of neither */
	bool lowest;
	const char *subject;		/* what sets the ceiling, or NULL */
	double low_bps, high_bps;	/* of what was measured, or a ceiling that is known */
	/* What it was computed from (may be empty), why it is not known, what the core did. */
	struct text words;
};

struct rungs {
	struct rung *rows;	size_t n;
	double scale;		/* bit/s at the right end of a bar */
	double measured;	/* < 0: not measured */
};

enum check_mark { CHECK_OK, CHECK_FINDING, CHECK_UNSEEN };
struct check_row { enum check_mark mark; const char *rule, *words; };

struct sheet;
struct sheet_kind {
	void (*begin)(struct sheet *p, const struct diagnosis *d);
	/* mark NULL: the summary begins with it. */
	void (*verdict)(struct sheet *p, enum style s, const char *mark, const char *summary);
	void (*heading)(struct sheet *p, const char *s);
	void (*paragraph)(struct sheet *p, const char *s);
	void (*note)(struct sheet *p, const char *label, const char *s);
	void (*open)(struct sheet *p, enum block b);
	void (*close)(struct sheet *p);
	/* label "": more of the field before. */
	void (*field)(struct sheet *p, const char *label, const char *s);
	void (*item)(struct sheet *p, const char *s, const char *detail);	/* detail or NULL */
	void (*rungs)(struct sheet *p, const struct rungs *r);
	/* How a run went on; NULL: this kind has no pictures. */
	void (*history)(struct sheet *p, const struct run *r);
	void (*checks)(struct sheet *p, const struct check_row *rows, size_t n);
	/* The title of a finding; the rest of it are fields. */
	void (*finding)(struct sheet *p, const struct finding *f, const char *title);
	void (*evidence)(struct sheet *p, const struct evidence *v, size_t n);
	void (*commands)(struct sheet *p, const char *label, const char *const *v, size_t n);
	void (*end)(struct sheet *p, const char *footer);
};

struct sheet {
	const struct sheet_kind *kind;
	struct text *out;
	struct pen pen;		/* glyphs for what is told; text draws all with it */
	enum block block;	/* open now */
	unsigned int items;	/* in it so far */
	bool gap;		/* an empty line is due before what comes next */
};

extern const struct sheet_kind sheet_text, sheet_markdown, sheet_html;

/* All but text are in UTF-8, and colour is theirs to choose. */
struct sheet sheet_for(const struct sheet_kind *k, const struct report_options *o,
		       struct text *out);

/* The words of s, whatever white space parts them, each by `add`, one space between them. */
void sheet_add_words(struct text *out, const char *s,
		    void (*add)(struct text *out, const char *word, bool first));

enum { EVIDENCE_CAP = 48 };
/* What was found, as text or in its unit; into buf, if it has to be made. */
const char *evidence_value(const struct evidence *v, char buf[EVIDENCE_CAP]);
struct check_mark_shown { const char *word; enum style style; };
extern const struct check_mark_shown check_marks[];
/* The colour of "[high]". */
enum style severity_style(enum severity s);

#endif
