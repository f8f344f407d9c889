# SPDX-License-Identifier: Apache-2.0
"""Attention forward, full and causal, at the sizes that the peers were measured at."""

from work import Row, Work, excess, roundoff


def _attention(type_name, n, depth, heads, causal):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, type_name)
        length, count = maker.size(n, 150), maker.size(heads, 2)
        q, k, v = (maker.normal(count, length, depth, dtype=dtype) for _ in range(3))
        out, lse = torch.empty_like(q), maker.empty(count, length, dtype=torch.float32)
        block_m, block_n = maker.size((128, 64), (32, 32))
        scale = depth**-0.5

        def check(o):
            """Some heads in float64; all others have to be finite, and are compared with upstream's."""
            if not (o["out"].isfinite().all() and o["lse"].isfinite().all()):
                return float("inf")
            worst = 0.0
            for head in {0, count // 2, count - 1}:
                for begin in range(0, length, 2048):
                    rows = slice(begin, min(begin + 2048, length))
                    score = scale * (q[head, rows].double() @ k[head].double().T)
                    if causal:
                        place = torch.arange(length, device=q.device)
                        score.masked_fill_(place[None, :] > place[rows, None], -float("inf"))
                    norm = torch.logsumexp(score, -1)
                    weight = (score - norm[:, None]).exp()
                    wanted, size = weight @ v[head].double(), weight @ v[head].double().abs()
                    # Weights are rounded to the type before they are multiplied, and their float32
                    # exponentials take arguments up to 64 before scaling.
                    bound = size * (roundoff(dtype) + 64 * 2.0**-24) + 1e-6
                    worst = max(worst,
                                excess(o["out"][head, rows], wanted, roundoff(dtype), bound),
                                excess(o["lse"][head, rows], norm, 2.0**-18, 2.0**-17))
            return worst

        arguments = {"q": q, "k": k, "v": v, "out": out, "lse": lse, "scale": scale, "N": length,
                     "stride_qh": length * depth, "stride_qn": depth, "stride_kh": length * depth,
                     "stride_kn": depth, "stride_kd": 1, "stride_vh": length * depth,
                     "stride_vn": depth, "stride_oh": length * depth, "stride_on": depth}
        constants = {"CAUSAL": causal, "WINDOW": 0, "D": depth, "BLOCK_M": block_m,
                     "BLOCK_N": block_n}
        batched = [t[None] for t in (q, k, v)]
        dot = torch.nn.functional.scaled_dot_product_attention
        return Work("kernels/attention/attention.py", "attention", {**arguments, **constants},
                    ["out", "lse"], (-(-length // block_m), count), check,
                    flops=4 * count * length**2 * depth // (2 if causal else 1),
                    bytes=4 * q.nbytes, constants=tuple(constants), warps=4 if depth == 64 else 8,
                    stages=3, copies=False,
                    peers={"eager": lambda: dot(*batched, is_causal=causal)})
    return make


def rows():
    made = []
    for name, type_name in (("fp16", "float16"), ("bf16", "bfloat16")):
        for n, depth, heads in ((4096, 64, 64), (4096, 128, 64), (16384, 128, 16)):
            for causal in (False, True):
                kind = "causal" if causal else "full"
                made.append(Row(f"attention {name} {n}x{depth} {kind}",
                                _attention(type_name, n, depth, heads, causal), sustained=True))
    return made
