// SPDX-License-Identifier: Apache-2.0
// The table of operators.def as data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::importer {

enum class OperatorKind {
  Pointwise,     ///< counts elements of the result
  Reduction,     ///< counts elements of its first input
  Normalisation, ///< likewise: rows are reduced and written again
  Product,       ///< two for each pair that is multiplied
  Convolution,   ///< likewise
  Pool,          ///< counts the elements of each window
  Attention,     ///< two products and a softmax between them
  Recurrent,     ///< so many gates, each with two products
  Move,          ///< reads and writes elements
  Select,        ///< reads as many elements as it writes
  View,          ///< moves nothing: the same elements under another shape
  Free           ///< nothing that grows with the tensors, or nothing that can be counted
};

struct OnnxOperator {
  std::string_view name;
  int64_t first = 1; ///< operator set from which on the row holds
  OperatorKind kind = OperatorKind::Free;
  double flops = 0;
  std::string_view body; ///< "" = definitions have nothing for it
};

/// Operator sets of the standard domain that are known.
inline constexpr int64_t oldestOpset = 1, newestOpset = 28;

/// Null when there is no such row.
const OnnxOperator *findOnnxOperator(std::string_view name);
const std::vector<std::string> &onnxOperatorNames();
/// Those that a definition can say.
const std::vector<std::string> &importableNames();
/// "pointwise", for tables.
std::string_view kindName(OperatorKind kind);

} // namespace nereid::importer
