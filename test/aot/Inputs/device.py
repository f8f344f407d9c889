# SPDX-License-Identifier: Apache-2.0
# A kernel that asserts, by the name and in the form that the tests' driver knows.
import triton
import triton.language as tl


@triton.jit
def assert_not_one(number, out):
    tl.device_assert(number != 1, "ons")
    tl.store(out, number)
