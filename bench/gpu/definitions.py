#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped definitions by our compiler beside PyTorch's eager operations, in turns, one operator after another.

FOLDERs are those that `nereid generate --language python` wrote; a folder of folders stands for all in it.
Only what was judged right on the very tensors is timed. Prints a line for each, then the geometric mean and
those below --least; exit status 1 when one was wrong, failed or was not begun in time. With --compiled also
beside `torch.compile` of the same operations.
"""

import argparse
import concurrent.futures
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


def ratios(record, peer="ratio"):
    return [row[peer] for row in record.get("rows", []) if peer in row]


def line(record):
    cells = [f"{pathlib.Path(record['case']).name:36} {record.get('dtype', ''):9}"]
    cells += [f"{row['ratio']:6.2f}{'~' if row['noisy'] else ' '} "
              + (f"{row['ratio_compiled']:6.2f} " if "ratio_compiled" in row else "")
              + f"{row['median'] * 1e6:9.1f} us {row['sizes']}"
              for row in record.get("rows", []) if "ratio" in row]
    return " ".join([*cells, failure(record)[:200]])


def prepare(folders, arguments, options):
    """Nothing of what these processes say is kept: what fails there fails again where it is timed."""
    with concurrent.futures.ThreadPoolExecutor(options.prepare) as pool:
        for turn in range(options.prepare):
            pool.submit(workers.measure_all, folders[turn::options.prepare], arguments, options.limit,
                        options.budget, lambda record: None, WORKER)


def summary(found, key, least, failed):
    every = [value for values in found.values() for value in values]
    slow = sorted((min(values), name) for name, values in found.items() if values and min(values) < least)
    print(f"{len(found)} operators, {len(every)} cases timed beside {key}: {mean(every):.2f} in the geometric "
          f"mean, {len(slow)} below {least}{failed}")
    for value, name in slow:
        print(f"  {value:.2f} {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", metavar="OUT", required=True, help="where the result goes")
    parser.add_argument("--dtype", default="", help="that is timed where the operator has it; else its first")
    parser.add_argument("--cases", type=int, default=1, help="of each operator, the largest first")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--limit", type=float, default=60, help="seconds of one operator")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all")
    parser.add_argument("--compiled", action="store_true", help="torch.compile takes its turn, too")
    parser.add_argument("--prepare", type=int, default=0, metavar="N",
                        help="with --compiled: N processes compile first, and fill that compiler's cache")
    parser.add_argument("--least", type=float, default=0.8)
    parser.add_argument("--revision", help="of the project, where git does not know it")
    options = parser.parse_args()
    arguments = ["--rounds", str(options.rounds), "--cases", str(options.cases), "--dtype", options.dtype]
    folders = folders_of(options.folders)
    if options.compiled and options.prepare:
        prepare(folders, [*arguments, "--prepare"], options)
    arguments += ["--compiled"] if options.compiled else []
    records = workers.measure_all(folders, arguments, options.limit, options.budget,
                                  lambda record: print(line(record), flush=True), WORKER)
    import environment
    result = {"schema": 1, "subject": "definitions beside eager operations",
              "environment": environment.describe(options.revision), "rows": records}
    pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    failed = [record for record in records if failure(record)]
    summary({record["case"]: ratios(record) for record in records}, "eager", options.least,
            f", {len(failed)} with failures")
    if options.compiled:
        summary({record["case"]: ratios(record, "ratio_compiled") for record in records}, "compiled", 1.0, "")
    return 1 if failed or any(record.get("failures") for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
