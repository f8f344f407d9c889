# SPDX-License-Identifier: Apache-2.0
"""Lets kernels written for upstream's launcher run through libnereid.so, on CPU tensors.

Upstream's Python package finds this package by its entry point (../nereid_triton-0.dist-info), as
it finds any back end, once this folder's parent is on PYTHONPATH. Upstream's own code then binds
arguments and specialises them; `compile.py` takes the place of its compiler. For tests only: the
product needs no Python.
"""


class NotJudged(Exception):
    """What a program asks for exists for other back ends only: text of GPU code, registers, …"""
