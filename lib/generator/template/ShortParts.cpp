// SPDX-License-Identifier: Apache-2.0
// Values as sums of shorter numbers, see ShortParts.h.
#include "lib/generator/template/ShortParts.h"

#include <limits>

namespace nereid::generator {

using kernel::call;
using kernel::Expr;
using kernel::name;

namespace {

/// Products below it are below the last bit of a float32: 8 bits for each part.
constexpr size_t partsOfFloat = 3, partsOfHalf = 2;

Expr isFinite(const Expr &value) {
  return kernel::binary("<", call("tl.abs", {value}),
                        kernel::real(std::numeric_limits<double>::infinity()));
}

std::vector<Expr> shortFloatParts(KernelWriting &writing, const Expr &value, size_t count,
                                  bool mayBeInfinite) {
  auto asShort = [](const Expr &one) { return kernel::method(one, "to", {name("tl.bfloat16")}); };
  std::vector<Expr> parts;
  Expr rest = value;
  while (parts.size() + 1 < count) {
    const Expr high = truncated(nearerToZero(rest), KeptBits::ShortFloat);
    parts.push_back(assigned(writing, "part", asShort(high)));
    const Expr behind = rest - kernel::method(parts.back(), "to", {name("tl.float32")});
    rest = assigned(writing, "rest",
                    mayBeInfinite ? call("tl.where", {isFinite(rest), behind, rest}) : behind);
  }
  parts.push_back(assigned(writing, "part", asShort(rest)));
  return parts;
}

} // namespace

Expr truncated(const Expr &value, KeptBits bits) {
  const kernel::Argument bitcast("bitcast", name("True"));
  const Expr all = kernel::method(value, "to", {name("tl.int32"), bitcast});
  return kernel::method(kernel::binary("&", all, static_cast<int64_t>(bits)), "to",
                        {name("tl.float32"), bitcast});
}

Expr nearerToZero(const Expr &value) { return value * kernel::real(1 - 0x1p-23); }

void multiplyInParts(KernelWriting &writing, const Expr &left, std::optional<DType> ofLeft,
                     const Expr &right, std::optional<DType> ofRight, bool mayBeInfinite,
                     const std::function<void(const Expr &, const Expr &)> &add) {
  auto partsOf = [&](const Expr &value, std::optional<DType> type) {
    if (!type) {
      return shortFloatParts(writing, value, partsOfFloat, mayBeInfinite);
    }
    const Expr whole = kernel::method(value, "to", {name("tl.float32")});
    return *type == DType::BF16 ? std::vector<Expr>{value}
                                : shortFloatParts(writing, whole, partsOfHalf, true);
  };
  const std::vector<Expr> lefts = partsOf(left, ofLeft), rights = partsOf(right, ofRight);
  for (size_t i = 0; i < lefts.size(); ++i) {
    for (size_t k = 0; k < rights.size() && i + k < partsOfFloat; ++k) {
      add(lefts[i], rights[k]);
    }
  }
}

} // namespace nereid::generator
