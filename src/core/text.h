/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text: a bounded builder for output, strict number parsing for input, and
 * escaping of untrusted text for terminals.
 */
#ifndef ND_CORE_TEXT_H
#define ND_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing output buffer.  After a failed allocation it is `failed` and ignores further writes. */
struct text { char *data; size_t len, cap; bool failed; };
#define TEXT_INIT { 0 }

void text_free(struct text *t);
void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t len);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_repeat(struct text *t, const char *s, unsigned int times);
/*
 * Adds untrusted text safe for a terminal: valid UTF-8 stays, C0/C1 control
 * characters (newline too), DEL, bidi controls, line separators and invalid
 * bytes become \xNN.
 */
void text_add_escaped(struct text *t, const char *s);
/* What a terminal might obey, or what makes shown text differ from its bytes. */
bool code_point_is_unsafe(uint32_t code_point);
/* In place, for fixed buffers: control characters and invalid UTF-8 become '?'. */
void text_make_printable(char *s);
/*
 * Shell-quotes one word for commands a user may paste: '...' when it needs
 * quoting, $'...' with octal escapes when it holds control characters.
 */
void text_add_shell_word(struct text *t, const char *s);

/*
 * Length of the valid UTF-8 character at s (NUL-terminated) and its code point; 0 at the end of
 * the string and for overlong forms, surrogates and other invalid bytes.
 */
size_t utf8_decode(const char *s, uint32_t *code_point);

/* Whole-string numbers: optional trailing white space, nothing else.  0 or -EINVAL/-ERANGE. */
int parse_u64(const char *s, uint64_t *out);
int parse_i64(const char *s, int64_t *out);
int parse_hex_u64(const char *s, uint64_t *out);
int parse_f64(const char *s, double *out);

/* 0..15, or -1 for no hex digit. */
int hex_digit(char c);

/* Cuts the next line off *cursor (which is modified); NULL at the end. */
char *next_line(char **cursor);
/* Cuts the next white-space separated word off *cursor; NULL at the end. */
char *next_word(char **cursor);
/* Strips leading and trailing white space in place and returns the start. */
char *trim(char *s);

#endif
