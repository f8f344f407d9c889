// SPDX-License-Identifier: Apache-2.0
// Cuts the leading dimensions that no operation reduces into blocks, evaluates each block on one
// thread, and compares or stores what comes out.
#include "lib/eager/Reference.h"

#include "lib/definition/Shape.h"
#include "lib/definition/Tolerance.h"
#include "lib/eager/Eager.h"
#include "lib/eager/ReferenceGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace nereid::eager {
namespace {

using definition::Node;
using definition::Operator;
using runtime::Tensor;

constexpr int64_t blockElements = 4096;
/// Over the first-order bound, for what it neglects.
constexpr double safety = 2;

/// Leading dimensions of the result that may be cut: aligned from the right, no operation reduces
/// or drops them.
size_t cuttableDimensions(const Operator &graph, const std::vector<std::vector<int64_t>> &outputs) {
  size_t rank = outputs[0].size(), deepest = 0;
  for (const Node &node : graph.nodes) {
    const definition::Operation *operation = definition::findOperation(node.op);
    if (!operation || operation->kind != definition::OperationKind::Reduction) {
      continue;
    }
    std::vector<int64_t> dims = definition::dimsOf(node);
    if (dims.empty() || !definition::keepsDim(node)) {
      return 0;
    }
    deepest = std::max(deepest, static_cast<size_t>(-dims.front()));
  }
  for (const std::vector<int64_t> &sizes : outputs) {
    if (sizes != outputs[0]) {
      return 0;
    }
  }
  return rank > deepest ? rank - deepest : 0;
}

/// A block: one index of each dimension before `dimension`, [begin, end) of that one, all of the
/// later ones.
struct Cut {
  size_t dimension = 0;
  int64_t length = 0; ///< most indices of `dimension` in a block
  int64_t prefixes = 1, blocksPerPrefix = 1;
  bool whole = true;
};

Cut planCut(const std::vector<int64_t> &sizes, size_t cuttable) {
  Cut cut;
  if (cuttable == 0) {
    return cut;
  }
  int64_t inner = definition::elementCountOf(sizes).value_or(0);
  for (size_t d = 0; d < cuttable; ++d) {
    inner = sizes[d] ? inner / sizes[d] : 0;
    cut.dimension = d;
    cut.whole = false;
    cut.length = std::max<int64_t>(1, blockElements / std::max<int64_t>(inner, 1));
    if (inner <= blockElements) {
      break;
    }
    if (d + 1 < cuttable) {
      cut.prefixes *= sizes[d];
    }
  }
  cut.blocksPerPrefix = (sizes[cut.dimension] + cut.length - 1) / cut.length;
  return cut;
}

/// The part of `tensor` (aligned from the right with `sizes`) that a block covers.
Tensor slice(const Tensor &tensor, const std::vector<int64_t> &sizes, const Cut &cut,
             const std::vector<int64_t> &prefix, int64_t begin, int64_t end) {
  std::vector<int64_t> shape = tensor.shape(), strides = tensor.strides();
  size_t missing = sizes.size() - std::min(sizes.size(), shape.size());
  int64_t offset = 0;
  for (size_t d = missing; d <= cut.dimension && d - missing < shape.size(); ++d) {
    size_t own = d - missing;
    if (shape[own] == 1) {
      continue;
    }
    bool isRange = d == cut.dimension;
    offset += (isRange ? begin : prefix[d]) * strides[own];
    shape[own] = isRange ? end - begin : 1;
  }
  auto *data = static_cast<char *>(tensor.data());
  auto bytes = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  return Tensor::borrow(data ? data + offset * bytes : data, shape, tensor.dtype(), strides);
}

struct Prepared {
  Operator graph;
  std::vector<Tensor> inputs; // one per parameter
  std::vector<std::vector<int64_t>> sizes;
  std::vector<DType> types; // of the outputs
  ErrorModel model;
};

Result<Prepared> prepare(const Operator &op, std::span<const Tensor> inputs, DType dtype,
                         Rounding rounding) {
  Prepared prepared;
  prepared.graph = definition::decomposed(op);
  std::vector<std::vector<int64_t>> shapes;
  size_t next = 0;
  bool hasNumbers = inputs.size() == op.parameters.size();
  for (const definition::Parameter &parameter : op.parameters) {
    bool isDefault = parameter.isScalar && !hasNumbers;
    if (!isDefault && next >= inputs.size()) {
      return makeError("E0604", fmt::format("'{}' expects {} tensors, but got {}", op.name,
                                            op.parameters.size(), inputs.size()));
    }
    prepared.inputs.push_back(isDefault ? numberTensor(parameter.value) : inputs[next++]);
    shapes.push_back(prepared.inputs.back().shape());
  }
  Result<definition::Binding> binding = definition::bindShapes(op, shapes);
  if (!binding) {
    return binding.error();
  }
  std::vector<DType> types = definition::nodeDtypes(prepared.graph, dtype);
  for (int output : prepared.graph.outputs) {
    const Node &node = prepared.graph.nodes[static_cast<size_t>(output)];
    Result<std::vector<int64_t>> sizes = definition::bind(node.shape, *binding);
    if (!sizes) {
      return sizes.error();
    }
    prepared.sizes.push_back(std::move(*sizes));
    prepared.types.push_back(types[static_cast<size_t>(output)]);
  }
  prepared.model.compute = definition::computeType(dtype);
  prepared.model.storage = dtype;
  prepared.model.storesEachOperation = rounding == Rounding::EachOperation;
  return prepared;
}

using Visit = std::function<void(size_t output, const BoundedTensor &block, int64_t firstIndex,
                                 const std::function<Tensor(const Tensor &)> &cutOut)>;

/// Calls `visit` for every block of every output, from all threads.
Status forEachBlock(const Prepared &prepared, runtime::ThreadPool &pool, const Visit &visit) {
  const std::vector<int64_t> &sizes = prepared.sizes[0];
  Cut cut = planCut(sizes, cuttableDimensions(prepared.graph, prepared.sizes));
  std::mutex lock;
  std::optional<Diagnostic> failure;
  pool.parallelFor(cut.prefixes * cut.blocksPerPrefix, 1, [&](int64_t first, int64_t last, int) {
    for (int64_t b = first; b < last; ++b) {
      std::vector<int64_t> prefix(cut.dimension, 0);
      int64_t rest = b / cut.blocksPerPrefix, row = rest;
      for (size_t d = cut.dimension; d-- > 0;) {
        prefix[d] = rest % sizes[d];
        rest /= sizes[d];
      }
      int64_t begin = cut.whole ? 0 : b % cut.blocksPerPrefix * cut.length;
      int64_t end = cut.whole ? 0 : std::min(begin + cut.length, sizes[cut.dimension]);
      auto cutOut = [&](const Tensor &tensor) {
        return cut.whole ? tensor : slice(tensor, sizes, cut, prefix, begin, end);
      };
      std::vector<Tensor> inputs;
      for (const Tensor &input : prepared.inputs) {
        inputs.push_back(cutOut(input));
      }
      auto blocks = evaluateBounded(prepared.graph, inputs, prepared.model);
      if (!blocks) {
        std::lock_guard guard(lock);
        failure = blocks.error();
        return;
      }
      int64_t inner = 1;
      for (size_t d = cut.dimension + 1; d < sizes.size(); ++d) {
        inner *= sizes[d];
      }
      int64_t at = cut.whole ? 0 : (row * sizes[cut.dimension] + begin) * inner;
      for (size_t output = 0; output < blocks->size(); ++output) {
        visit(output, (*blocks)[output], at, cutOut);
      }
    }
  });
  return failure ? Status(*failure) : Status(Done{});
}

/// Error over bound of one element; 0 when it is as it must be.
double ratioOf(double actual, const Bounded &expected, DType type, double &bound) {
  bound = 0;
  if (std::isnan(expected.value) || std::isnan(actual)) {
    return std::isnan(expected.value) && std::isnan(actual) ? 0 : INFINITY;
  }
  if (actual == expected.value) {
    return 0;
  }
  if (!isFloat(type)) {
    bound = expected.error;
    return std::fabs(actual - expected.value) <= bound ? 0 : INFINITY;
  }
  double unit = definition::unitRoundoff(type), magnitude = std::fabs(expected.value);
  double first = safety * expected.error;
  bound = first + unit * (magnitude + first) + unit * definition::smallestNormal(type);
  double error = std::fabs(actual - expected.value);
  if (std::isinf(actual) && !std::isinf(expected.value)) {
    bool rounds = magnitude + bound > definition::largestFinite(type);
    return rounds && (actual > 0) == (expected.value > 0) ? 0 : INFINITY;
  }
  return error <= bound ? error / bound : bound > 0 ? std::max(error / bound, 1 + 1e-9) : INFINITY;
}

} // namespace

Result<std::vector<ReferenceOutput>> runReference(const Operator &op,
                                                  std::span<const Tensor> inputs, DType dtype,
                                                  Rounding rounding, runtime::ThreadPool &pool) {
  Result<Prepared> prepared = prepare(op, inputs, dtype, rounding);
  if (!prepared) {
    return prepared.error();
  }
  std::vector<ReferenceOutput> outputs;
  for (const std::vector<int64_t> &sizes : prepared->sizes) {
    outputs.push_back({Tensor::empty(sizes, DType::F64), Tensor::empty(sizes, DType::F64)});
    if (!outputs.back().values.isValid() || !outputs.back().bounds.isValid()) {
      return makeError("E0506", fmt::format("no memory for a float64 reference of shape {}",
                                            definition::sizesText(sizes)));
    }
  }
  Status done = forEachBlock(*prepared, pool,
                             [&](size_t output, const BoundedTensor &block, int64_t first,
                                 const std::function<Tensor(const Tensor &)> &) {
                               auto *values = outputs[output].values.as<double>() + first;
                               auto *bounds = outputs[output].bounds.as<double>() + first;
                               for (size_t i = 0; i < block.elements.size(); ++i) {
                                 values[i] = block.elements[i].value;
                                 bounds[i] = block.elements[i].error;
                               }
                             });
  return done ? Result<std::vector<ReferenceOutput>>(std::move(outputs)) : done.error();
}

Result<Agreement> checkOutputs(const Operator &op, std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs, DType dtype, Rounding rounding,
                               runtime::ThreadPool &pool) {
  Result<Prepared> prepared = prepare(op, inputs, dtype, rounding);
  if (!prepared) {
    return prepared.error();
  }
  for (size_t i = 0; i < prepared->sizes.size(); ++i) {
    bool fits = i < outputs.size() && outputs[i].shape() == prepared->sizes[i] &&
                outputs[i].dtype() == prepared->types[i];
    if (!fits) {
      return makeError("E0604",
                       fmt::format("output '{}' of '{}' expects {} of shape {}, but got {}",
                                   op.outputNames[i], op.name, torchName(prepared->types[i]),
                                   definition::sizesText(prepared->sizes[i]),
                                   i < outputs.size()
                                       ? fmt::format("{} of shape {}", torchName(outputs[i].dtype()),
                                                     definition::sizesText(outputs[i].shape()))
                                       : "nothing"));
    }
  }
  Agreement total;
  std::mutex lock;
  auto visit = [&](size_t output, const BoundedTensor &block, int64_t first,
                   const std::function<Tensor(const Tensor &)> &cutOut) {
    BoundedTensor actual = loadBounded(cutOut(outputs[output]));
    Agreement mine;
    for (size_t i = 0; i < block.elements.size(); ++i) {
      const Bounded &expected = block.elements[i];
      ++mine.checked;
      if (std::isinf(expected.error)) {
        ++mine.unverifiable;
        continue;
      }
      double value = actual.elements[i].value, bound = 0;
      double ratio = ratioOf(value, expected, prepared->types[output], bound);
      mine.worstRatio = std::max(mine.worstRatio, ratio);
      if (std::isfinite(value) && std::isfinite(expected.value)) {
        mine.worstAbsolute = std::max(mine.worstAbsolute, std::fabs(value - expected.value));
      }
      if (ratio > 1 && mine.mismatches++ == 0) {
        mine.firstIndex = first + static_cast<int64_t>(i);
        mine.firstActual = value;
        mine.firstExpected = expected.value;
        mine.firstBound = bound;
      }
    }
    std::lock_guard guard(lock);
    total.checked += mine.checked;
    total.unverifiable += mine.unverifiable;
    total.worstRatio = std::max(total.worstRatio, mine.worstRatio);
    total.worstAbsolute = std::max(total.worstAbsolute, mine.worstAbsolute);
    auto place = std::pair(static_cast<int>(output), mine.firstIndex);
    bool isEarlier = total.mismatches == 0 || place < std::pair(total.firstOutput, total.firstIndex);
    if (mine.mismatches > 0 && isEarlier) {
      total.firstOutput = place.first;
      total.firstIndex = place.second;
      total.firstActual = mine.firstActual;
      total.firstExpected = mine.firstExpected;
      total.firstBound = mine.firstBound;
    }
    total.mismatches += mine.mismatches;
  };
  Status done = forEachBlock(*prepared, pool, visit);
  return done ? Result<Agreement>(total) : Result<Agreement>(done.error());
}

} // namespace nereid::eager
