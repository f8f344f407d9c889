# SPDX-License-Identifier: Apache-2.0
"""Measures the operators whose folders it is told on standard input and answers each with a line of JSON.

A folder is one that `nereid generate --language python` wrote: its cases, its data, its judge and its
baseline, PyTorch's own operations, are used as they are. The kernel is the one that libnereid.so makes of
the definition beside them. With --compiled `torch.compile` of the baseline takes its turn, too; with
--prepare nothing is timed, so that several processes can fill the cache of that compiler before.
"""

import argparse
import gc
import importlib
import json
import os
import pathlib
import statistics
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is no answer

import triton  # noqa: E402,F401  before the stand-in for its back end can be found
import torch  # noqa: E402

from work import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "test" / "gpu"))
from called_operator import Operator  # noqa: E402
from interface import Stream  # noqa: E402

PATIENCE = (1, 3, 10)


def modules_of(folder):
    """The accuracy and the performance program of a folder, and its operator's name."""
    name = json.loads((folder / "nereid.json").read_text())["operatorName"]
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{name}_performance"), name
    finally:
        sys.path.remove(str(folder))


class Kernel:
    """The operator as PyTorch would have it: results from its allocator or in the arguments that it writes, work
    on its stream."""

    def __init__(self, definition, stream, types, program):
        self.operator, self.stream, self.types, self.shapes = Operator(definition), stream, types, None
        self.written = getattr(program.accuracy, "WRITTEN", {})
        self.program = program

    def first_results(self, inputs):
        """Which results there are: a call that writes into arguments is not told without them."""
        if self.written:
            made = self.program.baseline(*self.program.accuracy._again(inputs))
            return made if isinstance(made, tuple) else (made,)
        torch.cuda.synchronize()
        made = self.operator(*inputs)
        torch.cuda.synchronize()
        return made

    def __call__(self, *inputs):
        if self.shapes is None:
            self.shapes = [tuple(one.shape) for one in self.first_results(inputs)]
        into = [inputs[self.written[i]] if i in self.written else torch.empty(shape, dtype=dtype, device="cuda")
                for i, (shape, dtype) in enumerate(zip(self.shapes, self.types))]
        self.operator(*inputs, into=into, stream=self.stream)
        return into[0] if len(into) == 1 else tuple(into)


def judged(program, function, inputs, dtype, is_baseline):
    verdict = program.accuracy.judged_call(function, inputs, dtype, "plain", is_baseline)
    return verdict.text() if verdict.wrong else ""


def compiled_form(program):
    torch._dynamo.reset()
    torch._inductor.config.compile_threads = 1  # in this process: workers may not start
    return torch.compile(program.baseline, dynamic=False)


def sides(program, kernel, inputs, dtype, options, row):
    """The calls that are timed, by who makes them; why one is not goes into the row."""
    functions = {"ours": kernel, "eager": program.baseline}
    if options.compiled or options.prepare:
        functions["compiled"] = compiled_form(program)
    for who in list(functions):
        try:
            if who == "compiled":  # not while the judge fills what torch.empty gives, which its compiler's patterns use
                functions[who](*program.accuracy._again(inputs))
            problem = judged(program, functions[who], inputs, dtype, who != "ours")
        except Exception as error:
            if who != "compiled":
                raise
            problem = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if problem:
            row.setdefault("failures", {})[who] = problem
        if problem and who == "compiled":
            del functions[who]
    return functions


def measure(program, kernel, case, dtype, needed, clock, options):
    name, sizes = case
    row = {"sizes": name, "bytes": needed}
    data = program.accuracy.Data("plain", options.seed, program.accuracy.DEVICE)
    inputs = program.accuracy.make_inputs(data, dtype, **sizes)
    functions = sides(program, kernel, inputs, dtype, options, row)
    if "ours" in row.get("failures", {}) or options.prepare:
        return row
    calls = [lambda function=function: function(*inputs) for function in functions.values()]
    for patience in PATIENCE:
        times = clock.race(calls, options.rounds, options.race_seconds, patience)
        if not (noisy := max(statistics.pstdev(t) / statistics.fmean(t) for t in times) > 0.05):
            break
    times = dict(zip(functions, times))
    ours = times.pop("ours")
    row |= {"median": statistics.median(ours) * 1e-3, "noisy": noisy}
    for who, theirs in times.items():
        row[who] = statistics.median(theirs) * 1e-3
        row["ratio" if who == "eager" else "ratio_compiled"] = statistics.median(
            t / o for t, o in zip(theirs, ours))
    return row


def record_of(folder, stream, clock, options):
    """All that is measured of one operator: its largest cases, in its first type or the one asked for."""
    program, name = modules_of(folder)
    types = [str(one).removeprefix("torch.") for one in program.accuracy.TYPES]
    at = types.index(options.dtype) if options.dtype in types else 0
    record = {"case": name, "dtype": types[at], "rows": []}
    program.accuracy.in_full_precision()
    cases = sorted(program.CASES, key=lambda case: -case[2][at])[:options.cases]
    for case, sizes, needed in cases:
        results = [one or program.accuracy.TYPES[at] for one in program.accuracy.RESULT_TYPES]
        kernel = Kernel(str(folder / f"{name}.toml"), stream, results, program)  # shapes of results are those of one case
        record["rows"].append(measure(program, kernel, (case, sizes), program.accuracy.TYPES[at],
                                      needed[at], clock(program), options))
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--race-seconds", type=float, default=3)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--dtype", default="")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.cuda.init()
    stream = Stream.of_another("nvidia:0", torch.cuda.current_stream().cuda_stream)
    clocks = []

    def clock(program):  # one for all: it holds the memory that empties the cache
        if not clocks:
            clocks.append(program.Clock("cuda"))
        return clocks[0]

    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        folder, begin = pathlib.Path(line.strip()), time.monotonic()
        try:
            record = record_of(folder, stream, clock, options)
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            record = {"case": folder.name, "failures": {"row": f"{type(error).__name__}: {text}"}}
            record["lost"] = "CUDA error" in text or "E0421" in text
        record["seconds"] = round(time.monotonic() - begin, 2)
        answers.write(json.dumps(record) + "\n")
        if record.get("lost"):
            os._exit(1)
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
