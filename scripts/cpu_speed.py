#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the shipped definitions on this processor, over the unfused library baseline.

  scripts/cpu_speed.py --nereid FILE [--groups NAME ...] [--dtype TEXT] [--seconds-per-case N]
                       [--target TEXT] [--again N] [--json FILE]

Develops every definition of operators/ (of these folders alone with --groups; "." is those that lie in none)
without optimisation rounds and prints, for each group, how many there are, the geometric mean of their
speed-ups and those below 0.9. A speed-up is a ratio of times measured in turns, so that other work on the
machine slows both sides; what is below 0.9 is measured --again times (2) with three times the budget, and
counts as below when all agree. Exit status 1 when a definition fails or the geometric mean is below 1.5 or
one is below 0.9.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST, MEAN = 0.9, 1.5


def develop(options, source, seconds):
    """The operators of a sweep over a folder, or of one definition."""
    with tempfile.TemporaryDirectory() as folder:
        path = source
        if source.is_file():  # a sweep of one
            path = pathlib.Path(folder) / "one"
            path.mkdir()
            (path / source.name).write_text(source.read_text())
        out = pathlib.Path(folder) / "out"
        command = [options.nereid, "develop", "--all", str(path), "--out", str(out), "--rounds", "0",
                   "--seconds-per-case", str(seconds), "--target", options.target]
        command += ["--dtype", options.dtype] if options.dtype else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        summary = out / "summary.json"
        if not summary.exists():
            sys.exit(done.stdout + done.stderr)
        return json.loads(summary.read_text())


def speedup(operator):
    """Of the cases that were measured steadily, else of all; None without any."""
    return operator["speedup"] or operator["unsteady_speedup"]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def group_of(options, name):
    """The group's operators with their speed-ups; what seems slow is measured again."""
    folder = ROOT / "operators" / name
    with tempfile.TemporaryDirectory() as own:
        source = folder
        if name == ".":  # those that lie in no folder
            source = pathlib.Path(own)
            for file in folder.glob("*.toml"):
                (source / file.name).write_text(file.read_text())
        sweep = develop(options, source, options.seconds_per_case)
    for operator in sweep["operators"]:
        operator["group"] = name
        operator["speedups"] = [speedup(operator)] if speedup(operator) else []
        file = folder / pathlib.Path(operator["definition"]).name
        file = file if file.exists() else next(folder.rglob(file.name))
        operator["definition"] = file.relative_to(ROOT).as_posix()
        operator.pop("folder", None)
        while operator["speedups"] and max(operator["speedups"]) < LEAST:
            if len(operator["speedups"]) > options.again:
                break
            again = develop(options, file, 3 * options.seconds_per_case)["operators"][0]
            if not speedup(again):
                break
            operator["speedups"].append(speedup(again))
    return sweep


def is_below(operator):
    return bool(operator["speedups"]) and max(operator["speedups"]) < LEAST


def line(name, operators):
    told = [one for one in operators if one["speedups"]]
    values = [one["speedups"][-1] for one in told]
    right = sum(one["state"] == "right" for one in operators)
    return (f"{name:<14} {right:>3} of {len(operators):<3} right  {len(told):>3} measured  "
            f"{mean(values):6.2f}x  {sum(map(is_below, told)):>3} below {LEAST}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--nereid", required=True)
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seconds-per-case", type=float, default=0.5)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--again", type=int, default=2)
    parser.add_argument("--json")
    options = parser.parse_args()
    folders = sorted(each.name for each in (ROOT / "operators").iterdir() if each.is_dir())
    everything, last = [], {}
    for name in options.groups or [".", *folders]:
        last = group_of(options, name)
        everything += last["operators"]
        print(line(name, last["operators"]), flush=True)
        for one in sorted(last["operators"], key=lambda each: speedup(each) or 0):
            if one["state"] != "right":
                print(f"  {one['operator']}: {one['state']} {one['message']}")
            elif is_below(one):
                print(f"  {one['operator']}: " + ", ".join(f"{x:.2f}x" for x in one["speedups"]))
    print(line("all", everything))
    if options.json:
        keep = {key: last[key] for key in ("version", "revision", "target", "environment")}
        result = {"schema": 1, "definitions": "operators", **keep, "dtype": options.dtype,
                  "seconds_per_case": options.seconds_per_case, "operators": everything,
                  "geometric_mean": mean([one["speedups"][-1] for one in everything
                                          if one["speedups"]]),
                  "below": [one["operator"] for one in everything if is_below(one)]}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    values = [one["speedups"][-1] for one in everything if one["speedups"]]
    failed = any(one["state"] != "right" for one in everything)
    return 1 if failed or mean(values) < MEAN or any(map(is_below, everything)) else 0


if __name__ == "__main__":
    sys.exit(main())
