# SPDX-License-Identifier: Apache-2.0
# Dropout: each element becomes 0 with probability p, and the others are divided by 1 - p. Which
# elements stay is given as a tensor, or decided by counter-based random numbers from a seed.
import triton
import triton.language as tl


@triton.jit
def dropout(x, keep, out, n, p, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask).to(tl.float32)
    kept = tl.load(keep + offsets, mask=mask)
    tl.store(out + offsets, tl.where(kept != 0, value / (1 - p), 0.0), mask=mask)


@triton.jit
def seeded_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask).to(tl.float32)
    # A counter gives four words, each of which decides about two of eight neighbours, whatever the
    # size of the block is: by 16 bits, so that p is one of 65,536 steps.
    a, b, c, d = tl.randint4x(seed, program * (BLOCK // 8) + tl.arange(0, BLOCK // 8))
    words = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (BLOCK // 2, 1))
    number = tl.reshape((words >> (16 * tl.arange(0, 2))[None, :]) & 0xFFFF, (BLOCK,))
    limit = (p * 65536 + 0.5).to(tl.int32)
    scale = 1.0 / (1.0 - p)
    tl.store(out + offsets, tl.where(number >= limit, value * scale, 0.0), mask=mask)


def launch(x, p, seed, block=2048):
    """Upstream's way of calling the seeded kernel, on a torch tensor."""
    import torch

    out = torch.empty_like(x)
    n = out.numel()
    seeded_dropout[(triton.cdiv(n, block),)](x, out, n, p, seed, BLOCK=block, num_warps=2)
    return out


def launch_with_mask(x, keep, p, block=1024):
    """The same with the elements to keep given as an int8 tensor of 0 and 1."""
    import torch

    out = torch.empty_like(x)
    n = out.numel()
    dropout[(triton.cdiv(n, block),)](x, keep, out, n, p, BLOCK=block)
    return out
