# SPDX-License-Identifier: Apache-2.0
"""Where a result was obtained, as the other files of bench/results/ say it."""

import ctypes
import datetime
import os
import platform
import subprocess

from work import ROOT


def _said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30,
                              check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _nereid_version():
    path = os.environ.get("NEREID_LIBRARY", str(ROOT / "build" / "lib" / "libnereid.so"))
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return ""
    library.nereid_version.restype = ctypes.c_char_p
    return library.nereid_version().decode()


def describe(revision=None):
    import importlib.metadata
    gpu = _said("nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm",
                "--format=csv,noheader").splitlines()
    name, driver, memory, clock = (gpu[0].split(", ") if gpu else ["no GPU", "", "", ""])
    versions = {p: importlib.metadata.version(p) for p in ("torch", "triton")}
    return {"chip": name, "fingerprint": f"{name} {memory} {clock}".strip(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "driver": driver, **versions, "nereid": _nereid_version(),
            "revision": revision or _said("git", "rev-parse", "--short", "HEAD"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "threads": os.cpu_count()}
