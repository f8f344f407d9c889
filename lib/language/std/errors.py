# SPDX-License-Identifier: Apache-2.0
# The complementary error function and its relatives, computed in float64: within 0.6 ulp of
# float32; in float64 within 8 ulp, normcdfinv and the inverses within 16.


@triton.jit
def _wide(x, name: tl.constexpr):
    tl.static_assert(
        x.dtype == tl.float32 or x.dtype == tl.float64,
        f"'{name}' expects fp32 or fp64, but got {x.dtype}",
    )
    return x.to(tl.float64)


@triton.jit
def _chebyshev(u, series: tl.constexpr):
    """The sum of series[k] * T_k(u) by Clenshaw's recurrence."""
    later = u * 0.0
    current = later + series[len(series) - 1]
    for i in tl.static_range(len(series) - 2, 0, -1):
        following = 2.0 * u * current - later + series[i]
        later = current
        current = following
    return u * current - later + series[0]


@triton.jit
def _scaled(x):
    """exp(x * x) * erfc(x) for x >= 0: a Chebyshev series of (1 + 2x) times it, computed for this
    file to 1e-18 with 45 digits, in (x - 4) / (x + 4)."""
    series: tl.constexpr = (
        1.1774832005374487,
        -0.007260796620301901,
        -0.081265123236185,
        0.06009212804122225,
        -0.02875393558027666,
        0.01059566336347286,
        -0.003136927294554264,
        0.0007456494372536184,
        -0.0001369696503010054,
        1.7183861600300937e-05,
        -7.158364623450346e-07,
        -2.4261399442449534e-07,
        5.5765709395703566e-08,
        -2.1057869513809494e-09,
        -1.1717889351884957e-09,
        1.9098355172456688e-10,
        1.408871764208814e-11,
        -6.901108320480746e-12,
        9.167958364100702e-14,
        2.145450828639587e-13,
        -1.4716575026970432e-14,
        -6.668675084802875e-15,
        7.504598899204022e-16,
        2.2200859027457622e-16,
        -3.1706441653559775e-17,
        -8.178498274657607e-18,
        1.2921526124716186e-18,
    )
    reach = tl.minimum(x, 1.0e300)
    return _chebyshev((reach - 4.0) / (reach + 4.0), series) / (1.0 + 2.0 * x)


@triton.jit
def _gauss(x):
    """exp(-x * x), the rounding of the square made good."""
    near = tl.minimum(tl.maximum(x, -40.0), 40.0)
    square = near * near
    missing = tl.fma(near, near, -square)
    return tl.exp(-square) * (1.0 - missing)


@triton.jit
def _erfc(x):
    size = tl.abs(x)
    tail = _gauss(size) * _scaled(size)
    return tl.where(size < 0.5, 1.0 - tl.erf(x), tl.where(x < 0, 2.0 - tail, tail))


@triton.jit
def erfc(x):
    return _erfc(_wide(x, "erfc")).to(x.dtype)


@triton.jit
def erfcx(x):
    wide = _wide(x, "erfcx")
    size = tl.abs(wide)
    square = size * size
    growth = tl.exp(square) * (1.0 + tl.fma(size, size, -square))
    growth = tl.where(size > 27.0, float("inf"), growth)
    right = _scaled(size)
    return tl.where(wide < 0, 2.0 * growth - right, right).to(x.dtype)


@triton.jit
def normcdf(x):
    """erfc(-x / sqrt(2)) / 2 with the exact square of x in the exponent."""
    wide = _wide(x, "normcdf")
    size = tl.minimum(tl.abs(wide), 60.0)
    square = 0.5 * size * size
    power = tl.exp(-square) * (1.0 - tl.fma(0.5 * size, size, -square))
    tail = 0.5 * power * _scaled(0.7071067811865476 * size)
    central = 0.5 + 0.5 * tl.erf(0.7071067811865476 * wide)
    result = tl.where(tl.abs(wide) < 0.7, central, tl.where(wide < 0, tail, 1.0 - tail))
    return tl.where(wide != wide, wide, result).to(x.dtype)


@triton.jit
def _inverse(x, rest):
    """y with erf(y) = x, where rest = 1 - |x| exactly: a first guess (Winitzki) good to 0.002, then
    Halley's steps on erf in the middle and on erfc in the tails, each cubing the error."""
    size = tl.abs(x)
    logarithm = tl.log(rest * (1.0 + size))
    half = 4.330746750799873 + 0.5 * logarithm
    guess = tl.sqrt(tl.maximum(tl.sqrt(half * half - logarithm * 6.802721088435375) - half, 0.0))
    for _ in tl.static_range(4):
        slope = 1.1283791670955126 * _gauss(guess)
        miss = tl.where(size < 0.5, size - tl.erf(guess), _erfc(guess) - rest)
        step = miss / slope
        guess = guess + step / (1.0 - guess * step)
    guess = tl.where(rest == 0, float("inf"), guess)
    guess = tl.where((rest >= 0) & (rest <= 1), guess, float("nan"))
    return tl.where(size == 0, x, tl.where(x < 0, -guess, guess))


@triton.jit
def erfinv(x):
    wide = _wide(x, "erfinv")
    return _inverse(wide, 1.0 - tl.abs(wide)).to(x.dtype)


@triton.jit
def _inverse_complement(wide):
    return _inverse(1.0 - wide, tl.where(wide > 1, 2.0 - wide, wide))


@triton.jit
def erfcinv(x):
    return _inverse_complement(_wide(x, "erfcinv")).to(x.dtype)


@triton.jit
def normcdfinv(x):
    return (-1.4142135623730951 * _inverse_complement(2.0 * _wide(x, "normcdfinv"))).to(x.dtype)
