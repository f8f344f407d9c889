# SPDX-License-Identifier: Apache-2.0
"""Sums of halves in two orders, rounded after each addition, against bench/gpu/bounds.py. Prints the largest
share of the bound, whether the allowance of other results is too small, and what a term left out is."""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "bench/gpu"))
from bounds import of_orders  # noqa: E402

UNIT = 2.0 ** -11


def half(x):
    return struct.unpack("e", struct.pack("e", x))[0]


def added(terms):
    total = 0.0
    for term in terms:
        total = half(total + term)
    return total


drawn = random.Random(7)
largest, beyond, lost = 0.0, 0, 0
for number in range(40000):
    terms = [half(drawn.gauss(0, 1)) for _ in range(drawn.choice((2, 3, 5, 9, 40)))]
    other = drawn.sample(terms, len(terms))
    one, two = added(terms), added(other)
    bound = of_orders(len(terms) - 1, sum(map(abs, terms)), UNIT)
    largest = max(largest, abs(one - two) / bound)
    beyond += abs(one - two) > 4 * 2 * UNIT * max(abs(one), 1)
    lost += len(terms) < 40 and abs(one - added(other[1:])) > bound
print(f"share {'at most 1' if largest <= 1 else largest}, {'some' if beyond else 'none'} beyond eight roundings")
print(f"{'most' if lost > 30000 else lost} without a term are found")
# As many roundings as there can be: each partial sum is half-way between two numbers.
terms = [2048.0, 1.0, 1.0, 1.0, 1.0]
print(added(terms), added(terms[::-1]), of_orders(4, 2052, UNIT) >= 4)
