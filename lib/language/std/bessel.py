# SPDX-License-Identifier: Apache-2.0
# Bessel functions of order 0 and 1: Chebyshev series computed for this file with 45 digits, up to 8
# in the argument and beyond it in amplitude and phase. The error is below 2e-15 in absolute terms
# besides 4 ulp of the type (y grows toward 0).


@triton.jit
def _amplitudes(size, order: tl.constexpr):
    """P and Q of J = sqrt(2 / (pi x)) (P cos(chi) - Q sin(chi)), chi = x - (order / 2 + 1/4) pi."""
    inverse = 8.0 / tl.maximum(size, 8.0)
    u = 2.0 * inverse * inverse - 1.0
    p0: tl.constexpr = (
        0.9994603493475187,
        -0.0005365220468132117,
        3.0751847875194745e-06,
        -5.1705945376060975e-08,
        1.6306464635151324e-09,
        -7.864091377234942e-11,
        5.168262387269232e-12,
        -4.304578866809091e-13,
        4.3265956168367155e-14,
        -5.069028751719545e-15,
        6.747835266154516e-16,
        -1.0000451686970917e-16,
        1.5759110955418152e-17,
    )
    q0: tl.constexpr = (
        -0.12444683684269607,
        0.0005470815954089319,
        -5.9315987288485175e-06,
        1.437796579837519e-07,
        -5.817532749492986e-09,
        3.376097523732511e-10,
        -2.5653979367068062e-11,
        2.4049160968625395e-12,
        -2.6690624141964554e-13,
        3.404174557614449e-14,
        -4.879710412294802e-15,
        7.719230017268767e-16,
        -1.2853562908513652e-16,
    )
    p1: tl.constexpr = (
        1.0009030408600137,
        0.0008989898330859408,
        -3.987284300488908e-06,
        6.177633960644299e-08,
        -1.8718907491063005e-09,
        8.81689865958012e-11,
        -5.704863640312135e-12,
        4.699195511971488e-13,
        -4.6842236516879917e-14,
        5.4526692893914976e-15,
        -7.220931799593593e-16,
        1.065603854257966e-16,
        -1.6735071050617454e-17,
    )
    q1: tl.constexpr = (
        0.3742222965562826,
        -0.0007702178839325664,
        7.3108922063643636e-06,
        -1.6767825107266737e-07,
        6.5833546621203705e-09,
        -3.7490909505389723e-10,
        2.81217503588047e-11,
        -2.6114525358910222e-12,
        2.877421126095661e-13,
        -3.648996180387058e-14,
        5.206381106903487e-15,
        -8.204305408270649e-16,
        1.3619157898244473e-16,
    )
    if order == 0:
        return _chebyshev(u, p0), _chebyshev(u, q0) * inverse * 0.125
    else:
        return _chebyshev(u, p1), _chebyshev(u, q1) * inverse * 0.125


@triton.jit
def _far(size, order: tl.constexpr, is_second: tl.constexpr):
    p, q = _amplitudes(size, order)
    scale = tl.sqrt(0.6366197723675814 / tl.maximum(size, 8.0))
    # cos and sin of chi from those of x, whose reduction is exact
    sine = tl.sin(size) * 0.7071067811865476
    cosine = tl.cos(size) * 0.7071067811865476
    if order == 0:
        cos_chi = cosine + sine
        sin_chi = sine - cosine
    else:
        cos_chi = sine - cosine
        sin_chi = -(sine + cosine)
    if is_second:
        result = p * sin_chi + q * cos_chi
    else:
        result = p * cos_chi - q * sin_chi
    return tl.where(size == float("inf"), 0.0, scale * result)


@triton.jit
def _square_place(size):
    near = tl.minimum(size, 8.0)
    return near * near * 0.03125 - 1.0


@triton.jit
def _j0_near(size):
    series: tl.constexpr = (
        0.15772797147489012,
        -0.008723442352852221,
        0.2651786132033368,
        -0.37009499387264977,
        0.15806710233209725,
        -0.034893769411408884,
        0.004819180069467605,
        -0.00046062616620627504,
        3.246032882100508e-05,
        -1.7619469077621507e-06,
        7.608163592418782e-08,
        -2.679253530557673e-09,
        7.848696314479465e-11,
        -1.9438346867370164e-12,
        4.125320595634374e-14,
        -7.588508125447545e-16,
        1.2218515873941768e-17,
        -1.7367895843093804e-19,
        2.1955398008588786e-21,
    )
    return _chebyshev(_square_place(size), series)


@triton.jit
def _j1_near(size):
    series: tl.constexpr = (
        0.08104484632565812,
        -0.1489751450676521,
        0.1609992623572097,
        -0.08268049176681791,
        0.022213639654966037,
        -0.003646940600769276,
        0.0004050337728354822,
        -3.255554866857259e-05,
        1.9858774049915165e-06,
        -9.521984756750436e-08,
        3.687133759097148e-09,
        -1.178026622695885e-10,
        3.160154580348003e-12,
        -7.221755239651773e-14,
        1.4232144003513942e-15,
        -2.444197291619046e-17,
        3.6912682997886e-19,
        -4.941168213620716e-21,
        5.903220245990195e-23,
    )
    return size * _chebyshev(_square_place(size), series)


@triton.jit
def j0(x):
    size = tl.abs(_wide(x, "j0"))
    return tl.where(size <= 8, _j0_near(size), _far(size, 0, False)).to(x.dtype)


@triton.jit
def j1(x):
    wide = _wide(x, "j1")
    size = tl.abs(wide)
    result = tl.where(size <= 8, _j1_near(size), _far(size, 1, False))
    return tl.where(wide < 0, -result, result).to(x.dtype)


@triton.jit
def _of_positive(x, result):
    """Functions of the second kind: -inf at 0 and NaN to its left."""
    result = tl.where(x == 0, float("-inf"), result)
    return tl.where(x >= 0, result, float("nan"))


@triton.jit
def y0(x):
    wide = _wide(x, "y0")
    series: tl.constexpr = (
        -0.03314611320328494,
        -0.2744743055297453,
        0.17903431407718265,
        0.26156734625504663,
        -0.17730201278114358,
        0.04719668959576339,
        -0.007287962479552079,
        0.0007531135932577742,
        -5.632079141056987e-05,
        3.206532537654801e-06,
        -1.44072332740187e-07,
        5.248794787330516e-09,
        -1.5837552541812015e-10,
        4.02633081830612e-12,
        -8.747341203310769e-14,
        1.6434898714919468e-15,
        -2.6977881152566833e-17,
        3.9032584173439173e-19,
        -5.0161796525353365e-21,
        5.764434197270976e-23,
    )
    rest = _chebyshev(_square_place(wide), series)
    near = 0.6366197723675814 * tl.log(wide) * _j0_near(wide) + rest
    return _of_positive(wide, tl.where(wide <= 8, near, _far(wide, 0, True))).to(x.dtype)


@triton.jit
def y1(x):
    wide = _wide(x, "y1")
    series: tl.constexpr = (
        0.0025380132357417816,
        -0.01608717304766875,
        -0.09591204536083074,
        0.08445197259652346,
        -0.028328123944594365,
        0.005289897544167113,
        -0.0006414551451326356,
        5.505982873338744e-05,
        -3.53808001868935e-06,
        1.7707804556154404e-07,
        -7.11055004989928e-09,
        2.344337905911516e-10,
        -6.4651518414115946e-12,
        1.51429151205002e-13,
        -3.0511859694473254e-15,
        5.34668038572867e-17,
        -8.224911372021584e-19,
        1.119851833367442e-20,
        -1.3592376905368997e-22,
        1.4800185352548226e-24,
    )
    rest = wide * _chebyshev(_square_place(wide), series)
    near = 0.6366197723675814 * (tl.log(wide) * _j1_near(wide) - 1.0 / wide) + rest
    return _of_positive(wide, tl.where(wide <= 8, near, _far(wide, 1, True))).to(x.dtype)
