#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts which planted kernels `nereid verify` catches: test/honesty/run.py NEREID [SUBJECT…].

Exit status 1 when one is missed, or a right kernel is refused. Every subject is a generated operator
or a folder of hand-written kernels; a plant that cannot be told from the right kernel there is
listed with its reason.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from plants import PLANTS, planted

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPERATORS = ["broadcast_add", "bias_gelu", "softmax", "layer_norm"]
KERNELS = ["vector_add", "relu", "gelu", "softmax", "log_softmax", "layer_norm", "rms_norm", "matmul"]

# What is no fault there.
NEVER_NEGATIVE = "results are never negative"
EXEMPT = {
    ("the sign of zeros is lost", "*"): "IEEE 754 leaves it open behind this operation",
    ("negative numbers become 0", "softmax"): NEVER_NEGATIVE,
    ("negative numbers become 0", "relu"): NEVER_NEGATIVE,
    ("large numbers become 0", "softmax"): "results are at most 1",
    ("minus infinity becomes 0", "softmax"): NEVER_NEGATIVE,
    ("minus infinity becomes 0", "relu"): NEVER_NEGATIVE,
    ("an infinity becomes a number", "softmax"): "results are at most 1",
    ("an infinity becomes a NaN", "softmax"): "results are at most 1",
}
SIGNED_ZEROS = {"broadcast_add", "vector_add"}


def exemption(plant, subject):
    if plant == "the sign of zeros is lost" and subject in SIGNED_ZEROS:
        return None
    return EXEMPT.get((plant, "*")) or EXEMPT.get((plant, subject))


def verify(nereid, folder, seed):
    done = subprocess.run([nereid, "verify", str(folder), "--seed", str(seed)],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Subject:
    def __init__(self, nereid, kind, name, scratch):
        self.name, self.folder = name, scratch / f"{kind}-{name}"
        if kind == "operator":
            subprocess.run([nereid, "generate", str(ROOT / "operators" / f"{name}.toml"),
                            "--out", str(self.folder)], check=True, capture_output=True)
            self.files = [self.folder / f"{name}_triton.py"]
        else:
            shutil.copytree(ROOT / "kernels" / name, self.folder)
            self.files = sorted(self.folder.glob("*.py"))
        self.right = {path: path.read_text() for path in self.files}

    def plant(self, name):
        """False where the plant applies to none of the files."""
        found = False
        for path, source in self.right.items():
            text = planted(source, name)
            found |= text is not None
            path.write_text(text or source)
        return found

    def restore(self):
        for path, source in self.right.items():
            path.write_text(source)


def main():
    nereid = sys.argv[1]
    wanted = sys.argv[2:]
    caught, missed, refused, exempt = 0, [], [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for kind, names in (("operator", OPERATORS), ("kernels", KERNELS)):
            for name in names:
                if wanted and name not in wanted:
                    continue
                subject = Subject(nereid, kind, name, pathlib.Path(scratch))
                for seed in (1, 2):
                    status, output = verify(nereid, subject.folder, seed)
                    if status != 0:
                        refused.append(f"{kind} {name}, seed {seed}: {first_failure(output)}")
                for number, plant in enumerate(PLANTS):
                    if not subject.plant(plant):
                        continue
                    if exemption(plant, name):
                        exempt += 1
                        continue
                    status, output = verify(nereid, subject.folder, number + 3)
                    if status == 1:
                        caught += 1
                        print(f"caught  {kind} {name}: {plant}: {first_failure(output)}")
                    else:
                        missed.append(f"{kind} {name}: {plant}: status {status} "
                                      f"{first_failure(output) if status else ''}")
                subject.restore()
    for text in missed:
        print("MISSED ", text)
    for text in refused:
        print("REFUSED", text)
    print(f"{caught} caught, {len(missed)} missed, {exempt} no fault there; "
          f"{len(refused)} runs of right kernels refused")
    return 1 if missed or refused else 0


def first_failure(output):
    found = re.search(r"(FAILED|error).*", output)
    return found.group(0)[:150] if found else output.strip()[-150:]


if __name__ == "__main__":
    sys.exit(main())
