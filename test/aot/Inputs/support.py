# SPDX-License-Identifier: Apache-2.0
# Kernels that call the runtime back.
import triton
import triton.language as tl


@triton.jit
def tell(x, n):
    i = tl.program_id(0)
    tl.device_print("value", tl.load(x + i))
    tl.device_assert(i < n, "program beyond the end")
