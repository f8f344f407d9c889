# SPDX-License-Identifier: Apache-2.0
# memory_limit.py NEREID DEFINITION: develops an operator under limits of its address space, from what
# the program needs to start up to plenty, and once more without one.
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

nereid, definition = sys.argv[1:]
MiB = 1 << 20
large = pathlib.Path("large.toml")
large.write_text(pathlib.Path(definition).read_text().replace("[64], D = 65", "[8192], D = 4096"))


def run(source, limit):
    def restrict():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [nereid, "develop", source, "--out", "out", "--rounds", "1", "--seconds-per-case", "0.01"]
    # Compiled anew, which takes most.
    shutil.rmtree("cache", ignore_errors=True)
    environment = dict(os.environ, NEREID_CACHE_DIR=os.path.abspath("cache"))
    chips = pathlib.Path(os.environ["NEREID_CACHE_DIR"]).glob("chip-*.json")
    os.makedirs("cache")
    for chip in chips:
        shutil.copy(chip, "cache")
    return subprocess.run(command, preexec_fn=restrict, capture_output=True, text=True, timeout=120,
                          env=environment)


def starts(limit):
    restrict = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run([nereid, "explain", "E0506"], preexec_fn=restrict,
                          capture_output=True).returncode == 0


least = next(size for size in range(32, 4096, 16) if starts(size * MiB))
ended = {}
for source in (definition, str(large)):
    shutil.rmtree("out", ignore_errors=True)
    for more in [*range(0, 64, 8), 80, 120, 200, 400, 2000]:
        done = run(source, (least + more) * MiB)
        where = f"{source}, {least} + {more} MiB: {done.returncode}\n{done.stderr[-2000:]}"
        assert done.returncode in (0, 1, 2), where
        if done.returncode == 2:
            assert any(f"[{code}]" in done.stderr for code in ("E0506", "E0001", "E0002")), where
        ended.setdefault(done.returncode, []).append(more)
        manifest = pathlib.Path("out/nereid.json")
        assert not manifest.exists() or json.loads(manifest.read_text()), where
    assert run(definition if source == definition else source, 0).returncode == 0
assert 2 in ended and 0 in ended, ended
