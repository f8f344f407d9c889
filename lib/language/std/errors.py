# SPDX-License-Identifier: Apache-2.0
# The complementary error function and its relatives: within 0.6 ulp of float32; in float64 within 8
# ulp, normcdfinv and the inverses within 16. erfc and erfinv of float32 are computed by pairs of
# float32 numbers, the others in float64. scripts/derive_special_coefficients.py made the series of
# the pairs.


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
def _erfc_single(x):
    """Near 0, 1 - erf(x) by its series. Else exp(-x * x) * w(v) * v for v = 1 / (1 + 2 |x|), where w
    hardly varies: a polynomial of u = 4v - 1 whose first three terms are pairs."""
    near_series: tl.constexpr = (
        -0.37612637877464294,
        0.1128377690911293,
        -0.026863589882850647,
        0.005203037988394499,
        -0.0007746978080831468,
    )
    size = tl.abs(x)
    slope, slope_low = _product(x, 1.128379225730896)  # 2 / sqrt(pi), in two parts
    slope_low = tl.fma(x, -5.8635382771399236e-08, slope_low)
    one, one_low = _sum(1.0, -slope)
    square = x * x
    near = one + (one_low - tl.fma(x * square, _polynomial(square, near_series), slope_low))

    series: tl.constexpr = (
        0.002894398057833314,
        -0.020327070727944374,
        -0.015552161261439323,
        0.0391472764313221,
        0.0019028320675715804,
        -0.009766480885446072,
        0.005907142069190741,
        -0.0015570754185318947,
        -0.0005264444043859839,
        0.0009545490611344576,
        -0.0006966941291466355,
        0.00022707227617502213,
        0.00011870892194565386,
        -0.00014660081069450825,
        4.147176878177561e-05,
    )
    reach = tl.minimum(size, 10.3)  # erfc(10.06) rounds to 0
    square, square_low = _product(reach, reach)
    power, power_low, n = _power(-square, -square_low)
    divisor = tl.fma(reach, 2.0, 1.0)
    divisor_low = tl.fma(reach, 2.0, 1.0 - divisor)
    v = 1.0 / divisor
    v_low = v * tl.fma(-v, divisor_low, tl.fma(-v, divisor, 1.0))
    u, u_low = _sum(-1.0, 4.0 * v)
    u, u_low = _sum(u, tl.fma(v_low, 4.0, u_low))
    inner = tl.fma(u, -0.09765625, 0.04296875)
    # The rounding of the sum, and that of its first term, which fma does not round.
    first = inner - 0.04296875
    inner_low = tl.fma(u, -0.09765625, -first) + (0.04296875 - (inner - first))
    tail, tail_low = _product(u, inner)
    w, w_low = _sum(1.283447265625, tail)
    change = tl.fma(tl.fma(u, 0.11744183301925659, -0.22641682624816895), u, 0.022641679272055626)
    w_low = w_low + tl.fma(u_low, change, tl.fma(u, inner_low, tail_low))
    w_low = _polynomial(u, series) + w_low
    high, low = _product(power, w)
    high, low = _sum(high, tl.fma(power, w_low, tl.fma(power_low, w, low)))
    scaled, scaled_low = _product(high, v)
    scaled_low = scaled_low + tl.fma(high, v_low, low * v)

    right = (scaled + scaled_low) * _power_of_two(n + 64) * 5.421010862427522e-20
    # A subnormal number is rounded once, by a number with its last place.
    place = ((1 - n) << 23).to(tl.float32, bitcast=True)
    placed, placed_low = _sum(place, scaled)
    subnormal = ((placed + (placed_low + scaled_low)) - place) * _power_of_two(n + 64) * 5.421010862427522e-20
    right = tl.where(right < 1.1754943508222875e-38, subnormal, right)
    scale = _power_of_two(tl.maximum(n, -100))
    two, two_low = _sum(2.0, -scaled * scale)
    left = two + tl.fma(-scaled_low, scale, two_low)
    far = tl.where(x < 0, left, right)
    return tl.where(x != x, x, tl.where(size < 0.4609375, near, far))


@triton.jit
def _erfinv_single(x):
    """x times a function of w = -log(1 - x * x) that is nearly linear in w up to 5 and in its root
    beyond: a line as a pair, and a polynomial for what is missing."""
    near_series: tl.constexpr = (
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

    near, near_low = _sum(-2.5, w)
    near_low = near_low + w_low
    large = tl.maximum(w, 1.0)
    inverse = tl.rsqrt(large)
    root = tl.math.mul_rn(large, inverse)
    far_low = (tl.fma(-root, root, large) + w_low) * (0.5 * inverse)
    far = root - 3.0
    is_far = w > 5.0
    missing = tl.where(is_far, _polynomial(far, far_series), _polynomial(near, near_series))
    place = tl.where(is_far, far, near)
    place_low = tl.where(is_far, far_low, near_low)
    slope = tl.where(is_far, 1.0, 0.24660000205039978)
    line, line_low = _product(slope, place)
    factor, factor_low = _sum(tl.where(is_far, 2.828125, 1.5), line)
    factor_low = factor_low + tl.fma(slope, place_low, line_low) + missing
    high, low = _product(x, factor)
    result = high + tl.fma(x, factor_low, low)
    result = tl.where(size < 1.0, result, tl.where(size == 1.0, x * float("inf"), float("nan")))

    # Near 0 sqrt(pi) / 2 times x, which is rounded once where it is subnormal.
    scaled = size * 1.8446744073709552e+19
    high, low = _product(scaled, 0.8862269520759583)
    low = tl.fma(scaled, -2.6623199644859596e-08, low)
    placed, placed_low = _sum(2.168404344971009e-19, high)
    subnormal = (placed + (placed_low + low)) - 2.168404344971009e-19
    tiny = tl.where(high < 2.168404344971009e-19, subnormal, high + low) * 5.421010862427522e-20
    return tl.where(size < 8.673617379884035e-19, tl.where(x.to(tl.int32, bitcast=True) < 0, -tiny, tiny), result)


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
