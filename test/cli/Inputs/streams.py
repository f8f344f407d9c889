# SPDX-License-Identifier: Apache-2.0
# streams.py NEREID DEFINITION KERNELS: every command with its output going nowhere.
import os
import subprocess
import sys

nereid, definition, kernels = sys.argv[1:]
kernel = [f"{kernels}/vector_add/vector_add.py", "-s", "*fp32, *fp32, *fp32, i32, 64"]
quick = ["--seconds-per-case", "0.001"]
commands = [
    ["--version"],
    ["--help"],
    ["explain"],
    ["chips"],
    ["ops"],
    ["knobs"],
    ["doctor"],
    ["generate", definition, "--out", "out"],
    ["verify", definition, "--out", "out"],
    ["bench", definition, "--out", "out", *quick],
    ["optimize", "out", "--rounds", "0"],
    ["develop", definition, "--out", "out", "--rounds", "0", *quick],
    ["develop", definition, "--out", "out", "--rounds", "0", *quick, "--json"],
    ["verify", f"{kernels}/vector_add", "--case", "small"],
    ["bench", f"{kernels}/vector_add", "--case", "small", *quick],
    ["run", f"{kernels}/vector_add", "--case", "small"],
    ["check", f"{kernels}/vector_add", "--case", "small"],
    ["compile", *kernel, "--emit", "asm"],
]


def closed(number):
    return lambda: os.close(number)


def run(command, **streams):
    return subprocess.run([nereid, *command], timeout=120, **streams)


def without_reader(command):
    read, write = os.pipe()
    os.close(read)
    done = run(command, stdout=write, stderr=subprocess.PIPE, restore_signals=True)
    os.close(write)
    return done


for command in commands:
    full = open("/dev/full", "w")
    for how, done in {
        "full": run(command, stdout=full, stderr=subprocess.PIPE),
        "closed": run(command, stderr=subprocess.PIPE, preexec_fn=closed(1)),
        "without a reader": without_reader(command),
    }.items():
        text = done.stderr.decode()
        assert done.returncode == 2 and "E0004" in text, (command, how, done.returncode, text)
    # Messages that go nowhere.
    good = run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for how, done in {
        "full": run(command, stdout=subprocess.PIPE, stderr=full),
        "closed": run(command, stdout=subprocess.PIPE, preexec_fn=closed(2)),
        "no input": run(command, stdout=subprocess.PIPE, stderr=full, preexec_fn=closed(0)),
    }.items():
        assert done.returncode == good.returncode == 0, (command, how, done.returncode, good)
        assert bool(done.stdout) == bool(good.stdout), (command, how)
# Errors keep their status when nobody can read them.
for preexec in (None, closed(2)):
    streams = {"stderr": open("/dev/full", "w")} if preexec is None else {"preexec_fn": preexec}
    assert run(["explain", "E9999"], **streams).returncode == 2
