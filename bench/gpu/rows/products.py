# SPDX-License-Identifier: Apache-2.0
"""The ladder of kernels/matmul, of two types of 16 bits and of int8, at five sizes."""

from work import Row, Work, excess, roundoff

_SIZES = (512, 1024, 2048, 4096, 8192)
# BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages
_TILES = {"64x64x64": (64, 64, 64, 4, 4), "128x128x32": (128, 128, 32, 8, 4),
          "128x128x64": (128, 128, 64, 8, 3), "128x256x64": (128, 256, 64, 8, 3)}


def _operands(maker, size, dtype):
    size = maker.size(size, 96)
    a, b = (maker.normal(size, size, dtype=dtype) for _ in range(2))
    return size, a, b


def _bound(got, wanted, size, dtype):
    # A sum of `size` products of normal numbers, each step rounded to float32 or cut by the matrix
    # unit: the error grows as the partial sums do. Eight times its deviation.
    return excess(got, wanted, roundoff(dtype), 8 * size * 2.0**-23)


def _arguments(a, b, c, size, bias=None, activation=None):
    strides = [("am", size), ("ak", 1), ("bk", size), ("bn", 1), ("cm", size), ("cn", 1)]
    if bias is None:
        tensors = {"a": a, "b": b, "c": c}
    else:
        tensors = {"a": a, "b": b, "bias": bias, "c": c}
        strides = [("ab", size * size), *strides[:2], ("bb", size * size), *strides[2:4],
                   ("cb", size * size), *strides[4:]]
    numbers = {"M": size, "N": size, "K": size}
    return {**tensors, **numbers, **{"stride_" + name: value for name, value in strides}}


def _cubes(maker, block_m, block_n, size):
    return -(-size // block_m), -(-size // block_n)


def _definition(type_name, size):
    def make(maker):
        dtype = getattr(maker.torch, type_name)
        n, a, b = _operands(maker, size, dtype)
        c, given = maker.torch.empty_like(a), maker.torch.empty_like(a)
        return Work("kernels/matmul/matmul_v0.py", "matmul_v0",
                    {**_arguments(a, b, c, n), "BLOCK_N": 128}, ["c"], (n, -(-n // 128)),
                    lambda o: _bound(o["c"], a.double() @ b.double(), n, dtype), flops=2 * n**3,
                    bytes=3 * a.nbytes, constants=("BLOCK_N",), copies=False,
                    peers={"eager": lambda: maker.torch.matmul(a, b, out=given)})
    return make


def _tiled(kernel, type_name, size, tile):
    def make(maker):
        dtype = getattr(maker.torch, type_name)
        n, a, b = _operands(maker, size, dtype)
        block_m, block_n, block_k, warps, stages = _TILES[tile]
        c, given = maker.torch.empty_like(a), maker.torch.empty_like(a)
        across, down = _cubes(maker, block_m, block_n, n)
        blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k}
        is_grouped = kernel == "matmul_grouped"
        if is_grouped:
            blocks["GROUP_M"] = 8
        return Work(f"kernels/matmul/{kernel}.py", kernel,
                    {**_arguments(a, b, c, n), **blocks}, ["c"],
                    (across * down,) if is_grouped else (across, down),
                    lambda o: _bound(o["c"], a.double() @ b.double(), n, dtype), flops=2 * n**3,
                    bytes=3 * a.nbytes, constants=tuple(blocks), warps=warps, stages=stages,
                    copies=False, peers={"eager": lambda: maker.torch.matmul(a, b, out=given)})
    return make


def _with_epilogue(type_name, size, tile):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, type_name)
        n, a, b = _operands(maker, size, dtype)
        bias, c = maker.normal(n, dtype=dtype), torch.empty_like(a)
        block_m, block_n, block_k, warps, stages = _TILES[tile]
        across, down = _cubes(maker, block_m, block_n, n)
        blocks = {"ACTIVATION": "relu", "HAS_BIAS": True, "BLOCK_M": block_m, "BLOCK_N": block_n,
                  "BLOCK_K": block_k, "GROUP_M": 8}

        def check(o):
            wanted = torch.relu(a.double() @ b.double() + bias.double())
            return _bound(o["c"], wanted, n, dtype)

        def eager(x, y, z):
            return torch.relu(torch.addmm(z, x, y))

        return Work("kernels/matmul/matmul_batched.py", "matmul_batched",
                    {**_arguments(a, b, c, n, bias), **blocks}, ["c"], (across * down, 1), check,
                    flops=2 * n**3, bytes=3 * a.nbytes, constants=tuple(blocks), warps=warps,
                    stages=stages, copies=False, peers={"eager": lambda: eager(a, b, bias)})
    return make


def _whole_numbers(size, tile):
    def make(maker):
        torch, n = maker.torch, maker.size(size, 96)
        a, b = (maker.integers(-128, 128, n, n, dtype=torch.int8) for _ in range(2))
        c = maker.empty(n, n, dtype=torch.int32)
        block_m, block_n, block_k, warps, stages = _TILES[tile]
        across, down = _cubes(maker, block_m, block_n, n)
        blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}

        def check(o):
            same = torch.equal(o["c"].double(), a.double() @ b.double())  # exact in float64
            return 0.0 if same else float("inf")

        return Work("kernels/matmul/matmul_int8.py", "matmul_int8",
                    {**_arguments(a, b, c, n), **blocks}, ["c"], (across * down,), check, flops=2 * n**3, bytes=a.nbytes * 6,
                    constants=tuple(blocks), warps=warps, stages=stages, copies=False,
                    peers={"eager": lambda: torch._int_mm(a, b)})
    return make


def _tile_of(size):
    return "64x64x64" if size < 1024 else "128x128x64"


def rows():
    made = []
    for name, type_name in (("fp16", "float16"), ("bf16", "bfloat16")):
        for size in _SIZES:
            tile, long = _tile_of(size), size >= 2048
            made += [
                Row(f"matmul_v0 {name} {size}", _definition(type_name, size)),
                Row(f"matmul_v1 {name} {size} {tile}", _tiled("matmul_v1", type_name, size, tile),
                    sustained=long),
                Row(f"matmul_grouped {name} {size} {tile}",
                    _tiled("matmul_grouped", type_name, size, tile), sustained=long),
                Row(f"matmul_batched {name} {size} {tile}", _with_epilogue(type_name, size, tile),
                    sustained=long),
            ]
            if long:
                made += [Row(f"matmul_grouped {name} {size} {other}",
                             _tiled("matmul_grouped", type_name, size, other), sustained=True)
                         for other in ("128x128x32", "128x256x64")]
    return made + [Row(f"matmul_int8 int8 {size} {_tile_of(size)}",
                       _whole_numbers(size, _tile_of(size))) for size in _SIZES]
