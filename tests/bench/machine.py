# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a benchmark runs, and what the kernel says about it.

Two network namespaces joined by veth, and one with nothing but loopback; both with
the same congestion control.  CPU time is the kernel's own account of a control
group that both ends run in, and of ksoftirqd, which does their packets' work when
there is much of it.
"""
import ctypes
import os
import platform
import resource
import signal
import struct
import subprocess
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
CONGESTION_CONTROL = "cubic"
OUR_NICE = -15          # others on the machine must not decide who wins


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def command(*args):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)


class Path:
    """How the two ends are joined: where each runs, and the address of the second."""

    def __init__(self, name, client, server, address, link):
        self.name, self.client, self.server = name, client, server
        self.address, self.link = address, link


class Paths:
    """Makes the namespaces, and removes them."""

    def __init__(self):
        tag = "ndbench%d" % os.getpid()
        self.names = [tag + "a", tag + "b", tag + "l"]
        self.default = ""
        a, b, lo = self.names
        self.all = [Path("loopback", lo, lo, "127.0.0.1", "lo"),
                    Path("veth", a, b, "10.213.7.2", "vb")]

    @staticmethod
    def set_default(name):
        """
        What tools without an option for it get.  A namespace takes only those that all users
        may choose, and reno is always one of them.
        """
        for algorithm in CONGESTION_CONTROL, "reno":
            done = subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw",
                                   "net.ipv4.tcp_congestion_control=" + algorithm],
                                  check=False, stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                return algorithm
        raise SystemExit("bench: cannot choose a congestion control")

    def __enter__(self):
        a, b, _ = self.names
        for name in self.names:
            command("ip", "netns", "add", name)
            command("ip", "-n", name, "link", "set", "lo", "up")
            self.default = self.set_default(name)
        command("ip", "-n", a, "link", "add", "va", "type", "veth", "peer", "name", "vb",
                "netns", b)
        for name, link, address in (a, "va", "10.213.7.1/24"), (b, "vb", "10.213.7.2/24"):
            command("ip", "-n", name, "address", "add", address, "dev", link)
            command("ip", "-n", name, "link", "set", link, "up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def take_precedence():
    """
    Over what else runs here, for this process and all tools alike.  Within a session's group
    (CONFIG_SCHED_AUTOGROUP) nice says nothing about others: the group has a nice of its own.
    """
    try:
        os.nice(OUR_NICE)
        os.setsid()
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write(str(OUR_NICE))
    except OSError:
        pass


class Account:
    """CPU seconds of all processes started in it, from a control group of either version."""

    def __init__(self):
        name = "ndbench%d" % os.getpid()
        v1, v2 = "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup"
        if os.path.exists(v1 + "/cpuacct.usage"):
            self.group, self.usage = v1 + "/" + name, "cpuacct.usage"
        elif os.path.exists(v2 + "/cgroup.controllers"):
            self.group, self.usage = v2 + "/" + name, "cpu.stat"
        else:
            raise SystemExit("bench: no control groups, so no account of CPU time")
        os.mkdir(self.group)
        self.softirqd = [p for p in os.listdir("/proc") if p.isdigit() and
                         text_of("/proc/%s/comm" % p).startswith("ksoftirqd/")]

    def enter(self):
        """By a process about to become a tool."""
        with open(self.group + "/cgroup.procs", "w", encoding="ascii") as f:
            f.write("0")

    def seconds(self):
        words = text_of(self.group + "/" + self.usage).split()
        used = (int(words[0]) / 1e9 if self.usage == "cpuacct.usage" else
                int(words[words.index("usage_usec") + 1]) / 1e6)
        tick = os.sysconf("SC_CLK_TCK")
        for pid in self.softirqd:
            fields = text_of("/proc/%s/stat" % pid).rpartition(")")[2].split()
            used += (int(fields[11]) + int(fields[12])) / tick
        return used

    def close(self):
        for _ in range(50):
            try:
                os.rmdir(self.group)
                return
            except OSError:
                time.sleep(0.05)


class Process:
    """A tool in a namespace, with its output in a file."""

    def __init__(self, account, namespace, args, log, env=None):
        told, tell = os.pipe()

        def become():
            account.enter()
            # Not `ip netns exec`: that takes as long as a small tool needs to its first byte.
            with open("/run/netns/" + namespace, "rb") as f:
                if LIBC.setns(f.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            # Entering a control group takes tens of milliseconds, which are no tool's.
            os.write(tell, struct.pack("d", time.monotonic()))
        self.log = log
        with open(log, "wb") as out:
            # pylint: disable=subprocess-popen-preexec-fn
            self.child = subprocess.Popen(
                args, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                preexec_fn=become, env=dict(os.environ, LC_ALL="C", **(env or {})))
        self.pid = self.child.pid
        self.peak = 0
        self.began = struct.unpack("d", os.read(told, 8))[0]
        os.close(told)
        os.close(tell)

    def output(self):
        return text_of(self.log)

    def running(self):
        return self.child.poll() is None

    def wait(self, seconds):
        """Its exit status, None: it goes on.  Keeps watching what memory it takes meanwhile."""
        deadline = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > deadline:
                return None
            self.peak_kib()
            time.sleep(0.005)
        return self.child.returncode

    def end(self, number=signal.SIGKILL):
        if self.running():
            self.child.send_signal(number)
        if self.wait(3) is None:
            self.child.kill()
            self.child.wait()

    def received_bytes(self, link):
        """Of an interface of the namespace that the process is in."""
        for line in text_of("/proc/%d/net/dev" % self.pid).splitlines():
            name, _, rest = line.partition(":")
            if name.strip() == link:
                return int(rest.split()[0])
        return 0

    def listens(self, port, protocol="tcp"):
        state = "0A" if protocol == "tcp" else "07"
        for table in protocol, protocol + "6":
            for line in text_of("/proc/%d/net/%s" % (self.pid, table)).splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(":%04X" % port) and fields[3] == state:
                    return True
        return False

    def peak_kib(self):
        """The most memory it had, as seen last."""
        for line in text_of("/proc/%d/status" % self.pid).splitlines():
            if line.startswith("VmHWM:"):
                self.peak = int(line.split()[1])
        return self.peak


def describe(default):
    """Lines about this machine, for the report."""
    cpu = text_of("/proc/cpuinfo")
    model = [x.partition(":")[2].strip() for x in cpu.splitlines() if x.startswith("model name")]
    virtual = " hypervisor" in cpu
    memory = int(text_of("/proc/meminfo").split()[1]) / (1 << 20)
    return [
        ("CPU", "%s, %d CPUs" % (model[0] if model else platform.machine(), os.cpu_count())),
        ("Virtualised", "yes, a guest of a hypervisor" if virtual else "no"),
        ("Memory", "%.0f GiB" % memory),
        ("Kernel", platform.release()),
        ("Congestion control", CONGESTION_CONTROL + ("" if default == CONGESTION_CONTROL else
                                                     "; %s for nuttcp, which has no option for it"
                                                     % default)),
    ]


def load_average():
    return os.getloadavg()[0]
