#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped definitions by our compiler beside PyTorch's eager operations, in turns, one operator after another.

FOLDERs are those that `nereid generate --language python` wrote; a folder of folders stands for all in it.
Only what was judged right on the very tensors is timed. Prints a line for each, then the geometric mean and
those below --least; exit status 1 when one was wrong, failed or was not begun in time.
"""

import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import workers  # noqa: E402

WORKER = pathlib.Path(__file__).with_name("definition_worker.py")


def folders_of(paths):
    found = []
    for path in map(pathlib.Path, paths):
        found += [path] if (path / "nereid.json").exists() else sorted(
            each.parent for each in path.glob("*/nereid.json"))
    return [str(each.resolve()) for each in found]


def failure(record):
    texts = [f"{who}: {why}" for one in [record, *record.get("rows", [])]
             for who, why in one.get("failures", {}).items()]
    return "; ".join(texts)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def ratios(record):
    return [row["ratio"] for row in record.get("rows", []) if "ratio" in row]


def line(record):
    cells = [f"{pathlib.Path(record['case']).name:36} {record.get('dtype', ''):9}"]
    cells += [f"{row['ratio']:6.2f}{'~' if row['noisy'] else ' '} {row['median'] * 1e6:9.1f} us {row['sizes']}"
              for row in record.get("rows", []) if "ratio" in row]
    return " ".join([*cells, failure(record)[:200]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", metavar="OUT", required=True, help="where the result goes")
    parser.add_argument("--dtype", default="", help="that is timed where the operator has it; else its first")
    parser.add_argument("--cases", type=int, default=1, help="of each operator, the largest first")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--limit", type=float, default=60, help="seconds of one operator")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all")
    parser.add_argument("--least", type=float, default=0.8)
    parser.add_argument("--revision", help="of the project, where git does not know it")
    options = parser.parse_args()
    arguments = ["--rounds", str(options.rounds), "--cases", str(options.cases), "--dtype", options.dtype]
    records = workers.measure_all(folders_of(options.folders), arguments, options.limit, options.budget,
                                  lambda record: print(line(record), flush=True), WORKER)
    import environment
    result = {"schema": 1, "subject": "definitions beside eager operations",
              "environment": environment.describe(options.revision), "rows": records}
    pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    found = {record["case"]: ratios(record) for record in records}
    every = [value for values in found.values() for value in values]
    failed = [record for record in records if failure(record)]
    slow = sorted((min(values), name) for name, values in found.items() if values and min(values) < options.least)
    print(f"{len(records)} operators, {len(every)} cases timed: {mean(every):.2f} in the geometric mean, "
          f"{len(slow)} below {options.least}, {len(failed)} with failures")
    for value, name in slow:
        print(f"  {value:.2f} {name}")
    return 1 if failed or any(record.get("failures") for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
