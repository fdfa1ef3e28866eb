/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages inside the session.  Internal to src/peer.
 *
 *   client                          server
 *   hello {version, tool}           hello {version, tool, limits,
 *                                   hears_signs}
 *   facts                           facts {facts}
 *   clock                           clock {now_ns}
 *   prepare {spec}                  queued {ahead} ... data {cookies, pacing_bps, rate_bps,
 *                                   udp_marks} ... ready
 *   start {from_ns, to_ns, stop_ns} sample {sample} ... end {end}
 *   cancel                          -
 *   bye                             -
 *
 * Either side ends the session with error {code, text} when it cannot use what it got.
 * Every message has a type, and an id that its answers repeat.  Instead of an
 * answer there may be an error {code, text}; with id 0 it ends the session.
 * From prepare to end the server also sends alive when it has said nothing for
 * a while, and the client does to a server whose hello has hears_signs, from when it is
 * queued.  A side skips members that it does not know.
 */
#ifndef ND_PEER_PROTOCOL_H
#define ND_PEER_PROTOCOL_H

#define PROTOCOL_TOOL NETDOCTOR_VERSION

enum {
	PROTOCOL_MAX_REQUEST = 64 * 1024,	/* bytes a server takes in one message */
	PROTOCOL_MAX_TOOL = 32,			/* bytes of the other side's release name */
	PROTOCOL_MAX_TEXT = 300			/* bytes of an error text from the other side */
};

/* Why an error came: its "code". */
#define PROTOCOL_REFUSED "refused"	/* against a limit or the rules */
#define PROTOCOL_BUSY "busy"		/* no room for another session */
#define PROTOCOL_VERSION "version"
#define PROTOCOL_STOPPING "stopping"
#define PROTOCOL_FAILED "failed"	/* tried and did not work */
#define PROTOCOL_LATE "late"		/* the client did not do its part in time */

/* The errno of a code from the other side (NULL or unknown: EREMOTEIO); positive. */
int protocol_errno(const char *code);

#endif
