#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that stand on the device's approximations, for every float32 there is, against PyTorch's in
float64: the largest error in units of the last place is within docs/math.md's bounds."""

import sys

try:
    import torch
except ImportError:
    print("skipped  PyTorch: it is not installed")
    sys.exit(77)

from interface import capi, expect, main

DEVICE, BLOCK, PART = "nvidia:0", 1024, 1 << 26
TEXT = """
import triton, triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def power(x):
    return libdevice.pow(x, {1})

@triton.jit
def angle(x):
    return libdevice.atan2(x, {1})

@triton.jit
def quotient(x):
    return x / {1}

@triton.jit
def exp_to_half(x):
    return tl.exp(x.to(tl.float32))

@triton.jit
def function_to_half(x):
    return libdevice.{2}(x.to(tl.float32))

@triton.jit
def hypot_to_half(x):
    x = x.to(tl.float32)
    return libdevice.hypot(x, 0.75 * x)

@triton.jit
def silu_to_half(x):
    x = x.to(tl.float32)
    return x * tl.sigmoid(1.702 * x)

@triton.jit
def exp_of_difference(x):
    return tl.exp(x - (x - x))

@triton.jit
def log1p_of_exp(x):
    return libdevice.log1p(tl.exp(x))

@triton.jit
def kernel(x, out):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(out + i, {0}(tl.load(x + i)))
"""


def result_of(kernel, stream, x, type_name="fp32"):
    out = torch.full_like(x, float("nan"))
    given = [capi.device_tensor(t.data_ptr(), (t.numel(), ), (1, ), type_name, 0) for t in (x, out)]
    kernel.prepared(stream, (x.numel() // BLOCK, 1, 1), given)()
    torch.cuda.synchronize()
    return out


def units(x):
    """Of the last place of float32, at numbers in float64."""
    exponent = torch.frexp(x)[1].clamp(min=-125) - 24
    return torch.ldexp(torch.ones_like(x), exponent)


def of_part(part):
    bits = torch.arange(part * PART, (part + 1) * PART, device="cuda", dtype=torch.int64)
    return bits.to(torch.int32).view(torch.float32)


def kernel_of(spelling, number, type_name="fp32", function="exp"):
    signature = f"x=*{type_name}:16, out=*{type_name}:16"
    return capi.Kernel(TEXT.format(spelling, number, function), "functions.py", "kernel", signature, DEVICE)


def worst(spelling, reference, parts, lowest, highest, power=0.0, moved=0.0):
    """The error over a unit in the last place and what moving x by `moved` of itself does."""
    stream = capi.Stream(DEVICE, torch.cuda.current_stream().cuda_stream)
    kernel = kernel_of(spelling, power)
    most, where = 0.0, 0.0
    for part in parts:
        x = of_part(part)
        got, exact = result_of(kernel, stream, x), reference(x.double())
        rounded = exact.float()
        same = (got == rounded) | (got.isnan() & rounded.isnan()) | (x < lowest) | (x > highest)
        unit = units(exact) + (moved * x.double() * exact).abs().nan_to_num(0.0, 0.0, 0.0)
        error = torch.where(same, 0.0, (got.double() - exact).abs() / unit)
        error = torch.where(error.isnan(), float("inf"), error)  # only one of them is no number
        at = error.argmax()
        if error[at] > most:
            most, where = error[at].item(), x[at].item()
    return most, where


def bounded(spelling, reference, bound, lowest=float("-inf"), highest=float("inf"), **more):
    most, where = worst(spelling, reference, range((1 << 32) // PART), lowest, highest, **more)
    expect(most <= bound, f"'{spelling}' expects at most {bound} ulp, but got {most:.3f} at {where!r}")
    return f"{most:.3f} ulp at {where!r}"


def check_quotients_by_constants():
    """In every bit those of PyTorch's division, which rounds correctly: by constants that have a sum of products,
    by one that has none (0.7), and by one whose quotients overflow."""
    stream = capi.Stream(DEVICE, torch.cuda.current_stream().cuda_stream)
    divisors = (6.0, -0.3, 127.0, 1.0000001, 0.7, 1e-17)
    for divisor in divisors:
        kernel = kernel_of("quotient", divisor)
        for part in range((1 << 32) // PART):
            x = of_part(part)
            got, wanted = result_of(kernel, stream, x), x / torch.full_like(x, divisor)
            wrong = (got.view(torch.int32) != wanted.view(torch.int32)) & ~(got.isnan() & wanted.isnan())
            first = x[wrong][:1].tolist()
            expect(not first, f"{first} / {divisor} is not rounded correctly")
    return f"by {', '.join(map(str, divisors))}"


def check_functions_to_16_bits():
    """Of all numbers of the type, rounded once: what the function is off by before moves few results. The sigmoid's
    is infinite below -51."""
    stream = capi.Stream(DEVICE, torch.cuda.current_stream().cuda_stream)
    silu = lambda x: x * torch.sigmoid(torch.tensor(1.702).double() * x)
    functions = [("exp_to_half", "exp", torch.exp, 17, float("-inf")), ("silu_to_half", "silu", silu, 17, -51)]
    functions += [("function_to_half", name, getattr(torch, name), 16, float("-inf"))
                  for name in ("sinh", "cosh", "tan", "asin", "acos", "erfinv", "log10", "log1p")]
    functions.append(("hypot_to_half", "hypot", lambda x: 1.25 * x.abs(), 16, float("-inf")))
    told = []
    for type_name, dtype, least, digits in (("fp16", torch.float16, -13, 11), ("bf16", torch.bfloat16, -125, 8)):
        x = torch.arange(1 << 16, device="cuda").to(torch.int16).view(dtype)
        for spelling, name, reference, exact_digits, lowest in functions:
            got = result_of(kernel_of(spelling, 0.0, type_name, name), stream, x, type_name)
            exact = reference(x.double())
            unit = torch.ldexp(torch.ones_like(exact), torch.frexp(exact)[1].clamp(min=least) - digits)
            same = (got == exact.to(dtype)) | (got.isnan() & exact.isnan()) | (x < lowest)
            error = torch.where(same, 0.0, (got.double() - exact).abs() / unit)
            most = torch.where(error.isnan(), float("inf"), error).max().item()
            bound = 0.5 + 2.0**(digits - exact_digits)
            expect(most <= bound, f"'{name}' in {type_name} expects at most {bound} ulp, but got {most:.4f}")
            told.append(f"{name} {type_name} {most:.4f}")
    return "; ".join(told)


def check_exp():
    return bounded("tl.exp", torch.exp, 2)


def check_exp_of_difference():
    """Beside what half a unit in the last place of the difference does. Infinities become NaN."""
    return bounded("exp_of_difference", lambda x: torch.exp(x - (x - x)), 3.5, moved=2.0**-24)


def check_exp2():
    return bounded("tl.exp2", torch.exp2, 2.4)


def check_tanh():
    return bounded("libdevice.tanh", torch.tanh, 3)


def check_erf():
    return bounded("tl.erf", torch.erf, 1.5)


def check_rsqrt():
    return bounded("tl.rsqrt", torch.rsqrt, 1.6)


def check_sin():
    return bounded("tl.sin", torch.sin, 2.1)


def check_cos():
    return bounded("tl.cos", torch.cos, 2.1)


def check_atan():
    return bounded("libdevice.atan", torch.atan, 2.5)


def check_atan2():
    """Of all numbers as one side of points, whose other one stands for each octant and for numbers far from 1."""
    # Numbers of float32, which the kernel rounds them to.
    others = torch.tensor((1.0, -1.7, 0.0, 1.25e-25, -3.0e20)).tolist()
    return "; ".join(bounded("angle", lambda x: torch.atan2(x, torch.full_like(x, y)), 0.6, power=y)
                     for y in others)


def check_pairs_of_float32():
    """Functions that are promised as on CPUs, and stand on approximated reciprocals and roots."""
    return "; ".join(bounded("libdevice." + name, getattr(torch, name), 0.6) for name in
                     ("log10", "log1p", "asinh", "acosh", "atanh", "asin", "acos", "tan"))


def check_hyperbolic():
    return "; ".join(bounded("libdevice." + name, getattr(torch, name), 0.8) for name in ("sinh", "cosh"))


def check_log():
    """What 0, negative numbers, infinity and NaN have is the approximated logarithm."""
    return bounded("tl.log", torch.log, 1) + "; " + bounded("tl.log2", torch.log2, 2)


def bessel_i0(x):
    """PyTorch's is no number at an infinity."""
    return torch.where(x.isinf(), float("inf"), torch.special.i0(x))


def check_library_of_float32():
    return "; ".join(bounded("libdevice." + name, reference, bound)
                     for name, reference, bound in (("erfc", torch.erfc, 2.2), ("erfinv", torch.erfinv, 1.2),
                                                    ("cyl_bessel_i0", bessel_i0, 0.6)))


def check_lgamma():
    """Left of -2 the reference has too few digits near the zeros."""
    return bounded("libdevice.lgamma", torch.lgamma, 1, lowest=-2)


def check_log1p_of_exp():
    """Beside two units of the exponential, which count in full where it is small; while that is finite."""
    return bounded("log1p_of_exp", lambda x: torch.log1p(torch.exp(x)), 3.6, highest=88.72)


def check_pow():
    """Powers whose results spread over all numbers, of numbers near 1 and far from it."""
    return "; ".join(bounded("power", lambda x: torch.pow(x, y), 4.5, power=y)
                     for y in (0.75, -1.625, 5.0, -4001.0, 3000000.0))


def check_sigmoid():
    """1 / (1 + exp(-x)), while the exponential is finite."""
    return bounded("tl.sigmoid", torch.sigmoid, 4, lowest=-87)


if __name__ == "__main__":
    main(dict(globals()))
