# SPDX-License-Identifier: Apache-2.0
# The complementary error function and its relatives: within 0.6 ulp of float32; in float64 within 8
# ulp, normcdfinv and the inverses within 16. erfc and erfinv of float32 are computed by pairs of
# float32 numbers, the others in float64; what few arguments need stands behind a branch.
# scripts/derive_special_coefficients.py made the series of the pairs.


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
def _erfc_factors(x):
    """Of exp(-x * x) * v * (1 + w) for v = 1.2549 / (1 + 2x), where w is small: 1.5 * 2**23 + n in bits, the
    exponential as 2**n * (1 + power + power_low) * (1 + rest), and v, whose error the rest makes good."""
    change_series: tl.constexpr = (
        0.9425737261772156,
        -0.642128050327301,
        -0.16197526454925537,
        2.1687746047973633,
    )
    power_series: tl.constexpr = (
        0.1666666567325592,
        0.041666459292173386,
        0.00833358708769083,
        0.0013935271417722106,
        0.00019733367662411183,
    )
    square, square_low = _product(x, x)
    magic = tl.fma(square, -1.4426950216293335, 12582912.0)
    n = magic - 12582912.0
    f = tl.fma(n, -0.6931471824645996, -square)  # exact
    rest = tl.fma(n, 1.904654323148236e-09, -square_low)
    half = 0.5 * f
    cubic = f * _polynomial(f, power_series)
    power = tl.fma(half, f, f)
    power_low = tl.fma(f * f, cubic, tl.fma(half, f, f - power))
    divisor = tl.fma(x, 1.59375, 0.796875)
    divisor_low = tl.fma(x, 1.59375, 0.796875 - divisor)
    v = _divide_nearby(1.0, divisor)
    missing = tl.fma(-v, divisor_low, tl.fma(-v, divisor, 1.0))
    rest = tl.fma(missing, _polynomial(v - 0.4453125, change_series), rest)
    return magic.to(tl.int32, bitcast=True), power, power_low, rest, v


@triton.jit
def _erfc_product(power, power_low, rest, v, w):
    """(1 + power + power_low) * (1 + rest) * v * (1 + w) as a pair."""
    w = w + tl.fma(rest, w, rest)
    factor, factor_low = _sum(power, w)
    factor_low = factor_low + tl.fma(power + power_low, w, power_low)
    high = tl.fma(v, factor, v)
    return high, tl.fma(v, factor_low, tl.fma(v, factor, v - high))


@triton.jit
def _erfc_far(v):
    """w beyond 3.5"""
    series: tl.constexpr = (
        -0.04936562851071358,
        0.5885385274887085,
        -1.0358880758285522,
        -1.4855802059173584,
        4.1996002197265625,
        5.13355827331543,
        -33.47674560546875,
        43.60318374633789,
    )
    return _polynomial(v - 0.078125, series)


@triton.jit
def _erfc_rare(x):
    """Beyond 3.5. A subnormal result is rounded once, by a number with its last place."""
    size = tl.minimum(tl.abs(x), 10.3)  # erfc(10.06) rounds to 0
    bits, power, power_low, rest, v = _erfc_factors(size)
    high, low = _erfc_product(power, power_low, rest, v, _erfc_far(v))
    n = bits - 0x4B400000
    place = ((1 - n) << 23).to(tl.float32, bitcast=True)
    placed, placed_low = _sum(place, high)
    rounded = (placed + (placed_low + low)) - place
    rounded = tl.where(size > 9.194548606872559, rounded, high + low)  # where it is below 2**-126
    right = rounded * _power_of_two(n + 64) * 5.421010862427522e-20
    scale = tl.where(size < 4.0, _power_of_two(n), 0.0)
    two = tl.fma(-high, scale, 2.0)
    left = two + tl.fma(-low, scale, tl.fma(-high, scale, 2.0 - two))
    return tl.where(x < 0, left, right)


@triton.jit
def _erfc_exponent(x):
    """-log(erfc(x)) as a pair for x from 0 to 3.5, off by 2**-28: x times x + g(x). Of each half of the numbers g is
    a line as a pair, and u times a polynomial of u, the distance from where it meets the line."""
    near_series: tl.constexpr = (
        -0.030438538640737534,
        0.057586416602134705,
        -0.013072589412331581,
        0.0022266795858740807,
        -0.00012446731852833182,
        -9.724043775349855e-05,
        5.029710882809013e-05,
        -1.148177580034826e-05,
    )
    series: tl.constexpr = (
        -0.013060785830020905,
        0.01966673508286476,
        -0.0036983774043619633,
        0.0006641693180426955,
        -0.00010989366273861378,
        1.57740869326517e-05,
        -1.5432979125762358e-06,
        -2.502800633408242e-08,
    )
    is_large = x > 1.75
    slope = tl.where(is_large, 0.9089064002037048, 0.8085148334503174)
    start = tl.where(is_large, 0.8490285873413086, 1.0435986518859863)
    u = x - tl.where(is_large, 2.595592975616455, 0.8985888361930847)
    line = tl.fma(x, slope, start)
    line_low = tl.fma(x, slope, start - line)
    rest = tl.fma(u, _polynomial_where(is_large, u, series, near_series), line_low)
    factor, factor_low = _sum(line, rest)
    high, low = _product(x, factor)
    return high, tl.fma(x, factor_low, low)


@triton.jit
def _erfc_single(x):
    """exp of the logarithm, 2**n * (1 + power + rest), left of 0 less than 2. Few arguments are beyond 3.5."""
    power_series: tl.constexpr = (
        0.1666666567325592,
        0.041666459292173386,
        0.00833358708769083,
        0.0013935271417722106,
        0.00019733367662411183,
    )
    size = tl.abs(x)
    exponent, exponent_low = _erfc_exponent(tl.where(size > 3.75, 3.75, size))
    magic = tl.fma(exponent, -1.4426950216293335, 12582912.0)
    n = magic - 12582912.0
    f = tl.fma(n, -0.6931471824645996, -exponent)  # exact
    f_low = tl.fma(n, 1.904654323148236e-09, -exponent_low)
    half = 0.5 * f
    power = tl.fma(half, f, f)
    rest = tl.fma(f * f, f * _polynomial(f, power_series), tl.fma(half, f, f - power))
    rest = tl.fma(f_low, power + rest, f_low) + rest
    # Left of 0 the scale is negated, and what it is added to is 2.
    sign = ((x.to(tl.int32, bitcast=True) & -0x80000000) | 0x3F800000).to(tl.float32, bitcast=True)
    scale = ((magic.to(tl.int32, bitcast=True) << 23) + 0x3F800000).to(tl.float32, bitcast=True) * sign
    start = (1.0 - sign) + scale
    high = tl.fma(power, scale, start)
    result = high + tl.fma(rest, scale, tl.fma(power, scale, start - high))
    return _where_rarely(size > 3.5, _erfc_rare(x), result)


@triton.jit
def _erfinv_rare(x):
    """Of |x| from 0.996625 to 1, x times a function of w = -log(1 - x * x) that is nearly linear in its root: a
    line as a pair, and a polynomial for what is missing. Of tiny ones."""
    far_series: tl.constexpr = (
        0.004851801320910454,
        0.0016752361552789807,
        0.00944530963897705,
        -0.007642748765647411,
        0.005687631666660309,
        -0.003567199455574155,
        0.0014753579162061214,
        -0.00011978888505836949,
        -0.000277886661933735,
        0.0001603603013791144,
        -2.9278582587721758e-05,
    )
    log_series: tl.constexpr = (
        0.3333333432674408,
        -0.24999970197677612,
        0.19999755918979645,
        -0.16668923199176788,
        0.14297793805599213,
        -0.12445107102394104,
        0.10853183269500732,
        -0.10479387640953064,
        0.11528611928224564,
        -0.07838869094848633,
    )
    size = tl.abs(x)
    square, square_low = _product(size, size)
    rest, rest_low = _sum(1.0, -square)
    rest, rest_low = _sum(rest, rest_low - square_low)
    # rest = 2**k * (1 + f)
    shifted = rest.to(tl.int32, bitcast=True) - 0x3F30A3D7
    exponent = shifted >> 23
    f = ((shifted & 0x7FFFFF) + 0x3F30A3D7).to(tl.float32, bitcast=True) - 1.0
    f_low = rest_low * ((127 - exponent) << 23).to(tl.float32, bitcast=True)
    k = exponent.to(tl.float32)
    square, lost = _product(f, f)
    first, first_low = _sum(f, -0.5 * square)
    low = tl.fma(lost, -0.5, first_low + tl.fma(f_low, -f, f_low))
    low = tl.fma(f * square, _polynomial(f, log_series), low)
    whole, whole_low = _sum(k * 0.693145751953125, first)
    w, w_low = _sum(-whole, -(whole_low + tl.fma(k, 1.428606765330187e-06, low)))

    large = tl.maximum(w, 1.0)
    inverse = tl.rsqrt(large)
    root = tl.math.mul_rn(large, inverse)
    far_low = (tl.fma(-root, root, large) + w_low) * (0.5 * inverse)
    far = root - 3.0
    factor, factor_low = _sum(2.828125, far)
    factor_low = factor_low + far_low + _polynomial(far, far_series)
    high, low = _product(x, factor)
    result = high + tl.fma(x, factor_low, low)
    result = tl.where(size < 1.0, result, x * float("inf"))

    # Near 0 sqrt(pi) / 2 times x, which is rounded once where it is subnormal.
    scaled = size * 1.8446744073709552e+19
    high, low = _product(scaled, 0.8862269520759583)
    low = tl.fma(scaled, -2.6623199644859596e-08, low)
    placed, placed_low = _sum(2.168404344971009e-19, high)
    subnormal = (placed + (placed_low + low)) - 2.168404344971009e-19
    tiny = tl.where(high < 2.168404344971009e-19, subnormal, high + low) * 5.421010862427522e-20
    return tl.where(size < 8.673617379884035e-19, tl.where(x.to(tl.int32, bitcast=True) < 0, -tiny, tiny), result)


@triton.jit
def _erfinv_single(x):
    """x times a function of w = -log(1 - x * x) that is nearly linear in w up to 5: a line as a pair, and a
    polynomial for what is missing. Few arguments are beyond."""
    series: tl.constexpr = (
        0.0014093517092987895,
        4.0273735066875815e-05,
        -0.00417732447385788,
        -0.0012527048820629716,
        0.0002182635507779196,
        -4.998758868168807e-06,
        -3.4260121992701897e-06,
        4.796986559085781e-07,
        1.645723557430756e-08,
        -1.1023191248682451e-08,
        4.370302730816178e-10,
        1.328579329884505e-10,
    )
    log_series: tl.constexpr = (
        -0.5,
        0.3333321809768677,
        -0.25000742077827454,
        0.20009270310401917,
        -0.16635562479496002,
        0.1403942108154297,
        -0.12846893072128296,
        0.13746826350688934,
        -0.09799344092607498,
    )
    # 1 - x * x as a pair
    rest = tl.fma(-x, x, 1.0)
    square = 1.0 - rest
    rest_low = tl.fma(-x, x, square) + ((1.0 - square) - rest)
    # rest = 2**k * (1 + f)
    bits = rest.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F30A3D7) & -0x800000
    scale = (0x3F800000 - exponent).to(tl.float32, bitcast=True)
    f = (bits - exponent).to(tl.float32, bitcast=True) - 1.0
    f_low = rest_low * scale
    k = exponent.to(tl.float32)  # times 2**23
    # v = w - 5/2; ln(2) in two parts, multiples of the first one are exact.
    low = tl.fma(f_low, -f, tl.fma(k, 1.7030319754245127e-13, f_low))
    low = tl.fma(f * f, _polynomial(f, log_series), low)
    log, log_low = _sum(f, low)
    v, v_low = _sum(tl.fma(k, -8.262941264547408e-08, -2.5), -log)
    v_low = v_low - log_low
    factor = tl.fma(v, 0.24660000205039978, 1.5)
    factor_low = tl.fma(v, 0.24660000205039978, 1.5 - factor)
    factor_low = tl.fma(v_low, 0.24660000205039978, factor_low) + _polynomial(v, series)
    result = tl.fma(x, factor, tl.math.mul_rn(x, factor_low))
    result = tl.where(rest < 0.0, float("nan"), result)
    # Far where the rest is small, but not negative; tiny below 2**-68, but not 0: twice its bits less 1. One
    # number tells both.
    size = x.to(tl.uint32, bitcast=True) << 1
    is_rare = tl.minimum(rest.to(tl.uint32, bitcast=True), size - 1) < 0x3BDCCF8D
    return _where_rarely(is_rare, _erfinv_rare(x), result)


@triton.jit
def erfc(x):
    if x.dtype == tl.float32:
        return _erfc_single(x)
    else:
        return _erfc(_wide(x, "erfc"))


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
    if x.dtype == tl.float32:
        return _erfinv_single(x)
    else:
        wide = _wide(x, "erfinv")
        return _inverse(wide, 1.0 - tl.abs(wide))


@triton.jit
def _inverse_complement(wide):
    return _inverse(1.0 - wide, tl.where(wide > 1, 2.0 - wide, wide))


@triton.jit
def erfcinv(x):
    return _inverse_complement(_wide(x, "erfcinv")).to(x.dtype)


@triton.jit
def normcdfinv(x):
    return (-1.4142135623730951 * _inverse_complement(2.0 * _wide(x, "normcdfinv"))).to(x.dtype)
