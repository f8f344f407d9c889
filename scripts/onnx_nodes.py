#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of ONNX's own operators, imported as definitions, computed by their kernels, compared.

  scripts/onnx_nodes.py --nereid FILE --library FILE [--only REGEX] [--json FILE] [--jobs N]

Needs a Python with the package onnx, which has a model with inputs and outputs for each form of each operator.
Shapes, axes and the like are inputs in these models; where a definition needs them when it is read they are made
constants of the model and it is imported again. A result has to be as near as the example says. What is
refused is counted by its reason; exit status 1 when a result is wrong or an import fails without a code.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "int8": "i8", "int16": "i16", "int32": "i32",
         "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "i1",
         "bfloat16": "bf16"}


def cases_of(pattern):
    from onnx.backend.test.case.node import collect_testcases
    found = [one for one in collect_testcases(None) if re.search(pattern, one.name)]
    return sorted((one for one in found if one.data_sets), key=lambda one: one.name)


def with_constants(model, arrays, chosen):
    """A copy of the model in which these inputs are initialisers."""
    import onnx
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for one in list(copy.graph.input):
        if one.name in chosen:
            copy.graph.input.remove(one)
            copy.graph.initializer.append(onnx.numpy_helper.from_array(arrays[one.name], one.name))
    return copy


def attempts(arrays, names):
    """Which inputs are made constants, tried in this order."""
    import numpy
    whole = {name for name in names if arrays[name].dtype.kind in "iu"}
    small = {name for name in whole if arrays[name].ndim <= 1 and arrays[name].dtype == numpy.int64}
    several = [set(), small, whole, set(names[1:]) & {name for name in names if arrays[name].size <= 8}]
    return [one for i, one in enumerate(several) if one not in several[:i]]


def imported(nereid, model, folder):
    """The definition's text, or the last error's first line with its code."""
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    done = subprocess.run([nereid, "import", "model.onnx", "--name", "imported", "-o", "imported.toml"], cwd=folder,
                          capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return (folder / "imported.toml").read_text(), None
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return None, (lines or [f"exit status {done.returncode}: {done.stderr[-200:]}"])[0]


def model_name(name, described):
    own = re.fullmatch(r"'(.*)' in the model", described.get("description", ""))
    return own[1] if own else name


def constants_of(model):
    """Arrays of the values that the model itself has, which a definition takes as inputs where they have many elements."""
    import numpy
    from onnx import numpy_helper
    found = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    for node in model.graph.node:
        for attribute in node.attribute if node.op_type == "Constant" else []:
            value = {"value": lambda a: numpy_helper.to_array(a.t), "value_float": lambda a: numpy.float32(a.f),
                     "value_int": lambda a: a.i, "value_floats": lambda a: numpy.float32(a.floats),
                     "value_ints": lambda a: list(a.ints)}.get(attribute.name)
            if value:
                found[node.output[0]] = value(attribute)
    return found


def compute(library_file, definition, arrays, results):
    """Writes into the arrays of `results`, by the names of the model's values."""
    import ctypes
    import numpy
    os.environ["NEREID_LIBRARY"] = library_file
    sys.path.insert(0, str(ROOT / "test" / "gpu"))
    import interface
    library, address = interface.library, ctypes.c_void_p
    table = tomllib.loads(definition)
    handle = address()
    interface.check(library.nereid_operator_load_source(definition.encode(), b"imported.toml", ctypes.byref(handle)))
    values, kept = [], []
    for name, one in table.get("inputs", {}).items():
        array = numpy.array(arrays[model_name(name, one)], order="C")
        kept.append(array)
        values.append(interface.Tensor.borrowed(array.ctypes.data, array.shape, TYPES[str(array.dtype)]))
    targets = [results[model_name(name, one)] for name, one in table["outputs"].items()]
    into = [interface.Tensor.borrowed(one.ctypes.data, one.shape, TYPES[str(one.dtype)]) for one in targets]
    outputs = (address * len(into))(*[one.handle for one in into])
    interface.check(library.nereid_operator_call(handle, *interface.arguments_of(values), outputs,
                                                 ctypes.c_size_t(len(into)), None))


def compared(case, results, expected):
    import numpy
    for result, wanted in zip(results, expected):
        wanted, rtol = numpy.asarray(wanted), case.rtol
        if str(wanted.dtype) == "bfloat16":  # to which examples round after each step
            wanted, result, rtol = wanted.astype(numpy.float32), result.astype(numpy.float32), max(rtol, 2 ** -6)
        if wanted.dtype.kind == "f":
            if not numpy.allclose(result, wanted, rtol=rtol, atol=case.atol, equal_nan=True):
                return f"wrong: {result.ravel()[:4]} instead of {wanted.ravel()[:4]}"
        elif not numpy.array_equal(result, wanted):
            return f"wrong: {result.ravel()[:4]} instead of {wanted.ravel()[:4]}"
    return ""


def tried(options, case):
    import numpy
    graph = case.model.graph
    inputs, expected = case.data_sets[0]
    try:
        arrays = {one.name: numpy.asarray(array) for one, array in zip(graph.input, inputs)}
        wanted = [numpy.asarray(one) for one in expected]
        unknown = [a for a in [*arrays.values(), *wanted] if str(a.dtype) not in TYPES]
    except Exception:
        unknown = ["no array"]
    if unknown:
        return "left out", f"elements of {getattr(unknown[0], 'dtype', 'no tensor')}"
    reason = ""
    with tempfile.TemporaryDirectory() as folder:
        for chosen in attempts(arrays, [one.name for one in graph.input]):
            text, said = imported(options.nereid, with_constants(case.model, arrays, chosen), pathlib.Path(folder))
            if text is None:
                reason = said  # of the most constants
                continue
            try:
                if len(tomllib.loads(text)["outputs"]) != len(wanted):
                    return "left out", "an example that asks for fewer results"
                results = {value.name: numpy.zeros(one.shape, one.dtype)
                           for value, one in zip(graph.output, wanted)}
                given = {name: numpy.asarray(one) for name, one in constants_of(case.model).items()} | arrays
                compute(options.library, text, given, results)
                problem = compared(case, results.values(), wanted)
            except Exception as error:
                problem = " ".join(str(error).split())
            if "[E0607]" in problem:
                return "refused", re.sub(r"^.*?error: ", "", problem)
            return ("wrong" if problem.startswith("wrong") else "failed" if problem else "right"), problem
    return ("refused" if re.search(r"\[E\d{4}\]", reason) else "failed"), re.sub(r"^.*?error: ", "", reason)


def in_process(options, case):
    """A crash of one case is its failure alone."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(120)
        os.write(writer, json.dumps(tried(options, case)).encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if said else ("failed", f"the process ended with {status}")


def in_turns(options, cases):
    """The verdicts of all: each of several processes has every n-th case, and no threads when it forks."""
    connections = []
    for number in range(options.jobs):
        mine, theirs = multiprocessing.Pipe(duplex=False)
        if os.fork() == 0:
            theirs.send([in_process(options, case) for case in cases[number::options.jobs]])
            os._exit(0)
        connections.append(mine)
    verdicts = [None] * len(cases)
    for number, one in enumerate(connections):
        verdicts[number::options.jobs] = one.recv()
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--nereid", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.nereid, options.library = map(os.path.abspath, (options.nereid, options.library))
    try:
        cases = cases_of(options.only)
    except ImportError:
        sys.exit("needs a Python with the package onnx: python3 -m pip install onnx")
    verdicts = in_turns(options, cases)
    counts = collections.Counter(state for state, _ in verdicts)
    for case, (state, why) in zip(cases, verdicts):
        if state in ("wrong", "failed") or options.only:
            print(f"{state:8} {case.name}: {why}"[:300])
    reasons = collections.Counter(re.sub(r"node \d+ '[^']*' |'[^']*'|\d+", "", why)
                                  for state, why in verdicts if state == "refused")
    for why, count in reasons.most_common(25):
        print(f"{count:5} refused: {why[:200]}")
    print(f"{len(cases)} examples: " + ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
    if options.json:
        rows = [{"example": case.name, "state": state, "why": why} for case, (state, why) in zip(cases, verdicts)]
        pathlib.Path(options.json).write_text(json.dumps({"schema": 1, "counts": counts, "rows": rows}, indent=1) + "\n")
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
