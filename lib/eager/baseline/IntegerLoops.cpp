// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/IntegerLoops.h"

#include <type_traits>

namespace nereid::eager {
namespace {

/// Signed overflow has no meaning in C++: sums and products are of the unsigned type, and wide
/// enough not to be promoted to a signed one.
template <class T>
using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

template <class T> T sum(T a, T b) { return static_cast<T>(Wide<T>(a) + Wide<T>(b)); }
template <class T> T difference(T a, T b) { return static_cast<T>(Wide<T>(a) - Wide<T>(b)); }
template <class T> T product(T a, T b) { return static_cast<T>(Wide<T>(a) * Wide<T>(b)); }

/// By squaring; exponents are small and not negative.
template <class T> T power(T base, T exponent) {
  T result = 1;
  for (auto left = static_cast<uint64_t>(exponent); left > 0; left >>= 1) {
    result = (left & 1) != 0 ? product(result, base) : result;
    base = product(base, base);
  }
  return result;
}

/// Of a quotient towards zero; by 0 nothing is divided.
template <class T> T rest(T a, T b) {
  const bool isMinusOne =
      std::is_signed_v<T> && b == static_cast<T>(-1); // the smallest number has no quotient by it
  return b == 0 ? a : isMinusOne ? T(0) : static_cast<T>(a % b);
}
template <class T> T floorQuotient(T a, T b) {
  if (b == 0) {
    return 0;
  }
  const bool isMinusOne = std::is_signed_v<T> && b == static_cast<T>(-1);
  const T whole = isMinusOne ? difference<T>(0, a) : static_cast<T>(a / b);
  return rest(a, b) != 0 && (a < T(0)) != (b < T(0)) ? static_cast<T>(whole - 1) : whole;
}
template <class T> T shiftedLeft(T a, T places) {
  const bool isInside = places >= T(0) && places < T(8 * sizeof(T));
  return isInside ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << places) : T(0);
}
template <class T> T shiftedRight(T a, T places) {
  const bool isInside = places >= T(0) && places < T(8 * sizeof(T));
  return isInside ? static_cast<T>(a >> places) : a < T(0) ? T(-1) : T(0);
}

template <class T, size_t count, T (*function)(const T *)>
void loop(const Operand<T> *operands, T *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T in[count];
    for (size_t k = 0; k < count; ++k) {
      in[k] = operands[k].data[i];
    }
    out[i] = function(in);
  }
}

} // namespace

#define NEREID_INTEGER_LOOP(COUNT, EXPRESSION)                                                     \
  return loop<T, COUNT, [](const T *in) -> T {                                                     \
    [[maybe_unused]] const T a = in[0];                                                            \
    return static_cast<T>(EXPRESSION);                                                             \
  }>

template <class T> PointwiseLoop<T> integerLoop(OpId op) {
  switch (op) {
  case OpId::neg:
    NEREID_INTEGER_LOOP(1, difference<T>(0, a));
  case OpId::abs:
    NEREID_INTEGER_LOOP(1, a < T(0) ? difference<T>(0, a) : a);
  case OpId::sign:
    NEREID_INTEGER_LOOP(1, (a > T(0)) - (a < T(0)));
  case OpId::floor:
  case OpId::ceil:
  case OpId::round:
  case OpId::trunc:
    NEREID_INTEGER_LOOP(1, a);
  case OpId::square:
    NEREID_INTEGER_LOOP(1, product<T>(a, a));
  case OpId::relu:
    NEREID_INTEGER_LOOP(1, a < T(0) ? T(0) : a);
  case OpId::add:
    NEREID_INTEGER_LOOP(2, sum<T>(a, in[1]));
  case OpId::sub:
    NEREID_INTEGER_LOOP(2, difference<T>(a, in[1]));
  case OpId::mul:
    NEREID_INTEGER_LOOP(2, product<T>(a, in[1]));
  case OpId::pow:
    NEREID_INTEGER_LOOP(2, power<T>(a, in[1]));
  case OpId::maximum:
    NEREID_INTEGER_LOOP(2, a < in[1] ? in[1] : a);
  case OpId::minimum:
    NEREID_INTEGER_LOOP(2, in[1] < a ? in[1] : a);
  case OpId::eq:
    NEREID_INTEGER_LOOP(2, a == in[1]);
  case OpId::ne:
    NEREID_INTEGER_LOOP(2, a != in[1]);
  case OpId::lt:
    NEREID_INTEGER_LOOP(2, a < in[1]);
  case OpId::le:
    NEREID_INTEGER_LOOP(2, a <= in[1]);
  case OpId::gt:
    NEREID_INTEGER_LOOP(2, a > in[1]);
  case OpId::ge:
    NEREID_INTEGER_LOOP(2, a >= in[1]);
  case OpId::bitwise_and:
    NEREID_INTEGER_LOOP(2, a & in[1]);
  case OpId::bitwise_or:
    NEREID_INTEGER_LOOP(2, a | in[1]);
  case OpId::bitwise_xor:
    NEREID_INTEGER_LOOP(2, a ^ in[1]);
  case OpId::fmod:
    NEREID_INTEGER_LOOP(2, rest<T>(a, in[1]));
  case OpId::floor_divide:
    NEREID_INTEGER_LOOP(2, floorQuotient<T>(a, in[1]));
  case OpId::bitwise_left_shift:
    NEREID_INTEGER_LOOP(2, shiftedLeft<T>(a, in[1]));
  case OpId::bitwise_right_shift:
    NEREID_INTEGER_LOOP(2, shiftedRight<T>(a, in[1]));
  case OpId::bitwise_not:
    NEREID_INTEGER_LOOP(1, ~a);
  case OpId::logical_and:
    NEREID_INTEGER_LOOP(2, a != 0 && in[1] != 0);
  case OpId::logical_or:
    NEREID_INTEGER_LOOP(2, a != 0 || in[1] != 0);
  case OpId::logical_xor:
    NEREID_INTEGER_LOOP(2, (a != 0) != (in[1] != 0));
  case OpId::logical_not:
    NEREID_INTEGER_LOOP(1, a == 0);
  case OpId::isnan:
  case OpId::isinf:
    NEREID_INTEGER_LOOP(1, 0);
  case OpId::isfinite:
    NEREID_INTEGER_LOOP(1, 1);
  case OpId::where:
    NEREID_INTEGER_LOOP(3, a != 0 ? in[1] : in[2]);
  case OpId::masked_fill:
    NEREID_INTEGER_LOOP(3, in[1] != 0 ? in[2] : a);
  case OpId::clamp:
    NEREID_INTEGER_LOOP(3, (a < in[1] ? in[1] : a) > in[2] ? in[2] : a < in[1] ? in[1] : a);
  default:
    return nullptr;
  }
}

template PointwiseLoop<int8_t> integerLoop<int8_t>(OpId);
template PointwiseLoop<int16_t> integerLoop<int16_t>(OpId);
template PointwiseLoop<int32_t> integerLoop<int32_t>(OpId);
template PointwiseLoop<int64_t> integerLoop<int64_t>(OpId);
template PointwiseLoop<uint8_t> integerLoop<uint8_t>(OpId);
template PointwiseLoop<uint16_t> integerLoop<uint16_t>(OpId);
template PointwiseLoop<uint32_t> integerLoop<uint32_t>(OpId);
template PointwiseLoop<uint64_t> integerLoop<uint64_t>(OpId);

} // namespace nereid::eager
