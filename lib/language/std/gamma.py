# SPDX-License-Identifier: Apache-2.0
# The gamma function and its logarithm by Stirling's series from 8 on, below by recurrence and
# reflection, in float64. tgamma: within 0.6 ulp of float32, 32 ulp of float64. lgamma: within 1 ulp
# of float32; in float64 within 1e-14 besides 4 ulp, which counts near its zeros. lgamma of float32 is
# computed by pairs of float32 numbers; near the zeros left of -2 by another series and left of -3 in
# float64, behind branches. scripts/derive_special_coefficients.py made the series of the pairs.


@triton.jit
def _sine_of_pi_times(x):
    """sin(pi * x), exact at the multiples of a half."""
    rest = x - 2.0 * tl.floor(0.5 * x + 0.5)
    folded = tl.where(tl.abs(rest) > 0.5, tl.where(rest < 0, -1.0 - rest, 1.0 - rest), rest)
    return tl.sin(3.141592653589793 * folded)


@triton.jit
def _raised(x):
    """x, or x + 8 with the product of the eight numbers passed, when x < 8."""
    product = x
    for i in tl.static_range(1, 8):
        product = product * (x + i)
    return tl.where(x < 8, x + 8.0, x), tl.where(x < 8, product, 1.0)


@triton.jit
def _stirling(z):
    """log(gamma(z)) - (z - 1/2) log(z) + z - log(2 pi) / 2 for z >= 8."""
    inverse = 1.0 / z
    square = inverse * inverse
    series: tl.constexpr = (
        0.08333333333333333,
        -0.002777777777777778,
        0.0007936507936507937,
        -0.0005952380952380953,
        0.0008417508417508417,
        -0.0019175269175269176,
        0.00641025641025641,
        -0.029550653594771242,
    )
    total = square * series[7]
    for i in tl.static_range(6, 0, -1):
        total = square * (total + series[i])
    return inverse * (total + series[0])


@triton.jit
def _lgamma_positive(x):
    z, product = _raised(x)
    main = (z - 0.5) * tl.log(z) - z + 0.9189385332046728 + _stirling(z)
    return tl.where(x == float("inf"), x, main - tl.log(product))


@triton.jit
def _reciprocal(x):
    """1 / x of float64 that is not beyond float32: that of float32 and two steps of Newton's."""
    guess = (1.0 / x.to(tl.float32)).to(tl.float64)
    guess = tl.fma(guess, tl.fma(-x, guess, 1.0), guess)
    return tl.fma(guess, tl.fma(-x, guess, 1.0), guess)


@triton.jit
def _horner(x, series: tl.constexpr):
    """series[0] + x * (series[1] + x * ...)"""
    total = x * series[len(series) - 1] + series[len(series) - 2]
    for i in tl.static_range(len(series) - 3, -1, -1):
        total = x * total + series[i]
    return total


@triton.jit
def _split(x):
    """k and m of x = 2**k * m, m between the roots of 1/2 and 2; x positive and normal."""
    shifted = x.to(tl.int64, bitcast=True) - 0x3FE6A09E667F3BCD
    m = ((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).to(tl.float64, bitcast=True)
    return (shifted >> 52).to(tl.int32), m


@triton.jit
def _log_of_parts(k, m, n):
    """log(2**k * m / n), m / n between the roots of 1/2 and 2."""
    series: tl.constexpr = (
        0.6666666666666735,
        0.39999999999411107,
        0.2857142874326134,
        0.22222198476029037,
        0.1818356974121239,
        0.15313903139198376,
        0.1479750934959052,
    )
    s = (m - n) * _reciprocal(m + n)
    square = s * s
    times = k.to(tl.float64)
    tail = s * square * _horner(square, series) + times * 1.9082149292705877e-10
    return times * 0.6931471803691238 + (2.0 * s + tail)


@triton.jit
def _sine_of_half_turns(x):
    """sin(pi * |x|) of float32, whose distance from the nearest whole number is exact."""
    series: tl.constexpr = (
        3.141592653589793,
        -5.167712780049969,
        2.550164039877294,
        -0.5992645293187333,
        0.08214588656981014,
        -0.007370430478014285,
        0.0004662996850281072,
        -2.190317569237502e-05,
        7.694624963633642e-07,
    )
    rest = tl.abs(x - tl.math.rint(x)).to(tl.float64)
    return rest * _horner(rest * rest, series)


@triton.jit
def _lgamma_wide(x):
    """Of float32 in float64. Right of 1/2 log(gamma(z)) - log(product) for z = x + 8; on the left the same of 1 - x, negated,
    and the sine's logarithm, which makes a quotient of the product."""
    is_left = x < 0.5
    wide = x.to(tl.float64)
    z, product = _raised(tl.where(is_left, 1.0 - wide, wide))
    k, m = _split(z)
    inverse = _reciprocal(z)
    square = inverse * inverse
    series: tl.constexpr = (
        0.08333333333333333,
        -0.002777777777777778,
        0.0007936507936507937,
        -0.0005952380952380953,
        0.0008417508417508417,
        -0.0019175269175269176,
        0.00641025641025641,
        -0.029550653594771242,
    )
    rest = inverse * _horner(square, series) + 0.9189385332046728
    main = (z - 0.5) * _log_of_parts(k, m, 1.0) + (rest - z)
    sine = tl.where(is_left, _sine_of_half_turns(x), 1.0)
    k, m = _split(product)
    j, n = _split(sine)
    is_above = m > 1.4142135623730951 * n
    is_below = n > 1.4142135623730951 * m
    n = tl.where(is_above, n + n, n)
    m = tl.where(is_below, m + m, m)
    k = k - j + tl.where(is_above, 1, tl.where(is_below, -1, 0))
    right = main - _log_of_parts(k, m, n)
    result = tl.where(is_left, 1.1447298858494002 - right, right).to(tl.float32)
    result = tl.where((x == 1) | (x == 2), 0.0, result)
    is_pole = (x <= 0) & (x == tl.floor(x))
    result = tl.where(is_pole | (tl.abs(x) == float("inf")), float("inf"), result)
    return tl.where(x != x, x, result)


@triton.jit
def _lgamma_rare(x):
    """Beside the zeros left of -2 the distance from the zero, as a pair, times a polynomial of it."""
    right_series: tl.constexpr = (
        2.491272965698954e-08,
        4.858321189880371,
        1.411292314529419,
        8.720444679260254,
        5.787215709686279,
        26.38396453857422,
        45.64466094970703,
    )
    left_series: tl.constexpr = (
        -3.3811030419883537e-08,
        9.575189590454102,
        -20.09512710571289,
        62.62550354003906,
        -194.80938720703125,
        653.7737426757812,
        -2143.768310546875,
    )
    is_right = x > -2.6
    t = x - tl.where(is_right, -2.4570248126983643, -2.747682571411133)
    t_low = tl.where(is_right, -7.447756189549182e-08, 7.531627943535568e-08)
    slope = tl.where(is_right, 1.5156034231185913, -1.914350152015686)
    at_start = tl.where(is_right, -1.1287845325114176e-07, -1.441817261138567e-07)  # slope * t_low
    distance = t + t_low
    change = _polynomial_where(is_right, distance, right_series, left_series)
    near = tl.fma(t, slope, tl.fma(distance, change, at_start))
    return _where_rarely((tl.abs(t) > 0.031) | (x < -3.0), _lgamma_wide(x), near)


@triton.jit
def _lgamma_single(x):
    """From 3 on (x - 1/2) (log(x) - 1) and Stirling's series. From -3 to 3 that of u = x - floor(x) + 1,
    (u - 1) (u - 2) times a function that hardly varies, and the logarithm of the numbers between u and x;
    the zeros of the rest need more digits than pairs have."""
    near_series: tl.constexpr = (
        -0.016871050000190735,
        -0.14595989882946014,
        0.06291142106056213,
        -0.031308118253946304,
        0.01679694652557373,
        -0.00943484716117382,
        0.005448565818369389,
        -0.0031243457924574614,
        0.0018907308112829924,
        -0.001511618378572166,
        0.0008866565185599029,
    )
    far_series: tl.constexpr = (
        0.083333320915699,
        -0.0027771317400038242,
        0.0007775512058287859,
        -0.0004204211581964046,
    )
    log_series: tl.constexpr = (
        0.3333333432674408,
        -0.24999970197677612,
        0.19999739527702332,
        -0.16668935120105743,
        0.142984077334404,
        -0.12445404380559921,
        0.1084451898932457,
        -0.10468767583370209,
        0.115699402987957,
        -0.07909558713436127,
    )
    whole = tl.floor(x)
    above = x - whole
    below = (whole + 1.0) - x
    # (u - 1) (2 - u); one of both factors may have been rounded.
    product, product_low = _product(above, below)
    product_low = tl.fma((1.0 - above) - below, below, product_low)
    change = _polynomial(above - 0.5, near_series)

    # The product of the numbers from x to u left of 0, whose sign does not count.
    is_left = x < 0.0
    passed, passed_low = _product(tl.where(x < -1.0, -x, 1.0), tl.where(x < -2.0, -1.0 - x, 1.0))
    left, left_low = _product(passed, product)
    left_low = tl.fma(passed, product_low, tl.fma(passed_low, product, left_low))
    is_far = x >= 3.0
    right = tl.where((x < 1.0) | is_far, x, tl.where(x < 2.0, 1.0, x - 1.0))
    number = tl.where(is_left, left, right)
    number_low = tl.where(is_left, left_low, 0.0)
    times = tl.where(x < 2.0, -1.0, tl.where(is_far, x, 1.0))

    # log(number), less 1 from 3 on; number = 2**k * (1 + f)
    inverse = _divide_nearby(1.0, number)
    bits = number.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F30A3D7) & -0x800000
    f = (bits - exponent).to(tl.float32, bitcast=True) - 1.0
    k = exponent.to(tl.float32)  # times 2**23
    square, lost = _product(f, f)
    first, first_low = _sum(f, -0.5 * square)
    low = tl.fma(lost, -0.5, tl.fma(number_low, inverse, first_low))
    low = tl.fma(f * square, _polynomial(f, log_series), low)
    log, log_low = _sum(tl.fma(k, 8.262941264547408e-08, tl.where(is_far, -1.0, 0.0)), first)
    log_low = log_low + tl.fma(k, 1.7030319754245127e-13, low)

    scaled, scaled_low = _product(times, log)
    scaled_low = tl.fma(times, log_low, scaled_low)
    rest = tl.where(is_far, 0.418938547372818, -0.5 * product)  # (log(2 * pi) - 1) / 2
    total = scaled + rest
    grown = total - scaled
    low = ((scaled - (total - grown)) + (rest - grown)) + scaled_low
    near = tl.fma(product, -change, tl.fma(product_low, -0.5, low))
    far = tl.fma(log + log_low, -0.5, low - 1.4168145323623094e-08)
    far = tl.fma(inverse, _polynomial(inverse * inverse, far_series), far)
    result = total + tl.where(is_far, far, near)

    # Of poles the number is 0, of no other x.
    is_rare = ((tl.abs(result) < 0.04) & (x < -2.0)) | (x < -3.0)
    is_rare = (is_rare | (number < 1.1754943508222875e-38) | (x > 4.0e36)) & (number != 0.0)
    return _where_rarely(is_rare, _lgamma_rare(x), tl.where(number == 0.0, float("inf"), result))


@triton.jit
def _lgamma_double(wide):
    is_left = wide < 0.5
    positive = _lgamma_positive(tl.where(is_left, 1.0 - wide, wide))
    # pi times a subnormal number would lose digits: there lgamma(x) is -log(|x|).
    is_tiny = tl.abs(wide) < 1e-20
    log = tl.log(tl.where(is_tiny, tl.abs(wide), tl.abs(_sine_of_pi_times(wide))))
    reflected = tl.where(is_tiny, -log, 1.1447298858494002 - log - positive)
    result = tl.where(is_left, reflected, positive)
    result = tl.where((wide == 1) | (wide == 2), 0.0, result)
    is_pole = (wide <= 0) & (wide == tl.floor(wide))
    result = tl.where(is_pole | (tl.abs(wide) == float("inf")), float("inf"), result)
    return tl.where(wide != wide, wide, result)


@triton.jit
def lgamma(x):
    if x.dtype == tl.float32:
        return _lgamma_single(x)
    else:
        return _lgamma_double(_wide(x, "lgamma"))


@triton.jit
def _tgamma_positive(x):
    """Up to 185; the power is taken in two halves, the whole would overflow early."""
    z, product = _raised(x)
    half = tl.math.pow(z, 0.5 * z - 0.25)
    return 2.5066282746310002 * half * (tl.exp(-z) * tl.exp(_stirling(z)) / product) * half


@triton.jit
def tgamma(x):
    wide = _wide(x, "tgamma")
    near = tl.minimum(tl.maximum(wide, -184.0), 175.0)
    is_left = near < 0.5
    positive = _tgamma_positive(tl.where(is_left, 1.0 - near, near))
    sine = _sine_of_pi_times(wide)
    reflected = 3.141592653589793 / (sine * positive)
    result = tl.where(is_left, reflected, positive)
    result = tl.where(wide > 172.0, float("inf"), result)
    is_pole = (wide < 0) & (wide == tl.floor(wide))
    result = tl.where(is_pole | (wide != wide), float("nan"), result)
    return tl.where(wide == 0, 1.0 / wide, result).to(x.dtype)
