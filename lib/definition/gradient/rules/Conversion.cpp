// SPDX-License-Identifier: Apache-2.0
// Gradients go back in the type that their operand has: those of conversions between floats, and of
// operands that an operation promoted.
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/operations/Promotion.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

std::optional<Share> inOperandsType(GradientBody &body, const GradientOf &of, const Share &share) {
  const Operator &op = body.op;
  bool isSame = true, isOwn = true, isOne = true;
  std::optional<DType> first;
  for (const DType dtype : op.dtypes) {
    if (!isFloat(dtype)) {
      continue;
    }
    const std::vector<DType> types = nodeDtypes(op, dtype);
    const DType from = types[static_cast<size_t>(of.input())];
    first = first.value_or(from);
    isSame &= from == types[static_cast<size_t>(of.number)];
    isOwn &= from == dtype;
    isOne &= from == *first;
  }
  if (isSame) {
    return share;
  }
  if (isOne) {
    return Share{body.named("grad", fmt::format("{}.to(torch.{})", share.text, torchName(*first))),
                 share.shape};
  }
  const auto own =
      std::find_if(op.parameters.begin(), op.parameters.end(),
                   [](const Parameter &each) { return !each.isScalar && !each.fixedDtype; });
  if (!isOwn || own == op.parameters.end()) {
    return std::nullopt;
  }
  body.used.insert(static_cast<size_t>(own - op.parameters.begin()));
  return Share{body.named("grad", fmt::format("{}.to({}.dtype)", share.text, own->name)),
               share.shape};
}

std::optional<Share> conversionGradient(GradientBody &body, const GradientOf &of) {
  return inOperandsType(body, of, of.grad);
}

} // namespace nereid::definition
