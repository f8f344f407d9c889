#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every launch sees all that those before it wrote, though its grid may begin while they end: in chains of
launches each program reads what other programs of the launch before have written, some late."""

import ctypes

from interface import ADDRESS, Kernel, Stream, Tensor, expect_equal, library, main
from nereid_triton.capi import check

DEVICE, BLOCK = "nvidia:0", 1024
# The programs of a launch do not end together.
TURN = """
import triton, triton.language as tl

@triton.jit
def turn(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + n - 1 - i, mask=i < n)
    for _ in range(tl.program_id(0) % 64):
        value = tl.sqrt(value * value)
    tl.store(out + i, value + 1, mask=i < n)

@triton.jit
def share(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + n - 1 - i, mask=i < n, other=0.0)
    mean = tl.sum(value) / tl.sum((i < n).to(tl.float32))
    tl.store(out + i, mean + 1, mask=i < n)
"""


def chain(function, count, launches, options="", graph=False):
    stream = Stream(DEVICE)
    kernel = Kernel(DEVICE, TURN, f"*fp32, *fp32, i32, {BLOCK}{options}", function)
    x, y = (Tensor.of(DEVICE, (count, )).fill(0) for _ in range(2))
    grid = (-(-count // BLOCK), 1, 1)

    def queue():
        for _ in range(launches // 2):
            stream.launch(kernel, grid, x, y, count)
            stream.launch(kernel, grid, y, x, count)

    replays = 1
    if graph:
        handle, replays = ADDRESS(), 20
        check(library.nereid_stream_begin_capture(stream.handle))
        queue()
        check(library.nereid_stream_end_capture(stream.handle, ctypes.byref(handle)))
        for _ in range(replays):
            check(library.nereid_graph_launch(handle, stream.handle))
        library.nereid_graph_free.restype = None
    else:
        queue()
    expect_equal(set(x.floats(stream)), {float(launches * replays)}, "what every launch added 1 to")
    if graph:
        library.nereid_graph_free(handle)
    return f"{launches * replays} launches, {count} elements"


def check_a_chain_of_few_programs():
    return chain("turn", 5000, 2000)


def check_a_chain_of_several_waves():
    return chain("turn", (1 << 22) + 77, 1000)


def check_a_chain_of_reductions_by_clusters():
    return chain("share", 1 << 20, 1000, ", num_ctas=2, num_warps=2")


def check_a_graph():
    return chain("turn", (1 << 18) + 5, 100, graph=True)


if __name__ == "__main__":
    main(dict(globals()))
