# SPDX-License-Identifier: Apache-2.0
# The complementary error function and its relatives: in float32 erfc within 1.8 ulp, erfinv within 1.2
# (where it is only rounded to 16 bits within 2^-16 of itself before), the others within 0.6; in float64
# within 8 ulp, normcdfinv and the inverses within 16. erfc and erfinv of float32 are computed in float32,
# the others in float64.
# scripts/derive_special_coefficients.py made the series of float32.


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
    """exp(-x * x) as 2**n * (1 + power), times v * p(v) with v = 1 / (x + 7/4); left of 0 less than 2."""
    power_series: tl.constexpr = (
        0.4999999403953552,
        0.1666652113199234,
        0.04166826605796814,
        0.008368677459657192,
        0.0013820738531649113,
    )
    slope_series: tl.constexpr = (1.6072461605072021, 1.6687240600585938)
    series: tl.constexpr = (
        2.24064302444458,
        2.1267826557159424,
        -1.0472397804260254,
        -3.134859561920166,
        2.448946714401245,
        4.771245002746582,
        -8.651044845581055,
        -2.841831684112549,
        19.568927764892578,
        -13.000937461853027,
    )
    size = tl.abs(x)
    size = tl.where(size > 10.23, 10.23, size)  # whose scale is 0: erfc(10.06) rounds to it
    square, square_low = _product(size, size)
    magic = tl.fma(square, -1.4426950216293335, 12582912.0)
    n = magic - 12582912.0
    rest = tl.fma(n, 1.904654323148236e-09, -square_low)
    # What v is off by counts with the slope of log(v * p(v)) by log(v), in the exponent.
    divisor = size + 1.75
    v = _divide_nearby(1.0, divisor)
    missing = tl.fma(-v, size - (divisor - 1.75), tl.fma(-v, divisor, 1.0))
    u = v - 0.3125
    rest = tl.fma(missing, _polynomial(u, slope_series), rest)
    exponent = tl.fma(n, -0.6931471824645996, -square) + rest  # the first one is exact
    power = tl.fma(exponent * exponent, _polynomial(exponent, power_series), exponent)
    # The factor is a pair, so that only its product is rounded. Times 2**24 no number is subnormal.
    inner = _polynomial(u, series)
    factor = tl.fma(u, inner, 1.0558756589889526)
    factor_low = tl.fma(u, inner, 1.0558756589889526 - factor)
    scale = ((magic.to(tl.int32, bitcast=True) << 23) + 0x4B800000).to(tl.float32, bitcast=True) * v
    result = tl.fma(scale, factor, scale * tl.fma(factor, power, factor_low))
    sign = tl.math.copysign(5.960464477539063e-08, x)
    return tl.fma(result, sign, tl.fma(sign, -16777216.0, 1.0))  # added to 2 left of 0, else to 0


@triton.jit
def _erfinv_far(x):
    """From w = 7.5 on the function is nearly the root of w: that root as a pair, and a polynomial of it."""
    series: tl.constexpr = (
        -0.16451428830623627,
        0.00736897112801671,
        0.003277589799836278,
        -0.0020670080557465553,
        0.001082954229786992,
        -0.0006576957530342042,
        0.00048027787124738097,
        -0.00026185487513430417,
    )
    size = tl.abs(x)
    w = -tl.log((1.0 - size) * (1.0 + size))
    inverse = tl.rsqrt(w)
    root = tl.math.mul_rn(w, inverse)
    missing = tl.fma(-root, root, w)
    low = tl.fma(missing, 0.5 * inverse, _polynomial(root - 3.5, series))
    return tl.fma(x, root, x * low)


@triton.jit
def _erfinv_single(x):
    """x times a function of w = -log(1 - x * x) that is nearly linear in w up to 7.5: a line as a pair, and a
    polynomial for what is missing. Few arguments are beyond."""
    series: tl.constexpr = (
        0.0023743819911032915,
        0.007832900620996952,
        0.004250860307365656,
        -0.0023765210062265396,
        9.987685189116746e-05,
        3.851274959743023e-05,
        -4.272565547580598e-06,
        -7.247513167385478e-07,
        2.2528969623181183e-07,
        -2.4625625982821475e-08,
        1.3028008671867042e-09,
        -2.756023013972264e-11,
    )
    log_series: tl.constexpr = (
        -0.49999910593032837,
        0.33333924412727356,
        -0.25008487701416016,
        0.1997232437133789,
        -0.164208322763443,
        0.14616702497005463,
        -0.1527893990278244,
        0.10953424870967865,
    )
    rest = tl.fma(-x, x, 1.0)
    # rest = 2**k * (1 + f)
    bits = rest.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F30A3D7) & -0x800000
    f = (bits - exponent).to(tl.float32, bitcast=True) - 1.0
    k = exponent.to(tl.float32)  # times 2**23
    log = tl.fma(f * f, _polynomial(f, log_series), f)
    v = tl.fma(k, -8.262958294867817e-08, -1.0) - log  # w - 1
    factor = tl.fma(v, 0.23999999463558197, 1.125)
    low = tl.fma(v, 0.23999999463558197, 1.125 - factor) + _polynomial(v, series)  # not negative at 0
    # Infinity where the rest is 0, no number where it is negative: infinity's bits and the sign's.
    number = rest.to(tl.uint32, bitcast=True)
    beyond = ((number >> 31) + 0x7F800000).to(tl.float32, bitcast=True)
    factor = tl.where(rest > 0.0, factor, beyond)
    result = tl.fma(x, factor, x * low)
    return _where_rarely(number - 1 < 0x3A10FCDD, _erfinv_far(x), result)


@triton.jit
def _erfinv_half(x):
    """Within 2^-16: x times a function of w = -log(1 - x * x), for all numbers below 1."""
    series: tl.constexpr = (
        0.8862313032150269,
        0.2319929301738739,
        0.011502151377499104,
        -0.0021670921705663204,
        -0.00029281293973326683,
        0.00012423298903740942,
        -1.7522654161439277e-05,
        1.3741782822762616e-06,
        -6.3567426877853e-08,
        1.6271699543324303e-09,
        -1.7825607309673863e-11,
    )
    log_series: tl.constexpr = (-0.4990829527378082, 0.3342854380607605, -0.276858925819397, 0.2010800689458847)
    rest = tl.fma(-x, x, 1.0)
    bits = rest.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F30A3D7) & -0x800000
    f = (bits - exponent).to(tl.float32, bitcast=True) - 1.0
    log = tl.fma(f * f, _polynomial(f, log_series), f)
    w = tl.fma(exponent.to(tl.float32), -8.262958294867817e-08, -log)
    # Infinity where the rest is 0, no number where it is negative: infinity's bits and the sign's.
    beyond = ((rest.to(tl.uint32, bitcast=True) >> 31) + 0x7F800000).to(tl.float32, bitcast=True)
    return x * tl.where(rest > 0.0, _polynomial(w, series), beyond)


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
        return _for_halves(_erfinv_single(x), _erfinv_half(x))
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
