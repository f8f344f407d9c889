// SPDX-License-Identifier: Apache-2.0
// toleranceFor: first-order error analysis of the graph. Each node carries how many roundings its
// value has collected; products add them, sums keep the larger, a reduction adds its length's.
#include "lib/definition/Tolerance.h"

#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::definition {
namespace {

/// Inputs and intermediates of tests with ordinary data stay below this: eight standard deviations.
constexpr double ordinaryMagnitude = 8;
/// Head room over the first-order analysis.
constexpr double safety = 2;

int64_t reducedLength(const Operator &op, const Node &node, const Binding &binding) {
  const Node &input = op.nodes[static_cast<size_t>(node.inputs[0])];
  Result<std::vector<int64_t>> sizes = bind(input.shape, binding);
  if (!sizes) {
    return 1;
  }
  if (node.op == "matmul") {
    return sizes->empty() ? 1 : sizes->back();
  }
  if (node.op == "conv2d") { // one feature's weights, and the bias
    Result<std::vector<int64_t>> weight =
        bind(op.nodes[static_cast<size_t>(node.inputs[1])].shape, binding);
    int64_t length = 1;
    for (size_t i = 1; weight && i < weight->size(); ++i) {
      length *= (*weight)[i];
    }
    return length + 1;
  }
  Node concrete = node;
  if (!withRank(concrete.attributes, static_cast<int64_t>(sizes->size()))) {
    return 1;
  }
  std::vector<int64_t> dims = dimsOf(concrete);
  int64_t length = 1;
  for (size_t i = 0; i < sizes->size(); ++i) {
    auto negative = static_cast<int64_t>(i) - static_cast<int64_t>(sizes->size());
    bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), negative) != dims.end();
    length *= reduced ? (*sizes)[i] : 1;
  }
  return length;
}

bool contracts(const std::string &op) { return op == "matmul" || op == "conv2d"; }

bool multipliesErrors(const std::string &op) {
  return op == "mul" || op == "div" || op == "pow" || op == "square" || op == "prod" ||
         contracts(op);
}

bool accumulates(const std::string &op) {
  return op == "sum" || op == "mean" || op == "var" || op == "std" || op == "prod" || contracts(op);
}

} // namespace

double unitRoundoff(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return 0x1p-4;
  case DType::F8E5M2:
    return 0x1p-3;
  case DType::F16:
    return 0x1p-11;
  case DType::BF16:
    return 0x1p-8;
  case DType::F32:
    return 0x1p-24;
  case DType::F64:
    return 0x1p-53;
  default:
    return 0;
  }
}

double largestFinite(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return 448;
  case DType::F8E5M2:
    return 57344;
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 0x1.fep127;
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

double smallestNormal(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return 0x1p-6;
  case DType::F8E5M2:
  case DType::F16:
    return 0x1p-14;
  case DType::BF16:
  case DType::F32:
    return 0x1p-126;
  case DType::F64:
    return std::numeric_limits<double>::min();
  default:
    return 0;
  }
}

DType computeType(DType storage) { return storage == DType::F64 ? DType::F64 : DType::F32; }

double summationSteps(int64_t terms) {
  auto n = static_cast<double>(std::max<int64_t>(terms, 1));
  return std::min(n - 1, 6 * std::sqrt(n));
}

Tolerance toleranceFor(const Operator &op, const Binding &binding, DType dtype) {
  Operator graph = decomposed(op);
  std::vector<DType> types = nodeDtypes(graph, dtype);
  std::vector<double> steps;
  int64_t longest = 1, contracted = 1;
  for (const Node &node : graph.nodes) {
    const Operation *operation = findOperation(node.op);
    bool isRounded = operation && isFloat(types[steps.size()]);
    double own = isRounded ? operation->rounding : 0, inherited = 0;
    for (int input : node.inputs) {
      double each = steps[static_cast<size_t>(input)];
      inherited = multipliesErrors(node.op) ? inherited + each : std::max(inherited, each);
    }
    if (isRounded && accumulates(node.op)) {
      int64_t length = reducedLength(graph, node, binding);
      longest = std::max(longest, length);
      contracted = contracts(node.op) ? std::max(contracted, length) : contracted;
      own += summationSteps(length);
    }
    steps.push_back(inherited + own);
  }
  double most = 0;
  bool isExact = true;
  for (int output : graph.outputs) {
    most = std::max(most, steps[static_cast<size_t>(output)]);
    isExact = isExact && !isFloat(types[static_cast<size_t>(output)]);
  }
  DType compute = computeType(dtype);
  double unit = unitRoundoff(compute);
  double store = compute == dtype || !isFloat(dtype) ? 0 : unitRoundoff(dtype);
  Tolerance tolerance;
  if (isExact && most == 0) {
    tolerance.derivation = "comparisons and integers only: results are exact";
    return tolerance;
  }
  tolerance.relative = safety * (most * unit + store);
  // A sum of n products of ordinary numbers grows like the square root of n.
  double magnitude = ordinaryMagnitude * std::sqrt(static_cast<double>(contracted));
  tolerance.absolute = safety * (most * unit * magnitude) +
                       (store > 0 ? smallestNormal(dtype) * unitRoundoff(dtype) : 0);
  tolerance.derivation = fmt::format(
      "{:.1f} roundings of {} (unit roundoff {:.3g}) along the longest path, sums of up to {} "
      "terms "
      "counted as min(n - 1, 6 sqrt(n)){}, with a factor of {} for terms of second order; the "
      "absolute part is the same error on intermediates of size {:.3g}",
      most, torchName(compute), unit, longest,
      store > 0 ? fmt::format(", and one rounding to {} ({:.3g})", torchName(dtype), store) : "",
      safety, magnitude);
  return tolerance;
}

} // namespace nereid::definition
