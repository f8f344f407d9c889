// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model one kernel could compute, and what that saves: values between them are
// neither written nor read again, and a tensor that several of them read is read once.
//
// A product or convolution takes the pointwise operations behind it that have as many elements;
// pointwise operations, reductions and normalisations of the same rows go together. A node joins
// the kernel of one that it reads from only if nothing else lies between them: otherwise one would
// have to wait for the other. Attention that is written out (AttentionNodes.h) is one group, with
// both of its products.
#pragma once

#include "lib/importer/analysis/ModelCost.h"

namespace nereid::importer {

/// Why one kernel could compute a group.
enum class FusionReason : uint8_t {
  Elements,  ///< pointwise operations on the same elements
  Rows,      ///< whatever is reduced are the same rows
  Product,   ///< pointwise operations on what a product or convolution has computed
  Attention, ///< scores and weights stay in the kernel, block by block
};
std::string_view text(FusionReason reason);

struct FusionGroup {
  std::vector<size_t> nodes; ///< in order
  FusionReason reason = FusionReason::Elements;
  definition::Work apart, fused;
  double secondsApart = 0, secondsFused = 0; ///< 0 without a chip
  double savedBytes() const { return apart.bytes() - fused.bytes(); }
};

/// Groups of two nodes and more that save something, those that save most bytes first.
std::vector<FusionGroup> findFusions(const Model &model, const std::vector<NodeCost> &costs);
/// Adds the times on the chip; those that save most time come first.
void addSeconds(const Machine &chip, const std::vector<NodeCost> &costs,
                std::vector<FusionGroup> &groups);
/// "MatMul + Add + Gelu".
std::string describe(const Model &model, const FusionGroup &group);

} // namespace nereid::importer
