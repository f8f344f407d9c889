# SPDX-License-Identifier: Apache-2.0
"""What the generated accuracy program in Python takes as certain where numbers leave the range:
the Steps of lib/generator/python/text/steps.py on NumPy's arrays, which have the few methods of
PyTorch's tensors that the rules call. Called with the path of steps.py.
"""
import math
import sys
import types

import numpy

numpy.seterr(all="ignore")


class Tensor(numpy.ndarray):
    isfinite = lambda self: numpy.isfinite(self)
    isinf = lambda self: numpy.isinf(self)
    isnan = lambda self: numpy.isnan(self)
    abs = lambda self: numpy.abs(self)
    sign = lambda self: numpy.sign(self)
    numel = lambda self: self.size
    sqrt = lambda self: numpy.sqrt(self)
    dim = lambda self: self.ndim
    to = lambda self, dtype: tensor(numpy.asarray(self).astype(numpy_types[dtype.name]))

    def clamp(self, min=-math.inf):
        return numpy.maximum(self, min)

    def expand_as(self, other):
        return numpy.broadcast_to(self, other.shape, subok=True)

    def nan_to_num(self, nan=0.0, posinf=None, neginf=None):
        return tensor(numpy.nan_to_num(numpy.asarray(self), nan=nan, posinf=posinf, neginf=neginf))


def tensor(values):
    return numpy.asarray(values, dtype=None if isinstance(values, numpy.ndarray) else numpy.float64).view(Tensor)


class Finfo:
    def __init__(self, dtype):
        self.eps, self.tiny, self.max = (
            float(getattr(numpy.finfo(dtype), name)) for name in ("eps", "tiny", "max")
        )


numpy_types = {"float32": numpy.dtype("float32"), "float64": numpy.dtype("float64")}


class Type:
    is_floating_point = True

    def __init__(self, name):
        self.name = name


float32, float64 = Type("float32"), Type("float64")
torch = types.SimpleNamespace(
    float32=float32,
    float64=float64,
    finfo=lambda dtype: Finfo(numpy_types[dtype.name]),
    where=lambda condition, a, b: tensor(numpy.where(condition, a, b)),
    sum=lambda x, dims, keepdim=False: tensor(numpy.sum(x, axis=dims, keepdims=keepdim)),
    cumsum=lambda x, dim: tensor(numpy.cumsum(x, axis=dim)),
    arange=lambda first, last, device, dtype: tensor(numpy.arange(first, last, dtype=numpy.float64)),
    minimum=numpy.minimum,
    maximum=numpy.maximum,
    matmul=numpy.matmul,
    zeros_like=numpy.zeros_like,
    ones_like=numpy.ones_like,
)

STEPS = {
    "add": (numpy.add, 1, 0),
    "sub": (numpy.subtract, 1, 0),
    "mul": (numpy.multiply, 1, 0),
    "div": (numpy.divide, 4, 0),
    "log": (numpy.log, 4, 0),
    "exp": (numpy.exp, 4, 2),
    "sqrt": (numpy.sqrt, 3, 0),
}
scope = {"torch": torch, "math": math, "STEPS": STEPS, "F": None}
exec(open(sys.argv[1]).read(), scope)
inf, nan = math.inf, math.nan
failures = 0


def steps_of(dtype):
    steps = scope["Steps"](dtype, False)
    steps.device = None
    return steps


def expect(what, found, certain):
    """`certain`: None = open, else the value that every implementation has."""
    global failures
    value, error = float(numpy.ravel(found[0])[0]), found[1]
    error = 0.0 if error is None else float(numpy.ravel(error)[0])
    same = certain is not None and (value == certain or (value != value and certain != certain))
    if (error == inf) if certain is None else (same and error == 0):
        return
    failures += 1
    print(f"{what}: {value} ± {error}, but expects {'open' if certain is None else certain}")


def row(*values):
    return tensor([list(values)]), None


def off(value, error):
    return tensor([value]), tensor([error])


steps, wide = steps_of(float32), steps_of(float64)


def product(left, right, of=steps):
    return of.matmul(row(*left), (tensor([[each] for each in right]), None))


expect("inf beside what reaches -inf", product((inf, 3e38), (1, -10)), None)
expect("inf beside what reaches inf", product((inf, 3e38), (1, 10)), inf)
expect("inf beside a number", product((inf, 3e38), (1, -1)), inf)
expect("inf of float64", product((inf, 3e38), (1, -10), wide), inf)
expect("both infinities", product((inf, inf, 3e38), (1, -1, 10)), nan)
expect("inf by 0", product((inf, 3e38, 3e38), (0, -10, 10)), nan)
expect("NaN beside what overflows", product((nan, 3e38, 3e38), (1, 10, 10)), nan)
expect("what overflows", product((3e38, 3e38), (10, -10)), None)
lost = (tensor([[1e40, 0.0]]), tensor([[inf, 0.0]]))
expect("lost by a number", steps.matmul(lost, (tensor([[1.0], [1.0]]), None)), None)
expect("lost beside NaN", steps.matmul(lost, (tensor([[1.0], [nan]]), None)), nan)
expect("lost by inf", steps.matmul(lost, (tensor([[inf], [1.0]]), None)), None)
near = (tensor([[1e-9, 1.0]]), tensor([[1e-8, 0.0]]))
expect("inf by what may be 0", steps.matmul(near, (tensor([[inf], [1.0]]), None)), None)


def total(*values, of=steps):
    return of.total(row(*values), (1,), False)


expect("a sum reaches the other end", total(3e38, 3e38, -inf), None)
expect("a sum reaches its own end", total(3e38, 3e38, inf), inf)
expect("a sum of both", total(inf, 1.0, -inf), nan)
expect("a sum with NaN that overflows", total(nan, 3e38, 3e38), nan)
expect("a sum of float64 that overflows", total(1.7e308, 1.7e308, -1.7e308, of=wide), None)
running = steps.scan("cumsum", row(3e38, inf, 3e38, -3e38, -3e38), 1)
for place, certain in enumerate((3e38, inf, inf, inf, None)):
    if place:
        expect(f"running sum {place}", (running[0][:, place], running[1][:, place]), certain)

expect("log of either sign", steps.step("log", off(-1e-9, 1e-8)), None)
expect("log of a negative number", steps.step("log", off(-1.1, 1e-7)), nan)
expect("log of 0", steps.step("log", row(0.0)), -inf)
expect("exp of a large number", steps.step("exp", row(800.0)), inf)
expect("exp of what may be less", steps.step("exp", off(710.0, 700.0)), None)
expect("exp of float64, scaled by two factors", wide.step("exp", row(720.0)), None)
expect("exp of float64", wide.step("exp", row(1420.0)), inf)
expect("a quotient by either sign", steps.step("div", row(1.0), off(1.0, 2.0)), None)
expect("inf by what may be 0", steps.step("mul", row(inf), off(1e-9, 1e-8)), None)
expect("inf by a number", steps.step("mul", row(inf), off(1.0, 1e-7)), inf)
expect("NaN by what is lost", steps.step("mul", row(nan), off(1e40, inf)), nan)
expect("a number by what is lost", steps.step("mul", row(1.0), off(1e40, inf)), None)
expect("a product beyond float64", wide.step("mul", row(1e300), row(1e300)), None)
expect("a quotient by 0", wide.step("div", row(1e300), row(0.0)), inf)
print("wrong:", failures)
sys.exit(failures != 0)
