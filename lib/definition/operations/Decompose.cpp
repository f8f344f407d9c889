// SPDX-License-Identifier: Apache-2.0
// Composite operations written out as primitives, by the formulas PyTorch documents for them. What
// generates code, computes references or proves error bounds then needs to know primitives only.
#include "lib/definition/operations/Infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <utility>

namespace nereid::definition {
namespace {

class Decomposer {
public:
  explicit Decomposer(const Operator &from) : from(from), to(from) { to.nodes.clear(); }

  Operator run() {
    for (const Node &node : from.nodes) {
      current = &node;
      int made = expand(node);
      Node &last = to.nodes[static_cast<size_t>(made)];
      if (last.name.empty()) {
        last.name = node.name;
      }
      renumbered.push_back(made);
    }
    for (int &output : to.outputs) {
      output = renumbered[static_cast<size_t>(output)];
    }
    return std::move(to);
  }

private:
  /// Reuses an equal node: layer_norm's variance and its numerator need the same mean.
  int add(Node node) {
    const auto number = static_cast<int>(to.nodes.size());
    const auto [known, isNew] =
        made.emplace(fmt::format("{} {}", describe(node), fmt::join(node.inputs, " ")), number);
    if (!isNew) {
      return known->second;
    }
    // The original graph was checked, so its expansion has a shape.
    if (Result<SymbolicShape> shape = inferShape(node, to.nodes)) {
      node.shape = *shape;
    }
    node.source = current->source;
    to.nodes.push_back(std::move(node));
    return number;
  }
  bool isConstant(int number, double value) const {
    const Node &node = to.nodes[static_cast<size_t>(number)];
    return node.op == "constant" && constantValue(node) == value;
  }

  int make(std::string op, std::vector<int> inputs) {
    Node node;
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    return add(std::move(node));
  }

  int constant(double value) {
    Node node;
    node.op = "constant";
    node.attributes["value"] = value;
    return add(std::move(node));
  }

  int reduction(std::string op, int input, const std::vector<int64_t> &dims, bool keepdim) {
    Node node;
    node.op = std::move(op);
    node.inputs = {input};
    if (!dims.empty()) {
      node.attributes["dim"] = dims;
    }
    // A full reduction has shape [] and broadcasts as it is.
    node.attributes["keepdim"] = keepdim && !dims.empty();
    return add(std::move(node));
  }

  int expand(const Node &node) {
    std::vector<int> inputs;
    for (int input : node.inputs) {
      inputs.push_back(renumbered[static_cast<size_t>(input)]);
    }
    std::vector<int64_t> dims = dimsOf(node);
    if (node.op == "softmax" || node.op == "log_softmax") {
      return softmax(inputs[0], dims, node.op == "log_softmax");
    }
    if (node.op == "logsumexp") {
      return logSumExp(inputs[0], dims, keepsDim(node));
    }
    if (node.op == "layer_norm") {
      auto [centred, variance] = moments(inputs[0], dims, true);
      int scale = make("rsqrt", {make("add", {variance, inputs[3]})});
      return shifted(scaled(make("mul", {centred, scale}), inputs[1]), inputs[2]);
    }
    if (node.op == "rms_norm") {
      int power = reduction("mean", make("square", {inputs[0]}), dims, true);
      int scale = make("rsqrt", {make("add", {power, inputs[2]})});
      return scaled(make("mul", {inputs[0], scale}), inputs[1]);
    }
    bool isSpread = node.op == "var" || node.op == "std";
    if (isSpread && integerAttribute(node, "correction", 1) == 0) {
      int variance = moments(inputs[0], dims, keepsDim(node)).second;
      return node.op == "std" ? make("sqrt", {variance}) : variance;
    }
    Node copy = node;
    copy.inputs = inputs;
    if (to.nodes.size() >= to.parameters.size()) {
      return add(std::move(copy));
    }
    to.nodes.push_back(std::move(copy));
    return static_cast<int>(to.nodes.size()) - 1;
  }

  /// Weights and biases that are left out are the constants 1 and 0.
  int scaled(int value, int weight) {
    return isConstant(weight, 1) ? value : make("mul", {value, weight});
  }
  int shifted(int value, int bias) {
    return isConstant(bias, 0) ? value : make("add", {value, bias});
  }

  int softmax(int input, const std::vector<int64_t> &dims, bool logarithm) {
    int shifted = make("sub", {input, reduction("amax", input, dims, true)});
    int exponential = make("exp", {shifted});
    int total = reduction("sum", exponential, dims, true);
    return logarithm ? make("sub", {shifted, make("log", {total})})
                     : make("div", {exponential, total});
  }

  int logSumExp(int input, const std::vector<int64_t> &dims, bool keepdim) {
    // An infinite maximum is replaced by 0, so that it does not cancel to NaN.
    int top = reduction("amax", input, dims, true);
    int shift = make("where", {make("isfinite", {top}), top, constant(0)});
    int total = reduction("sum", make("exp", {make("sub", {input, shift})}), dims, true);
    int result = make("add", {make("log", {total}), shift});
    // Of one element, which drops the dimensions and nothing else.
    return keepdim || dims.empty() ? result : reduction("amax", result, dims, false);
  }

  /// x - mean(x), and the mean of its square.
  std::pair<int, int> moments(int input, const std::vector<int64_t> &dims, bool keepdim) {
    int centred = make("sub", {input, reduction("mean", input, dims, true)});
    return {centred, reduction("mean", make("square", {centred}), dims, keepdim)};
  }

  const Operator &from;
  Operator to;
  const Node *current = nullptr; ///< what is being written out
  std::vector<int> renumbered;
  std::unordered_map<std::string, int> made; ///< by operation, attributes and operands
};

} // namespace

Operator decomposed(const Operator &op) { return Decomposer(op).run(); }

} // namespace nereid::definition
