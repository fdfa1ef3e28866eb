# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the report of a benchmark from its figures."""
import os
import statistics
import time

import machine

MANY_KIB = 64 * 1024
FIRST_BYTE_SECONDS = 0.050      # and four round trips, which are nothing here

HEAD = """# Benchmarks

Made by `make bench`; run it on your machine, the figures below are of one machine only.

{machine}
- Date: {date}; load average when it was highest: {load:.1f}
- {rounds} rounds of {seconds} s windows. In a round the tools take turns; a ratio is of two runs of
  one round, and its median is quoted with its lowest and highest.
- TCP: the rate is what the kernel counts at the receiver's interface, CPU time what it accounts
  both ends together (control group and ksoftirqd), in the same window for every tool. UDP: goodput
  and loss as the receiving tool tells them.
- Blocks of 128 KiB, datagrams of 1448 bytes, default socket buffers. Both ends share the machine's
  CPUs: CPU seconds per GB say more than Gbit/s when others use the machine.

| tool | version |
|---|---|
{versions}
"""


def pairs(ours, theirs, key):
    return [a[key] / b[key] for a, b in zip(ours, theirs) if a and b and b[key]]


def middle(runs, key):
    good = [r[key] for r in runs if r]
    return statistics.median(good) if good else None


def spread(values, form="%.2f"):
    if not values:
        return "-"
    return "%s (%s to %s)" % tuple(form % v for v in (statistics.median(values), min(values),
                                                      max(values)))


def yes(reached):
    return "reached" if reached else "**not reached**"


def table(case, ours, loss=False):
    """Rows of all tools, with ratios of ours to each."""
    lines = ["| tool | Gbit/s | CPU s per GB |%s our rate / its | our CPU per byte / its |" %
             (" lost % |" if loss else ""), "|---|---|---|%s---|---|" % ("---|" if loss else "")]
    for label, runs in case["results"].items():
        if not any(runs):
            lines.append("| %s | did not work |" % label)
            continue
        mine = case["results"][ours]
        same = label == ours
        lines.append("| %s | %.2f | %.3f |%s %s | %s |" % (
            label, middle(runs, "rate") / 1e9, middle(runs, "cpu_per_gb"),
            " %.2f |" % middle(runs, "loss") if loss else "",
            "" if same else spread(pairs(mine, runs, "rate")),
            "" if same else spread(pairs(mine, runs, "cpu_per_gb"))))
    return lines


def best(results, labels):
    able = [l for l in labels if any(results[l])]
    return max(able, key=lambda l: middle(results[l], "rate")) if able else None


def against(case, ours, rival):
    mine, its = case["results"][ours], case["results"][rival]
    return (statistics.median(pairs(mine, its, "rate") or [0]),
            statistics.median(pairs(mine, its, "cpu_per_gb") or [99]))


def plain_goal(case, product):
    rival = best(case["results"], [l for l in case["results"] if l != product.name])
    if not rival:
        return product.name, []
    rate, cpu = against(case, product.name, rival)
    return product.name, [
        "Goal, at least 1.0 x the best peer (%s): %.2f x, %s; at most 1.0 x its CPU per byte: "
        "%.2f x, %s." % (rival, rate, yes(rate >= 1), cpu, yes(cpu <= 1))]


def fastest_goal(case, product):
    labels = list(case["results"])
    mine = best(case["results"], [l for l in labels if l.startswith(product.name)])
    rival = best(case["results"], [l for l in labels if l.startswith("iperf3")])
    if not mine or not rival:
        return mine or labels[0], []
    rate, _ = against(case, mine, rival)
    return mine, ["Goal, our fastest (%s) at least 1.2 x iperf3's (%s): %.2f x, %s." %
                  (mine, rival, rate, yes(rate >= 1.2))]


def five_times(case, product, rival):
    results = case["results"]
    if not any(results.get(rival, [])) or not any(results[product.name]):
        return []
    rate, _ = against(case, product.name, rival)
    loss, its = middle(results[product.name], "loss"), middle(results[rival], "loss")
    return ["Goal, at least 5 x the installed %s: %.2f x, %s; at no more loss: %.2f %% to %.2f %%, "
            "%s." % (rival, rate, yes(rate >= 5), loss, its, yes(loss <= its))]


def udp_goal(case, product):
    lines = five_times(case, product, "iperf3")
    return product.name, lines + [
        "Each datagram takes its own way through the stack here; five times is for GSO and GRO."]


def gso_goal(case, product):
    lines = five_times(case, product, "iperf3 plain")
    rival = best(case["results"], [l for l in case["results"]
                                   if l != product.name and not l.endswith(" plain")])
    if not rival:
        return product.name, lines + ["No other tool that was compared has GSO and GRO."]
    rate, _ = against(case, product.name, rival)
    return product.name, lines + ["Goal, at least 1.0 x %s: %.2f x, %s." %
                                  (rival, rate, yes(rate >= 1))]


def sampling_goal(case, _product):
    rate, cpu = against(case, "100 Hz", "not sampled")
    return "100 Hz", ["Goal, 10 Hz at most 1 %% of the rate: a tenth of this is %.1f %%, %s; "
                      "CPU per byte %+.1f %%." %
                      ((1 - rate) * 10, yes(rate >= 0.9), (cpu - 1) * 10)]


def many_goal(case, product):
    peak = middle(case["results"][product.name], "peak_kib") or MANY_KIB
    return product.name, ["Goal, memory of an end below 64 MiB: %.1f MiB, %s." %
                          (peak / 1024, yes(peak < MANY_KIB))]


GOALS = {"plain": plain_goal, "fastest": fastest_goal, "udp": udp_goal, "gso": gso_goal,
         "sampling": sampling_goal, "many": many_goal}


def first_bytes(measured, product):
    """From starting the client to its first 100 kB at the other end, of all plain runs."""
    lines, seen = [], {}
    for kind, case in measured:
        if kind == "plain" and case["name"].endswith(" 1 stream"):
            for label, runs in case["results"].items():
                seen.setdefault(label, []).extend(r["first_byte"] * 1000 for r in runs if r)
    if not seen.get(product.name):
        return lines
    lines += ["## From start to first bytes", "", "From starting the client's process to the first "
              "100 kB at the other end, one stream.", "", "| tool | ms |", "|---|---|"]
    lines += ["| %s | %s |" % (label, spread(ms, "%.0f")) for label, ms in seen.items()]
    value = statistics.median(seen[product.name]) / 1000
    lines += ["", "Goal, below 50 ms and 4 round trips: %.0f ms, %s." %
              (value * 1000, yes(value < FIRST_BYTE_SECONDS)), ""]
    return lines


def document(measured, product, tools, seconds, rounds, default):
    lines = [HEAD.format(
        machine="\n".join("- %s: %s" % row for row in machine.describe(default)),
        date=time.strftime("%Y-%m-%d"), seconds=seconds, rounds=rounds,
        load=max([case["load"] for _, case in measured] or [0]),
        versions="\n".join("| %s | %s |" % (t.name, t.version()) for t in tools))]
    for kind, case in measured:
        ours, goals = GOALS[kind](case, product)
        lines += ["## %s, %s" % (case["name"], case["path"]), ""]
        lines += table(case, ours, kind in ("udp", "gso"))
        lines += [""] + goals + ["", "Load average: %.1f." % case["load"], ""]
    lines += first_bytes(measured, product)
    lines.append(machine.text_of(os.path.join(os.path.dirname(__file__), "notes.md")))
    return "\n".join(lines).rstrip() + "\n"
