#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped definitions by our compiler with schedules that are told, beside the one that the launcher's rules
choose, in turns.

FOLDERS holds what `nereid generate DEF.toml --language python --out FOLDERS/NAME` wrote. Each line of standard
input is one comparison:

    softmax float16 {"leading":[4096],"D":768} reduce.num_warps=2 reduce.num_warps=4,reduce.BLOCK_X=2

the operator, the type, a case's sizes (or its number among the performance program's cases), then choices as
docs/definitions.md has them. With --before each takes its turn as the folder of that name there has it, too.
Every schedule is judged before it is timed, and one that is wrong ends the run with status 1.
"""

import argparse
import gc
import importlib
import importlib.util
import json
import pathlib
import statistics
import sys
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

import sides  # noqa: E402

OPTIONS = ("num_warps", "num_stages", "num_ctas")


class Chosen(dict):
    """SCHEDULES of a generated module, with the same choices for all sizes."""

    def __init__(self, choices):
        super().__init__()
        self.choices = choices

    def get(self, key, default=None):
        return self.choices


class Launches:
    """Makes the launches of generated functions by our compiler, in place of upstream's, and keeps them."""

    def __init__(self):
        self.stream, self.made, self.kept = sides.torch_stream(), {}, []
        JITFunction.run = lambda function, *given, **more: self.launch(function, *given, **more)

    def launch(self, function, *given, grid, warmup=False, **more):
        options = {name: more.pop(name) for name in OPTIONS if name in more}
        arguments = dict(zip(function.arg_names, given)) | more
        constants = tuple(one.name for one in function.params if one.is_constexpr)
        arguments = {name: int(value) if isinstance(value, bool) and name in constants else value
                     for name, value in ((name, arguments[name]) for name in function.arg_names)}
        grid = grid(arguments) if callable(grid) else grid
        if 0 in grid:
            return
        path = pathlib.Path(function.fn.__code__.co_filename)
        work = types.SimpleNamespace(source=path.read_text, file=path.name, function=function.fn.__name__,
                                     arguments=arguments, constants=constants, grid=tuple(grid),
                                     warps=options.get("num_warps", 4), stages=options.get("num_stages", 3),
                                     blocks=options.get("num_ctas", 1))
        call, _ = sides.ours(work, self.stream)
        call()
        self.kept.append((call, arguments))  # whose memory nobody else may have until it is timed

    def taken(self):
        kept, self.kept = self.kept, []
        return kept


def module_of(folder, name, role):
    """`<name>_<role>.py` of a folder, which imports its neighbours."""
    for each in [one for one in sys.modules if one.startswith(f"{name}_")]:
        del sys.modules[each]
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{name}_{role}")
    finally:
        sys.path.remove(str(folder))


def choices_of(text):
    return {name: int(value) for name, value in (one.split("=") for one in text.split(",") if one)}


def sizes_of(text, program):
    sizes = dict(program.CASES[int(text)][1]) if text.isdigit() else json.loads(text)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in sizes.items()}


def measure(line, options, launches, clock):
    name, dtype, sizes, *schedules = line.split()
    row = {"case": name, "dtype": dtype, "sizes": sizes, "us": {}, "failures": {}}
    sources = {"before": module_of(options.before / name, name, "triton")} if options.before else {}
    program = module_of(options.folders / name, name, "performance")
    sources |= dict.fromkeys(["rule", *schedules], module_of(options.folders / name, name, "triton"))
    program.accuracy.in_full_precision()
    data = program.accuracy.Data("plain", options.seed, program.accuracy.DEVICE)
    inputs = program.accuracy.make_inputs(data, getattr(torch, dtype), **sizes_of(sizes, program))
    calls, memory = {}, []
    for schedule, module in sources.items():
        module.SCHEDULES = Chosen({} if schedule in ("before", "rule") else choices_of(schedule))
        try:
            verdict = program.accuracy.judged_call(getattr(module, name), inputs, getattr(torch, dtype), "plain",
                                                   False)
            launches.taken()
            if verdict.wrong:
                row["failures"][schedule] = verdict.text()
                continue
            results = getattr(module, name)(*inputs)
        except Exception as error:  # other schedules shall be tried
            row["failures"][schedule] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            launches.taken()
            continue
        kept = launches.taken()
        calls[schedule] = lambda each=[call for call, _ in kept]: [call() for call in each]
        memory.append((kept, results))
    calls["eager"] = lambda: program.baseline(*inputs)
    times = clock(program).race(list(calls.values()), options.rounds, options.race_seconds, 1)
    row["us"] = {who: round(statistics.median(one) * 1e3, 2) for who, one in zip(calls, times)}
    return row


def text_of(row):
    base = row["us"].get("rule")
    cells = [f"{who} {time}" + (f" ({base / time:.2f})" if base else "") for who, time in row["us"].items()]
    cells += [f"{who} FAILED {why}" for who, why in row["failures"].items()]
    return f"{row['case']} {row['dtype']} {row['sizes']}: " + ", ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=pathlib.Path, metavar="FOLDERS")
    parser.add_argument("--before", type=pathlib.Path, metavar="FOLDERS", help="of another revision")
    parser.add_argument("--json", metavar="OUT", required=True, help="where the result goes")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--race-seconds", type=float, default=0.8, help="of one line")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--revision", help="of the project, where git does not know it")
    options = parser.parse_args()
    launches, clocks, rows, deadline = Launches(), [], [], time.monotonic() + options.budget

    def clock(program):  # one for all: it holds the memory that empties the cache
        if not clocks:
            clocks.append(program.Clock("cuda"))
        return clocks[0]

    for line in filter(str.strip, sys.stdin):
        if time.monotonic() > deadline:
            rows.append({"case": line.split()[0], "us": {}, "failures": {"row": "not begun: out of time"}})
            continue
        try:
            rows.append(measure(line, options, launches, clock))
            print(text_of(rows[-1]), flush=True)
        except Exception as error:
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            rows.append({"case": line.split()[0], "us": {}, "failures": {"row": why}})
            print(f"{line.strip()}: FAILED {why}", flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    import environment
    result = {"schema": 1, "subject": "definitions with schedules that are told, us",
              "environment": environment.describe(options.revision), "rows": rows}
    pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if any(row["failures"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
