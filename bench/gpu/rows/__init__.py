# SPDX-License-Identifier: Apache-2.0
"""Every row of the benchmark, by kind of work."""

from . import attention, elementwise, products, rowwise


def every_row():
    return [*elementwise.rows(), *rowwise.rows(), *products.rows(), *attention.rows()]
