#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the shipped definitions on this processor, over the unfused library baseline.

  scripts/cpu_speed.py --nereid FILE [--groups NAME ...] [--only TEXT ...] [--dtype TEXT]
                       [--seconds-per-case N] [--target TEXT] [--again N] [--streams N]
                       [--timeout SECONDS] [--json FILE]

Develops every definition of operators/ without optimisation rounds and prints, for each group, how many there
are, the geometric mean of their speed-ups and those below 0.9. --groups takes those of these folders alone
("." is those that lie in none), --only those whose paths end with one of these texts. A speed-up is a ratio
of times measured in turns, so that other work on the machine slows both sides; what is below 0.9 is measured
--again times (2) with three times the budget, and counts as below when all agree. --streams deals the
definitions to so many sweeps side by side, each on its own share of the processors. Exit status 1 when a
definition fails or the geometric mean is below 1.5 or one is below 0.9.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST, MEAN = 0.9, 1.5


def own_processors(number, count):
    """Those of one of `count` streams, neighbours."""
    every = sorted(os.sched_getaffinity(0))
    share = max(1, len(every) // count)
    return every[number * share:(number + 1) * share] or every


def develop(options, files, seconds, stream=0):
    """The operators of a sweep over definitions, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(folder) / "in", pathlib.Path(folder) / "out"
        source.mkdir()
        for file in files:
            (source / file.name).write_text(file.read_text())
        command = [options.nereid, "develop", "--all", str(source), "--out", str(out), "--rounds", "0",
                   "--seconds-per-case", str(seconds), "--target", options.target]
        command += ["--dtype", options.dtype] if options.dtype else []
        cores = own_processors(stream, options.streams)
        done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            said, _ = done.communicate(timeout=options.timeout)
        except subprocess.TimeoutExpired:  # what is done until then counts
            done.send_signal(signal.SIGINT)
            said, _ = done.communicate()
        summary = out / "summary.json"
        if not summary.exists():
            sys.exit(said)
        return json.loads(summary.read_text())


def speedup(operator):
    """Of the cases that were measured steadily, else of all; None without any."""
    return operator["speedup"] or operator["unsteady_speedup"]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def group(file):
    """The folder of operators/ that a definition lies in, "." for none."""
    parts = file.relative_to(ROOT / "operators").parts
    return parts[0] if len(parts) > 1 else "."


def asked(options):
    """The definitions that are measured, by their names."""
    def ends(file):
        path = "/" + file.relative_to(ROOT / "operators").with_suffix("").as_posix()
        return any(path.endswith("/" + text) for text in options.only)

    return [file for file in sorted((ROOT / "operators").rglob("*.toml"), key=lambda each: each.name)
            if (not options.groups or group(file) in options.groups)
            and (options.only is None or ends(file))]


def in_streams(options, work):
    """work(stream) of every stream, side by side."""
    with concurrent.futures.ThreadPoolExecutor(options.streams) as pool:
        return list(pool.map(work, range(options.streams)))


def measure_all(options, files):
    """Their operators, and the last sweep; what seems slow is measured again."""
    def sweep(stream):
        mine = files[stream::options.streams]
        return develop(options, mine, options.seconds_per_case, stream) if mine else None

    sweeps = [one for one in in_streams(options, sweep) if one]
    by_name = {file.name: file for file in files}
    operators = []
    for operator in (one for sweep in sweeps for one in sweep["operators"]):
        file = by_name[pathlib.Path(operator["definition"]).name]
        operator["group"], operator["definition"] = group(file), file.relative_to(ROOT).as_posix()
        operator["speedups"] = [speedup(operator)] if speedup(operator) else []
        operator.pop("folder", None)
        operators.append(operator)

    def again(stream):
        for operator in [one for one in operators if is_below(one)][stream::options.streams]:
            for _ in range(options.again):
                once = develop(options, [ROOT / operator["definition"]], 3 * options.seconds_per_case,
                               stream)["operators"]
                if not once or not speedup(once[0]):
                    break
                operator["speedups"].append(speedup(once[0]))
                if not is_below(operator):
                    break

    in_streams(options, again)
    return operators, sweeps[-1]


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
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seconds-per-case", type=float, default=0.5)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--again", type=int, default=2)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--timeout", type=float, help="of a sweep; what is done until then is told")
    parser.add_argument("--json")
    options = parser.parse_args()
    files = asked(options)
    if not files:
        parser.error("no definition of operators/ is asked for")
    everything, last = measure_all(options, files)
    for name in sorted({one["group"] for one in everything}):
        those = [one for one in everything if one["group"] == name]
        print(line(name, those), flush=True)
        for one in sorted(those, key=lambda each: speedup(each) or 0):
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
