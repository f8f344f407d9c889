# SPDX-License-Identifier: Apache-2.0
# A kernel whose constants come from its decorators.
import triton
import triton.language as tl


@libentry()
@triton.autotune(configs=[triton.Config({"BLOCK": size}, num_warps=8) for size in (128, 256)], key=["n"])
@triton.heuristics({"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.jit
def shifted(x, bias, out, n, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    if HAS_BIAS:
        value += tl.load(bias)
    tl.store(out + at, value, mask=at < n)
