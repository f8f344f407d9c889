# SPDX-License-Identifier: Apache-2.0
"""Calls functions of a FlagGems checkout by the names on standard input, and answers each with the
launches that it made, replayed by our compiler. A process of its own, as worker.py."""

import argparse
import gc
import importlib.util
import json
import os
import sys
import tempfile
import time
import types

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import torch  # noqa: E402
import triton  # noqa: E402

import sides  # noqa: E402
from clock import Clock  # noqa: E402
from corpus_calls import Data, calls  # noqa: E402
from replay import Replay, short  # noqa: E402
from worker import is_lost  # noqa: E402


def open_checkout(folder):
    os.environ.setdefault("GEMS_VENDOR", "nvidia")
    os.environ.setdefault("FLAGGEMS_CACHE_DIR", tempfile.mkdtemp(prefix="flaggems-"))
    sys.path.insert(0, os.path.join(folder, "src"))
    # Which configuration is best is no question here: both compilers take the first one.
    triton.runtime.Autotuner._bench = lambda self, *_, config, **__: [1.0, 1.0, 1.0]
    if not importlib.util.find_spec("pytest"):
        sys.modules["pytest"] = types.ModuleType("pytest")  # imported, and used by its tests alone
    import flag_gems
    libentry = sys.modules["flag_gems.utils.libentry"]  # the package has a function of this name
    # Releases since 3.6 launch as those before them did, with all arguments.
    libentry.minor_version = min(libentry.minor_version, 5)
    return flag_gems


class Functions:
    """Those of the package and of its folders of operations, by name."""

    def __init__(self, package):
        self.places = [package, package.ops, package.fused]

    def __getattr__(self, name):
        for place in self.places:
            if hasattr(place, name):
                return getattr(place, name)
        return lambda *_, **__: self._absent(name)

    @staticmethod
    def _absent(name):
        raise AttributeError(f"this checkout has no function '{name}'")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    replay = Replay(Clock(), sides.torch_stream(), options.rounds)
    replay.install()
    functions = calls(Functions(open_checkout(options.checkout)), Data())
    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        name, begin = line.strip(), time.monotonic()
        replay.records, record = [], {"case": name}
        try:
            call = functions[name]()
            replay.apart = getattr(call, "apart", None)
            torch.cuda.synchronize()
            replay.isWatching = True
            call()
            replay.isWatching = False
            torch.cuda.synchronize()
            del call
            replay.apart = None
        except Exception as error:
            record["failures"] = {"call": short(error)}
        replay.isWatching = False
        record |= {"launches": replay.records, "seconds": round(time.monotonic() - begin, 2)}
        told = {"failures": {str(i): one.get("failure", "")
                             for i, one in enumerate(replay.records)} | record.get("failures", {})}
        if is_lost(told):
            record["lost"] = True
        answers.write(json.dumps(record) + "\n")
        if "lost" in record:
            os._exit(1)
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
