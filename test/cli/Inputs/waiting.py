# SPDX-License-Identifier: Apache-2.0
# Programs that wait for each other: for the next higher one, and for a lock nobody releases.
import triton
import triton.language as tl


@triton.jit
def backwards(flag, out):
    i = tl.program_id(0)
    n = tl.num_programs(0)
    if i + 1 < n:
        while tl.atomic_add(flag + i + 1, 0) == 0:
            pass
    tl.store(out + i, n - i)
    tl.atomic_xchg(flag + i, 1)


@triton.jit
def stuck(flag, out):
    while tl.atomic_cas(flag, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + 1)
