#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the screen costs: the rate with it beside the rate without, in turns, the CPU time
of the thread that draws, and how soon the first frame is there.

Both runs have a terminal (a pty of 120x40), whose bytes are read and thrown away.  The rate
is what the kernel counts at the receiver's interface.

Variables: BENCH_SECONDS (a window, default 2), BENCH_PAIRS (rounds, default 7).
"""
import fcntl
import os
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import machine

SETTLE = 0.7
SECONDS = int(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_PAIRS", "7"))
STREAMS = "2"
FRAME = b"Overview"     # on the first line of every frame


class OnTerminal:
    """A program of a namespace on a pty, and when it first drew a frame."""

    def __init__(self, account, namespace, args):
        pid, self.pty = os.forkpty()
        if pid == 0:
            account.enter()
            with open("/run/netns/" + namespace, "rb") as f:
                machine.LIBC.setns(f.fileno(), machine.CLONE_NEWNET)
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            # Entering takes tens of milliseconds, which are not the program's.
            os.write(1, b"%.9f\n" % time.monotonic())
            os.execv(args[0], args)
        self.pid = pid
        fcntl.ioctl(self.pty, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.began = self.first_frame = None
        self.written = 0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        seen = b""
        while select.select([self.pty], [], [], 60)[0]:
            try:
                some = os.read(self.pty, 65536)
            except OSError:
                return
            if not some:
                return
            self.written += len(some)
            if self.first_frame is None:
                seen = (seen + some)[-4096:]
                if self.began is None and b"\n" in seen:
                    self.began = float(seen.split()[0])
                if FRAME in seen:
                    self.first_frame = time.monotonic() - self.began

    def drawing_seconds(self):
        """CPU time of its first thread."""
        words = machine.text_of("/proc/%d/task/%d/schedstat" % (self.pid, self.pid)).split()
        return int(words[0]) / 1e9 if words else 0

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.pty)
        self.reader.join()


def measure(account, program, path, port, options):
    """One run: bit/s, CPU seconds of its first thread a second, bytes to the terminal, ..."""
    with tempfile.NamedTemporaryFile() as log:
        server = machine.Process(account, path.server,
                                 [program, "serve", "--open", "-q", "-p", str(port)], log.name)
        try:
            deadline = time.monotonic() + 5
            while not server.listens(port) and time.monotonic() < deadline:
                time.sleep(0.01)
            client = OnTerminal(account, path.client,
                                [program, "test", "-t", str(SECONDS + 3), "-O", "0", "-P",
                                 STREAMS, "-p", str(port)] + options + [path.address])
            before = server.received_bytes(path.link)
            while server.received_bytes(path.link) < before + 10_000_000:
                if time.monotonic() > deadline + 10:
                    raise SystemExit("bench: no traffic")
                time.sleep(0.01)
            time.sleep(SETTLE)
            wall, cpu, written = time.monotonic(), client.drawing_seconds(), client.written
            got = server.received_bytes(path.link)
            time.sleep(SECONDS)
            got = server.received_bytes(path.link) - got
            cpu, written = client.drawing_seconds() - cpu, client.written - written
            wall = time.monotonic() - wall
            client.end()
            return {"rate": got * 8 / wall, "cpu": cpu / wall, "written": written / wall,
                    "first_frame": client.first_frame}
        finally:
            server.end()


def median(runs, figure):
    return statistics.median(r[figure] for r in runs)


def main():
    program = os.path.join(os.environ.get("BUILD", "build"), "netdoctor")
    if os.geteuid() != 0:
        raise SystemExit("bench: network namespaces and control groups need root")
    machine.take_precedence()
    account = machine.Account()
    work = tempfile.mkdtemp()
    modes = {"without the screen": [], "with the screen": ["--tui"]}
    results = {m: [] for m in modes}
    port = 20000 + os.getpid() % 20000
    try:
        with machine.Paths() as paths:
            path = paths.all[1]
            for i in range(ROUNDS):
                for mode in list(modes)[::1 if i % 2 else -1]:
                    port += 1
                    results[mode].append(measure(account, program, path, port, modes[mode]))
    finally:
        account.close()
        shutil.rmtree(work)
    off, on = results["without the screen"], results["with the screen"]
    ratios = sorted(b["rate"] / a["rate"] for a, b in zip(off, on))
    frames = [r["first_frame"] for r in on if r["first_frame"] is not None]
    print("The screen, %s streams, %s, %d rounds of %d s:" % (STREAMS, path.name, ROUNDS, SECONDS))
    for mode, runs in results.items():
        print("  %-20s %7.2f Gbit/s" % (mode, median(runs, "rate") / 1e9))
    print("  ratio                median %.3f, %.3f to %.3f" %
          (statistics.median(ratios), ratios[0], ratios[-1]))
    print("  drawing              %.2f %% of a core (at most %.2f), %.1f kB/s to the terminal" %
          (median(on, "cpu") * 100, max(r["cpu"] for r in on) * 100,
           median(on, "written") / 1e3))
    print("  first frame          median %.0f ms, at most %.0f ms" %
          (statistics.median(frames) * 1e3, max(frames) * 1e3))


if __name__ == "__main__":
    main()
