# SPDX-License-Identifier: Apache-2.0
# Counter-based random numbers: Philox (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as
# easy as 1, 2, 3", SC 2011) with four words of 32 or 64 bits, and what is made of its bits. The
# same seed and offset give the same numbers on every target and in upstream's implementation.


@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = 10):
    tl.static_assert(
        c0.dtype == tl.uint32 or c0.dtype == tl.uint64,
        f"'philox_impl' expects words of type uint32 or uint64, but got {c0.dtype}",
    )
    is_narrow: tl.constexpr = c0.dtype == tl.uint32
    factor_a = tl.full((), 0xD2511F53 if is_narrow else 0xD2E7470EE14C6C93, c0.dtype)
    factor_b = tl.full((), 0xCD9E8D57 if is_narrow else 0xCA5A826395121157, c0.dtype)
    step_a = tl.full((), 0x9E3779B9 if is_narrow else 0x9E3779B97F4A7C15, c0.dtype)
    step_b = tl.full((), 0xBB67AE85 if is_narrow else 0xBB67AE8584CAA73B, c0.dtype)
    for i in tl.static_range(n_rounds):
        low_a = c0 * factor_a
        low_b = c2 * factor_b
        high_a = tl.umulhi(c0, factor_a)
        high_b = tl.umulhi(c2, factor_b)
        c0 = high_b ^ c1 ^ k0
        c1 = low_b
        c2 = high_a ^ c3 ^ k1
        c3 = low_a
        k0 = k0 + step_a
        k1 = k1 + step_b
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = 10):
    width: tl.constexpr = c0.dtype.primitive_bitwidth
    tl.static_assert(
        width == 32 or width == 64,
        f"'philox' expects counters of 32 or 64 bits, but got {c0.dtype}",
    )
    tl.static_assert(
        seed.dtype.is_int(),
        f"random numbers expect an integer as seed, but got {seed.dtype}",
    )
    word: tl.constexpr = tl.uint32 if width == 32 else tl.uint64
    key = seed.to(tl.uint64)
    if width == 32:
        k0 = (key & 0xFFFFFFFF).to(tl.uint32)
        k1 = (key >> 32).to(tl.uint32)
    else:
        k0 = key
        k1 = tl.full((), 0, tl.uint64)
    return philox_impl(
        c0.to(word, bitcast=True),
        c1.to(word, bitcast=True),
        c2.to(word, bitcast=True),
        c3.to(word, bitcast=True),
        k0,
        k1,
        n_rounds,
    )


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = 10):
    """Four blocks of 32 random bits per offset, which is the counter's first one or two words."""
    low = offset.to(tl.uint32)
    zero = low * 0
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(tl.uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr = 10):
    bits, _, _, _ = randint4x(seed, offset, n_rounds)
    return bits


@triton.jit
def uint_to_uniform_float(x):
    """A number of [0, 1): 31 (or 63) of the bits, negative integers complemented, scaled."""
    width: tl.constexpr = x.dtype.primitive_bitwidth
    tl.static_assert(
        x.dtype.is_int() and (width == 32 or width == 64),
        f"'uint_to_uniform_float' expects integers of 32 or 64 bits, but got {x.dtype}",
    )
    # The largest scales for which the largest integer still stays below 1 after rounding.
    scale: tl.constexpr = 4.6566127342e-10 if width == 32 else 1.0842020432385337e-19
    signed = x.to(tl.int32 if width == 32 else tl.int64, bitcast=True)
    return (signed ^ (signed >> (width - 1))) * scale


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr = 10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offset, n_rounds: tl.constexpr = 10):
    b0, b1, b2, b3 = randint4x(seed, offset, n_rounds)
    u0 = uint_to_uniform_float(b0)
    u1 = uint_to_uniform_float(b1)
    u2 = uint_to_uniform_float(b2)
    u3 = uint_to_uniform_float(b3)
    return u0, u1, u2, u3


@triton.jit
def pair_uniform_to_normal(u1, u2):
    """Two normal numbers of two uniform ones: the transform of Box and Muller (1958)."""
    radius = tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u1)))
    angle = 6.283185307179586 * u2
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr = 10):
    b0, b1, _, _ = randint4x(seed, offset, n_rounds)
    normal, _ = pair_uniform_to_normal(uint_to_uniform_float(b0), uint_to_uniform_float(b1))
    return normal


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = 10):
    u0, u1, u2, u3 = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(u0, u1)
    n2, n3 = pair_uniform_to_normal(u2, u3)
    return n0, n1, n2, n3
