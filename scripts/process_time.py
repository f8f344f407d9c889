#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of whole `nereid run` processes, with an empty and with a warm kernel cache.

usage: process_time.py NEREID [REPEATS]
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 21
command = [program, "run", "kernels/vector_add/vector_add.py", "--signature",
           "x=*fp32, y=*fp32, out=*fp32, n=i32, BLOCK=1024", "--grid", "cdiv(n, BLOCK)",
           "--arg", "x=randn(1000,seed=1)", "--arg", "y=randn(1000,seed=2)",
           "--arg", "out=empty(1000)", "--arg", "n=1000"]


def once(cache):
    environment = dict(os.environ, NEREID_CACHE_DIR=cache)
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


def report(name, times):
    print(f"{name}: median {statistics.median(times):.1f} ms, "
          f"min {min(times):.1f}, max {max(times):.1f} over {len(times)} processes")


with tempfile.TemporaryDirectory() as folder:
    cold = [once(os.path.join(folder, f"cold{i}")) for i in range(repeats)]
    warm_cache = os.path.join(folder, "warm")
    once(warm_cache)
    warm = [once(warm_cache) for _ in range(repeats)]
report("empty cache", cold)
report("warm cache", warm)
