# SPDX-License-Identifier: Apache-2.0
# kept_tensors.py FOLDER: what `verify --dump` kept of the in-place kernel with a wrong sign.
import array
import sys


def read(name, letter):
    data = open(f"{sys.argv[1]}/{name}.npy", "rb").read()
    start = 10 + int.from_bytes(data[8:10], "little")
    return array.array(letter, data[start:])


before, y, got = (read(name, "f") for name in ("x_before", "y", "x.kernel"))
expected, bound = read("x.reference", "d"), read("x.bound", "d")
assert len(got) == len(expected) == len(bound) == 1000
for i in range(1000):
    assert abs(before[i] - 2 * y[i] - got[i]) < 1e-5, i
    assert abs(before[i] + 2 * y[i] - expected[i]) < 1e-9, i
    assert 0 <= bound[i] < 1e-5, i
assert max(bound) > 0
