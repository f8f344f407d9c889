// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/GemmTerms.h"

#include "lib/targets/cpu/lower/LanePlan.h"
#include "lib/targets/cpu/lower/NarrowIntegers.h"
#include "lib/targets/cpu/lower/SameNumber.h"

using namespace mlir;

namespace nereid::cpu {

bool forEachTerm(KernelState &kernel, Value mask, const Dims &dims,
                 llvm::function_ref<bool(Value, const Dims &)> visit) {
  SmallVector<std::pair<Value, Dims>> terms;
  visitMaskTerms(kernel.plan, mask, dims,
                 [&](Value term, const Dims &at) { terms.push_back({term, at}); });
  return llvm::all_of(llvm::reverse(terms), [&](const std::pair<Value, Dims> &one) {
    const auto &[term, at] = one;
    return visit(term, isTile(term) ? kernel.axes.normalise(term, at) : Dims());
  });
}

std::optional<PrefixTerm> asPrefix(KernelState &kernel, Value term, const Dims &dims, int8_t dim) {
  auto compare = term.getDefiningOp<arith::CmpIOp>();
  if (!compare || isa<IndexType>(elementTypeOf(compare.getLhs()))) {
    return std::nullopt;
  }
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  bool less = predicate == Predicate::slt || predicate == Predicate::sle;
  bool greater = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!less && !greater) {
    return std::nullopt;
  }
  auto at = static_cast<unsigned>(llvm::find(dims, dim) - dims.begin());
  PrefixTerm prefix{compare.getLhs(), compare.getRhs(), dims, false, greater};
  if (kernel.axes.isUniform(prefix.offset, at)) {
    std::swap(prefix.offset, prefix.limit);
    prefix.isLower = less;
  }
  bool equalHolds = predicate == Predicate::sle || predicate == Predicate::sge;
  prefix.inclusive = equalHolds != prefix.isLower;
  Axis axis = kernel.axes.axis(prefix.offset, at, AxisView::Address);
  if (axis.kind != AxisKind::Linear || axis.stride != 1 || mayWrap(prefix.offset) ||
      !kernel.axes.isUniform(prefix.limit, at)) {
    return std::nullopt;
  }
  return prefix;
}

static bool isSameTerm(const PrefixTerm &a, const PrefixTerm &b) {
  return a.inclusive == b.inclusive && a.isLower == b.isLower && isSameNumber(a.offset, b.offset) &&
         isSameNumber(a.limit, b.limit);
}

bool hasTerm(ArrayRef<PrefixTerm> terms, const PrefixTerm &term) {
  return llvm::any_of(terms, [&](const PrefixTerm &other) { return isSameTerm(term, other); });
}

} // namespace nereid::cpu
