# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools that are compared: how each is started for the same job.

A job is a dict: protocol, streams, block, mode ("plain", "sendfile", "zerocopy",
"discard", ... joined by "+"; of datagrams "gso"), seconds.
"""
import json
import os
import re
import shutil
import subprocess

from machine import CONGESTION_CONTROL

BLOCK = 128 * 1024
DATAGRAM = 1448


def first_line(*args):
    try:
        done = subprocess.run(args, check=False, capture_output=True, text=True, timeout=5)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip().partition("\n")[0]


def last_json(text):
    """The document that a tool printed, whatever it said before."""
    start = text.find("{")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
    except ValueError:
        return {}


def json_of_iperf3(text):
    """Goodput and loss as the receiver saw them."""
    end = last_json(text).get("end", {})
    got = end.get("sum_received") or end.get("sum") or {}
    if not got:
        return None
    return got.get("bits_per_second", 0), got.get("lost_percent", 0)


def tcp_option(job, option):
    return [option, CONGESTION_CONTROL] if job["protocol"] == "tcp" else []


class Tool:
    env = {}
    modes = ("plain",)
    protocols = ("tcp", "udp")
    most_streams = 128
    first_port_udp = False      # the server listens for datagrams alone

    def __init__(self, name, path):
        self.name, self.path = name, path

    def can(self, job):
        return (job["protocol"] in self.protocols and job["mode"] in self.modes and
                job["streams"] <= self.most_streams)

    def job_env(self, _job):
        return {}

    def client_output_tells(self):
        return True


class Iperf3(Tool):
    modes = ("plain", "sendfile")

    def __init__(self, name, path):
        super().__init__(name, path)
        told = subprocess.run([path, "--help"], check=False, capture_output=True, text=True)
        told = told.stdout + told.stderr
        if "--skip-rx-copy" in told:
            self.modes += ("discard", "sendfile+discard")
        self.has_gso = "--gsro" in told
        if self.has_gso:
            self.modes += ("gso",)

    def version(self):
        return first_line(self.path, "--version")

    def server(self, _job, port):
        return [self.path, "-s", "-p", str(port)]

    def client(self, job, host, port):
        args = [self.path, "-c", host, "-p", str(port), "-t", str(job["seconds"]), "-J", "-i", "0",
                "-P", str(job["streams"]), "-l", str(job["block"])]
        if job["protocol"] == "udp":
            args += ["-u", "-b", "0"]
        parts = job["mode"].split("+")
        args += ["-Z"] if "sendfile" in parts else []
        args += ["--skip-rx-copy"] if "discard" in parts else []
        args += ["--gsro"] if "gso" in parts else []
        return args + tcp_option(job, "-C")

    def datagrams(self, client, _server):
        return json_of_iperf3(client)


class Iperf2(Tool):
    first_port_udp = True

    def version(self):
        return first_line(self.path, "-v")

    def server(self, job, port):
        udp = ["-u"] if job["protocol"] == "udp" else []
        return [self.path, "-s", "-p", str(port), "-l", str(job["block"])] + udp

    def client(self, job, host, port):
        args = [self.path, "-c", host, "-p", str(port), "-t", str(job["seconds"]),
                "-P", str(job["streams"]), "-l", str(job["block"]), "-f", "m"]
        if job["protocol"] == "udp":
            return args + ["-u", "-b", "100g"]
        return args + tcp_option(job, "-Z")

    def datagrams(self, client, _server):
        """The server's report, which the client prints last."""
        found = re.findall(r"([\d.]+) Mbits/sec +[\d.]+ ms +(\d+)/ *(\d+)", client)
        if not found:
            return None
        rate, lost, sent = found[-1]
        return float(rate) * 1e6, 100 * int(lost) / max(int(sent), 1)


class Nuttcp(Tool):
    def version(self):
        return first_line(self.path, "-V")

    def server(self, _job, port):
        return [self.path, "-S", "--nofork", "-P", str(port)]

    def client(self, job, host, port):
        args = [self.path, "-t", "-T" + str(job["seconds"]), "-l" + str(job["block"]), "-fparse",
                "-P", str(port), "-p", str(port + 1)]
        args += ["-N" + str(job["streams"])] if job["streams"] > 1 else []
        return args + (["-u", "-Ru"] if job["protocol"] == "udp" else []) + [host]

    def datagrams(self, client, _server):
        rate = re.search(r"rate_Mbps=([\d.]+)", client)
        loss = re.search(r"data_loss=([\d.]+)", client)
        return (float(rate.group(1)) * 1e6, float(loss.group(1))) if rate and loss else None


OUR_MODES = ("plain", "sendfile", "zerocopy", "discard", "sendfile+discard", "zerocopy+discard",
             "gso")


class Netdoctor(Tool):
    """The product as users start it."""
    modes = OUR_MODES
    most_streams = 2048

    def version(self):
        return first_line(self.path, "--version")

    def server(self, _job, port):
        return [self.path, "serve", "--open", "--quiet", "-p", str(port)]

    def client(self, job, host, port):
        args = [self.path, "test", host, "-p", str(port), "-t", str(job["seconds"]), "-i", "0",
                "-P", str(job["streams"]), "-l", str(job["block"]), "--json"]
        if job["protocol"] == "udp":
            args += ["-u", "-b", "0"]
        parts = job["mode"].split("+")
        for part, option in (("sendfile", "-Z"), ("zerocopy", "--no-copy"),
                             ("discard", "--skip-rx-copy"), ("gso", "--gso"), ("gso", "--gro")):
            args += [option] if part in parts else []
        return args + tcp_option(job, "-C")

    def datagrams(self, client, _server):
        return json_of_iperf3(client)


class Engine(Tool):
    """Our traffic engine alone."""
    modes = OUR_MODES
    most_streams = 2048
    first_port_udp = True

    def version(self):
        return "this build"

    def job_env(self, job):
        parts = job["mode"].split("+")
        env = {"BLOCK": str(job["block"]), "WARMUP": "0"}
        env.update({"UDP": "1"} if job["protocol"] == "udp" else {})
        env.update({"GSO": "1", "GRO": "1"} if "gso" in parts else {})
        env.update({"DISCARD": "1"} if "discard" in parts else {})
        env.update({"SEND": "file"} if "sendfile" in parts else {})
        env.update({"SEND": "zerocopy"} if "zerocopy" in parts else {})
        env.update({"SAMPLE": str(job["sample"])} if job.get("sample") else {})
        return env

    def server(self, job, port):
        return [self.path, "receive", str(port), str(job["streams"]), str(job["seconds"])]

    def client(self, job, host, port):
        return [self.path, "send", host, str(port), str(job["streams"]), str(job["seconds"]),
                CONGESTION_CONTROL]

    def datagrams(self, _client, server):
        rate = re.search(r"receive ([\d.]+) Gbit/s", server)
        loss = re.search(r"lost ([\d.-]+) %", server)
        return (float(rate.group(1)) * 1e9, float(loss.group(1))) if rate and loss else None


def ours(build):
    """The product when it can drive traffic alone, else the engine; and the engine."""
    engine = Engine("load engine", os.path.join(build, "tests/bench/load_bench"))
    product = os.path.join(build, "netdoctor")
    told = subprocess.run([product, "test", "--help"], check=False, capture_output=True)
    return (Netdoctor("netdoctor", product) if told.returncode == 0 else engine), engine


def others():
    """
    What is installed, and builds named in IPERF3_OTHER, IPERF2_OTHER, NUTTCP_OTHER; ENGINE_OTHER
    names other builds of our engine, separated by colons.
    """
    found = [Engine("engine " + os.path.basename(x), x)
             for x in os.environ.get("ENGINE_OTHER", "").split(":") if x]
    wanted = os.environ.get("BENCH_PEERS", "iperf3 iperf2 nuttcp").split()
    for kind, name in (Iperf3, "iperf3"), (Iperf2, "iperf"), (Nuttcp, "nuttcp"):
        label = "iperf2" if kind is Iperf2 else name
        if shutil.which(name) and label in wanted:
            found.append(kind(label, shutil.which(name)))
        other = os.environ.get(label.upper() + "_OTHER")
        if other:
            found.append(kind(label + " (other)", other))
    return found
