# SPDX-License-Identifier: Apache-2.0
"""Runs kernels of the corpus on small arrays and compares with formulas written down in cases.json,
evaluated here in double precision by Python.

A case has `kernel`; `pointwise` (parameter: kind of values or a number) for bodies that are launched
through a wrapper, otherwise `signature`, `grid` and `arguments` (name: [type, count, low, high], or
[type, count] for zeros, or a number); `expected` (name: formula). A pointwise formula is about one
element, the others are about whole lists."""

import json
import math
import pathlib
import random
import subprocess
import tempfile

import npy
import pointwise
import source

KINDS = {"real": ("fp32", -2.0, 2.0), "positive": ("fp32", 0.1, 4.0), "unit": ("fp32", -0.9, 0.9),
         "above1": ("fp32", 1.1, 5.0), "whole": ("i32", -50, 50), "shift": ("i32", 0, 8),
         "bool": ("i1", 0, 1), "byte": ("i32", 0, 255), "divisor": ("i32", 1, 9)}
COUNT = 100  # not a multiple of the block, unless a case says otherwise
NAMES = {n: getattr(math, n) for n in dir(math) if not n.startswith("_")}
NAMES.update(abs=abs, min=min, max=max, sum=sum, zip=zip, range=range, sorted=sorted, int=int, len=len,
             float=float, enumerate=enumerate, list=list, round=round, any=any, all=all, bool=bool)


def sample(generator, kind, count, low, high):
    if kind.startswith("f"):
        return [npy.rounded(kind, generator.uniform(low, high)) for _ in range(count)]
    return [generator.randint(low, high) for _ in range(count)]


class Case:
    def __init__(self, index, entry, corpus, folder):
        self.entry, self.folder = entry, folder
        self.generator = random.Random(index)
        self.label = "flag_gems." + entry["kernel"]
        kernel = corpus[self.label]
        self.values, self.scalars, self.types = {}, {}, {}
        if "pointwise" in entry:
            self._pointwise(kernel)
        else:
            self.path, self.function = kernel.file.path, kernel.name
            self.signature, self.grid = entry["signature"], entry["grid"]
            for name, given in entry["arguments"].items():
                if not isinstance(given, list):
                    self.scalars[name] = given
                    continue
                kind, count, *bounds = given
                self.types[name] = kind
                self.values[name] = sample(self.generator, kind, count, *bounds) if bounds else [0] * count

    def _pointwise(self, kernel):
        pointwise.wrap(kernel, self.folder)
        self.path, self.function = kernel.path, kernel.function_name
        kinds, entries = self.entry["pointwise"], []
        self.count = self.entry.get("count", COUNT)
        tensors = pointwise.tensor_parameters(kernel.function)
        first = next((KINDS[k][0] for k in kinds.values() if isinstance(k, str)), "fp32")
        for name, given in kinds.items():
            if name in tensors:
                kind, low, high = KINDS[given]
                self.types[name + "_ptr"] = kind
                self.values[name + "_ptr"] = sample(self.generator, kind, self.count, low, high)
                entries.append(f"{name}_ptr=*{kind}:16")
            elif name in pointwise.constants(kernel.function):
                entries.append(f"{name}={given!r}")
                self.scalars[name] = None
            else:
                self.scalars[name] = given
                entries.append(f"{name}={'fp32' if isinstance(given, float) else 'i32'}")
        for name in self.entry["expected"]:
            kind = self.entry.get("result", first)
            self.types[name + "_ptr"], self.values[name + "_ptr"] = kind, [0] * self.count
            entries.append(f"{name}_ptr=*{kind}:16")
        self.scalars["count"] = self.count
        self.signature, self.grid = ", ".join(entries + ["count=i32", "BLOCK=64"]), "2"

    def expected(self, name, formula):
        if "pointwise" not in self.entry:
            return [float(v) for v in eval(formula, dict(NAMES, **self.values, **self.scalars))]
        rows = []
        for i in range(self.count):
            row = {n: self.values[n + "_ptr"][i] for n in self.entry["pointwise"]
                   if n + "_ptr" in self.values}
            row.update({n: v for n, v in self.entry["pointwise"].items() if not isinstance(v, str)})
            rows.append(float(eval(formula, dict(NAMES, **row))))
        return rows

    def run(self, options, root):
        """Empty when the results agree, otherwise what is wrong."""
        command = [options.nereid, "run", f"{self.path}:{self.function}", "-s", self.signature,
                   "-g", self.grid, "--target", options.target]
        for folder in corpus_roots(root):
            command += ["--import-path", str(folder)]
        for name, values in self.values.items():
            file = self.folder / f"{name}.npy"
            npy.write(file, self.types[name], values)
            command += ["-a", f"{name}={file}"]
        for name, value in self.scalars.items():
            command += ["-a", f"{name}={value}"] if value is not None else []
        suffix = "_ptr" if "pointwise" in self.entry else ""
        for name in self.entry["expected"]:
            command += ["--save", f"{name}{suffix}={self.folder / (name + '.out.npy')}"]
        try:
            process = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                     timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return "timeout"
        if process.returncode != 0:
            return f"exit {process.returncode}: " + (process.stderr + process.stdout)[:300].strip()
        for name, formula in self.entry["expected"].items():
            problem = self.compare(name, npy.read(self.folder / (name + ".out.npy")),
                                   self.expected(name, formula))
            if problem:
                return problem
        return ""

    def compare(self, name, got, wanted):
        tolerance = self.entry.get("tolerance", 1e-5)
        if len(got) != len(wanted):
            return f"'{name}' has {len(got)} elements, expects {len(wanted)}"
        for i, (a, b) in enumerate(zip(got, wanted)):
            same = (math.isnan(a) and math.isnan(b)) or a == b
            if not same and not abs(a - b) <= tolerance * max(1.0, abs(b)):
                return f"'{name}[{i}]' is {a!r}, expects {b!r} within {tolerance}"
        return ""


def corpus_roots(top):
    return [top / "src"] if (top / "src").is_dir() else [top]


def run(root, options):
    entries = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
    base = corpus_roots(root)[0].relative_to(root)
    folders = [base / "flag_gems/ops", base / "flag_gems/fused"]
    corpus = {k.label: k for k in source.Corpus(root, folders).kernels}
    failures, done, agreed = [], 0, []
    for index, entry in enumerate(entries):
        if options.only not in entry["kernel"]:
            continue
        if "flag_gems." + entry["kernel"] not in corpus:
            failures.append((entry["kernel"], "is not in this checkout"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            problem = Case(index, entry, corpus, pathlib.Path(folder)).run(options, root)
        done += 1
        if problem:
            failures.append((entry["kernel"], problem))
        else:
            agreed.append(entry["kernel"])
    print(f"{len(agreed)} of {done} executed kernels agree with their formulas")
    for name, problem in failures:
        print(f"  {name}: {problem}")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(
            {"schema": 1, "agreed": agreed, "failures": failures}, indent=1) + "\n")
    return 1 if failures else 0
