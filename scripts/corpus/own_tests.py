# SPDX-License-Identifier: Apache-2.0
"""Runs tests of a checkout on CPU tensors: pytest with cpu_tensors.py, kernels through
test/python/nereid_triton. A test that ends the process counts as failed, and the rest goes on in another."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAYER = HERE.parents[1] / "test" / "python"


def read(log):
    """{test: its last verdict, with the reason}"""
    found = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        record = json.loads(line)
        if record["verdict"] != "started" or record["test"] not in found:
            found[record["test"]] = record
    return found


def run_file(file, roots, options, folder):
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    path = [str(LAYER), str(HERE), *map(str, roots), os.environ.get("PYTHONPATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, path)),
                       NEREID_CACHE_DIR=str(folder / "cache"), TRITON_CACHE_DIR=str(folder / "upstream"))
    command = [options.upstream, "-m", "pytest", "-p", "cpu_tensors", "-p", "no:cacheprovider", "-q",
               "--corpus-log", str(log), "--corpus-every", str(options.every),
               "--corpus-seconds", str(int(options.timeout)), str(file)]
    while True:
        before = read(log)
        done = [f"--deselect={test}" for test in before]
        with open(folder / "output", "w") as output:
            subprocess.run(command + done, cwd=options.checkout, env=environment, stdout=output,
                           stderr=subprocess.STDOUT)
        found = read(log)
        ended = [t for t, record in found.items() if record["verdict"] == "started"]
        with open(log, "a") as stream:
            for test in ended:
                print(json.dumps({"test": test, "verdict": "failed", "reason": "ended the process"}),
                      file=stream)
        if not ended or len(found) == len(before):
            return read(log)


def run(roots, options):
    total, reasons, rows = collections.Counter(), collections.Counter(), {}
    for file in options.tests:
        with tempfile.TemporaryDirectory() as folder:
            found = run_file(file, roots, options, pathlib.Path(folder))
        counts = collections.Counter(record["verdict"] for record in found.values())
        rows[str(file)] = list(found.values())
        print(f"{file}: {dict(counts)}", flush=True)
        total += counts
        for record in found.values():
            if record["verdict"] == "failed":
                reasons[re.sub(r"\d[\d.e+-]*", "N", record["reason"].split("\n")[0])[:200]] += 1
    print(f"{sum(total.values())} tests: {dict(total)}")
    for reason, count in reasons.most_common(20):
        print(f"{count:>6}  {reason}")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"schema": 2, "tests": rows}, indent=1) + "\n")
    return 1 if total["failed"] else 0
