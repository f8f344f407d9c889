# SPDX-License-Identifier: Apache-2.0
"""Functions of each element: vector add, GELU, bias and activation, dropout."""

from work import TYPES, Row, Work, excess, roundoff

_BLOCK = 1024
_U32 = 2.0**-24
_SMALLEST = 2.0**-24  # of float16; the others have smaller ones


def _shape(maker, columns):
    """Rows and columns; 0 columns: half a GiB for each of two tensors of 16 bits."""
    rows, columns = (8192, columns) if columns else (1 << 14, 1 << 14)
    return maker.size((rows, columns), (33, min(columns, 200)))


def _grid(n):
    return (-(-n // _BLOCK),)


def _vector_add(type_name, columns):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, TYPES[type_name])
        shape = _shape(maker, columns)
        x, y = (maker.normal(*shape, dtype=dtype) for _ in range(2))
        out, n = torch.empty_like(x), x.numel()
        given = torch.empty_like(x)
        return Work("kernels/vector_add/vector_add.py", "vector_add",
                    {"x": x, "y": y, "out": out, "n": n, "BLOCK": _BLOCK}, ["out"], _grid(n),
                    lambda o: excess(o["out"], x.double() + y.double(), roundoff(dtype), 0),
                    bytes=3 * x.nbytes, constants=("BLOCK",),
                    peers={"eager": lambda: torch.add(x, y, out=given)},
                    inductor=(lambda a, b: a + b, (x, y)))
    return make


def _gelu(type_name, columns):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, TYPES[type_name])
        gelu = torch.nn.functional.gelu
        x = maker.normal(*_shape(maker, columns), dtype=dtype)
        out, n = torch.empty_like(x), x.numel()

        def check(o):
            # Of the steps in float32, the exponential's argument has an error that grows with it.
            wanted = gelu(x.double(), approximate="tanh")
            return excess(o["out"], wanted, roundoff(dtype) + 64 * _U32, _SMALLEST)

        return Work("kernels/gelu/gelu.py", "gelu",
                    {"x": x, "out": out, "n": n, "TANH": True, "BLOCK": _BLOCK}, ["out"], _grid(n),
                    check, bytes=2 * x.nbytes, constants=("TANH", "BLOCK"),
                    peers={"eager": lambda: gelu(x, approximate="tanh")},
                    inductor=(lambda a: gelu(a, approximate="tanh"), (x,)))
    return make


def _bias_gelu(type_name, columns):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, TYPES[type_name])
        gelu = torch.nn.functional.gelu
        shape = _shape(maker, columns)
        x, bias = maker.normal(*shape, dtype=dtype), maker.normal(shape[1], dtype=dtype)
        out, block = torch.empty_like(x), min(_BLOCK, 1 << (shape[1] - 1).bit_length())

        def check(o):
            wanted = gelu(x.double() + bias.double(), approximate="tanh")
            return excess(o["out"], wanted, roundoff(dtype) + 64 * _U32, 8 * _U32)

        return Work("bench/gpu/kernels/bias_gelu.py", "bias_gelu",
                    {"x": x, "bias": bias, "out": out, "n_cols": shape[1], "BLOCK": block}, ["out"],
                    (-(-shape[1] // block), shape[0]), check, bytes=2 * x.nbytes,
                    constants=("BLOCK",),
                    peers={"eager": lambda: gelu(x + bias, approximate="tanh")},
                    inductor=(lambda a, b: gelu(a + b, approximate="tanh"), (x, bias)))
    return make


def _dropout(type_name, columns):
    def make(maker):
        torch, dtype = maker.torch, getattr(maker.torch, TYPES[type_name])
        drop, p, block = torch.nn.functional.dropout, 0.25, 2048
        x = maker.normal(*_shape(maker, columns), dtype=dtype)
        out, n = torch.empty_like(x), x.numel()

        def check(o):
            # Which elements stay is the kernel's own matter, and upstream's bits are compared beside.
            got, wanted = o["out"], x.double() / (1 - p)
            share = (got != 0).double().mean().item()
            if abs(share - (1 - p)) > 6 * (p * (1 - p) / n)**0.5 + 1e-3:
                return float("inf")
            return excess(got, torch.where(got == 0, 0.0, wanted), roundoff(dtype) + 4 * _U32,
                          _SMALLEST)

        return Work("kernels/dropout/dropout.py", "seeded_dropout",
                    {"x": x, "out": out, "n": n, "p": p, "seed": 1234567, "BLOCK": block},
                    ["out"], (-(-n // block),), check, bytes=2 * x.nbytes, constants=("BLOCK",),
                    warps=2,
                    peers={"eager": lambda: drop(x, p, training=True)},
                    inductor=(lambda a: drop(a, p, training=True), (x,)))
    return make


def rows():
    works = {"vector_add": _vector_add, "gelu": _gelu, "bias_gelu": _bias_gelu,
             "dropout": _dropout}
    return [Row(f"{name} {type_name} {size}", make(type_name, columns), compile=type_name == "fp16")
            for name, make in works.items() for type_name in TYPES
            for size, columns in (("8192x1024", 1024), ("8192x4096", 4096), ("8192x16384", 16384),
                                  ("large", 0))]
