// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/ReferenceMovement.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Movement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::eager {
namespace {

using definition::Node;
using Sizes = std::vector<int64_t>;

Sizes stridesOf(const Sizes &sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * sizes[d];
  }
  return strides;
}

/// The next index in row-major order.
void advance(Sizes &index, const Sizes &sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) {
      return;
    }
    index[d] = 0;
  }
}

void copyElement(const BoundedTensor &from, size_t source, BoundedTensor &to, size_t target) {
  to.elements[target] = from.elements[source];
  if (!to.integers.empty()) {
    to.integers[target] = from.integers[source];
  }
}

/// What lies beyond the edges of a padding.
double constantOf(const Node &node) {
  auto found = node.attributes.find("value");
  const auto *value =
      found == node.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return value ? *value : 0;
}

Result<BoundedTensor> indexed(const Node &node, const BoundedTensor &input, BoundedTensor out,
                              DType dtype) {
  auto movement = definition::movementOf(node, input.sizes);
  if (!movement) {
    return movement.error();
  }
  const Sizes strides = stridesOf(input.sizes);
  double constant = constantOf(node);
  if (std::isinf(constant) && !isFloat(dtype)) { // no integer lies below it
    constant = static_cast<double>(definition::lowestInteger(dtype));
  }
  // Along a row only those dimensions of the source move that the last index moves.
  const size_t run = out.sizes.empty() ? 1 : static_cast<size_t>(out.sizes.back());
  std::vector<size_t> walking, standing;
  for (size_t d = 0; d < movement->from.size(); ++d) {
    const auto &steps = movement->from[d].steps;
    const bool isWalking = std::any_of(steps.begin(), steps.end(), [&](const auto &step) {
      return step.first + 1 == out.sizes.size();
    });
    (isWalking ? walking : standing).push_back(d);
  }
  Sizes index(out.sizes.size(), 0);
  const auto offset = [&](const std::vector<size_t> &dims) {
    int64_t sum = 0;
    for (size_t d : dims) {
      const int64_t at = movement->from[d].at(index);
      if (at < 0) {
        return definition::Movement::outside;
      }
      sum += at * strides[d];
    }
    return sum;
  };
  int64_t row = 0;
  for (size_t i = 0; i < out.elements.size(); ++i, advance(index, out.sizes)) {
    row = i % run == 0 ? offset(standing) : row;
    int64_t source = row == definition::Movement::outside ? row : offset(walking);
    source = source == definition::Movement::outside ? source : row + source;
    if (source != definition::Movement::outside) {
      copyElement(input, static_cast<size_t>(source), out, i);
      continue;
    }
    out.elements[i] = {constant, 0};
    if (!out.integers.empty()) {
      out.integers[i] = static_cast<uint64_t>(static_cast<int64_t>(constant));
    }
  }
  return out;
}

/// One tensor behind another: each is copied to where the ones before it end.
BoundedTensor joined(const Node &node, std::span<const BoundedTensor *const> operands,
                     BoundedTensor out) {
  const auto dim = static_cast<size_t>(definition::integerAttribute(node, "dim", -1) +
                                       static_cast<int64_t>(out.sizes.size()));
  const Sizes strides = stridesOf(out.sizes);
  int64_t begin = 0;
  for (const BoundedTensor *operand : operands) {
    Sizes index(out.sizes.size(), 0);
    for (size_t i = 0; i < operand->elements.size(); ++i, advance(index, operand->sizes)) {
      const int64_t target =
          std::inner_product(index.begin(), index.end(), strides.begin(), begin * strides[dim]);
      copyElement(*operand, i, out, static_cast<size_t>(target));
    }
    begin += operand->sizes[dim];
  }
  return out;
}

/// Row i keeps columns up to i + diagonal, or from there on.
BoundedTensor triangle(const Node &node, const BoundedTensor &input, BoundedTensor out) {
  const int64_t diagonal = definition::integerAttribute(node, "diagonal", 0);
  const bool isLower = node.op == "tril";
  Sizes index(out.sizes.size(), 0);
  for (size_t i = 0; i < out.elements.size(); ++i, advance(index, out.sizes)) {
    const int64_t row = index[index.size() - 2], column = index.back();
    if (isLower ? column <= row + diagonal : column >= row + diagonal) {
      copyElement(input, i, out, i);
    } else {
      out.elements[i] = {0, 0};
    }
  }
  return out;
}

BoundedTensor positions(BoundedTensor out) {
  out.integers.resize(out.elements.size());
  for (size_t i = 0; i < out.elements.size(); ++i) {
    out.elements[i] = {static_cast<double>(i), 0};
    out.integers[i] = i;
  }
  return out;
}

} // namespace

Result<BoundedTensor> moveBounded(const Node &node, std::span<const BoundedTensor *const> operands,
                                  DType dtype) {
  std::vector<Sizes> inputs;
  bool isInteger = false;
  for (const BoundedTensor *operand : operands) {
    inputs.push_back(operand->sizes);
    isInteger = isInteger || !operand->integers.empty();
  }
  auto sizes = definition::movedSizes(node, inputs);
  if (!sizes) {
    return sizes.error();
  }
  BoundedTensor out;
  out.sizes = std::move(*sizes);
  const auto count = static_cast<size_t>(definition::elementCountOf(out.sizes).value_or(0));
  out.allocate(count);
  out.integers.resize(isInteger ? count : 0);
  if (node.op == "_positions") {
    return positions(std::move(out));
  }
  if (definition::isTriangle(node)) {
    return triangle(node, *operands[0], std::move(out));
  }
  if (node.op == "cat") {
    return joined(node, operands, std::move(out));
  }
  if (node.op == "reshape") {
    for (size_t i = 0; i < count; ++i) {
      copyElement(*operands[0], i, out, i);
    }
    return out;
  }
  return indexed(node, *operands[0], std::move(out), dtype);
}

} // namespace nereid::eager
