#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first kernel of a process: vector add from text to the end of its first launch.

Ours by the program device_launch, upstream's in a Python that has imported torch and triton and made
the context; each in fresh processes, with nothing kept, then with what the first one has kept.
usage: cold.py DEVICE_LAUNCH [--runs N] [--json OUT]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import environment  # noqa: E402
from work import ROOT  # noqa: E402

_UPSTREAM = """
import sys, time, importlib.util
import torch, triton
spec = importlib.util.spec_from_file_location("vector_add", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
x, y = (torch.ones(1 << 20, device="cuda") for _ in range(2))
(x + y).sum().item()
begin = time.perf_counter()
out = torch.empty_like(x)
module.vector_add[(1024,)](x, y, out, 1 << 20, BLOCK=1024)
torch.cuda.synchronize()
print((time.perf_counter() - begin) * 1e9)
"""
_KERNEL = ROOT / "kernels" / "vector_add" / "vector_add.py"
def kept_in(folder, **variables):
    """The driver keeps what it compiles as well, as it does by default: here in the same folder, which is
    empty where nobody has been before."""
    return os.environ | {"CUDA_CACHE_DISABLE": "0", "CUDA_CACHE_PATH": folder + "/driver"} | variables


def ours(program, folder):
    said = subprocess.run([program, "cold", str(_KERNEL)], capture_output=True, text=True, check=True,
                          env=kept_in(folder, NEREID_CACHE_DIR=folder))
    return {row["case"]: row["nanos"] / 1e6 for row in json.loads(said.stdout)["rows"]}


def upstream(_, folder):
    said = subprocess.run([sys.executable, "-c", _UPSTREAM, str(_KERNEL)], capture_output=True,
                          text=True, check=True,
                          env=kept_in(folder, TRITON_CACHE_DIR=folder))
    return {"all but driver and context": float(said.stdout.split()[-1]) / 1e6}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    described = environment.describe() if options.json else None  # which may fail, so it comes first
    rows = []
    for name, measure in (("nereid", ours), ("upstream Triton", upstream)):
        samples = {"nothing kept": [], "kept": []}
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                samples["nothing kept"].append(measure(options.program, folder))
                samples["kept"].append(measure(options.program, folder))
        for state, found in samples.items():
            parts = {part: statistics.median(s[part] for s in found) for part in found[0]}
            rows.append({"case": f"{name}, {state}", "milliseconds": parts,
                         "samples": [s["all but driver and context"] for s in found]})
            print(f"{rows[-1]['case']:30} {parts['all but driver and context']:8.1f} ms  " +
                  ", ".join(f"{part} {ms:.1f}" for part, ms in parts.items()
                            if part != "all but driver and context"), flush=True)
    warm = subprocess.run([options.program, "warm", str(_KERNEL)], capture_output=True, text=True)
    if warm.returncode:
        print("warm launches failed:", warm.stderr.strip())
    else:
        for row in json.loads(warm.stdout)["rows"]:
            rows.append(row)
            print(f"{row['case']:30} {row['nanos'] / 1e3:8.2f} us")
    if options.json:
        result = {"schema": 1, "subject": "gpu host costs", "environment": described, "rows": rows}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
