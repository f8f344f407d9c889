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

/// Where the elements of a row of a moved tensor come from. Along a row only those dimensions of
/// the source move that the last index moves, and these mostly by a step.
class SourceRows {
public:
  SourceRows(const definition::Movement &movement, Sizes strides, const Sizes &sizes)
      : movement(movement), strides(std::move(strides)), rank(sizes.size()) {}

  /// Offsets in the source, or Movement::outside, of the row that begins at `index`.
  void find(Sizes index, std::vector<int64_t> &sources) const {
    std::fill(sources.begin(), sources.end(), 0);
    for (size_t d = 0; d < movement.from.size(); ++d) {
      const definition::SourceDim &dim = movement.from[d];
      int64_t begin = dim.start, along = 0;
      for (const auto &[of, step] : dim.steps) {
        begin += of + 1 == rank ? 0 : step * index[of];
        along += of + 1 == rank ? step : 0;
      }
      const int64_t standing = along == 0 ? dim.at(index) : 0;
      for (size_t j = 0; j < sources.size(); ++j) {
        int64_t at = along == 0 ? standing : begin + static_cast<int64_t>(j) * along;
        if (along != 0 && (dim.divisor != 1 || at < 0 || at >= dim.size)) {
          if (!index.empty()) {
            index.back() = static_cast<int64_t>(j);
          }
          at = dim.at(index);
        }
        const bool isOutside = at < 0 || sources[j] == definition::Movement::outside;
        sources[j] = isOutside ? definition::Movement::outside : sources[j] + at * strides[d];
      }
    }
  }

private:
  const definition::Movement &movement;
  const Sizes strides;
  const size_t rank;
};

Result<BoundedTensor> indexed(const Node &node, const BoundedTensor &input, BoundedTensor out,
                              DType dtype) {
  auto movement = definition::movementOf(node, input.sizes);
  if (!movement) {
    return movement.error();
  }
  double constant = constantOf(node);
  if (std::isinf(constant) && !isFloat(dtype)) { // no integer lies below it
    constant = static_cast<double>(definition::lowestInteger(dtype));
  }
  const SourceRows rows(*movement, stridesOf(input.sizes), out.sizes);
  const size_t run = out.sizes.empty() ? 1 : static_cast<size_t>(out.sizes.back());
  std::vector<int64_t> sources(run);
  Sizes index(out.sizes.size(), 0);
  for (size_t first = 0; first < out.elements.size(); first += run) {
    rows.find(index, sources);
    for (size_t j = 0; j < run; ++j) {
      if (sources[j] != definition::Movement::outside) {
        copyElement(input, static_cast<size_t>(sources[j]), out, first + j);
        continue;
      }
      out.elements[first + j] = {constant, 0};
      if (!out.integers.empty()) {
        out.integers[first + j] = static_cast<uint64_t>(static_cast<int64_t>(constant));
      }
    }
    if (!index.empty()) { // the next row
      index.back() = static_cast<int64_t>(run) - 1;
      advance(index, out.sizes);
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
