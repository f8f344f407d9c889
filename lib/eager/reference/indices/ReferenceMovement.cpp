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

/// The dimension along which a moved tensor is walked: the innermost one that is worth a loop of
/// its own, or the longest.
size_t rowDimension(const Sizes &sizes) {
  constexpr int64_t longEnough = 16;
  size_t longest = sizes.size() - 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] >= longEnough) {
      return d;
    }
    longest = sizes[d] > sizes[longest] ? d : longest;
  }
  return longest;
}

/// Where the elements of a row of a moved tensor come from: number j is the source's at
/// begin + j * step, and further on by others[j], if there are such, or outside.
struct SourceRow {
  int64_t begin = 0, step = 0;
  bool isOutside = false, isEven = true; ///< all of it; nothing is added
  std::vector<int64_t> others;
};

/// Finds them. Along a row only those dimensions of the source move that the row's index moves, and
/// these mostly by a step.
class SourceRows {
public:
  SourceRows(const definition::Movement &movement, Sizes strides, size_t along, int64_t length)
      : movement(movement), strides(std::move(strides)), along(along), length(length) {}

  /// Of the row that begins at `index`.
  void find(Sizes &index, SourceRow &row) const {
    row.begin = row.step = 0;
    row.isOutside = false;
    row.isEven = true;
    for (size_t d = 0; d < movement.from.size() && !row.isOutside; ++d) {
      const definition::SourceDim &dim = movement.from[d];
      int64_t begin = dim.start, step = 0;
      for (const auto &[of, by] : dim.steps) {
        begin += of == along ? 0 : by * index[of];
        step += of == along ? by : 0;
      }
      const int64_t end = begin + (length - 1) * step;
      if (step == 0) {
        const int64_t standing = dim.at(index);
        row.isOutside = standing < 0;
        row.begin += standing * strides[d];
      } else if (dim.divisor == 1 && std::min(begin, end) >= 0 && std::max(begin, end) < dim.size) {
        row.begin += begin * strides[d];
        row.step += step * strides[d];
      } else {
        addEach(d, index, row);
      }
    }
  }

private:
  void addEach(size_t d, Sizes &index, SourceRow &row) const {
    if (row.isEven) {
      row.others.assign(static_cast<size_t>(length), 0);
      row.isEven = false;
    }
    for (int64_t j = 0; j < length; ++j) {
      index[along] = j;
      const int64_t at = movement.from[d].at(index);
      int64_t &other = row.others[static_cast<size_t>(j)];
      const bool isOutside = at < 0 || other == definition::Movement::outside;
      other = isOutside ? definition::Movement::outside : other + at * strides[d];
    }
    index[along] = 0;
  }

  const definition::Movement &movement;
  const Sizes strides;
  const size_t along;
  const int64_t length;
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
  const bool isScalar = out.sizes.empty();
  const Sizes sizes = isScalar ? Sizes{1} : out.sizes;
  const size_t along = rowDimension(sizes);
  const auto run = static_cast<size_t>(sizes[along]);
  const SourceRows rows(*movement, stridesOf(input.sizes), along, sizes[along]);
  const Sizes strides = stridesOf(sizes);
  const auto step = static_cast<size_t>(strides[along]);
  Sizes index(sizes.size(), 0), heads = sizes; // of rows, which the row's own index does not count
  heads[along] = 1;
  SourceRow row;
  for (size_t left = out.elements.empty() ? 0 : out.elements.size() / run; left > 0; --left) {
    rows.find(index, row);
    auto target = static_cast<size_t>(
        std::inner_product(index.begin(), index.end(), strides.begin(), int64_t(0)));
    int64_t source = row.begin;
    for (size_t j = 0; j < run; ++j, target += step, source += row.step) {
      const int64_t other = row.isEven ? 0 : row.others[j];
      if (!row.isOutside && other != definition::Movement::outside) {
        copyElement(input, static_cast<size_t>(source + other), out, target);
        continue;
      }
      out.elements[target] = {constant, 0};
      if (!out.integers.empty()) {
        out.integers[target] = static_cast<uint64_t>(static_cast<int64_t>(constant));
      }
    }
    advance(index, heads);
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
