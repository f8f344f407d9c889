#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a device refuses, on a real one: each with its code, and the device goes on afterwards."""

import re

from interface import (ADD, ADD_SIGNATURE, Kernel, Stream, Tensor, expect, expect_code, expect_equal, launch,
                       main)

DEVICE = "nvidia:0"
KERNELS = """
import triton, triton.language as tl

@triton.jit
def count(x, out, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, 1024)), BINS))

@triton.jit
def check(x, n):
    tl.device_assert(n > 0, "n is positive")
    tl.store(x, n)
"""


def goes_on():
    x = Tensor.of(DEVICE, (1024, )).fill(1)
    launch(Kernel(DEVICE, ADD, ADD_SIGNATURE), (1, 1, 1), x, x, x, 1024)
    expect_equal(set(x.floats(Stream(DEVICE))), {2.0}, "sums after what was refused")


def check_memory_that_the_device_does_not_have():
    text = expect_code("E0506", lambda: Tensor.of(DEVICE, (1 << 44, )))
    expect(re.search(r"70368744177664 bytes.*\b\d+ are free", text),
           f"expects what was asked and what is free, but got '{text}'")
    goes_on()
    return text


def check_an_address_that_breaks_the_promise():
    kernel = Kernel(DEVICE, ADD, "*fp32:16, *fp32:16, *fp32:16, i32, 1024")
    x = Tensor.of(DEVICE, (1025, )).fill(1)
    text = expect_code("E0411", lambda: launch(kernel, (1, 1, 1), x, x.view(1, (1024, )), x, 1024))
    goes_on()
    return text


def check_a_grid_beyond_the_limits():
    kernel, x = Kernel(DEVICE, ADD, ADD_SIGNATURE), Tensor.of(DEVICE, (1024, )).fill(1)
    text = expect_code("E0405", lambda: launch(kernel, (1, 65536, 1), x, x, x, 1024))
    expect_code("E0405", lambda: launch(kernel, (1, 1, 65536), x, x, x, 1024))
    expect_code("E0405", lambda: launch(kernel, (1 << 31, 1, 1), x, x, x, 1024))
    launch(kernel, (1, 65535, 1), x, x, x, 0)
    goes_on()
    return text


def check_more_shared_memory_than_there_is():
    text = expect_code("E0501", lambda: Kernel(DEVICE, KERNELS, "*i32, *i32, 65536", "count"))
    goes_on()
    return text


def check_a_failed_assertion_lets_the_process_go_on():
    kernel, x = Kernel(DEVICE, KERNELS, "*i32, i32", "check"), Tensor.of(DEVICE, (1, ), "i32").fill(0)
    text = expect_code("E0407", lambda: launch(kernel, (4, 1, 1), x, 0))
    launch(kernel, (1, 1, 1), x, 5)
    goes_on()
    return text


if __name__ == "__main__":
    main(dict(globals()))
