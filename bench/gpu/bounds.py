# SPDX-License-Identifier: Apache-2.0
"""How far results may be apart that two right compilers leave."""


def of_orders(additions, magnitudes, unit):
    """Of two sums of the same numbers, each in an order of its own and rounded after each of its
    `additions`: a partial sum is not larger than the `magnitudes` of all terms together, and grows by
    (1 + unit) with each rounding. `unit` is half the type's epsilon."""
    return 2 * additions * unit * magnitudes * (1 + unit) ** additions
