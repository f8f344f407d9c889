#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md from bench/suite.toml and the newest results of each part in bench/results/.

usage: performance_table.py [--print]     --print: the table alone, on standard output
"""
import json
import pathlib
import re
import statistics
import sys
import tomllib

import gpu_table

root = pathlib.Path(__file__).resolve().parent.parent
results = root / "bench" / "results"
# What a case is timed beside that is of our own making, and no peer of the table.
OWN_FORMS = {"eager", "compiled", "graph"}


def newest(part):
    """The newest file 2026-11-21-PART.json as (name, content); None when there is none."""
    found = sorted(results.glob(f"????-??-??-{part}.json"))
    return (found[-1].name, json.loads(found[-1].read_text())) if found else None


def measured(row):
    """Cases of the row's kernels that could be measured, as (name, case)."""
    keep = re.compile(row.get("cases", ""))
    for kernel in row.get("kernels", []):
        file = newest(f"kernel-{kernel}")
        for case in file[1]["rows"] if file else []:
            if "failure" not in case and keep.search(case["case"]):
                yield f"{kernel} {case['case']}", case


def cases_of(row):
    """Measured cases as (name, ratio to the peer or None, share of the roofline or None, peer)."""
    cases = []
    if "gemm" in row:
        keep, file = re.compile(row.get("cases", "")), newest(f"gemm-{row['gemm']}")
        for case in file[1]["rows"] if file else []:
            if keep.search(case["case"]) and case["peer"] == row.get("beside", "OpenBLAS"):
                peer = file[1]["peer"] if case["peer"] == "OpenBLAS" else case["peer"]
                cases.append((case["case"], case["ratio"], case.get("of_peak") or None, peer))
    for name, case in measured(row):
        peer = case.get("peer", {})
        peer = {} if peer.get("name") in OWN_FORMS else peer
        ratio = peer.get("ratio", peer["median"] / case["median"] if peer else None)
        beyond_caches = case.get("copy_seconds", 0) > 0
        share = case.get("roofline") if beyond_caches or "peak" in row else None
        cases.append((name, ratio, share, peer.get("name")))
    return cases


def summary(values, form):
    """Median and extent of (name, value)."""
    if not values:
        return "-"
    middle = statistics.median(value for _, value in values)
    worst = min(values, key=lambda item: item[1])
    if len(values) == 1:
        return form(middle)
    return f"{form(middle)} ({form(worst[1])} {worst[0]} to {form(max(v for _, v in values))})"


def times(value):
    return f"{value:.2f}x"


def percent(value):
    return f"{100 * value:.0f} %"


def verdict(asked, values):
    if asked is None or not values:
        return ""
    return "reached" if statistics.median(v for _, v in values) >= asked else "missed"


def lines():
    suite = tomllib.loads((root / "bench" / "suite.toml").read_text())
    for row in suite["row"]:
        if "launch" in row:
            file = newest("launch")
            found = [case for case in file[1]["rows"] if case["case"].startswith(row["launch"])] if file else []
            if found:
                micros = found[0]["nanos"] / 1000
                state = "reached" if micros <= row["micros"] else "missed"
                yield [row["work"], f"at most {row['micros']:g} µs", f"{micros:.2f} µs", "-", "-", state]
            continue
        if "fewer_bytes" in row:
            saved = [(name, 1 - case["bytes"] / case["unfused_bytes"])
                     for name, case in measured(row) if "unfused_bytes" in case]
            yield [row["work"], f"{100 * row['fewer_bytes']:.0f} % fewer bytes", summary(saved, percent) + " fewer",
                   "-", "unfused form", verdict(row["fewer_bytes"], saved)]
            continue
        cases = cases_of(row)
        if not cases:
            yield [row["work"], "", "not measured", "-", "-", ""]
            continue
        ratios = [(name, ratio) for name, ratio, _, _ in cases if ratio is not None]
        shares = [(name, share) for name, _, share, _ in cases if share is not None]
        peers = sorted({peer for _, ratio, _, peer in cases if peer and ratio is not None})
        asked, states = [], []
        if "peer" in row:
            asked.append(f"{row['peer']:.3g} × peer")
            states.append(verdict(row["peer"], ratios))
        if "roofline" in row:
            asked.append(f"{100 * row['roofline']:.0f} % of a copy")
            states.append(verdict(row["roofline"], shares))
        if "peak" in row:
            asked.append(f"{100 * row['peak']:g} % of the peak")
            states.append(verdict(row["peak"], shares))
        state = ", ".join(dict.fromkeys(s for s in states if s))
        yield [row["work"], ", ".join(asked), summary(ratios, times), summary(shares, percent),
               ", ".join(peers) or "-", state]


def table():
    head = ["work", "asked", "times as fast as the peer", "of the roofline", "peer", ""]
    text = "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n"
    for line in lines():
        text += "| " + " | ".join(line) + " |\n"
    return text


def bounds():
    """What binds where the roofline does not, row by row."""
    suite = tomllib.loads((root / "bench" / "suite.toml").read_text())
    return "".join(f"- {row['work']}: {row['bound'].strip()}\n" for row in suite["row"] if "bound" in row)


def mebibytes(value):
    return "-" if value is None else f"{value / 2**20:.1f}"


def memory_table():
    """Every case of the rows that ask for it; empty when none was measured."""
    suite = tomllib.loads((root / "bench" / "suite.toml").read_text())
    text = ""
    for row in suite["row"]:
        for name, case in measured(row) if row.get("memory") else []:
            if "memory_bytes" in case:
                cells = [name, f"{case['bytes'] / 2**20:.1f}", mebibytes(case["memory_bytes"]),
                         mebibytes(case.get("peer", {}).get("memory_bytes"))]
                text += "| " + " | ".join(cells) + " |\n"
    head = ["case", "inputs and outputs, MiB", "the kernel besides", "its peer besides"]
    return "| " + " | ".join(head) + " |\n" + "|---|" + "---:|" * 3 + "\n" + text if text else ""


def machine():
    """The environment of the newest result that the tables are made of; GPUs have theirs with them."""
    contents = [json.loads(path.read_text()) for part in ("kernel", "gemm", "launch")
                for path in results.glob(f"????-??-??-{part}*.json")]
    known = [content["environment"] for content in contents if "environment" in content]
    return max(known, key=lambda it: it["date"]) if known else {}


def main():
    if "--print" in sys.argv[1:]:
        print(table(), end="")
        return
    text = "# Performance\n\nWritten by `./dev bench` from `bench/suite.toml` and `bench/results/`, whose files have every case.\n"
    text += "Kernel and peer are timed in turns within one run, both with warm threads; a ratio is the median over the turns of\n"
    text += "the peer's time in the kernel's, a row the median over its cases (the slowest and the fastest one behind it). The\n"
    text += "roofline is a copy of the kernel's largest input, which counts for cases larger than the last cache, or multiply-adds\n"
    text += "in registers where the arithmetic binds; both are timed in the same turns.\n\n"
    text += table()
    if bound := bounds():
        text += f"\nWhat binds where neither the memory nor the arithmetic peak does:\n\n{bound}"
    if memory := memory_table():
        text += "\n## Memory\n\nResident pages at their highest in one run, above inputs and outputs; a kernel runs on threads started for it.\n"
        text += "Growth by some 0.1 MiB is how exactly the system counts.\n\n" + memory
    text += gpu_table.section(results)
    text += "\n## The machine of the other tables\n\n| | |\n|---|---|\n"
    for key, value in machine().items():
        text += f"| {key.replace('_', ' ')} | {value} |\n"
    (root / "docs" / "performance.md").write_text(text)
    print("wrote docs/performance.md")


main()
