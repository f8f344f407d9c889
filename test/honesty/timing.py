#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts which kernels that only seem quick are refused by `nereid bench`:
test/honesty/timing.py NEREID [SUBJECT…].

Exit status 1 when one is not refused (or ends the program), a right kernel is refused, or a machine that is
busy in bursts is not called noisy. Subjects are a generated operator and hand-written kernels.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from run import ROOT, first_failure, kernel_files, operator
from time_plants import TIME_PLANTS

OPERATORS = {"duel": ROOT / "test" / "honesty" / "duel.toml"}
KERNELS = ["vector_add", "relu", "gelu", "softmax"]
OUTSIDE = "[E0403]"  # stopped at a page in front of the tensor: refused as well
BURSTS = """
import time
while True:
    end = time.monotonic() + 0.004
    while time.monotonic() < end:
        pass
    time.sleep(0.011)
"""


def bench(subject):
    return subject.run("bench", "--seconds-per-case", "0.1")


def busy_bursts():
    """One process for each CPU that takes it away for a moment, again and again."""
    return [subprocess.Popen([sys.executable, "-c", BURSTS]) for _ in range(os.cpu_count() or 1)]


def is_noisy(subject):
    """Whether the table calls a case noisy while other processes take the CPUs in bursts."""
    processes = busy_bursts()
    try:
        time.sleep(0.2)
        return "noisy" in bench(subject)[1]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def subjects(nereid, wanted, scratch):
    for name, definition in OPERATORS.items():
        if not wanted or name in wanted:
            yield operator(nereid, definition, scratch)
    for name in KERNELS:
        if not wanted or name in wanted:
            yield from kernel_files(nereid, name, scratch)


def main():
    nereid, wanted = sys.argv[1], sys.argv[2:]
    refused, missed, wrong = 0, [], []
    with tempfile.TemporaryDirectory() as scratch:
        for subject in subjects(nereid, wanted, pathlib.Path(scratch)):
            status, output = bench(subject)
            if status != 0:
                wrong.append(f"{subject.title}: a right kernel is refused: {first_failure(output)}")
            if not is_noisy(subject):
                wrong.append(f"{subject.title}: a machine busy in bursts is not called noisy")
            for plant, change in TIME_PLANTS.items():
                if not subject.edit(change):
                    continue
                status, output = bench(subject)
                if status == 1 or OUTSIDE in output:
                    refused += 1
                    print(f"refused {subject.title}: {plant}: {first_failure(output)}", flush=True)
                else:
                    missed.append(f"{subject.title}: {plant}: status {status}")
    for text in missed:
        print("MISSED ", text)
    for text in wrong:
        print("WRONG  ", text)
    print(f"{refused} refused, {len(missed)} missed, {len(wrong)} wrong otherwise")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
