#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy and performance of operators' folders, as `nereid generate --language python` wrote them.

On a machine with a GPU, torch and upstream's triton; nothing is built and no file of a folder is
changed. First the accuracy programs, several at a time, since they wait for the compiler most of
it; then, one alone after another, the performance programs of those that were right. A program that
fails or takes longer than --limit is told, and the others go on.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


class Folder:

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        manifest = json.loads((self.path / "nereid.json").read_text())
        self.name, self.version = manifest["operatorName"], manifest["generatorVersion"]


def run_program(folder, kind, arguments, limit):
    """What came of a program of the folder, and its own record."""
    program = f"{folder.name}_{kind}.py"
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "result.json"
        command = [sys.executable, program, "--json", str(out), *arguments]
        try:
            done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True,
                                  encoding="utf-8", errors="replace", timeout=limit,
                                  env=dict(os.environ, PYTHONIOENCODING="utf-8"))
            status, said = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            status, said = None, f"ended after {limit:.0f} s"
        try:
            record = json.loads(out.read_text())
        except (OSError, ValueError):  # none, or one that was cut off
            record = {}
    result = {"state": "passed" if status == 0 else "failed", "status": status,
              "seconds": round(time.monotonic() - begin, 1)}
    if status != 0:
        result["said"] = said.strip().splitlines()[-12:]
    return result, record


def check(folder, limit):
    result, record = run_program(folder, "accuracy", [], limit)
    rows = record.get("rows", [])
    wrong = [row for row in rows if row["wrong"]]
    kernel = [row for row in rows if row["side"] == "kernel"]
    # A baseline of PyTorch's that is less exact than the kernel has to be is told, and no failure.
    told = [row for row in rows if row.get("told")]
    result.update(checks=len(rows), wrong=len(wrong), wrong_rows=wrong[:8], told=len(told),
                  elements=sum(row["elements"] for row in kernel),
                  unverifiable=sum(row["unverifiable"] for row in kernel),
                  largest_share_of_bound=max((row["share_of_bound"] for row in kernel), default=0))
    return result


def measure(folder, options):
    arguments = ["--samples", str(options.samples), "--seconds", str(options.seconds)]
    arguments += ["--dtype", options.dtype] if options.dtype else []
    result, record = run_program(folder, "performance", arguments, options.limit)
    for row in record.get("rows", []):
        for side in ("baseline", "kernel"):
            if times := row.get(side, {}).pop("samples_ms", None):
                row[side]["samples"] = len(times)
                row[side]["samples_ms"] = [round(each, 5) for each in times]
    return {**result, **record}


def line(folder, accuracy, performance):
    timed = [row for row in performance.get("rows", []) if row["state"] == "timed"]
    best = max((row["gigabytes_per_second"] for row in timed), default=None)
    mean = performance.get("geometric_mean") if timed else None
    cells = [f"{folder.name:28}", f"{accuracy['checks'] - accuracy['wrong']:>5}/{accuracy['checks']:<5}",
             f"{mean:>8.2f}x" if mean is not None else f"{'-':>9}",
             f"{best:>9.0f}" if best is not None else f"{'-':>9}",
             f"{len(timed):>3}/{len(performance.get('rows', [])):<3}",
             f"{accuracy['seconds'] + performance.get('seconds', 0):>6.0f} s"]
    if accuracy["state"] not in ("passed", "not run"):
        cells.append("accuracy: " + " ".join(accuracy.get("said", [""])[-1:])[:100])
    elif performance.get("state") == "failed":
        cells.append("performance: " + " ".join(performance.get("said", [""])[-1:])[:100])
    elif performance.get("state") == "passed":
        cells.append("reached" if performance.get("is_reached") else "target missed")
    return " ".join(cells)


HEAD = (f"{'operator':28} {'right':>11} {'speed-up':>9} {'GB/s':>9} {'timed':>7} {'took':>8}")


def environment_of(folders, revision):
    import environment
    found = environment.describe(revision)
    found["nereid"] = found["nereid"] or ", ".join(sorted({each.version for each in folders}))
    return found


def summary(records):
    right = [one for one in records if one["accuracy"]["state"] == "passed"]
    timed = [one for one in records if one["performance"].get("geometric_mean")]
    speedups = [one["performance"]["geometric_mean"] for one in timed]
    return {"operators": len(records), "right": len(right), "timed": len(timed),
            "checks": sum(one["accuracy"]["checks"] for one in records),
            "geometric_mean": math.exp(statistics.fmean(map(math.log, speedups))) if timed else None,
            "reached": len([one for one in timed if one["performance"]["is_reached"]])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", metavar="OUT", required=True, help="where the result goes")
    parser.add_argument("--limit", type=float, default=240, help="seconds of one program")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all; what is left is told")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2),
                        help="accuracy programs at a time")
    parser.add_argument("--dtype", help="that is timed, or all; default: each operator's first")
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=5, help="of one case")
    parser.add_argument("--no-accuracy", action="store_true",
                        help="only time, where the accuracy programs have run; results are still checked "
                        "before and behind the timed calls")
    parser.add_argument("--revision", help="of the project, where git does not know it")
    options = parser.parse_args()
    try:
        folders = [Folder(path) for path in options.folders]
    except (OSError, ValueError, KeyError) as problem:
        print(f"no folder of an operator: {problem}", file=sys.stderr)
        return 2
    deadline = time.monotonic() + options.budget
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def limited(folder):
            if options.no_accuracy:
                return {"state": "not run", "checks": 0, "wrong": 0, "seconds": 0}
            left = min(options.limit, deadline - time.monotonic())
            if left <= 0:
                return {"state": "left out", "checks": 0, "wrong": 0, "seconds": 0}
            return check(folder, left)

        started = {pool.submit(limited, folder): folder for folder in folders}
        for done in concurrent.futures.as_completed(started):
            print(f"checked {started[done].name}: {done.result()['state']}", file=sys.stderr, flush=True)
    accuracies = {folder.path: done.result() for done, folder in started.items()}
    records, environment = [], environment_of(folders, options.revision)
    print(HEAD, flush=True)
    for folder in folders:
        accuracy, performance = accuracies[folder.path], {"state": "skipped"}
        if accuracy["state"] in ("passed", "not run"):
            if time.monotonic() < deadline:
                performance = measure(folder, options)
            else:
                performance = {"state": "left out"}
        records.append({"operator": folder.name, "folder": folder.path.name, "accuracy": accuracy,
                        "performance": performance})
        print(line(folder, accuracy, performance), flush=True)
        result = {"schema": 1, "subject": "operators in python",
                  "environment": environment,
                  "summary": summary(records), "operators": records}
        # After each, so that what was measured is kept whatever happens to the next.
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    told = summary(records)
    print(f"{told['right']} of {told['operators']} right in all of {told['checks']} checks; "
          f"{told['timed']} timed, {told['reached']} of them reach their target; geometric mean "
          f"{told['geometric_mean'] or 0:.2f}x")
    return 0 if told["right"] == told["timed"] == told["operators"] else 1


if __name__ == "__main__":
    sys.exit(main())
