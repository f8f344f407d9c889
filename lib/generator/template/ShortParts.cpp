// SPDX-License-Identifier: Apache-2.0
// Weights and values as sums of shorter numbers, see ShortParts.h.
#include "lib/generator/template/ShortParts.h"

#include <limits>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::Expr;
using kernel::name;

/// Of a float32 and of a half: 8 bits in each.
constexpr size_t partsOfFloat = 3, partsOfHalf = 2;

Expr asFloat(const Expr &value) { return kernel::method(value, "to", {name("tl.float32")}); }

/// What a bfloat16 has bits for, the upper half, of the next float32 that is nearer to 0 or the one
/// before it: something is left of each number.
Expr upperHalf(const Expr &value) {
  const kernel::Argument bitcast("bitcast", name("True"));
  const Expr bits =
      kernel::method(value * kernel::real(1 - 0x1p-23), "to", {name("tl.int32"), bitcast});
  return kernel::method(kernel::binary("&", bits, -65536), "to", {name("tl.float32"), bitcast});
}

/// The next number to take a part of, from what is behind the part that was taken of `rest`.
using Keep = std::function<Expr(const Expr &rest, const Expr &behind)>;

std::vector<Expr> partsOf(KernelWriting &writing, const Expr &number, size_t count,
                          const Keep &keep) {
  auto asShort = [](const Expr &one) { return kernel::method(one, "to", {name("tl.bfloat16")}); };
  std::vector<Expr> parts;
  Expr rest = number;
  while (parts.size() + 1 < count) {
    parts.push_back(assigned(writing, "part", asShort(upperHalf(rest))));
    rest = assigned(writing, "rest", keep(rest, rest - asFloat(parts.back())));
  }
  parts.push_back(assigned(writing, "part", asShort(rest)));
  return parts;
}

/// No part of a weight is less than the smallest bfloat16, or than a weight of 0.
std::vector<Expr> partsOfWeight(KernelWriting &writing, const Expr &weight) {
  // 2^-133, which would be a float64 if it were written.
  const Expr least =
      assigned(writing, "least",
               call("tl.minimum", {weight, kernel::real(0x1p-126)}) * kernel::real(0x1p-7));
  return partsOf(writing, weight, partsOfFloat, [&](const Expr &, const Expr &behind) {
    return call("tl.maximum", {behind, least});
  });
}

/// Of an infinite half both parts are infinite.
std::vector<Expr> partsOfValue(KernelWriting &writing, const Expr &half) {
  const Expr infinity = kernel::real(std::numeric_limits<double>::infinity());
  return partsOf(writing, asFloat(half), partsOfHalf, [&](const Expr &rest, const Expr &behind) {
    const Expr isFinite = kernel::binary("<", call("tl.abs", {rest}), infinity);
    return call("tl.where", {isFinite, behind, rest});
  });
}

} // namespace

void multiplyInParts(KernelWriting &writing, const Expr &weight, const Expr &value, DType ofValue,
                     const std::function<void(const Expr &, const Expr &)> &add) {
  const std::vector<Expr> weights = partsOfWeight(writing, weight);
  const std::vector<Expr> values =
      ofValue == DType::BF16 ? std::vector<Expr>{value} : partsOfValue(writing, value);
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t k = 0; k < values.size() && i + k < partsOfFloat; ++k) {
      add(weights[i], values[k]);
    }
  }
}

} // namespace nereid::generator
