# SPDX-License-Identifier: Apache-2.0
# chips.py: descriptors beside generic-x86-64-v3.json, each with something else than it.
import copy
import json

generic = json.load(open("generic-x86-64-v3.json"))


def write(name, change):
    chip = copy.deepcopy(generic)
    change(chip)
    json.dump(chip, open(name, "w"))


def cache(level, size):
    return lambda chip: chip["caches"][level].update(bytes=size)


write("renamed.json", lambda chip: chip.update(name="x", fingerprint="y", cores=96, copy_bandwidth=7e11,
                                               memory_bytes=1 << 40, calibrated=True))
write("l1.json", cache(0, 16 << 10))
write("l2.json", lambda chip: (cache(1, 256 << 10)(chip), chip.update(vector_bytes=64, vector_registers=32)))
write("l3.json", cache(2, 8 << 20))
write("narrow.json", lambda chip: chip.update(vector_bytes=16))
write("eight.json", lambda chip: chip.update(vector_bytes=8))
write("empty-cache.json", cache(1, 0))
write("tiny.json", lambda chip: chip.update(vector_bytes=16, caches=[{"name": "L1d", "bytes": 1}]))
