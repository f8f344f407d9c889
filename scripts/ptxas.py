#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's ptxas makes of every kernel of kernels/, for every architecture that there is code for.

  scripts/ptxas.py [--architecture sm_90a]... [--only TEXT] [--nereid PROGRAM]
  scripts/ptxas.py --language PROGRAM   the kernels of the language suite, which language_conformance
                                        records: only what is refused is listed

Each different specialization of cases.toml is compiled and assembled; a line says what it takes: registers
of a thread, bytes spilled, shared memory of a program, and how much of a processor it fills. Exit status 1
when ptxas refuses one, or warns that it gave up what the code was written for:

  C7508  a number of registers that cannot be kept      C7510  wgmma instructions one after the other
  C7511  wgmma likewise, for another reason             C7518  wgmma likewise
  C7602  accesses that it takes for a race

Exit status 77 when there is no ptxas. A kernel that needs more shared memory than an architecture has is
named and is no failure.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHITECTURES = ["sm_80", "sm_86", "sm_89", "sm_90a"]
ERRORS = re.compile(r"\((C7508|C7510|C7511|C7518|C7602)\)")
TOO_LARGE = "E0501"


def read_launches(only):
    """Of each different kernel and signature the folder and a case that has it."""
    launches = {}
    for file in sorted((ROOT / "kernels").glob("*/cases.toml")):
        for case in tomllib.loads(file.read_text())["case"]:
            name = f"{file.parent.name}/{case['kernel']}"
            if only in name:
                launches.setdefault((name, case["signature"]), (file.parent, case["name"]))
    return launches


def profile(nereid, folder, case, architecture):
    """The profile, or diagnostics."""
    done = subprocess.run([nereid, "--json", "profile", folder, "--case", case, "--target",
                           f"nvidia:{architecture}"], capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)["profiles"][0], []
    try:
        return None, json.loads(done.stderr)
    except json.JSONDecodeError:
        return None, [{"code": "?", "message": f"status {done.returncode}: {done.stderr}"}]


def recorded_kernels(program, only):
    """What the language suite compiles for this machine's CPU, by name and signature."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "--engines=cpu", "--gtest_brief=1"], capture_output=True, text=True,
                              env={**os.environ, "NEREID_RECORD_KERNELS": folder})
        if done.returncode != 0:
            sys.exit(f"{program} ended with status {done.returncode}: {done.stdout[-2000:]}{done.stderr}")
        kernels = [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder).glob("*.json"))]
    return [kernel for kernel in kernels if only in kernel["source"]]


def assemble(nereid, kernel, architecture):
    """What is said against it; empty: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernel.py"
        source.write_text(kernel["source"])
        name = f"{source}:{kernel['function']}" if kernel["function"] else str(source)
        done = subprocess.run([nereid, "compile", name, "-s", kernel["signature"], "--target",
                               f"nvidia:{architecture}", "--emit", "cubin", "--no-cache", "-o",
                               folder + "/kernel.cubin"], capture_output=True, text=True)
        return done.stderr if done.returncode != 0 else ""


def assemble_language(options):
    """Exit status."""
    architectures = options.architecture or ARCHITECTURES
    kernels = recorded_kernels(options.language, options.only)
    work = [(kernel, architecture) for kernel in kernels for architecture in architectures]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(lambda one: assemble(options.nereid, *one), work)
        for (kernel, architecture), text in zip(work, said):
            if "needs ptxas" in text:
                pool.shutdown(cancel_futures=True)
                print(text)
                return 77
            if text:
                failures += 1
                print(f"{architecture} {kernel['signature']}\n{kernel['source']}\n{text}", flush=True)
    print(f"{len(kernels)} kernels of the language suite on {', '.join(architectures)}: {failures} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--architecture", action="append", help="by default all four")
    parser.add_argument("--only", default="", help="kernels whose folder/file:function has this text")
    parser.add_argument("--nereid", default=str(ROOT / "build/bin/nereid"))
    parser.add_argument("--language", metavar="PROGRAM", help="language_conformance")
    options = parser.parse_args()
    if options.language:
        return assemble_language(options)
    launches = read_launches(options.only)
    if not launches:
        sys.exit(f"no kernel's name has '{options.only}'")
    work = [(name, signature, folder, case, architecture)
            for (name, signature), (folder, case) in launches.items()
            for architecture in options.architecture or ARCHITECTURES]
    failures, unfit, spilling = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(profile, options.nereid, *one[2:]) for one in work]
        print(f"{'registers':>9} {'spilled':>8} {'shared':>8} {'filled':>7}")
        for (name, signature, _, case, architecture), job in zip(work, jobs):
            found, errors = job.result()
            where = f"{architecture:<7} {name} {case}"
            if any("needs ptxas" in error["message"] for error in errors):
                pool.shutdown(cancel_futures=True)
                print(errors[0]["message"])
                return 77
            if errors:
                code, message = errors[0]["code"], errors[0]["message"]
                print(f"{'-':>9} {'-':>8} {'-':>8} {'-':>7}  {where}: {message} [{code}]")
                if code == TOO_LARGE:
                    unfit += 1
                else:
                    failures.append(f"{where}: {message} [{code}]")
                continue
            spilled = found["spill_store_bytes"] + found["spill_load_bytes"]
            shared = found["static_shared_bytes"] + found["dynamic_shared_bytes"]
            spilling += spilled > 0
            print(f"{found['registers']:>9} {spilled:>8} {shared:>8} "
                  f"{found['occupancy']['share']:>7.0%}  {where}")
            for warning in found["warnings"]:
                print(f"{'':>36}{warning}")
                if ERRORS.search(warning):
                    failures.append(f"{where}: {warning}")
    print(f"{len(work)} kernels, {spilling} spill, {unfit} do not fit, {len(failures)} failures")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
