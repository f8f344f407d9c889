// SPDX-License-Identifier: Apache-2.0
// An equation of torch.einsum and its operands as operations that a graph has already: what one
// operand alone has is summed, then the operands are multiplied one after another, by matmul where
// they share letters that the rest does not need, and the result's dimensions are put in order.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/reader/einsum/Equation.h"

#include <functional>

namespace nereid::definition {

class EinsumGraph {
public:
  /// Appends an operation to the graph; nothing after an error was reported.
  using Append = std::function<std::optional<int>(Node)>;

  EinsumGraph(const std::vector<Node> &nodes, Append append)
      : nodes(nodes), append(std::move(append)) {}

  /// What of the operands' shapes does not fit the equation, if anything.
  std::optional<Diagnostic> prepare(const EinsumEquation &equation, const std::vector<int> &inputs);
  /// Node of the result, or nothing after an error was reported.
  std::optional<int> write();

private:
  using Labels = std::vector<int>;
  struct Factor {
    int node = 0;
    Labels labels;
    bool has(int label) const;
  };

  std::optional<Diagnostic> addFactor(const EinsumTerm &term, int node);
  std::optional<Diagnostic> checkSizes();
  bool isNeeded(int label, size_t behind) const;
  Labels ordered(Labels labels) const;
  std::optional<Factor> summed(const Factor &factor, const Labels &labels);
  std::optional<int> swappedBehindRest(int node, const std::vector<int64_t> &order);
  std::optional<int> aligned(const Factor &factor, const Labels &labels);
  std::optional<int> binary(const char *op, std::optional<int> a, std::optional<int> b);
  std::optional<Factor> multiplied(Factor a, Factor b, size_t behind);
  std::optional<Factor> matrixProduct(const Factor &a, const Factor &b, const Labels &shared,
                                      const Labels &batch);

  const std::vector<Node> &nodes;
  Append append;
  std::vector<Factor> factors;
  std::vector<Labels> ones; ///< of each factor: dimensions of size 1 that are broadcast
  Labels result;
};

} // namespace nereid::definition
