#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor time that each definition of operators/ takes to be generated and verified.

  scripts/generation_time.py --nereid FILE [--only TEXT ...] [--limit SECONDS] [--again N] [--seed N]
                             [--timeout SECONDS] [--json FILE]

One process at a time generates a definition's files and verifies them in all its types, with an empty cache
of kernels. Counted are the processor seconds, of user and system, of that process and of those that it
started: on a machine with other work the time on the clock says nothing. Those above --limit (10) are
measured --again times (1), since other work slows caches and cores too, and the least counts. This
machine's descriptor is measured before, once, since a machine has it from its first use on. --only takes
definitions by parts of their paths; a path that it matches whole, without ".toml", is that one alone.
Exit status 1 when one is above the limit or is not verified.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def definitions(parts):
    """All whose path holds one of the parts, or is one; without parts all."""
    found = {path.relative_to(ROOT / "operators").with_suffix("").as_posix(): path
             for path in (ROOT / "operators").rglob("*.toml")}
    whole = {part for part in parts if part in found}
    return [found[name] for name in sorted(found)
            if not parts or name in whole
            or any(part in name for part in parts if part not in whole)]


def measured(command, environment, log, timeout):
    """Exit status of a process and the processor seconds of it and what it started; ended after `timeout`."""
    with open(log, "wb") as output:
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        end = time.monotonic() + timeout
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.killpg(child.pid, signal.SIGKILL)
                _, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, usage.ru_utime + usage.ru_stime


def once(options, path, descriptors):
    """State and processor seconds of one definition, with an empty cache of kernels."""
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache"
        cache.mkdir()
        for file in descriptors.glob("chip-*.json"):
            shutil.copy(file, cache)
        log = pathlib.Path(folder) / "log"
        status, seconds = measured(
            [options.nereid, "verify", str(path), "--fresh", "--seed", str(options.seed), "--out",
             f"{folder}/out"], dict(os.environ, NEREID_CACHE_DIR=str(cache)), log, options.timeout)
        if status != 0:
            print(log.read_text(errors="replace")[-2000:], file=sys.stderr)
        return "verified" if status == 0 else f"exit status {status}", seconds


def describe(options, folder):
    """Measures this machine, if nothing else: the first definition that is generated does."""
    environment = dict(os.environ, NEREID_CACHE_DIR=str(folder))
    subprocess.run([options.nereid, "generate", str(ROOT / "operators/broadcast_add.toml"), "--out",
                    str(folder / "out")], env=environment, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nereid", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--again", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    paths = definitions(options.only)
    if not paths:
        print(f"generation-time expects parts of paths below operators/, but got {options.only}",
              file=sys.stderr)
        return 2
    rows, began = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        descriptors = pathlib.Path(folder)
        describe(options, descriptors)
        for path in paths:
            state, seconds = once(options, path, descriptors)
            taken = [seconds]
            while state == "verified" and min(taken) > options.limit and len(taken) <= options.again:
                state, seconds = once(options, path, descriptors)
                taken.append(seconds)
            name = path.relative_to(ROOT / "operators").with_suffix("").as_posix()
            rows.append({"definition": name, "state": state, "seconds": round(min(taken), 2),
                         "all": [round(seconds, 2) for seconds in taken]})
            print(f"{name:52} {state:10} {' '.join(f'{seconds:7.2f}' for seconds in taken)}", flush=True)
    slow = [row for row in rows if row["seconds"] > options.limit]
    failed = [row for row in rows if row["state"] != "verified"]
    print(f"{len(rows)} definitions, {sum(row['seconds'] for row in rows):.0f} s; "
          f"{len(slow)} above {options.limit:g} s, {len(failed)} not verified")
    for row in sorted(slow + failed, key=lambda row: -row["seconds"]):
        print(f"  {row['definition']:50} {row['state']:10} {row['seconds']:7.2f}")
    if options.json:
        revision = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                                  capture_output=True, text=True, check=False).stdout.strip()
        options.json.write_text(json.dumps({
            "schema": 1, "revision": revision, "seed": options.seed, "limit_seconds": options.limit,
            "unit": "processor seconds, user and system", "processors": len(os.sched_getaffinity(0)),
            "load_average": [round(began, 2), round(os.getloadavg()[0], 2)],
            "sum_seconds": round(sum(row["seconds"] for row in rows), 2),
            "above_limit": [row["definition"] for row in sorted(slow, key=lambda row: -row["seconds"])],
            "not_verified": [row["definition"] for row in failed],
            "definitions": rows}, indent=1) + "\n")
    return 1 if slow or failed else 0


if __name__ == "__main__":
    sys.exit(main())
