# SPDX-License-Identifier: Apache-2.0
# Modified Bessel functions of order 0 and 1: Chebyshev series computed for this file with 45 digits,
# up to 8 in the argument and beyond it. The error is below 16 ulp of float64 and 0.6 ulp of
# float32, of which i0 is computed by pairs of float32 numbers, beyond 3 behind a branch;
# scripts/derive_special_coefficients.py made their series.


@triton.jit
def _growing(size, near, far):
    """near * exp(x) up to 8, beyond it far * exp(x) / sqrt(x), the power taken in two halves."""
    half = tl.exp(0.5 * size)
    beyond = far / tl.sqrt(tl.maximum(size, 8.0)) * half * half
    result = tl.where(size <= 8, near * tl.exp(tl.minimum(size, 8.0)), beyond)
    return tl.where(size == float("inf"), size, result)


@triton.jit
def _i0_far(x):
    """Beyond 3 exp(x) / sqrt(1 + x) times a line in s = 8 / (1 + x), as a pair, and a polynomial for what
    is missing."""
    far_series: tl.constexpr = (
        -0.008601495064795017,
        -0.0033678000327199697,
        0.007096828892827034,
        0.0018868825864046812,
        0.0007573309121653438,
        0.0001605818106327206,
        -0.00029598752735182643,
        -0.00026625176542438567,
        0.00012409774353727698,
        0.0001814741553971544,
        -7.826415094314143e-05,
        -8.51491276989691e-05,
        4.263036316842772e-05,
        1.9512204744387418e-05,
        -1.1186162737431005e-05,
    )
    size = tl.minimum(tl.abs(x), 93.0)  # i0(91.9) is infinite
    power, power_low, n = _power(size, 0.0 * size)
    above, above_low = _sum(tl.maximum(size, 1.0), tl.minimum(size, 1.0))
    # The root's inverse and its square, as pairs.
    root = tl.rsqrt(above)
    v, v_low = _product(root, root)
    rest = tl.fma(-v, above_low, tl.fma(-v_low, above, tl.fma(-v, above, 1.0)))
    root_low = 0.5 * root * rest
    v_low = tl.fma(2.0 * root, root_low, v_low)
    s = 8.0 * v
    line, line_low = _product(s, 0.04500000178813934)
    far, far_low = _sum(0.3984375, line)
    far_low = far_low + tl.fma(8.0 * v_low, 0.04500000178813934, line_low)
    far_low = far_low + _polynomial(tl.fma(v_low, 8.0, s - 1.0), far_series)
    high, low = _product(power, far)
    high, low = _sum(high, tl.fma(power, far_low, tl.fma(power_low, far, low)))
    scaled, scaled_low = _product(high, root)
    scaled_low = scaled_low + tl.fma(high, root_low, low * root)
    result = (scaled + scaled_low) * _power_of_two(n - 8) * 256.0
    return tl.where(tl.abs(x) < float("inf"), result, x * x)


@triton.jit
def _i0_single(x):
    """Up to 3, where most arguments are, its series in z = x * x / 4, whose first terms are summed as
    pairs."""
    series: tl.constexpr = (
        0.02777777798473835,
        0.0017361100763082504,
        6.944606866454706e-05,
        1.9279095795354806e-06,
        3.966933803667416e-08,
        6.103882954633377e-10,
    )
    half = 0.5 * tl.abs(x)
    z, z_low = _product(half, half)
    later = _polynomial(z, series)
    quarter = tl.fma(z, later, 0.25)
    quarter_low = tl.fma(z, later, 0.25 - quarter)
    slope = tl.fma(z, quarter, 1.0)
    slope_low = tl.fma(z, quarter_low, tl.fma(z, quarter, 1.0 - slope))
    near = tl.fma(z, slope, 1.0)
    near_low = tl.fma(z, slope, 1.0 - near)
    # The derivative by z is about 2 slope - 1.
    near = near + (near_low + tl.fma(z, slope_low, z_low * tl.fma(slope, 2.0, -1.0)))
    return _where_rarely(tl.abs(x) > 3.0, _i0_far(x), near)


@triton.jit
def cyl_bessel_i0(x):
    near: tl.constexpr = (
        0.33839763720473803,
        -0.3046826723431984,
        0.17162090152220877,
        -0.09490109704804764,
        0.04930528423967071,
        -0.02373741480589947,
        0.010546460394594998,
        -0.004324309995050576,
        0.0016394756169413357,
        -0.0005763755745385824,
        0.00018850288509584165,
        -5.754195010082104e-05,
        1.6448448070728896e-05,
        -4.4167383584587505e-06,
        1.1173875391201037e-06,
        -2.670793853940612e-07,
        6.046995022541919e-08,
        -1.300025009986248e-08,
        2.6598237246823866e-09,
        -5.189795601635263e-10,
        9.675809035373237e-11,
        -1.7268262914415555e-11,
        2.955052663129625e-12,
        -4.856446783110493e-13,
        7.67618549846838e-14,
        -1.1685332865345506e-14,
        1.7153911715225191e-15,
        -2.4312698460190526e-16,
        3.329942063880425e-17,
        -4.3447706395547665e-18,
    )
    far: tl.constexpr = (
        0.4022452055070544,
        0.0033691164782556943,
        6.889758346916825e-05,
        2.8913705208347567e-06,
        2.0489185894690638e-07,
        2.266668990498178e-08,
        3.39623202570839e-09,
        4.940602388224986e-10,
        1.1889147107829828e-11,
        -3.1499165279619724e-11,
        -1.3215811840386704e-11,
        -1.7941785316333258e-12,
        7.180124449881532e-13,
        3.8527783902919676e-13,
        1.540086216253112e-14,
        -4.1505697159804504e-14,
        -9.554843428013296e-15,
        3.811696688901694e-15,
        1.7725312725405632e-15,
        -3.4261300853469546e-16,
        -2.825685554062423e-16,
        3.4861099660689656e-17,
        4.346256331212164e-17,
        -5.822652027161558e-18,
    )
    if x.dtype == tl.float32:
        return _i0_single(x)
    else:
        size = tl.abs(_wide(x, "cyl_bessel_i0"))
        below = _chebyshev(tl.minimum(size, 8.0) * 0.25 - 1.0, near)
        above = _chebyshev(16.0 / tl.maximum(size, 8.0) - 1.0, far)
        return _growing(size, below, above)


@triton.jit
def cyl_bessel_i1(x):
    near: tl.constexpr = (
        0.12629359322181682,
        -0.17641651835783406,
        0.1026436586898471,
        -0.05294598120809499,
        0.024726449030626516,
        -0.010564084894626197,
        0.004156422944312888,
        -0.0015135724506312532,
        0.0005122859561685758,
        -0.00016176081582589674,
        4.781565107550054e-05,
        -1.3273163656039436e-05,
        3.4702513081376785e-06,
        -8.568720264695455e-07,
        2.0032947535521353e-07,
        -4.445059128796328e-08,
        9.381537386495773e-09,
        -1.8872497517228294e-09,
        3.625590281552117e-10,
        -6.663489723502027e-11,
        1.1736186298890901e-11,
        -1.9839743977649436e-12,
        3.223793365945566e-13,
        -5.042185504727032e-14,
        7.600684294649187e-15,
        -1.105596946911604e-15,
        1.5536318810494503e-16,
        -2.111414263388092e-17,
        2.7773010799570167e-18,
        -3.48901447271639e-19,
    )
    far: tl.constexpr = (
        0.38928811750914005,
        -0.009761097491361469,
        -0.00011058893876262371,
        -3.882564808877691e-06,
        -2.512236237870209e-07,
        -2.6314688468895193e-08,
        -3.83538038596424e-09,
        -5.589743462196598e-10,
        -1.8974958123488504e-11,
        3.252603583014112e-11,
        1.4125807436552614e-11,
        2.035628544278912e-12,
        -7.198551774793118e-13,
        -4.083551118852195e-13,
        -2.1015418369856268e-14,
        4.272440391913746e-14,
        1.0420273423214838e-14,
        -3.814419200855524e-15,
        -1.8803242773862587e-15,
        3.3088417376397536e-16,
        2.960602053261897e-16,
        -3.2336686891879686e-17,
        -4.5260860409698714e-17,
        5.345766209804402e-18,
    )
    wide = _wide(x, "cyl_bessel_i1")
    size = tl.abs(wide)
    below = size * _chebyshev(tl.minimum(size, 8.0) * 0.25 - 1.0, near)
    above = _chebyshev(16.0 / tl.maximum(size, 8.0) - 1.0, far)
    result = _growing(size, below, above)
    return tl.where(wide < 0, -result, result).to(x.dtype)
