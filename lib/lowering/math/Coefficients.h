// SPDX-License-Identifier: Apache-2.0
// Written by scripts/derive_math_coefficients.py; change that and run it again.
// Minimax polynomials, lowest power first. The error is the fit's, before rounding of the
// coefficients and of the evaluation; docs/math.md states the bounds of the functions.
// clang-format off
#pragma once

#include <cstdint>

namespace nereid::lowering::coefficients {

/// exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; relative to exp(r).
/// Error 3.07e-9 = 2^-28.28.
inline constexpr float exp32[] = {
    0x1.fffffc0000000p-2f,
    0x1.5554920000000p-3f,
    0x1.5558f20000000p-5f,
    0x1.123a200000000p-7f,
    0x1.6a23d80000000p-10f,
};

/// expm1(r) = r + r^2 q(r), |r| <= ln(2)/2; relative to expm1(r).
/// Error 1.32e-8 = 2^-26.17.
inline constexpr float expm1_32[] = {
    0x1.fffffe0000000p-2f,
    0x1.5554b00000000p-3f,
    0x1.5556740000000p-5f,
    0x1.1227ae0000000p-7f,
    0x1.6bebc00000000p-10f,
};

/// 2^r = 1 + r q(r), |r| <= 1/2; relative to 2^r.
/// Error 1.99e-9 = 2^-28.91.
inline constexpr float exp2_32[] = {
    0x1.62e4300000000p-1f,
    0x1.ebfbdc0000000p-3f,
    0x1.c6aee60000000p-5f,
    0x1.3b2d500000000p-7f,
    0x1.5f3f320000000p-10f,
    0x1.41fb340000000p-13f,
};

/// expm1(r) = r + r^2 q(r), |r| <= ln(2)/2; relative to expm1(r).
/// Error 2.62e-19 = 2^-61.73.
inline constexpr double expm1_64[] = {
    0x1.0000000000000p-1,
    0x1.5555555555559p-3,
    0x1.555555555553ep-5,
    0x1.111111110f6c5p-7,
    0x1.6c16c16c1f0e0p-10,
    0x1.a01a01afdd8c7p-13,
    0x1.a01a017bb1659p-16,
    0x1.71ddf863ba68fp-19,
    0x1.27e53641b10dep-22,
    0x1.af5ea854a3e0cp-26,
    0x1.1ee88a95a4ca7p-29,
};

/// log(1+f) = f - f^2/2 + f^3 q(f), 1+f in [sqrt(1/2), sqrt(2)]; relative to log(1+f).
/// Error 5.83e-9 = 2^-27.35.
inline constexpr float log32[] = {
    0x1.5555540000000p-2f,
    -0x1.0002260000000p-2f,
    0x1.99a0080000000p-3f,
    -0x1.5472460000000p-3f,
    0x1.22da220000000p-3f,
    -0x1.0d85420000000p-3f,
    0x1.055b4c0000000p-3f,
    -0x1.38b52a0000000p-4f,
};

/// log((1+s)/(1-s)) = 2s + s z q(z), z = s^2; relative to 2s.
/// Error 1.24e-18 = 2^-59.48.
inline constexpr double log64[] = {
    0x1.5555555555593p-1,
    0x1.999999997fb34p-2,
    0x1.2492494217922p-2,
    0x1.c71c51e7fb33ep-3,
    0x1.7466462d0b1bcp-3,
    0x1.39a0f4dc8eb86p-3,
    0x1.2f0d90d97fe88p-3,
};

/// log2((1+s)/(1-s)) = s (2 / ln(2) + z q(z)), z = s^2; relative.
/// Error 4.81e-12 = 2^-37.6.
inline constexpr float log2Tail32[] = {
    0x1.ec709e0000000p-1f,
    0x1.2777680000000p-1f,
    0x1.a596140000000p-2f,
    0x1.5c67980000000p-2f,
};

/// log((1+s)/(1-s)) = 2s + 2/3 s z + s z^2 q(z), z = s^2; relative to 2s.
/// Error 1.12e-20 = 2^-66.27.
inline constexpr double log64Tail[] = {
    0x1.9999999999b33p-2,
    0x1.2492492457819p-2,
    0x1.c71c722de1f17p-3,
    0x1.745ce9b733056p-3,
    0x1.3b1ef44f3acaep-3,
    0x1.0f7f222a65458p-3,
    0x1.0e4a238bb09dap-3,
};

/// log(1+f) = f - f^2/2 + f^3 q(f), 1+f in [0.69, 1.38]; relative to log(1+f).
/// Error 1.32e-10 = 2^-32.82.
inline constexpr float log32Pair[] = {
    0x1.5555560000000p-2f,
    -0x1.ffffd80000000p-3f,
    0x1.9998520000000p-3f,
    -0x1.55612a0000000p-3f,
    0x1.24d19e0000000p-3f,
    -0x1.fdc0680000000p-4f,
    0x1.bc8be00000000p-4f,
    -0x1.ad3c580000000p-4f,
    0x1.d836420000000p-4f,
    -0x1.4114800000000p-4f,
};

/// log(1+f) = f - f^2/2 + f^3 (0x1.555556p-2 + f q(f)), 1+f in [3/4, 3/2]; relative.
/// The last digits are those of the least error of the evaluation in float32.
inline constexpr float log1p32Tail[] = {
    -0x1.00000c0000000p-2f,
    0x1.999a400000000p-3f,
    -0x1.554faa0000000p-3f,
    0x1.24574c0000000p-3f,
    -0x1.001bc80000000p-3f,
    0x1.d11c7c0000000p-4f,
    -0x1.ad06b80000000p-4f,
    0x1.470d140000000p-4f,
    -0x1.04ea380000000p-5f,
};

/// sinh(x) = x + x z q(z), z = x^2, |x| <= ln(2)/2; relative to x.
/// Error 5.27e-12 = 2^-37.47.
inline constexpr float sinh32Small[] = {
    0x1.5555560000000p-3f,
    0x1.1110b20000000p-7f,
    0x1.a170380000000p-13f,
};

/// cosh(x) = 1 + z q(z), z = x^2, |x| <= ln(2)/2; absolute.
/// Error 4.74e-11 = 2^-34.3.
inline constexpr float cosh32Small[] = {
    0x1.0000000000000p-1f,
    0x1.55547e0000000p-5f,
    0x1.6d97e00000000p-10f,
};

/// 2 atanh(y / 2) = y + y v q(v), v = y^2, |y| <= 0.344; relative to y.
/// Error 8.12e-10 = 2^-30.2.
inline constexpr float atanhHalf32[] = {
    0x1.55557a0000000p-4f,
    0x1.995e9c0000000p-7f,
    0x1.31e67e0000000p-9f,
};

/// atanh(x) = x + x z q(z), z = x^2, |x| <= 1/4; relative to x.
/// Error 2.26e-10 = 2^-32.04.
inline constexpr float atanh32[] = {
    0x1.55554e0000000p-2f,
    0x1.99a2ac0000000p-3f,
    0x1.22e3740000000p-3f,
    0x1.029cc40000000p-3f,
};

/// asin(x) = x + x z q(z), z = x^2, |x| <= 17/32; relative to x.
/// Error 7.54e-10 = 2^-30.3.
inline constexpr float asin32[] = {
    0x1.5555400000000p-3f,
    0x1.333e520000000p-4f,
    0x1.6bcf660000000p-5f,
    0x1.0bcc280000000p-5f,
    0x1.6d33640000000p-7f,
    0x1.5893ea0000000p-5f,
};

/// tan(r) = r + r z (0x1.555556p-2 + z q(z)), |r| <= pi/4; relative.
/// Error 1.55e-10 = 2^-32.59.
inline constexpr float tan32Pair[] = {
    0x1.1111000000000p-3f,
    0x1.ba16fc0000000p-5f,
    0x1.670aa00000000p-6f,
    0x1.18c2e00000000p-7f,
    0x1.2a447e0000000p-8f,
    -0x1.5bc4760000000p-13f,
    0x1.ea5b800000000p-10f,
};

/// tan(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative.
/// Error 3.55e-6 = 2^-18.1.
inline constexpr float tanToHalf[] = {
    0x1.5526300000000p-2f,
    0x1.16aea60000000p-3f,
    0x1.52dc5a0000000p-5f,
    0x1.61406a0000000p-5f,
};

/// asin(x) = x + x z q(z), z = x^2, |x| <= 1/2; relative to x.
/// Error 1.79e-6 = 2^-19.09.
inline constexpr float asinToHalf[] = {
    0x1.559cf00000000p-3f,
    0x1.26650c0000000p-4f,
    0x1.06e58a0000000p-4f,
};

/// sin(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative to r.
/// Error 4.91e-12 = 2^-37.57.
inline constexpr double sin32[] = {
    -0x1.5555554cb22b5p-3,
    0x1.111108908dcf3p-7,
    -0x1.a00f98f3f3a25p-13,
    0x1.6cd735cc47edfp-19,
};

/// sin(r) = r + r z q(z), z = r^2, |r| <= pi/2; relative to r.
/// Error 1.89e-11 = 2^-35.62.
inline constexpr double sinHalfTurn32[] = {
    -0x1.555555494c35bp-3,
    0x1.11110cbd9ad4cp-7,
    -0x1.a017fc42d16efp-13,
    0x1.71749b1e7fee4p-19,
    -0x1.9abea21351ceap-26,
};

/// cos(r) = 1 - z/2 + z^2 q(z), z = r^2, |r| <= pi/4; absolute.
/// Error 9.59e-11 = 2^-33.28.
inline constexpr double cos32[] = {
    0x1.55554aabd8b9ep-5,
    -0x1.6c0c8681fd070p-10,
    0x1.9a00cc7c5a188p-16,
};

/// sin(r) = r + r z q(z), z = r^2, |r| <= pi/4; relative to r.
/// Error 3.46e-18 = 2^-58.0.
inline constexpr double sin64[] = {
    -0x1.5555555555549p-3,
    0x1.111111110f861p-7,
    -0x1.a01a019c0e551p-13,
    0x1.71de3574c1042p-19,
    -0x1.ae5e63d204252p-26,
    0x1.5d9247ed4cfd8p-33,
};

/// cos(r) = 1 - z/2 + z^2 q(z), z = r^2, |r| <= pi/4; absolute.
/// Error 4.7e-20 = 2^-64.21.
inline constexpr double cos64[] = {
    0x1.555555555554cp-5,
    -0x1.6c16c16c15162p-10,
    0x1.a01a019caeecap-16,
    -0x1.27e4f807d1ab1p-22,
    0x1.1ee9ea69f5a37p-29,
    -0x1.8fadcf170bbfbp-37,
};

/// atan(t) = t + t z q(z), z = t^2, |t| <= sqrt(2) - 1; relative to t.
/// Error 1.26e-18 = 2^-59.47.
inline constexpr double atan64[] = {
    -0x1.555555555553dp-2,
    0x1.9999999995862p-3,
    -0x1.24924922ad941p-3,
    0x1.c71c70e62fec9p-4,
    -0x1.745cf8dff257fp-4,
    0x1.3b11194bba873p-4,
    -0x1.10ebb964456b4p-4,
    0x1.df0f4a80e3774p-5,
    -0x1.9cd2673bb4272p-5,
    0x1.37d3f164a6349p-5,
    -0x1.2564bdbc50c55p-6,
};

/// atan(t) = t + t z q(z), z = t^2, |t| <= 1; relative to t.
/// Error 1.49e-8 = 2^-26.0.
inline constexpr float atan32[] = {
    -0x1.5554e60000000p-2f,
    0x1.997adc0000000p-3f,
    -0x1.231b660000000p-3f,
    0x1.b568da0000000p-4f,
    -0x1.36803a0000000p-4f,
    0x1.64caa20000000p-5f,
    -0x1.0faace0000000p-6f,
    0x1.85e33a0000000p-9f,
};

/// atan(t) = t + t z q(z), z = t^2, |t| <= 1/3; relative to t.
/// Error 5.72e-11 = 2^-34.03.
inline constexpr float atan32Third[] = {
    -0x1.5555540000000p-2f,
    0x1.9997fc0000000p-3f,
    -0x1.244de00000000p-3f,
    0x1.bd23400000000p-4f,
    -0x1.1d653e0000000p-4f,
};

/// asin(x) = x + x z q(z), z = x^2, |x| <= 1/2; relative to x.
/// Error 9.84e-19 = 2^-59.82.
inline constexpr double asin64[] = {
    0x1.5555555555578p-3,
    0x1.333333332df05p-4,
    0x1.6db6db722bfe3p-5,
    0x1.f1c71a8b6d6b0p-6,
    0x1.6e8bdfeb098c2p-6,
    0x1.1c49ddbba45e1p-6,
    0x1.ca214a1e9fc99p-7,
    0x1.7577624185384p-7,
    0x1.618b9481ab717p-7,
    0x1.e14f8682a5fa1p-9,
    0x1.650546e86959dp-6,
    -0x1.59fac6c6ea218p-6,
    0x1.0be5a1b58f78cp-5,
};

/// tanh(x) = x + x z q(z), z = x^2, |x| <= 0.55; relative.
/// Error 1.04e-9 = 2^-29.84.
inline constexpr float tanh32Small[] = {
    -0x1.55554a0000000p-2f,
    0x1.110d260000000p-3f,
    -0x1.b9287c0000000p-5f,
    0x1.593d120000000p-6f,
    -0x1.9b30800000000p-8f,
};

/// erf(x) = x + x q(x^2), |x| <= 0.921875; relative.
/// Error 1.55e-8 = 2^-25.94.
inline constexpr float erf32Small[] = {
    0x1.06eba60000000p-3f,
    -0x1.8126e60000000p-2f,
    0x1.ce1a6a0000000p-4f,
    -0x1.b68b540000000p-6f,
    0x1.473ba80000000p-8f,
    -0x1.3a17dc0000000p-11f,
};

/// erf(x) = 1 - exp(-q(x)), 0.921875 <= x <= 3.9375; relative.
/// Error 1.53e-9 = 2^-29.28.
inline constexpr float erf32Large[] = {
    0x1.a071620000000p-13f,
    0x1.20ae900000000p+0f,
    0x1.463f660000000p-1f,
    0x1.a9a1940000000p-4f,
    -0x1.6c06920000000p-6f,
    0x1.8e99580000000p-9f,
    -0x1.9a73540000000p-13f,
};

/// erf(x) = x + x q(x^2), |x| <= 1; relative.
/// Error 1.3e-19 = 2^-62.74.
inline constexpr double erf64Small[] = {
    0x1.06eba8214db69p-3,
    -0x1.812746b0379e6p-2,
    0x1.ce2f21a042b20p-4,
    -0x1.b82ce3128499dp-6,
    0x1.565bcd0db02edp-8,
    -0x1.c02db3d8ed3a6p-11,
    0x1.f9a321a11fe7dp-14,
    -0x1.f4d1df396c365p-17,
    0x1.b9def19f440cfp-20,
    -0x1.5f1d36cad9048p-23,
    0x1.f7a4127116c00p-27,
    -0x1.386ac14b005f5p-30,
    0x1.0579ab6cdb787p-34,
};

/// erf(x) = 1 - exp(-x^2) q((x-2)/(x+2)), 1 <= x <= 6; relative.
/// Error 1.21e-19 = 2^-62.85.
inline constexpr double erf64Large[] = {
    0x1.058671b52c776p-2,
    -0x1.b57034efd3f71p-2,
    0x1.eeea7dc8a777cp-3,
    -0x1.437f0b68c337ep-4,
    0x1.e9471599b1a38p-9,
    0x1.ca95ed6e51d27p-8,
    -0x1.bc25a2ced5863p-11,
    -0x1.016b707df8f45p-10,
    0x1.6d51b489eaf6cp-15,
    0x1.6dae7d263339bp-13,
    0x1.d031d8545ffcfp-16,
    -0x1.ca59a3ba22a1ap-16,
    -0x1.eac888a349480p-17,
    -0x1.ba021d5208948p-20,
};

/// erf(n s + t) = first + t q(t) for n = 0 .. 15 and s = erf32Step, |t| <= s/2; for n = 0 t
/// takes the place of the first. One row for each power, one column for each n; relative.
/// Error 2.48e-8 = 2^-25.26.
inline constexpr float erf32Step = 0x1.04b0000000000p-2f;
inline constexpr float erf32Table[6][16] = {
    {
        0x0.0p+0f, 0x1.1febdc0000000p-2f, 0x1.0e98a80000000p-1f, 0x1.7095f60000000p-1f,
        0x1.b3489c0000000p-1f, 0x1.db37e40000000p-1f, 0x1.f040380000000p-1f, 0x1.f9fea40000000p-1f,
        0x1.fdf71e0000000p-1f, 0x1.ff63760000000p-1f, 0x1.ffd6560000000p-1f, 0x1.fff6300000000p-1f,
        0x1.fffdf60000000p-1f, 0x1.ffffa00000000p-1f, 0x1.fffff00000000p-1f, 0x1.fffffe0000000p-1f,
    },
    {
        0x1.06eba80000000p-3f, 0x1.0ebcd20000000p+0f, 0x1.bdcc820000000p-1f, 0x1.42688a0000000p-1f,
        0x1.99a5d40000000p-2f, 0x1.c937680000000p-3f, 0x1.c045360000000p-4f, 0x1.8211b60000000p-5f,
        0x1.2413b20000000p-6f, 0x1.8435aa0000000p-8f, 0x1.c5413a0000000p-10f, 0x1.d0dd180000000p-12f,
        0x1.a2cf1a0000000p-14f, 0x1.4b725c0000000p-16f, 0x1.ccd6ba0000000p-19f, 0x1.196cb40000000p-21f,
    },
    {
        0x0.0p+0f, -0x1.13b0b40000000p-2f, -0x1.c5f4b80000000p-2f, -0x1.ec77000000000p-2f,
        -0x1.a1263e0000000p-2f, -0x1.22fec60000000p-2f, -0x1.565cf40000000p-3f, -0x1.57ffe60000000p-4f,
        -0x1.296cbe0000000p-5f, -0x1.bcb8b40000000p-7f, -0x1.2073b20000000p-8f, -0x1.45671a0000000p-10f,
        -0x1.3fc9400000000p-12f, -0x1.12226e0000000p-14f, -0x1.9a66ea0000000p-17f, -0x1.0c775e0000000p-19f,
    },
    {
        -0x1.81263e0000000p-2f, -0x1.3a37660000000p-2f, -0x1.1e3f780000000p-3f, 0x1.1e5b0a0000000p-5f,
        0x1.2546da0000000p-3f, 0x1.55768a0000000p-3f, 0x1.11eb6a0000000p-3f, 0x1.5856e20000000p-4f,
        0x1.6327ac0000000p-5f, 0x1.334ed20000000p-6f, 0x1.c3ce680000000p-8f, 0x1.1c655a0000000p-9f,
        0x1.3436f80000000p-11f, 0x1.20a1f60000000p-13f, 0x1.d46a960000000p-16f, 0x1.4a0a260000000p-18f,
    },
    {
        -0x0.0p+0f, 0x1.05e7340000000p-3f, 0x1.7538200000000p-3f, 0x1.2bcf5a0000000p-3f,
        0x1.0222ec0000000p-4f, -0x1.652e7e0000000p-7f, -0x1.78ed5a0000000p-5f, -0x1.7edf280000000p-5f,
        -0x1.06913c0000000p-5f, -0x1.170cd40000000p-6f, -0x1.e2d0220000000p-8f, -0x1.5c3fe40000000p-9f,
        -0x1.a8aa960000000p-11f, -0x1.b9953c0000000p-13f, -0x1.89e1dc0000000p-15f, -0x1.2eaa420000000p-17f,
    },
    {
        0x1.cb849c0000000p-4f, 0x1.470dd00000000p-4f, 0x1.6814940000000p-8f, -0x1.bf5cc60000000p-5f,
        -0x1.1724720000000p-4f, -0x1.69f36a0000000p-5f, -0x1.8739d40000000p-7f, 0x1.073b580000000p-7f,
        0x1.aa4f840000000p-7f, 0x1.44abaa0000000p-7f, 0x1.6171b20000000p-8f, 0x1.2e78420000000p-9f,
        0x1.a739520000000p-11f, 0x1.ee2adc0000000p-13f, 0x1.e77b480000000p-15f, 0x1.9998fa0000000p-17f,
    },
};

/// tanh(c + t) = first + t q(t) by intervals of half an octave from 0.125 on; below, c = 0
/// and t takes the place of the first. Rows: c, first, powers of q; columns: bits of the
/// exponent and the first one of the mantissa; relative.
/// Error 4.33e-8 = 2^-24.46.
inline constexpr float tanh32Table[8][16] = {
    {
        0x1.4004b00000000p+1f, 0x1.c023e00000000p+1f, 0x1.4058200000000p+2f, 0x1.bfe3200000000p+2f,
        0x1.17adf80000000p+3f, 0x0.0p+0f, 0x0.0p+0f, 0x0.0p+0f,
        0x1.3fc2700000000p-3f, 0x1.bfd4b00000000p-3f, 0x1.3ffa600000000p-2f, 0x1.c06ac00000000p-2f,
        0x1.3fb2d00000000p-1f, 0x1.bfd0500000000p-1f, 0x1.4027600000000p+0f, 0x1.bfefd00000000p+0f,
    },
    {
        0x1.f926020000000p-1f, 0x1.ff11b20000000p-1f, 0x1.fff43a0000000p-1f, 0x1.ffffc80000000p-1f,
        0x1.fffffe0000000p-1f, 0x0.0p+0f, 0x0.0p+0f, 0x0.0p+0f,
        0x1.3d2fb20000000p-3f, 0x1.b8d3b60000000p-3f, 0x1.35f46e0000000p-2f, 0x1.a5cb460000000p-2f,
        0x1.1bbf080000000p-1f, 0x1.684e400000000p-1f, 0x1.b2684e0000000p-1f, 0x1.e1f84a0000000p-1f,
    },
    {
        0x1.b390cc0000000p-6f, 0x1.dc2f5e0000000p-9f, 0x1.7940e40000000p-13f, 0x1.c0a1aa0000000p-19f,
        0x1.b8392e0000000p-24f, 0x0.0p+0f, 0x0.0p+0f, -0x1.b5b17e0000000p-28f,
        0x1.f3b8060000000p-1f, 0x1.e8473c0000000p-1f, 0x1.d117000000000p-1f, 0x1.a9213a0000000p-1f,
        0x1.62c00c0000000p-1f, 0x1.0271ea0000000p-1f, 0x1.1eda260000000p-2f, 0x1.d264180000000p-4f,
    },
    {
        -0x1.adbb6c0000000p-6f, -0x1.db51240000000p-9f, -0x1.7928fa0000000p-13f, -0x1.c0752e0000000p-19f,
        -0x1.b827b60000000p-24f, 0x0.0p+0f, 0x0.0p+0f, 0x0.0p+0f,
        -0x1.3593fe0000000p-3f, -0x1.a4671e0000000p-3f, -0x1.198e6a0000000p-2f, -0x1.5e3a9a0000000p-2f,
        -0x1.8933060000000p-2f, -0x1.6bbf320000000p-2f, -0x1.e6c2be0000000p-3f, -0x1.b7092c0000000p-4f,
    },
    {
        0x1.16bdce0000000p-6f, 0x1.3b6dce0000000p-9f, 0x1.ed67300000000p-14f, 0x1.2561900000000p-19f,
        0x1.23cf080000000p-24f, 0x0.0p+0f, 0x0.0p+0f, -0x1.5553680000000p-2f,
        -0x1.352c380000000p-2f, -0x1.1846040000000p-2f, -0x1.c1abce0000000p-3f, -0x1.1650e20000000p-3f,
        -0x1.2993ea0000000p-6f, 0x1.4eb5e60000000p-4f, 0x1.bb94420000000p-4f, 0x1.01d9440000000p-4f,
    },
    {
        -0x1.07c5aa0000000p-7f, -0x1.392c760000000p-10f, -0x1.ed569a0000000p-15f, -0x1.2630fc0000000p-20f,
        -0x1.248c7a0000000p-25f, 0x0.0p+0f, 0x0.0p+0f, -0x0.0p+0f,
        0x1.8deb300000000p-4f, 0x1.04ca5c0000000p-3f, 0x1.43d0700000000p-3f, 0x1.5c208a0000000p-3f,
        0x1.1ac0520000000p-3f, 0x1.f2eda80000000p-5f, -0x1.9e57c20000000p-7f, -0x1.8181f00000000p-6f,
    },
    {
        0x1.7a4ee00000000p-9f, 0x1.007d7e0000000p-11f, 0x1.d7b8b80000000p-16f, 0x1.192a8c0000000p-21f,
        0x1.01729e0000000p-26f, 0x0.0p+0f, 0x0.0p+0f, 0x1.0e7ea80000000p-3f,
        0x1.b730620000000p-4f, 0x1.5c14280000000p-4f, 0x1.74dd2e0000000p-5f, -0x1.90aa4c0000000p-8f,
        -0x1.bc77780000000p-5f, -0x1.dfe0400000000p-5f, -0x1.41b31a0000000p-6f, 0x1.c8389a0000000p-9f,
    },
    {
        -0x1.6d0f7e0000000p-11f, -0x1.4aa66c0000000p-13f, -0x1.3a8b140000000p-17f, -0x1.72a0a20000000p-23f,
        -0x1.4f33a00000000p-28f, 0x0.0p+0f, 0x0.0p+0f, 0x0.0p+0f,
        -0x1.abd9ce0000000p-5f, -0x1.0b1bae0000000p-4f, -0x1.286fc60000000p-4f, -0x1.f959820000000p-5f,
        -0x1.8ed4b40000000p-6f, 0x1.a599760000000p-7f, 0x1.eee3b00000000p-7f, 0x1.13f93a0000000p-9f,
    },
};

/// Digits of 2/pi in base 2^24, most significant first.
inline constexpr int32_t twoOverPiDigits[] = {
    10680707, 7228996, 1387004, 2578385, 16069853, 12639074, 9804092, 4427841,
    16666979, 11263675, 12935607, 2387514, 4345298, 14681673, 3074569, 13734428,
    16653803, 1880361, 10960616, 8533493, 3062596, 8710556, 7349940, 6258241,
    3772886, 3769171, 3798172, 8675211, 12450088, 3874808, 9961438, 366607,
    15675153, 9132554, 7151469, 3571407, 2607881, 12013382, 4155038, 6285869,
    7677882, 13102053, 15825725, 473591, 9065106, 15363067, 6271263, 9264392,
    5636912, 4652155, 7056368, 13614112,
};

} // namespace nereid::lowering::coefficients
