// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/indices/Movement.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/baseline/BlockPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace nereid::eager {
namespace {

using definition::Node;
using runtime::Tensor;
using Sizes = std::vector<int64_t>;

Diagnostic noMemory(const Node &node) {
  return makeError("E0506", fmt::format("no memory for the result of '{}'", node.op))
      .withHelp("use smaller shapes, or a machine with more memory");
}

Result<Tensor> viewed(const Node &node, const Tensor &input, int64_t offset, Sizes sizes,
                      Sizes strides) {
  auto view = input.view(offset, std::move(sizes), std::move(strides));
  if (auto *problem = std::get_if<std::string>(&view)) {
    return makeError("E0604", fmt::format("'{}': {}", node.op, *problem));
  }
  return std::get<Tensor>(view);
}

/// Calls visit(index, number) for rows of the shape: the last dimension's first element.
template <class Visit>
void forEachRow(const Sizes &sizes, runtime::ThreadPool &pool, const Visit &visit) {
  const int64_t run = sizes.empty() ? 1 : sizes.back();
  const int64_t rows = run == 0 ? 0 : definition::elementCountOf(sizes).value_or(0) / run;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(run, 1));
  pool.parallelFor(rows, grain, [&](int64_t first, int64_t last, int) {
    Sizes index(sizes.size(), 0);
    for (int64_t row = first; row < last; ++row) {
      int64_t rest = row;
      for (size_t d = sizes.empty() ? 0 : sizes.size() - 1; d-- > 0;) {
        index[d] = rest % sizes[d];
        rest /= sizes[d];
      }
      visit(index, row * run);
    }
  });
}

/// Calls copy(element), where element is an integer as large as each of the tensor's.
template <class Copy> void withElement(DType dtype, const Copy &copy) {
  switch (sizeInBytes(dtype)) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

/// The source's dimension that the result's last one walks along, if there is one and nothing but a
/// constant lies beyond its edge.
const definition::SourceDim *walked(const definition::Movement &movement) {
  const definition::SourceDim *found = nullptr;
  for (const definition::SourceDim &from : movement.from) {
    const bool isWalked = std::any_of(from.steps.begin(), from.steps.end(), [&](const auto &step) {
      return step.first + 1 == movement.sizes.size();
    });
    const bool isPlain = from.divisor == 1 && (from.edge == definition::Edge::Inside ||
                                               from.edge == definition::Edge::Constant);
    if (isWalked && (found || !isPlain)) {
      return nullptr;
    }
    found = isWalked ? &from : found;
  }
  return found;
}

/// Of a row: where `dim` is inside, [first, last), and its index at the row's beginning.
struct Stretch {
  int64_t first = 0, last = 0, begin = 0, step = 1;
};
Stretch stretchOf(const definition::SourceDim &dim, const Sizes &index, size_t inner, int64_t run) {
  Stretch stretch;
  stretch.begin = dim.start;
  stretch.step = 0;
  for (const auto &[result, step] : dim.steps) {
    stretch.begin += result == inner ? 0 : step * index[result];
    stretch.step += result == inner ? step : 0;
  }
  auto isInside = [&](int64_t at) {
    const int64_t value = stretch.begin + at * stretch.step;
    return value >= 0 && value < dim.size;
  };
  while (stretch.first < run && !isInside(stretch.first)) {
    ++stretch.first;
  }
  stretch.last = run;
  while (stretch.last > stretch.first && !isInside(stretch.last - 1)) {
    --stretch.last;
  }
  return stretch;
}

/// Offsets in the source of all places of one of its dimensions, by the result's dimensions that
/// they follow from.
struct Places {
  std::vector<int64_t> offsets;
  std::vector<std::pair<size_t, int64_t>> steps; ///< dimension of the result, places apart
  int64_t inner = 0;                             ///< places apart along the result's last dimension
  int64_t rowOf(const Sizes &index) const {
    int64_t row = 0;
    for (const auto &[dim, step] : steps) {
      row += index[dim] * step;
    }
    return row;
  }
};
Places placesOf(const definition::SourceDim &from, const Sizes &sizes, int64_t stride) {
  Places places;
  int64_t count = 1;
  for (const auto &[dim, step] : from.steps) {
    const bool isLast = dim + 1 == sizes.size();
    places.inner = isLast ? count : places.inner;
    places.steps.emplace_back(dim, count);
    count *= sizes[dim];
  }
  Sizes index(sizes.size(), 0);
  for (int64_t number = 0; number < count; ++number) {
    for (const auto &[dim, step] : places.steps) {
      index[dim] = number / step % sizes[dim];
    }
    const int64_t at = from.at(index);
    places.offsets.push_back(at < 0 ? definition::Movement::outside : at * stride);
  }
  if (places.inner != 0) { // walked, not looked up
    std::erase_if(places.steps, [&](const auto &each) { return each.first + 1 == sizes.size(); });
  }
  return places;
}

/// A row whose elements lie anywhere: sums of offsets.
template <class T>
void copyRow(const std::vector<Places> &all, const Sizes &index, const T *from, T constant, T *to,
             int64_t run) {
  int64_t base = 0;
  std::vector<std::pair<const int64_t *, int64_t>> walked;
  for (const Places &places : all) {
    const int64_t *row = places.offsets.data() + places.rowOf(index);
    if (places.inner != 0) {
      walked.emplace_back(row, places.inner);
    } else if (*row == definition::Movement::outside) {
      std::fill(to, to + run, constant);
      return;
    } else {
      base += *row;
    }
  }
  for (int64_t i = 0; i < run; ++i) {
    int64_t offset = base;
    bool isInside = true;
    for (const auto &[row, step] : walked) {
      const int64_t each = row[i * step];
      isInside = isInside && each != definition::Movement::outside;
      offset += isInside ? each : 0;
    }
    to[i] = isInside ? from[offset] : constant;
  }
}

/// Elements from where the movement says: stretches of a row where they lie side by side or equally
/// far apart, and one by one otherwise.
void copyMoved(const definition::Movement &movement, const Tensor &input, const Tensor &fill,
               const Tensor &out, runtime::ThreadPool &pool) {
  const int64_t run = movement.sizes.empty() ? 1 : movement.sizes.back();
  const definition::SourceDim *inner = walked(movement);
  const size_t last = movement.sizes.size() - 1;
  std::vector<Places> places;
  for (size_t d = 0; d < movement.from.size() && !inner; ++d) {
    places.push_back(placesOf(movement.from[d], movement.sizes, input.strides()[d]));
  }
  withElement(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto *from = static_cast<const T *>(input.data());
    auto *to = static_cast<T *>(out.data());
    const T constant = *static_cast<const T *>(fill.data());
    forEachRow(movement.sizes, pool, [&](Sizes index, int64_t number) {
      int64_t first = 0, end = 0;
      if (inner) {
        const Stretch stretch = stretchOf(*inner, index, last, run);
        first = stretch.first;
        end = stretch.last;
        index[last] = first;
        const int64_t source =
            first < end ? movement.source(index, input.strides()) : definition::Movement::outside;
        end = source == definition::Movement::outside ? first : end;
        const int64_t step =
            stretch.step * input.strides()[static_cast<size_t>(inner - movement.from.data())];
        for (int64_t i = first; i < end; ++i) {
          to[number + i] = from[source + (i - first) * step];
        }
        std::fill(to + number, to + number + first, constant);
        std::fill(to + number + end, to + number + run, constant);
        return;
      }
      copyRow(places, index, from, constant, to + number, run);
    });
  });
}

Result<Tensor> joined(const Node &node, std::span<const Tensor> inputs, const Sizes &sizes,
                      runtime::ThreadPool &pool) {
  Tensor out = allocateTensor(sizes, inputs[0].dtype());
  if (!out.isValid()) {
    return noMemory(node);
  }
  const auto dim = static_cast<size_t>(definition::integerAttribute(node, "dim", -1) +
                                       static_cast<int64_t>(sizes.size()));
  const size_t bytes = sizeInBytes(out.dtype());
  int64_t begin = 0;
  for (const Tensor &input : inputs) {
    const int64_t run = input.shape().back();
    forEachRow(input.shape(), pool, [&](const Sizes &index, int64_t) {
      const auto offsetIn = [&](const Tensor &tensor) {
        return std::inner_product(index.begin(), index.end(), tensor.strides().begin(), int64_t{0});
      };
      const int64_t target = offsetIn(out) + begin * out.strides()[dim];
      const int64_t source = offsetIn(input), step = input.strides().back();
      for (int64_t i = 0; i < run; ++i) {
        std::memcpy(static_cast<char *>(out.data()) + (target + i) * static_cast<int64_t>(bytes),
                    static_cast<const char *>(input.data()) +
                        (source + i * step) * static_cast<int64_t>(bytes),
                    bytes);
      }
    });
    begin += input.shape()[dim];
  }
  return out;
}

Result<Tensor> triangle(const Node &node, const Tensor &input, runtime::ThreadPool &pool) {
  const Tensor out = input.to(input.dtype());
  if (!out.isValid()) {
    return noMemory(node);
  }
  const int64_t diagonal = definition::integerAttribute(node, "diagonal", 0);
  const int64_t columns = out.shape().back();
  const auto bytes = static_cast<int64_t>(sizeInBytes(out.dtype()));
  forEachRow(out.shape(), pool, [&](const Sizes &index, int64_t number) {
    const int64_t row = index[index.size() - 2];
    // The first column beyond the diagonal, or on it.
    const int64_t at =
        std::clamp(row + diagonal + (node.op == "tril" ? 1 : 0), int64_t{0}, columns);
    const int64_t first = node.op == "tril" ? at : 0, last = node.op == "tril" ? columns : at;
    std::memset(static_cast<char *>(out.data()) + (number + first) * bytes, 0,
                static_cast<size_t>((last - first) * bytes));
  });
  return out;
}

Result<Tensor> positions(const Node &node, const Sizes &sizes) {
  const Tensor out = allocateTensor(sizes, DType::I64);
  if (!out.isValid()) {
    return noMemory(node);
  }
  std::iota(out.as<int64_t>(), out.as<int64_t>() + sizes[0], int64_t{0});
  return out;
}

} // namespace

Result<Tensor> runMovement(const Node &node, std::span<const Tensor> inputs,
                           runtime::ThreadPool &pool) {
  std::vector<Sizes> shapes;
  for (const Tensor &input : inputs) {
    shapes.push_back(input.shape());
    if (input.dtype() != inputs[0].dtype()) {
      return makeError("E0605",
                       fmt::format("'{}' expects tensors of one type, but got {} and {}", node.op,
                                   torchName(inputs[0].dtype()), torchName(input.dtype())));
    }
  }
  auto sizes = definition::movedSizes(node, shapes);
  if (!sizes) {
    return sizes.error();
  }
  const Tensor &input = inputs[0];
  if (node.op == "_positions") {
    return positions(node, *sizes);
  }
  if (definition::isTriangle(node)) {
    return triangle(node, input, pool);
  }
  if (node.op == "cat") {
    return joined(node, inputs, *sizes, pool);
  }
  if (node.op == "reshape") {
    const Tensor dense = input.isContiguous() ? input : input.to(input.dtype());
    return dense.isValid() ? viewed(node, dense, 0, *sizes, {}) : Result<Tensor>(noMemory(node));
  }
  auto movement = definition::movementOf(node, input.shape());
  if (!movement) {
    return movement.error();
  }
  const bool isEmpty = std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
  if (isEmpty || definition::copiesElements(node)) {
    Tensor out = allocateTensor(*sizes, input.dtype()), fill = Tensor::empty({}, input.dtype());
    if (!out.isValid() || !fill.isValid()) {
      return noMemory(node);
    }
    auto found = node.attributes.find("value");
    const bool isGiven = found != node.attributes.end();
    const double constant = isGiven ? std::get<double>(found->second) : 0;
    const bool isLowest = std::isinf(constant) && !isFloat(input.dtype());
    fill.set(0,
             isLowest ? static_cast<double>(definition::lowestInteger(input.dtype())) : constant);
    if (!isEmpty) {
      copyMoved(*movement, input, fill, out, pool);
    }
    return out;
  }
  int64_t offset = 0;
  Sizes strides(sizes->size(), 0);
  for (size_t d = 0; d < movement->from.size(); ++d) {
    const int64_t stride = input.strides()[d];
    offset += movement->from[d].start * stride;
    for (const auto &[result, step] : movement->from[d].steps) {
      strides[result] += step * stride;
    }
  }
  return viewed(node, input, offset, *sizes, std::move(strides));
}

} // namespace nereid::eager
