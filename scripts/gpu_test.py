#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All that needs a GPU: usage: gpu_test.py [--bin FOLDER] [--json FILE] [--only NAME]...

Programs come from the build tree or from FOLDER, into which `gpu_test.py --collect FOLDER` copies them, or
packs them where the name ends in .tar.xz: a machine with a GPU then needs neither compiler nor LLVM, only
this checkout and Python. A check whose tools are missing there is skipped and says so.

  unit         the driver's tests, on the real one
  conformance  the language, each function and type
  kernels      `nereid verify` of every folder of kernels/
  definitions  `nereid verify` of every definition of operators/
  operators    definitions called by name on PyTorch's tensors
  programs     random programs against the interpreter
  sanitizer    compute-sanitizer's four tools over kernels/
  library      kernels compiled ahead of time
  functions    every float32 through those that stand on the device's approximations
  repeats      1,000 launches give the same bits
  order        every launch sees what those before it wrote
  devices      all GPUs in one process
  architectures  code for older ones on this GPU
  torch        PyTorch's tensors and streams; it or we come first
  contexts     contexts of the program's own
  refusals     what a device refuses, with its code
  faults       kernels that write where no memory is

Exit status: 0 all passed, 1 one failed or took too long, 77 there is no GPU."""

import argparse
import concurrent.futures
import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ["nereid", "nvidia_driver_test", "language_conformance", "program_fuzz"]
LIBRARY = "libnereid.so"
AOT = "gpu_library"
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
NAMES = ["unit", "conformance", "kernels", "definitions", "operators", "programs", "sanitizer", "library", "functions",
         "repeats", "order", "devices", "architectures", "torch", "contexts", "refusals", "faults"]
SKIPPED = 77


class Check:
    """A command, with what it needs and how long it may take."""

    def __init__(self, group, name, command, seconds, environment=None):
        self.group, self.name, self.command, self.seconds = group, name, command, seconds
        self.environment = environment or {}
        self.status, self.detail, self.taken = None, "", 0.0

    def skip(self, reason):
        self.status, self.detail = "skipped", reason
        return self

    def run(self):
        if self.status:
            return self
        start = time.monotonic()
        # In a session of its own, so that what it has started ends with it.
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(self.command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                       env={**os.environ, **self.environment}, start_new_session=True)
            try:
                code = process.wait(self.seconds)
                self.status = {0: "passed", SKIPPED: "skipped"}.get(code, "failed")
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
                self.status = "too slow"
            out.seek(0)
            text = out.read().decode(errors="replace")
        self.taken = time.monotonic() - start
        self.detail = self.describe(text, code)
        return self

    def describe(self, text, code):
        lines = [line for line in text.splitlines() if line.strip()]
        if self.status == "too slow":
            return f"more than {self.seconds} s"
        if self.status == "passed" and "verify" in self.command:
            return f"{sum(' passed' in line for line in lines)} rows"
        if self.status == "failed":
            telling = [line for line in lines if re.search(r"FAILED|rror|ERROR|differ|Assert", line)]
            return f"status {code}: " + "\n".join((telling or lines)[:20])
        return lines[-1] if lines else ""

    def json(self):
        return {"group": self.group, "name": self.name, "status": self.status,
                "seconds": round(self.taken, 2), "limit": self.seconds, "detail": self.detail}


def gpu_count():
    """And why there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return 0, f"no driver: {error}"
    count = ctypes.c_int()
    result = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return (0, f"the driver says {result}") if result else (count.value, "the driver has no device")


class Programs:
    """Where they are: in the build tree or all in one folder."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build

    def find(self, name):
        if self.folder:
            return self.folder / name
        return self.build / ("lib" if name == LIBRARY else "bin") / name

    @property
    def libraries(self):
        return (self.folder or self.build) / AOT


def python_check(programs, name, *words, seconds=300):
    file = "torch_tensors" if name == "torch" else name  # no module may hide torch itself
    check = Check(name, " ".join([name, *words]),
                  [sys.executable, str(ROOT / f"test/gpu/{file}.py"), *words], seconds,
                  {"NEREID_LIBRARY": str(programs.find(LIBRARY)),
                   "NEREID_PROGRAM": str(programs.find("nereid")), "PYTHONUNBUFFERED": "1"})
    return check if programs.find(LIBRARY).exists() else check.skip(f"no {LIBRARY}")


def sanitizer_checks(programs, options, folders):
    tool = os.path.abspath(options.sanitizer or shutil.which("compute-sanitizer") or
                           "/usr/local/cuda/bin/compute-sanitizer")
    for folder in folders:
        for kind in TOOLS:
            # What is asked for and not there, such as the record of assertions of a kernel without
            # one, counts as an error of the API there.
            command = [tool, "--tool", kind, "--error-exitcode", "99", "--print-limit", "20"]
            command += ["--report-api-errors", "no"] if kind == "memcheck" else []
            command += [str(programs.find("nereid")), "verify", str(folder), "--target", options.device,
                        "--seed", str(options.seed), "--in-process"]
            # Of threads that launch at once it loses track, and tells errors that are none.
            check = Check("sanitizer", f"{kind} {folder.name}", command, options.sanitizer_seconds,
                          {"NEREID_THREADS": "1"})
            yield check if os.access(tool, os.X_OK) else check.skip("no compute-sanitizer")


def all_checks(programs, options):
    def program(group, name, words, seconds, environment=None):
        path = programs.find(name)
        check = Check(group, group, [str(path), *words], seconds, environment)
        return check if path.exists() else check.skip(f"no {name}")

    device = options.device
    folders = [file.parent for file in sorted((ROOT / "kernels").glob("*/cases.toml"))]
    yield program("unit", "nvidia_driver_test", ["--gtest_brief=1"], 300, {"NEREID_TEST_GPU": "1"})
    for engine in (device, f"{device}, num_ctas=4"):  # one block for a program, and clusters of them
        check = program("conformance", "language_conformance", ["--gtest_brief=1", f"--engines={engine}"],
                        600)
        check.name = engine
        yield check
    for folder in folders:
        check = program("kernels", "nereid", ["verify", str(folder), "--target", device, "--seed",
                                              str(options.seed)], 300)
        check.name = folder.name
        yield check
    definitions = Check("definitions", "definitions",
                        [sys.executable, str(ROOT / "scripts/operators.py"), "--nereid",
                         str(programs.find("nereid")), "--target", device, "--seed", str(options.seed),
                         "--jobs", str(options.jobs)], 900)
    yield definitions if programs.find("nereid").exists() else definitions.skip("no nereid")
    yield python_check(programs, "operators")
    for engine, count in ((device, options.programs), (f"{device}, num_ctas=2", options.programs // 4)):
        check = program("programs", "program_fuzz",
                        ["--count", str(count), "--seed", str(options.seed), "--processor", engine,
                         "--jobs", str(options.jobs), "--out",
                         tempfile.gettempdir() + "/gpu_test_programs"], 600)
        check.name = engine
        yield check
    library = Check("library", "library", ["sh", str(ROOT / "scripts/gpu_library.sh"),
                                           str(programs.find("nereid")), str(programs.libraries)], 300)
    yield library if programs.find("nereid").exists() else library.skip("no nereid")
    yield python_check(programs, "functions")
    yield python_check(programs, "repeats")
    yield python_check(programs, "order")
    yield python_check(programs, "devices")
    yield python_check(programs, "architectures")
    for first in ("torch", "nereid"):
        yield python_check(programs, "torch", first)
    yield python_check(programs, "contexts")
    yield python_check(programs, "refusals")
    yield python_check(programs, "faults")
    yield from sanitizer_checks(programs, options, folders)


def environment(programs):
    """What `nereid doctor` says, or what Python knows."""
    known = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
             "machine": platform.platform(), "cpus": os.cpu_count(),
             "commit": subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True,
                                      text=True).stdout.strip()}
    for key, command in (("gpus", ["nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                                   "--format=csv,noheader"]),
                         ("doctor", [str(programs.find("nereid")), "--json", "doctor"])):
        try:
            known[key] = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        except OSError as error:
            known[key] = str(error)
    try:
        known["doctor"] = json.loads(known["doctor"])["environment"]
    except (ValueError, KeyError):
        pass  # it stays the text
    return known


def collect(programs, place):
    """The programs, stripped, and libraries compiled ahead of time, in a folder or an archive."""
    is_archive = place.name.endswith(".tar.xz")
    folder = pathlib.Path(tempfile.mkdtemp()) if is_archive else place
    folder.mkdir(parents=True, exist_ok=True)
    for name in [*PROGRAMS, LIBRARY]:
        source = programs.find(name)
        if not source.exists():
            print(f"left out: {source} is not built")
            continue
        shutil.copyfile(source, folder / name)
        (folder / name).chmod(0o755)
        subprocess.run(["strip", str(folder / name)], check=True)
    # Ends with 77 here, where there is no GPU; the programs are made before.
    subprocess.run(["sh", str(ROOT / "scripts/gpu_library.sh"), str(folder / "nereid"), str(folder / AOT)])
    if is_archive:
        # One dictionary over all programs, most of which is the same.
        subprocess.run(f"tar -c -C '{folder}' . | xz -6 -T1 --lzma2=dict=192MiB > '{place}'", shell=True,
                       check=True)
        shutil.rmtree(folder)
    print(f"collected in {place}")


def unpacked(place):
    if place and place.is_file():
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu_test_"))
        with tarfile.open(place) as archive:
            archive.extractall(folder, filter="fully_trusted")
        return folder
    return place and place.resolve()


def run_all(checks, jobs):
    """Those of several GPUs, and what takes all processors, alone; the others beside each other.
    Several sanitizers on one GPU now and then tell errors that are none, or never end: those run again."""
    alone = [check for check in checks if check.group not in ("kernels", "sanitizer")]
    together = [check for check in checks if check.group in ("kernels", "sanitizer")]
    for check in alone:
        yield check.run()
    doubtful = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for check in pool.map(Check.run, together):  # in their order
            if check.group == "sanitizer" and check.status in ("failed", "too slow"):
                doubtful.append(check)
            else:
                yield check
    for check in doubtful:
        before = f"{check.status} beside others"
        check.status = None
        check.run().detail += f" ({before})"
        yield check


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", type=pathlib.Path, help="folder or .tar.xz with the programs")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--collect", type=pathlib.Path, metavar="FOLDER", help="copy the programs and end")
    parser.add_argument("--json", type=pathlib.Path, help="file for the results")
    parser.add_argument("--only", action="append", choices=NAMES, help="by default all")
    parser.add_argument("--device", default="nvidia:0")
    parser.add_argument("--programs", type=int, default=10000, help="random ones")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of programs and data")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--sanitizer", help="compute-sanitizer, where it is not on the path")
    parser.add_argument("--sanitizer-seconds", type=int, default=60, help="for one tool and folder")
    options = parser.parse_args()
    programs = Programs(unpacked(options.bin), options.build.resolve())
    if options.collect:
        return collect(programs, options.collect)
    count, reason = gpu_count()
    if count == 0:
        print(f"no GPU: nothing was run ({reason})")
        return SKIPPED
    print(f"{count} GPUs, seed {options.seed}", flush=True)
    checks = [one for one in all_checks(programs, options)
              if not options.only or one.group in options.only]
    for check in run_all(checks, options.jobs):
        detail = check.detail.replace("\n", "\n  ")
        print(f"{check.status:<8} {check.taken:6.1f} s  {check.group:<11} {check.name}: {detail}",
              flush=True)
    totals = {status: sum(one.status == status for one in checks)
              for status in ("passed", "failed", "too slow", "skipped")}
    print(", ".join(f"{number} {status}" for status, number in totals.items()))
    if options.json:
        options.json.write_text(json.dumps({
            "schema": 1, "subject": "gpu-test", "environment": environment(programs), "gpus": count,
            "seed": options.seed, "totals": totals,
            "checks": [one.json() for one in checks]}, indent=2) + "\n")
    return 1 if totals["failed"] or totals["too slow"] else 0


if __name__ == "__main__":
    sys.exit(main())
