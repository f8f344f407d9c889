// SPDX-License-Identifier: Apache-2.0
// What operands get of a result's gradient where that is no formula of derivatives.def: each rule
// writes into the backward operator's body.
//
// `node` is number `number` of the forward graph, `grad` has its whole shape, and `which` is the
// operand whose share is asked for. Nothing: there is no derivative. What has another shape than
// the operand is summed over what was broadcast by who asks.
#pragma once

#include "lib/definition/gradient/GradientBody.h"
#include "lib/definition/operations/Operations.h"

#include <optional>

namespace nereid::definition {

struct GradientOf {
  const Node &node;
  int number;
  size_t which;
  Share grad;
  int input() const { return node.inputs[which]; }
};

/// permute, unsqueeze and the movements of operations/indices/Movement.h.
std::optional<Share> movementGradient(GradientBody &body, const GradientOf &of);
/// matmul.
std::optional<Share> productGradient(GradientBody &body, const GradientOf &of);
/// conv2d.
std::optional<Share> convolutionGradient(GradientBody &body, const GradientOf &of);
/// A share of the operand in the operand's type, where the operation has promoted that.
std::optional<Share> inOperandsType(GradientBody &body, const GradientOf &of, const Share &share);
/// Of a conversion from one float type to another.
std::optional<Share> conversionGradient(GradientBody &body, const GradientOf &of);
/// Elements that were selected get it where they were: sort, topk, kthvalue, median, cummax,
/// cummin, and the values of max and min along a dimension.
std::optional<Share> selectionGradient(GradientBody &body, const GradientOf &of);
bool selectsElements(const Node &node);
/// Reads and writes at indices.
std::optional<Share> indexingGradient(GradientBody &body, const GradientOf &of);

/// Whether `which` gets nothing wherever there is a derivative, as floor's does.
bool hasNoShare(const Node &node, size_t which);
/// Whether there is a rule for operand `which`.
bool hasRule(const Node &node, size_t which);

/// The share of an operand by its formula in derivatives.def; nothing where it has none. Of a
/// reduction `grad` has kept its dimensions, and `drops` says that the node has not.
std::optional<Share> formulaGradient(GradientBody &body, const GradientOf &of, bool drops);

} // namespace nereid::definition
