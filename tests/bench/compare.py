#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares netdoctor with other tools and writes docs/BENCHMARKS.md.

Rates are of this machine and this minute, so tools take turns, round by round, and
the ratio within a round counts; its median over the rounds is what is quoted.  For
TCP the rate is what the kernel counts at the receiver's interface, and CPU time what
it accounts both ends, in the same window for every tool: no tool's word is taken.

Variables: BENCH_SECONDS (a window, default 1), BENCH_PAIRS (rounds, default 7),
BENCH_ONLY (a word: only cases whose name has it), BENCH_OUT (the report, default
docs/BENCHMARKS.md), IPERF3_OTHER, IPERF2_OTHER, NUTTCP_OTHER (paths of other builds).
"""
import os
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import machine
import peers
import report

SETTLE = 0.5        # from the first bytes until the window begins
FIRST_BYTES = 100_000   # more than any control connection has said by then
PATIENCE = 15.0
SECONDS = int(os.environ.get("BENCH_SECONDS", "1"))
ROUNDS = int(os.environ.get("BENCH_PAIRS", "7"))


class Failed(Exception):
    pass


class Bench:
    def __init__(self, account, work):
        self.account, self.work = account, work
        self.port = 20000 + os.getpid() % 20000

    def start(self, namespace, args, name, env):
        return machine.Process(self.account, namespace, args, os.path.join(self.work, name), env)

    def until(self, condition, seconds, step=0.01):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(step)
        return True

    def run(self, tool, job, path):
        """One run.  A dict of figures; raises Failed."""
        self.port += 10
        env = tool.job_env(job)
        server = self.start(path.server, tool.server(job, self.port), "server", env)
        client = None
        try:
            kind = "udp" if job["protocol"] == "udp" and tool.first_port_udp else "tcp"
            if not self.until(lambda: server.listens(self.port, kind), 5):
                raise Failed("%s: the server does not listen" % tool.name)
            before = server.received_bytes(path.link)
            client = self.start(path.client, tool.client(job, path.address, self.port), "client",
                                env)
            if not self.until(lambda: server.received_bytes(path.link) > before + FIRST_BYTES or
                              not client.running(), PATIENCE, 0.001):
                raise Failed("%s: no traffic" % tool.name)
            out = {"first_byte": time.monotonic() - client.began}
            self.window(out, server, path)
            if job.get("whole"):    # its results take memory too
                client.wait(PATIENCE)
            out["peak_kib"] = max(server.peak_kib(), client.peak_kib())
            if job["protocol"] == "udp":
                self.datagrams(out, tool, client, server)
            elif out["bytes"] < FIRST_BYTES:
                raise Failed("%s: %s" % (tool.name, client.output()[-300:]))
            return out
        finally:
            if client:
                client.end()
            server.end()

    def window(self, out, server, path):
        time.sleep(SETTLE)
        wall, cpu, got = (time.monotonic(), self.account.seconds(),
                          server.received_bytes(path.link))
        time.sleep(SECONDS)
        got = server.received_bytes(path.link) - got
        cpu = self.account.seconds() - cpu
        wall = time.monotonic() - wall
        out.update(bytes=got, rate=got * 8 / wall, cpus=cpu / wall,
                   cpu_per_gb=cpu / (got / 1e9) if got else float("inf"))

    def datagrams(self, out, tool, client, server):
        """Who got how much only the receiving tool knows."""
        client.wait(PATIENCE)
        self.until(lambda: tool.datagrams(client.output(), server.output()), 3)
        told = tool.datagrams(client.output(), server.output())
        if not told or told[0] <= 0:
            raise Failed("%s: %s" % (tool.name, (client.output() + server.output())[-300:]))
        out["rate"], out["loss"] = told
        out["cpu_per_gb"] = out["cpus"] / (out["rate"] / 8e9)

    def rounds(self, name, entries, path):
        """entries: (label, tool, job).  label -> list of figures, one a round, None: failed."""
        results = {label: [] for label, _, _ in entries}
        load = []
        for i in range(ROUNDS):
            load.append(machine.load_average())
            turn = entries[i % len(entries):] + entries[:i % len(entries)]
            for label, tool, job in turn:
                try:
                    figures = self.run(tool, job, path)
                except Failed as why:
                    print("   ", why, file=sys.stderr)
                    figures = None
                results[label].append(figures)
        print("%s, %s:" % (name, path.name))
        for label, runs in results.items():
            good = [r for r in runs if r]
            if good:
                print("  %-28s %7.2f Gbit/s  %6.3f CPU s/GB" % (
                    label, statistics.median(r["rate"] for r in good) / 1e9,
                    statistics.median(r["cpu_per_gb"] for r in good)), flush=True)
        return {"name": name, "path": path.name, "results": results, "load": max(load)}


def job_of(protocol="tcp", streams=1, mode="plain", extra=1, **more):
    block = peers.DATAGRAM if protocol == "udp" else peers.BLOCK
    return dict(protocol=protocol, streams=streams, mode=mode, block=block,
                seconds=SECONDS + extra, **more)


def entries_of(tools, job):
    return [(t.name, t, job) for t in tools if t.can(job)]


def cases(product, engine, rivals):
    """(kind, name, entries) of everything that is measured."""
    # Other builds of a tool do the same things in the same way where nothing but copies count.
    installed = [t for t in rivals if not t.name.endswith("(other)")]
    for streams in 1, 2, 4, 8:
        yield ("plain", "TCP plain, %d stream%s" % (streams, "s" if streams > 1 else ""),
               entries_of([product] + (rivals if streams == 1 else installed),
                          job_of(streams=streams)))
    fast = [m for m in product.modes if m not in ("plain", "gso")]
    entries = [("%s %s" % (product.name, m), product, job_of(mode=m)) for m in fast]
    for t in rivals:
        entries += [("%s %s" % (t.name, m), t, job_of(mode=m)) for m in t.modes
                    if m not in ("plain", "gso")]
    yield "fastest", "TCP fastest mode, 1 stream", entries
    yield ("udp", "UDP plain, 1448-byte datagrams",
           entries_of([product] + installed, job_of("udp")))
    yield ("gso", "UDP with GSO and GRO, 1448-byte datagrams",
           entries_of([product] + rivals, job_of("udp", mode="gso")) +
           [(t.name + " plain", t, job_of("udp")) for t in rivals if t.name == "iperf3"])
    # Ten times as many samples cost ten times as much, which is more than rounds differ by.
    yield ("sampling", "TCP plain, 4 streams, sampled at 100 Hz at both ends or not",
           [("not sampled", engine, job_of(streams=4)),
            ("100 Hz", engine, job_of(streams=4, sample=100))])
    yield ("many", "TCP plain, 2048 streams",
           [(product.name, product, job_of(streams=2048, extra=4, whole=True))])


def main():
    build = os.environ.get("BUILD", "build")
    only = os.environ.get("BENCH_ONLY", "")
    if os.geteuid() != 0:
        raise SystemExit("bench: network namespaces and control groups need root")
    product, engine = peers.ours(build)
    rivals = peers.others()
    machine.take_precedence()
    account = machine.Account()
    work = tempfile.mkdtemp()
    measured = []
    paths = machine.Paths()
    try:
        with paths:
            bench = Bench(account, work)
            for kind, name, entries in cases(product, engine, rivals):
                if only and only not in name or not entries:
                    continue
                for path in paths.all:
                    if kind in ("many", "sampling") and path.name == "veth":
                        continue
                    measured.append((kind, bench.rounds(name, entries, path)))
    finally:
        account.close()
        shutil.rmtree(work)
    out = os.environ.get("BENCH_OUT", "docs/BENCHMARKS.md")
    with open(out, "w", encoding="utf-8") as f:
        f.write(report.document(measured, product, [product] + rivals, SECONDS, ROUNDS,
                                paths.default))
    print("Written:", out)


if __name__ == "__main__":
    main()
