// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/indices/Movement.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/baseline/BlockPool.h"

#include <fmt/format.h>

#include <algorithm>
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

/// Elements one by one, each from where the movement says.
void copyMoved(const definition::Movement &movement, const Tensor &input, const Tensor &fill,
               const Tensor &out, runtime::ThreadPool &pool) {
  const size_t bytes = sizeInBytes(input.dtype());
  const auto *from = static_cast<const char *>(input.data());
  auto *to = static_cast<char *>(out.data());
  const int64_t run = movement.sizes.empty() ? 1 : movement.sizes.back();
  forEachRow(movement.sizes, pool, [&](Sizes index, int64_t number) {
    for (int64_t i = 0; i < run; ++i) {
      if (!index.empty()) {
        index.back() = i;
      }
      const int64_t source = movement.source(index, input.strides());
      const bool isInside = source != definition::Movement::outside;
      std::memcpy(to + static_cast<size_t>(number + i) * bytes,
                  isInside ? from + source * static_cast<int64_t>(bytes)
                           : static_cast<const char *>(fill.data()),
                  bytes);
    }
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
    fill.set(0, isGiven ? std::get<double>(found->second) : 0);
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
