// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/product/recognise/GemmTerms.h"

#include "lib/targets/cpu/lower/plan/SameNumber.h"

using namespace mlir;

namespace nereid::cpu {

bool forEachTerm(KernelState &kernel, Value mask, const Dims &dims,
                 llvm::function_ref<bool(Value, const Dims &)> visit) {
  SmallVector<std::pair<Value, Dims>> terms;
  kernel.plan.visitMaskTerms(mask, dims,
                             [&](Value term, const Dims &at) { terms.push_back({term, at}); });
  return llvm::all_of(llvm::reverse(terms), [&](const std::pair<Value, Dims> &one) {
    const auto &[term, at] = one;
    return visit(term, isTile(term) ? kernel.axes.normalise(term, at) : Dims());
  });
}

std::optional<PrefixTerm> asPrefix(KernelState &kernel, Value term, const Dims &dims, int8_t dim) {
  auto at = static_cast<unsigned>(llvm::find(dims, dim) - dims.begin());
  std::optional<tile::MaskBound> bound = kernel.axes.bound(term, at);
  if (!bound || bound->stride != 1) {
    return std::nullopt;
  }
  return PrefixTerm{*bound, dims};
}

static bool isSameTerm(const PrefixTerm &a, const PrefixTerm &b) {
  return a.inclusive == b.inclusive && a.isLower == b.isLower && isSameNumber(a.linear, b.linear) &&
         isSameNumber(a.limit, b.limit);
}

bool hasTerm(ArrayRef<PrefixTerm> terms, const PrefixTerm &term) {
  return llvm::any_of(terms, [&](const PrefixTerm &other) { return isSameTerm(term, other); });
}

} // namespace nereid::cpu
