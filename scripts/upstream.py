#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev upstream FOLDER [FILE…] [pytest arguments]: upstream's own language tests, on this CPU.

FOLDER is a checkout of upstream's repository or of its fork for CPUs. The tests run with upstream's
Python package, whose compiler test/python/nereid_triton replaces, in a virtual environment of their
own in build/upstream. The verdict of every test stands in build/upstream/verdicts/FILE.jsonl, and
the table that is printed in build/upstream/summary.md. NEREID_UPSTREAM_PYTHON names an interpreter
that has torch, triton, numpy, scipy and pytest already.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "upstream"
# The package whose Python side is nearest to the tests: releases follow the tests by weeks.
PACKAGES = ["triton==3.8.*", "numpy", "scipy", "pytest"]


def fail(text):
    sys.exit(f"upstream: {text}")


def interpreter():
    """A Python with upstream's package; made with pip when there is none."""
    if given := os.environ.get("NEREID_UPSTREAM_PYTHON"):
        found = subprocess.run([given, "-c", "import triton; print(triton.__version__)"],
                               capture_output=True, text=True).stdout.strip()
        wanted = PACKAGES[0].removeprefix("triton==").removesuffix("*")
        if not found.startswith(wanted):
            # Another release lacks what the tests ask for, which would not be a verdict on anything.
            fail(f"'{given}' has triton {found or 'none'}, but the tests expect {wanted}*")
        return given
    python = WORK / "venv" / "bin" / "python"
    ready = WORK / "venv" / "ready"
    if not ready.exists():
        print("== installing torch and triton into build/upstream/venv", flush=True)
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
        pip = [python, "-m", "pip", "install", "-q"]
        subprocess.run(pip + ["torch"], check=True)
        # torch asks for one release of triton; the tests ask for theirs.
        subprocess.run(pip + ["--no-deps", PACKAGES[0]], check=True)
        subprocess.run(pip + PACKAGES[1:], check=True)
        ready.touch()
    return str(python)


def read(log):
    """The last verdict of every test."""
    verdicts = {}
    if log.exists():
        for line in log.read_text().splitlines():
            record = json.loads(line)
            verdicts[record["test"]] = record
    return verdicts


def run_file(python, checkout, file, arguments):
    """One file of tests. What ends the process is a failure; the tests behind it run in another."""
    log = WORK / "verdicts" / f"{file.stem}.jsonl"
    log.unlink(missing_ok=True)
    helpers = checkout / "python" / "triton" / "_internal_testing.py"
    command = [python, "-m", "pytest", "-p", "nereid_triton.judge", "-p", "no:cacheprovider", "-q",
               "--no-header", "--no-summary", "--device", "cpu", "--nereid-log", log,
               "--nereid-helpers", helpers, file.name, *arguments]
    path = [str(ROOT / "test" / "python"), os.environ.get("PYTHONPATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, path)),
                       TRITON_CACHE_DIR=str(WORK / "triton-cache"),
                       NEREID_CACHE_DIR=str(WORK / "cache"))
    while True:
        with open(WORK / "verdicts" / f"{file.stem}.out", "w") as output:
            subprocess.run(command, cwd=file.parent, env=environment, stdout=output,
                           stderr=subprocess.STDOUT)
        ended = [t for t, record in read(log).items() if record["verdict"] == "started"]
        if not ended:
            return read(log)
        with open(log, "a") as verdicts:
            for test in ended:
                record = {"test": test, "verdict": "failed", "reason": "ended or hung the process"}
                verdicts.write(json.dumps(record) + "\n")


def shorten(reason):
    """Like reasons become one line of the table."""
    errors = [line[1:].strip() for line in reason.splitlines() if line.startswith("E ")]
    text = next((line for line in errors if "error" in line.lower()), (errors or [reason])[0])
    text = re.sub(r"\S*/", "", text.strip().splitlines()[0] if text.strip() else "no reason given")
    return re.sub(r"\d+", "N", text)[:120].replace("|", "/")


def table(results):
    lines = ["| tests | judged | passed | failed | not judged |", "|---|---|---|---|---|"]
    total = collections.Counter()
    for name, verdicts in results.items():
        count = collections.Counter(record["verdict"] for record in verdicts.values())
        total += count
        lines.append(row(name, count))
    lines.append(row("all", total))
    for verdict in ("failed", "not judged"):
        reasons = collections.Counter()
        for verdicts in results.values():
            for test, record in verdicts.items():
                if record["verdict"] == verdict:
                    function = re.sub(r".*::", "", test).split("[")[0]
                    reason = shorten(record["reason"])
                    reasons[(function if verdict == "failed" else "", reason)] += 1
        lines += ["", f"| {verdict} | why |", "|---|---|"]
        lines += [f"| {n} | {' '.join(filter(None, why))} |" for why, n in reasons.most_common()]
    return "\n".join(lines) + "\n"


def row(name, count):
    judged = count["passed"] + count["failed"]
    share = f" ({100 * count['passed'] / judged:.1f} %)" if judged else ""
    return f"| {name} | {judged} | {count['passed']}{share} | {count['failed']} | " \
           f"{count['not judged']} |"


def main():
    if len(sys.argv) < 2:
        fail("expects a checkout of upstream, such as ./dev upstream ../triton")
    checkout = pathlib.Path(sys.argv[1]).resolve()
    folder = checkout / "python" / "test" / "unit" / "language"
    if not folder.is_dir():
        fail(f"'{checkout}' has no folder python/test/unit/language")
    names = [a for a in sys.argv[2:] if a.endswith(".py")]
    arguments = [a for a in sys.argv[2:] if not a.endswith(".py")]
    files = [folder / name for name in names] or sorted(folder.glob("test_*.py"))
    (WORK / "verdicts").mkdir(parents=True, exist_ok=True)
    python = interpreter()
    results = {}
    for file in files:
        if not file.exists():
            fail(f"'{folder}' has no file '{file.name}'")
        results[file.stem] = run_file(python, checkout, file, arguments)
        count = collections.Counter(r["verdict"] for r in results[file.stem].values())
        print(row(file.stem, count), flush=True)
    (WORK / "summary.md").write_text(table(results))
    print(f"\nwrote {(WORK / 'summary.md').relative_to(ROOT)}, verdicts in "
          f"{(WORK / 'verdicts').relative_to(ROOT)}")
    sys.exit(any(r["verdict"] == "failed" for v in results.values() for r in v.values()))


if __name__ == "__main__":
    main()
