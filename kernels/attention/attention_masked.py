# SPDX-License-Identifier: Apache-2.0
# Attention with what models add to it, each a constexpr that costs nothing where it is off: batch
# and heads with strides of their own, so that positions or heads may come first; keys that a mask
# of padding leaves out (`keep`, 0 = out, for each query or with a stride of 0 for all); CAUSAL;
# a window of LEFT keys before and RIGHT keys behind a query (-1 = all); dropout of the weights by
# seed, which are the numbers that F.dropout(weights, p, seed=seed) draws. A key counts where all of
# them let it. A query without any key gets 0.
#
# DEPTH columns of queries and keys are added up in steps of BLOCK_D, VALUES columns of the values
# are shared among programs of BLOCK_V: neither has to be a power of two, or to fit one tile.
import triton
import triton.language as tl


@triton.jit
def attention_masked(q, k, v, keep, out, scale, p, seed, H, N, stride_qb, stride_qh, stride_qn,
                     stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn, stride_mb,
                     stride_mh, stride_mq, stride_ob, stride_oh, stride_on, DEPTH: tl.constexpr,
                     VALUES: tl.constexpr, CAUSAL: tl.constexpr, LEFT: tl.constexpr,
                     RIGHT: tl.constexpr, PADDED: tl.constexpr, DROPOUT: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
                     BLOCK_V: tl.constexpr):
    SLICES: tl.constexpr = (VALUES + BLOCK_V - 1) // BLOCK_V
    start = tl.program_id(0) * BLOCK_M
    head = (tl.program_id(1) // SLICES).to(tl.int64)
    batch = tl.program_id(2).to(tl.int64)
    rows = start + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) % SLICES * BLOCK_V + tl.arange(0, BLOCK_V)
    depth = tl.arange(0, BLOCK_D)
    in_rows = rows[:, None] < N
    q += batch * stride_qb + head * stride_qh
    k += batch * stride_kb + head * stride_kh
    v += batch * stride_vb + head * stride_vh
    top = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_V), dtype=tl.float32)
    begin = 0
    end = N
    if CAUSAL:
        end = tl.minimum(end, start + BLOCK_M)
    if RIGHT >= 0:
        end = tl.minimum(end, start + BLOCK_M + RIGHT)
    if LEFT >= 0:
        begin = tl.maximum(0, start - LEFT) // BLOCK_N * BLOCK_N
    for first in range(begin, end, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        score = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for part in tl.static_range(0, DEPTH, BLOCK_D):
            d = part + depth
            query = tl.load(q + rows[:, None] * stride_qn + d[None, :], other=0.0,
                            mask=in_rows & (d[None, :] < DEPTH))
            key = tl.load(k + cols[None, :] * stride_kn + d[:, None], other=0.0,
                          mask=(cols[None, :] < N) & (d[:, None] < DEPTH))
            score = tl.dot(query, key, score, input_precision="ieee")
        visible = in_rows & (cols[None, :] < N)
        if PADDED:
            kept = tl.load(keep + batch * stride_mb + head * stride_mh + rows[:, None] * stride_mq
                           + cols[None, :], mask=visible, other=0)
            visible = visible & (kept != 0)
        if CAUSAL:
            visible = visible & (cols[None, :] <= rows[:, None])
        if LEFT >= 0:
            visible = visible & (cols[None, :] >= rows[:, None] - LEFT)
        if RIGHT >= 0:
            visible = visible & (cols[None, :] <= rows[:, None] + RIGHT)
        score = tl.where(visible, score * scale, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        base = tl.where(new_top == -float("inf"), 0.0, new_top)  # no key so far
        weight = tl.exp(score - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(weight, axis=1)
        if DROPOUT:
            number = ((batch * H + head) * N + rows[:, None]) * N + cols[None, :]
            weight = tl.where(tl.rand(seed, number) >= p, weight / (1.0 - p), 0.0)
        value = tl.load(v + cols[:, None] * stride_vn + columns[None, :], other=0.0,
                        mask=(cols[:, None] < N) & (columns[None, :] < VALUES))
        acc = tl.dot(weight.to(value.dtype), value, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    result = tl.where(total[:, None] > 0.0, acc / total[:, None], 0.0)
    tl.store(out + batch * stride_ob + head * stride_oh + rows[:, None] * stride_on
             + columns[None, :], result, mask=in_rows & (columns[None, :] < VALUES))


def launch(q, k, v, keep=None, causal=False, left=-1, right=-1, p=0.0, seed=0, block_m=64,
           block_n=64, block_d=64, block_v=64):
    """Upstream's way of calling the kernel, on torch tensors of shape [batch, heads, N, D] in any
    order in memory; `keep` is int8 and has [batch, heads, N, N], or sizes of 1 for all but N."""
    import torch

    batch, heads, n, depth = q.shape
    values = v.shape[3]
    out = torch.empty((batch, heads, n, values), device=q.device, dtype=q.dtype)
    mask = keep.expand(batch, heads, n, n) if keep is not None else None
    grid = (triton.cdiv(n, block_m), heads * triton.cdiv(values, block_v), batch)
    attention_masked[grid](
        q, k, v, q if mask is None else mask, out, depth ** -0.5, p, seed, heads, n,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        *((0, 0, 0) if mask is None else mask.stride()[:3]), *out.stride()[:3], DEPTH=depth,
        VALUES=values, CAUSAL=causal, LEFT=left, RIGHT=right, PADDED=mask is not None,
        DROPOUT=p > 0.0, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_D=block_d, BLOCK_V=block_v)
    return out
