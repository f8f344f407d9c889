#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts which planted kernels `nereid verify` catches, and whether it lets right ones pass.

  test/honesty/run.py NEREID [--plants] [--rewrites] [--busy] [SUBJECT…]

A subject is a generated operator or a folder of hand-written kernels. A plant has to fail in each of
float32, float16 and bfloat16 that the subject has cases for; what is no fault there is listed with
its reason. --busy runs loops beside it that keep all processors busy. Exit status 1 when a plant is
missed or a right kernel is refused.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

from plants import LARGE_PLANTS, PLANTS
from rewrites import REWRITES
from syntax import edited

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPERATORS = sorted(file.stem for file in (ROOT / "operators").glob("*.toml"))
KERNELS = ["vector_add", "relu", "gelu", "softmax", "log_softmax", "layer_norm", "rms_norm", "matmul",
           "cross_entropy", "cumsum"]
TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}

# What is no fault there.
NEVER_NEGATIVE = "results are never negative"
NEVER_MINUS_INFINITY = "no result is minus infinity"
AT_MOST_0 = "results are at most 0"
RARELY_INFINITE = "a loss is infinite only where the wanted logit is minus infinity, which is rarely so"
AT_MOST_1 = "results are at most 1"
FIRST_IS_A_CLASS = "the first load is of classes, which are integers"
EXEMPT = {
    ("the sign of zeros is lost", "*"): "IEEE 754 leaves it open behind this operation",
    ("negative numbers become 0", "softmax"): NEVER_NEGATIVE,
    ("negative numbers become 0", "relu"): NEVER_NEGATIVE,
    ("negative numbers become 0", "bias_relu"): NEVER_NEGATIVE,
    ("minus infinity becomes 0", "softmax"): NEVER_NEGATIVE,
    ("minus infinity becomes 0", "relu"): NEVER_NEGATIVE,
    ("minus infinity becomes 0", "bias_relu"): NEVER_NEGATIVE,
    ("minus infinity loses its sign", "softmax"): NEVER_NEGATIVE,
    ("minus infinity loses its sign", "relu"): NEVER_NEGATIVE,
    ("minus infinity loses its sign", "bias_relu"): NEVER_NEGATIVE,
    ("large numbers become 0", "softmax"): AT_MOST_1,
    ("large numbers saturate", "softmax"): AT_MOST_1,
    ("an infinity becomes a number", "softmax"): AT_MOST_1,
    ("an infinity becomes a NaN", "softmax"): AT_MOST_1,
    ("negative numbers become 0", "cross_entropy"): NEVER_NEGATIVE,
    ("minus infinity becomes 0", "cross_entropy"): NEVER_NEGATIVE,
    ("minus infinity loses its sign", "cross_entropy"): NEVER_NEGATIVE,
    ("an infinity becomes a number", "cross_entropy"): RARELY_INFINITE,
    ("an infinity becomes a NaN", "cross_entropy"): RARELY_INFINITE,
    ("large numbers saturate", "cross_entropy"): "a loss is above 20000 in few of the rows",
    ("an infinity becomes a number", "log_softmax"): AT_MOST_0,
    ("large numbers saturate", "log_softmax"): AT_MOST_0,
    ("an early exit where the first number is NaN", "cross_entropy"): FIRST_IS_A_CLASS,
    ("an early exit where the first two numbers are the same", "cross_entropy"): FIRST_IS_A_CLASS,
    ("minus infinity becomes 0", "gelu"): NEVER_MINUS_INFINITY,
    ("minus infinity loses its sign", "gelu"): NEVER_MINUS_INFINITY,
    ("minus infinity becomes 0", "bias_gelu"): NEVER_MINUS_INFINITY,
    ("minus infinity loses its sign", "bias_gelu"): NEVER_MINUS_INFINITY,
}
SIGNED_ZEROS = {"broadcast_add", "vector_add"}


def exemption(plant, subject):
    if plant == "the sign of zeros is lost" and subject in SIGNED_ZEROS:
        return None
    return EXEMPT.get((plant, "*")) or EXEMPT.get((plant, subject))


def first_failure(output):
    found = re.search(r"(FAILED|error).*", output)
    return found[0][:150] if found else ""


class Subject:
    """A file of kernels that can be edited and verified."""
    plants = PLANTS

    def __init__(self, nereid, name, path):
        self.nereid, self.path, self.right = nereid, path, path.read_text()
        self.name, self.title = name, f"{path.parent.name}/{path.name}"

    def edit(self, change):
        """False where the change does not apply."""
        text = edited(self.right, change)
        self.path.write_text(text or self.right)
        return text is not None

    def run(self, command, *options):
        done = subprocess.run([self.nereid, command, self.path.parent, *options],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Operator(Subject):
    plants = PLANTS | LARGE_PLANTS

    def verdicts(self, seed):
        """{type: (exit status, what was said first)}"""
        return {one: self._verdict(one, seed) for one in TYPES.values()}

    def _verdict(self, dtype, seed):
        status, output = self.run("verify", "--seed", str(seed), "--dtype", dtype)
        return status, first_failure(output)


class KernelFile(Subject):
    def __init__(self, nereid, name, path):
        super().__init__(nereid, name, path)
        cases = tomllib.loads((path.parent / "cases.toml").read_text())["case"]
        self.types = {one["name"]: {TYPES[found] for found in
                                    re.findall(r"\*(fp32|fp16|bf16)", one["signature"])}
                      for one in cases}

    def verdicts(self, seed):
        status, output = self.run("verify", "--seed", str(seed), "--json")
        try:
            rows = json.loads(output)["rows"]
        except (ValueError, TypeError, KeyError):
            code = re.search(r'"code": "(E\d+)"', output)
            return {"every type": (status, f"[{code[1]}]" if code else output.strip()[-150:])}
        verdicts = {}
        for row in rows:
            if not row["kernel"].startswith(self.path.name):
                continue
            for dtype in self.types[row["case"]]:
                known, _ = verdicts.setdefault(dtype, (0, ""))
                if known == 0 and row["result"] != "passed":
                    verdicts[dtype] = (1, f"{row['case']}, {row['data']}: {row['result']}"[:150])
        return verdicts


def operator(nereid, definition, scratch):
    folder = scratch / f"operator-{definition.stem}"
    subprocess.run([nereid, "generate", definition, "--out", folder], check=True, capture_output=True)
    return Operator(nereid, definition.stem, next(folder.glob("*_triton.py")))


def kernel_files(nereid, name, scratch):
    """One after the other: each is right again when the next one's turn comes."""
    folder = scratch / f"kernels-{name}"
    shutil.copytree(ROOT / "kernels" / name, folder)
    for path in sorted(folder.glob("*.py")):
        subject = KernelFile(nereid, name, path)
        yield subject
        path.write_text(subject.right)


def subjects(nereid, wanted, scratch):
    for name in OPERATORS:
        if not wanted or name in wanted:
            yield operator(nereid, ROOT / "operators" / f"{name}.toml", scratch)
    for name in KERNELS:
        if not wanted or name in wanted:
            yield from kernel_files(nereid, name, scratch)


class Counts:
    def __init__(self):
        self.caught = self.passed = 0
        self.missed, self.refused, self.exempt = [], [], []

    def plants(self, subject):
        for number, (plant, change) in enumerate(subject.plants.items()):
            if not subject.edit(change):
                continue
            if reason := exemption(plant, subject.name):
                self.exempt.append(f"{subject.title}: {plant}: {reason}")
                continue
            for dtype, (status, said) in subject.verdicts(number + 3).items():
                text = f"{subject.title} {dtype}: {plant}: {said}"
                if status == 2 and "[E0" in said:
                    self.exempt.append(f"{text} (does not compile)")
                elif status == 1:
                    self.caught += 1
                    print("caught ", text, flush=True)
                else:
                    self.missed.append(f"{text} (exit status {status})")
                    print("MISSED ", self.missed[-1], flush=True)

    def rewrites(self, subject):
        for number, (rewrite, change) in enumerate(REWRITES.items()):
            if not subject.edit(change):
                continue
            for dtype, (status, said) in subject.verdicts(number + 1001).items():
                if status == 0:
                    self.passed += 1
                else:
                    self.refused.append(f"{subject.title} {dtype}: {rewrite}: {said}")
                    print("REFUSED", self.refused[-1], flush=True)

    def print(self):
        for heading, texts in (("no fault", self.exempt), ("MISSED ", self.missed),
                               ("REFUSED", self.refused)):
            for text in texts:
                print(heading, text)
        print(f"{self.caught} plants caught, {len(self.missed)} missed, {len(self.exempt)} no fault "
              f"there; {self.passed} right kernels passed, {len(self.refused)} refused")


@contextlib.contextmanager
def busy(is_wanted):
    """Loops that do nothing useful, at least two and one for each processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
             for _ in range(max(2, os.cpu_count()) if is_wanted else 0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nereid")
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--plants", action="store_true", help="plants only")
    parser.add_argument("--rewrites", action="store_true", help="right kernels only")
    parser.add_argument("--busy", action="store_true", help="beside busy loops")
    options = parser.parse_intermixed_args()
    both = options.plants == options.rewrites
    counts = Counts()
    with tempfile.TemporaryDirectory() as scratch, busy(options.busy):
        for subject in subjects(options.nereid, options.subjects, pathlib.Path(scratch)):
            if both or options.rewrites:
                counts.rewrites(subject)
            if both or options.plants:
                counts.plants(subject)
    counts.print()
    return 1 if counts.missed or counts.refused else 0


if __name__ == "__main__":
    sys.exit(main())
