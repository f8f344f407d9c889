#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what two versions of the compiler make of the same kernels: tile IR, loops and object code
of the kernel library, the conformance kernels, generated operators and random programs, for four
processors. Exit status 1 when anything differs.

  scripts/replay.py BASE [--build DIR] [--only TEXT] [--programs N] [--keep DIR]

BASE is a commit; it is built in build/replay/COMMIT. The kernels are those of this tree. Of every
kernel that differs one line says in which phases and for which processors; --keep writes both texts.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROCESSORS = ["cpu:x86-64-v4", "cpu:x86-64-v3", "cpu:aarch64+sve256", "cpu:rv64gcv"]
PHASES = {"tile-opt": "tile", "loops": "loops", "object": "object"}
SECONDS = 120  # for one compilation


def run(command, **options):
    return subprocess.run(command, check=True, **options)


def base_program(commit):
    """nereid as BASE builds it."""
    full = run(["git", "rev-parse", "--verify", commit + "^{commit}"], cwd=ROOT, text=True,
               capture_output=True).stdout.strip()
    tree = ROOT / "build" / "replay" / full[:12]
    program = tree / "build" / "bin" / "nereid"
    if not program.exists():
        if not (tree / ".git").exists():
            run(["git", "worktree", "add", "--detach", "--force", str(tree), full], cwd=ROOT)
        (tree / "build").mkdir(exist_ok=True)
        # Both trees' objects are the same to the cache wherever their sources are.
        environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
        run(["cmake", "--preset", "release"], cwd=tree, env=environment, stdout=subprocess.DEVNULL)
        run(["ninja", "-C", "build", "nereid"], cwd=tree, env=environment)
    return program


def library_kernels():
    """Every launch of kernels/*/cases.toml."""
    for file in sorted((ROOT / "kernels").glob("*/cases.toml")):
        for case in tomllib.loads(file.read_text())["case"]:
            path, _, function = case["kernel"].partition(":")
            yield "library", f"{file.parent.name}/{case['name']}", {
                "path": str(file.parent / path), "function": function,
                "signature": case["signature"], "imports": [],
                "source": (file.parent / path).read_text()}


def recorded_kernels(build, programs):
    """What the conformance suite, generated operators and random programs compile."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for group, commands in {
            "conformance": [[build / "bin/language_conformance", "--engines=cpu", "--gtest_brief=1"]],
            "operator": [command for file in sorted((ROOT / "operators").glob("*.toml"))
                         for command in (
                             [build / "bin/nereid", "generate", file, "--out", scratch / file.stem],
                             [build / "bin/nereid", "verify", scratch / file.stem, "--seed", "1"])],
            "random": [[build / "bin/program_fuzz", "--count", str(programs), "--seed", "1",
                        "--out", scratch / "fuzz"]],
        }.items():
            folder = scratch / f"{group}-kernels"
            environment = {**os.environ, "NEREID_RECORD_KERNELS": str(folder),
                           "NEREID_CACHE_DIR": str(scratch / f"{group}-cache")}
            for command in commands:
                run(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL)
            for file in sorted(folder.glob("*.json")):
                kernel = json.loads(file.read_text())
                yield group, f"{group}/{kernel['function'] or 'kernel'}-{file.stem[:8]}", kernel


def compiled(program, kernel, processor):
    """{phase: bytes}; a refused kernel has its diagnostics under "refused"."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / pathlib.Path(kernel["path"]).name
        source.write_text(kernel["source"])
        name = f"{source}:{kernel['function']}" if kernel["function"] else str(source)
        command = [str(program), "compile", name, "-s", kernel["signature"], "--target", processor,
                   "--to", "object", "--no-cache", "--dump-to", scratch + "/dump",
                   "-o", scratch + "/kernel.o"]
        for folder in [str(pathlib.Path(kernel["path"]).parent), *kernel["imports"]]:
            command += ["--import-path", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {"refused": b"out of time"}
        if done.returncode != 0:
            return {"refused": done.stderr.replace(scratch, "").encode()}
        made = {}
        for file in sorted(pathlib.Path(scratch, "dump").iterdir()):
            for phase in PHASES:
                if f"-{phase}." in file.name:
                    made[PHASES[phase]] = file.read_bytes().replace(scratch.encode(), b"")
        return made


def compare(job):
    base, program, name, kernel, processor = job
    before, after = compiled(base, kernel, processor), compiled(program, kernel, processor)
    different = sorted(phase for phase in before.keys() | after.keys()
                       if before.get(phase) != after.get(phase))
    return name, processor, different, before, after


def keep(folder, name, processor, phases, before, after):
    for label, made in (("before", before), ("after", after)):
        for phase in phases:
            if phase in made:
                path = folder / name / f"{processor.removeprefix('cpu:')}-{phase}-{label}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(made[phase])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--base-program", type=pathlib.Path, help="BASE as it was built elsewhere")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--programs", type=int, default=300, help="random programs")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the texts that differ")
    options = parser.parse_args()

    base = options.base_program or base_program(options.base)
    program = options.build / "bin" / "nereid"
    kernels = [one for one in (*library_kernels(), *recorded_kernels(options.build, options.programs))
               if options.only in one[1]]
    jobs = [(base, program, name, kernel, processor) for _, name, kernel in kernels
            for processor in PROCESSORS]
    differences = collections.defaultdict(list)
    refused = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, processor, phases, before, after in pool.map(compare, jobs):
            refused += "refused" in before and "refused" in after
            if phases:
                differences[name].append(f"{processor.removeprefix('cpu:')} ({', '.join(phases)})")
                if options.keep:
                    keep(options.keep, name, processor, phases, before, after)
    for name, places in differences.items():
        print(f"differs  {name}: {'; '.join(places)}")
    groups = collections.Counter(group for group, _, _ in kernels)
    counted = ", ".join(f"{count} {group}" for group, count in groups.items())
    print(f"{len(differences)} of {len(kernels)} kernels differ ({counted}; {len(PROCESSORS)} processors, "
          f"{refused} of {len(jobs)} compilations refused by both)")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
