# SPDX-License-Identifier: Apache-2.0
# Sums of series, for the other files of this library.


@triton.jit
def _chebyshev(u, series: tl.constexpr):
    """The sum of series[k] * T_k(u) by Clenshaw's recurrence."""
    later = u * 0.0
    current = later + series[len(series) - 1]
    for i in tl.static_range(len(series) - 2, 0, -1):
        following = 2.0 * u * current - later + series[i]
        later = current
        current = following
    return u * current - later + series[0]


@triton.jit
def _polynomial(x, series: tl.constexpr):
    """series[0] + x * (series[1] + x * ...)"""
    total = tl.fma(x, series[len(series) - 1], series[len(series) - 2])
    for i in tl.static_range(len(series) - 3, -1, -1):
        total = tl.fma(x, total, series[i])
    return total


@triton.jit
def _polynomial_where(condition, x, yes: tl.constexpr, no: tl.constexpr):
    """That of `yes` where the condition holds, else that of `no`, which has as many terms."""
    total = tl.where(condition, yes[len(yes) - 1], no[len(yes) - 1])
    for i in tl.static_range(len(yes) - 2, -1, -1):
        total = tl.fma(x, total, tl.where(condition, yes[i], no[i]))
    return total
