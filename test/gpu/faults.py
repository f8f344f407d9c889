#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel that writes where no memory is, on a real device: it is named, its process says that the device is
lost to it, and a sweep over several kernels goes on with the next one. NEREID_PROGRAM names the program."""

import json
import os
import pathlib
import subprocess
import sys

from interface import (ADD, ADD_SIGNATURE, Kernel, Stream, Tensor, expect, expect_code, expect_equal, launch,
                       main)

FOLDER = pathlib.Path(__file__).resolve().parent / "faulty"
DEVICE = "nvidia:0"


def nereid(*words):
    done = subprocess.run([os.environ["NEREID_PROGRAM"], "--json", *words], capture_output=True, text=True,
                          timeout=300)
    return done.returncode, done.stdout, done.stderr


def rows(text, key):
    return {row["case"]: row[key] for row in json.loads(text)["rows"]}


def check_verify_goes_on():
    status, out, errors = nereid("verify", str(FOLDER), "--target", DEVICE)
    expect_equal(status, 1, f"status with '{errors}'")
    found = {}
    for row in json.loads(out)["rows"]:
        found.setdefault(row["case"], row["result"])
    expect_equal((found["before"], found["after"]), ("passed", "passed"), "the other kernels")
    expect("E0421" in found["fault"] and "write_nowhere" in found["fault"],
           f"expects the kernel and E0421, but got '{found['fault']}'")
    return found["fault"]


def check_bench_goes_on():
    status, out, errors = nereid("bench", str(FOLDER), "--target", DEVICE, "--seconds-per-case", "0.2")
    expect_equal(status, 1, f"status with '{errors}'")
    found = {row["case"]: row for row in json.loads(out)["rows"]}
    text = json.dumps(found["fault"])
    expect("E0421" in text and "write_nowhere" in text, f"expects the kernel and E0421, but got {text}")
    for name in ("before", "after"):
        expect("E0421" not in json.dumps(found[name]), f"'{name}' is told to fault: {found[name]}")


def check_tune_goes_on_with_the_next_config():
    status, out, errors = nereid("tune", str(FOLDER), "--case", "searched", "--target", DEVICE,
                                 "--seconds-per-case", "0.1")
    expect_equal(status, 0, f"status with '{errors}'")
    case, = json.loads(out)["cases"]
    first, fault, last = case["configs"]
    expect("E0421" in fault.get("refused", ""), f"expects E0421 of the second config, but got {fault}")
    expect("median" in first and "median" in last, f"the others are not timed: {case}")
    expect("FAR=0" in case["kept"], f"keeps {case['kept']}")
    return fault["refused"]


def check_run_names_the_kernel():
    status, _, errors = nereid("run", str(FOLDER), "--case", "fault", "--target", DEVICE)
    expect(status != 0 and "E0421" in errors and "write_nowhere" in errors,
           f"expects E0421 with the kernel, but got {status}: {errors}")


def lose_the_device():
    """In a process of its own, which cannot use the device afterwards."""
    text = (FOLDER / "faulty.py").read_text()
    kernel = Kernel(DEVICE, text, "*fp32, *fp32, 1024", "write_nowhere")
    x, add = Tensor.of(DEVICE, (1024, )).fill(1), Kernel(DEVICE, ADD, ADD_SIGNATURE)
    said = expect_code("E0421", lambda: launch(kernel, (1, 1, 1), x, x))
    expect("write_nowhere" in said, f"expects the kernel's name, but got '{said}'")
    expect_code("E0421", lambda: launch(add, (1, 1, 1), x, x, x, 1024))
    expect_code("E0421", lambda: Stream(DEVICE))
    expect_code("E0421", lambda: Tensor.of(DEVICE, (1024, )))
    print(said)


def check_the_process_is_told_that_the_device_is_lost():
    done = subprocess.run([sys.executable, __file__, "--lose"], capture_output=True, text=True, timeout=300)
    expect_equal(done.returncode, 0, f"status with '{done.stdout}{done.stderr}'")
    return done.stdout.strip()


def check_the_next_process_has_the_device():
    x = Tensor.of(DEVICE, (1024, )).fill(1)
    launch(Kernel(DEVICE, ADD, ADD_SIGNATURE), (1, 1, 1), x, x, x, 1024)
    expect_equal(set(x.floats(Stream(DEVICE))), {2.0}, "sums")


if __name__ == "__main__":
    if sys.argv[1:] == ["--lose"]:
        lose_the_device()
    else:
        main(dict(globals()))
