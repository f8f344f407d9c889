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

/// `least`: of parts behind the first one. Without it the number may be infinite, as its parts are
/// then.
std::vector<Expr> partsOf(KernelWriting &writing, const Expr &number, size_t count,
                          const Expr &least = Expr()) {
  auto asShort = [](const Expr &one) { return kernel::method(one, "to", {name("tl.bfloat16")}); };
  const Expr infinity = kernel::real(std::numeric_limits<double>::infinity());
  std::vector<Expr> parts;
  Expr rest = number;
  while (parts.size() + 1 < count) {
    parts.push_back(assigned(writing, "part", asShort(upperHalf(rest))));
    const Expr behind = rest - asFloat(parts.back());
    const Expr isFinite = kernel::binary("<", call("tl.abs", {rest}), infinity);
    rest = assigned(writing, "rest",
                    least ? call("tl.maximum", {behind, least})
                          : call("tl.where", {isFinite, behind, rest}));
  }
  parts.push_back(assigned(writing, "part", asShort(rest)));
  return parts;
}

} // namespace

void multiplyInParts(KernelWriting &writing, const Expr &weight, const Expr &value, DType ofValue,
                     const std::function<void(const Expr &, const Expr &)> &add) {
  const Expr least = assigned(writing, "least",
                              call("tl.minimum", {weight, kernel::real(0x1p-126)}) *
                                  kernel::real(0x1p-7)); // a number below is a float64
  const std::vector<Expr> weights = partsOf(writing, weight, partsOfFloat, least);
  const std::vector<Expr> values = ofValue == DType::BF16
                                       ? std::vector<Expr>{value}
                                       : partsOf(writing, asFloat(value), partsOfHalf);
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t k = 0; k < values.size() && i + k < partsOfFloat; ++k) {
      add(weights[i], values[k]);
    }
  }
}

} // namespace nereid::generator
