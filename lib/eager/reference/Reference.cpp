// SPDX-License-Identifier: Apache-2.0
// Evaluates the graph block by block (ReferenceBlocks.h), each block on one thread, and compares or
// stores what comes out.
#include "lib/eager/reference/Reference.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/baseline/Eager.h"
#include "lib/eager/reference/ReferenceBlocks.h"
#include "lib/eager/reference/ReferenceGraph.h"
#include "lib/eager/reference/ZeroSigns.h"
#include "lib/eager/reference/indices/ReferenceCreation.h"
#include "lib/eager/reference/rules/IntegerRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

namespace nereid::eager {
namespace {

using definition::Node;
using definition::Operator;
using runtime::Tensor;

/// Over the first-order bound, for what it neglects.
constexpr double safety = 2;

struct Prepared {
  Operator graph;
  std::vector<Tensor> inputs;              // one per parameter, and what is created
  std::vector<std::vector<int64_t>> sizes; // of the outputs
  std::vector<DType> types;                // of the outputs
  std::vector<DType> nodeTypes;
  std::vector<bool> hasZeroSigns; // of the outputs
  BlockPlan plan;
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
    if (parameter.isScalar) {
      prepared.graph.parameters[shapes.size()].value = prepared.inputs.back().at(0);
    }
    shapes.push_back(parameter.isSize()
                         ? std::vector{static_cast<int64_t>(prepared.inputs.back().at(0))}
                         : prepared.inputs.back().shape());
  }
  Result<definition::Binding> binding = definition::bindShapes(op, shapes);
  if (!binding) {
    return binding.error();
  }
  Result<Operator> withNumbers = definition::withSizes(prepared.graph, *binding);
  if (!withNumbers) {
    return withNumbers.error();
  }
  prepared.graph = std::move(*withNumbers);
  for (definition::Node &node : prepared.graph.nodes) {
    if (!definition::keptOfLeading(node)) {
      continue;
    }
    Result<std::vector<int64_t>> from =
        definition::bind(prepared.graph.nodes[static_cast<size_t>(node.inputs[0])].shape, *binding);
    if (from && !definition::withRank(node.attributes, static_cast<int64_t>(from->size()))) {
      std::vector<int64_t> same(from->size()); // no dimension is summed: a view of all
      std::iota(same.begin(), same.end(), int64_t{0});
      node.op = "permute";
      node.attributes = {{"dims", same}};
    }
  }
  if (Status made = giveCreated(prepared.graph, prepared.inputs, dtype); !made) {
    return made.error();
  }
  std::vector<std::vector<int64_t>> nodeSizes;
  for (size_t i = 0; i < prepared.graph.nodes.size(); ++i) {
    Result<std::vector<int64_t>> sizes = definition::bind(prepared.graph.nodes[i].shape, *binding);
    if (!sizes) {
      return sizes.error();
    }
    nodeSizes.push_back(std::move(*sizes));
  }
  std::vector<DType> types = definition::nodeDtypes(prepared.graph, dtype);
  const std::vector<bool> signs = zeroSigns(prepared.graph);
  for (int output : prepared.graph.outputs) {
    prepared.sizes.push_back(nodeSizes[static_cast<size_t>(output)]);
    prepared.types.push_back(types[static_cast<size_t>(output)]);
    prepared.hasZeroSigns.push_back(signs[static_cast<size_t>(output)] &&
                                    isFloat(prepared.types.back()));
  }
  prepared.nodeTypes = std::move(types);
  prepared.plan = planBlocks(prepared.graph, nodeSizes);
  prepared.model.compute = definition::computeType(dtype);
  prepared.model.storage = isFloat(dtype) ? dtype : DType::F32;
  prepared.model.storesEachOperation = rounding == Rounding::EachOperation;
  return prepared;
}

/// With the defaults of its size inputs as these results have them.
Operator sizedBy(const Operator &op, std::span<const Tensor> outputs) {
  Operator result = op;
  for (definition::Parameter &parameter : result.parameters) {
    for (size_t i = 0; parameter.isSize() && i < std::min(outputs.size(), op.outputs.size()); ++i) {
      const definition::SymbolicShape &shape = op.nodes[static_cast<size_t>(op.outputs[i])].shape;
      for (size_t d = 0; d < shape.size() && shape.size() == outputs[i].shape().size(); ++d) {
        if (shape[d].symbol == parameter.name) {
          parameter.value = static_cast<double>(outputs[i].shape()[d]);
        }
      }
    }
  }
  return result;
}

using Visit = std::function<void(size_t output, const BoundedTensor &values, const Block &block)>;

/// Calls `visit` for every block of every output, from all threads.
Status forEachBlock(const Prepared &prepared, runtime::ThreadPool &pool, const Visit &visit) {
  const BlockPlan &plan = prepared.plan;
  // What every block needs whole is loaded once.
  std::vector<BoundedTensor> shared(prepared.inputs.size());
  std::vector<const BoundedTensor *> loaded(prepared.inputs.size(), nullptr);
  for (size_t i = 0; i < prepared.inputs.size(); ++i) {
    if (plan.count > 1 && !plan.isCut(i)) {
      shared[i] = loadBounded(prepared.inputs[i]);
      loaded[i] = &shared[i];
    }
  }
  std::mutex lock;
  std::optional<Diagnostic> failure;
  pool.parallelFor(plan.count, 1, [&](int64_t first, int64_t last, int) {
    for (int64_t number = first; number < last; ++number) {
      Block block = plan.block(number);
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < prepared.inputs.size(); ++i) {
        inputs.push_back(plan.input(prepared.inputs[i], i, block));
      }
      auto values =
          evaluateBounded(prepared.graph, prepared.nodeTypes, inputs, loaded, prepared.model);
      if (!values) {
        std::lock_guard guard(lock);
        failure = values.error();
        return;
      }
      for (size_t output = 0; output < values->size(); ++output) {
        visit(output, (*values)[output], block);
      }
    }
  });
  return failure ? Status(*failure) : Status(Done{});
}

/// What comparing an output of a type needs to know of it, looked up once.
/// Those of 8 bits come from conversions, which the reference has rounded.
struct ResultType {
  bool isNumber, hasZeroSigns;
  double unit, smallest, largest;

  ResultType(DType type, bool hasZeroSigns)
      : isNumber(isFloat(type)), hasZeroSigns(hasZeroSigns),
        unit(isFloat8(type) ? 0 : definition::unitRoundoff(type)),
        smallest(definition::smallestNormal(type)), largest(definition::largestFinite(type)) {}
};

/// How far a result may be from a finite reference.
double boundOf(const Bounded &expected, const ResultType &type) {
  if (!type.isNumber) {
    return expected.error;
  }
  const double first = safety * expected.error;
  return first + type.unit * (std::fabs(expected.value) + first) + type.unit * type.smallest;
}

/// Error over bound of one element; 0 when it is as it must be. Zeros have the reference's sign
/// where the type says so.
double ratioOf(double actual, const Bounded &expected, const ResultType &type, double &bound) {
  bound = 0;
  if (actual == expected.value) {
    const bool isOtherZero = std::signbit(actual) != std::signbit(expected.value);
    return type.hasZeroSigns && isOtherZero && expected.error == 0 ? INFINITY : 0;
  }
  if (!std::isfinite(expected.value)) {
    return std::isnan(expected.value) && std::isnan(actual) ? 0 : INFINITY;
  }
  bound = boundOf(expected, type);
  if (std::isnan(actual)) {
    return INFINITY;
  }
  const double error = std::fabs(actual - expected.value);
  if (!type.isNumber) {
    return error <= bound ? 0 : INFINITY;
  }
  if (std::isinf(actual)) {
    const double farthest = (actual > 0 ? expected.value : -expected.value) + bound;
    return farthest > type.largest ? 0 : INFINITY;
  }
  return error <= bound ? error / bound : bound > 0 ? std::max(error / bound, 1 + 1e-9) : INFINITY;
}

/// 64 bits of an integer as a number.
std::string integerText(uint64_t value, DType type) {
  return type == DType::U64 ? std::to_string(value) : std::to_string(static_cast<int64_t>(value));
}

/// Integers are equal, or as near as uncertain conditions allow, around the ends of their type or
/// not.
double integerRatio(uint64_t actual, uint64_t expected, const Bounded &bounded, DType type) {
  if (actual == expected) {
    return 0;
  }
  const auto distance = static_cast<double>(stepsApart(actual, expected, type));
  return bounded.error > 0 && distance <= bounded.error ? distance / bounded.error : INFINITY;
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
                                            definition::sizesText(sizes)))
          .withHelp("use smaller shapes, or a machine with more memory");
    }
  }
  auto store = [&](size_t output, const BoundedTensor &block, const Block &where) {
    int64_t first = prepared->plan.firstElement(prepared->sizes[output], where);
    auto *values = outputs[output].values.as<double>() + first;
    auto *bounds = outputs[output].bounds.as<double>() + first;
    for (size_t i = 0; i < block.elements.size(); ++i) {
      values[i] = block.elements[i].value;
      bounds[i] = block.elements[i].error;
    }
  };
  Status done = forEachBlock(*prepared, pool, store);
  return done ? Result<std::vector<ReferenceOutput>>(std::move(outputs)) : done.error();
}

Result<Comparison> checkOutputs(const Operator &op, std::span<const Tensor> inputs,
                                std::span<const Tensor> outputs, DType dtype, Rounding rounding,
                                runtime::ThreadPool &pool) {
  Result<Prepared> prepared = prepare(sizedBy(op, outputs), inputs, dtype, rounding);
  if (!prepared) {
    return prepared.error();
  }
  for (size_t i = 0; i < prepared->sizes.size(); ++i) {
    bool fits = i < outputs.size() && outputs[i].shape() == prepared->sizes[i] &&
                outputs[i].dtype() == prepared->types[i];
    if (!fits) {
      return makeError(
          "E0604", fmt::format("output '{}' of '{}' expects {} of shape {}, but got {}",
                               op.outputNames[i], op.name, torchName(prepared->types[i]),
                               definition::sizesText(prepared->sizes[i]),
                               i < outputs.size()
                                   ? fmt::format("{} of shape {}", torchName(outputs[i].dtype()),
                                                 definition::sizesText(outputs[i].shape()))
                                   : "nothing"));
    }
  }
  Comparison total;
  std::mutex lock;
  auto visit = [&](size_t output, const BoundedTensor &block, const Block &where) {
    int64_t first = prepared->plan.firstElement(prepared->sizes[output], where);
    BoundedTensor actual = loadBounded(prepared->plan.output(outputs[output], where));
    Comparison mine;
    const bool isInteger = !block.integers.empty();
    const ResultType type(prepared->types[output], prepared->hasZeroSigns[output]);
    for (size_t i = 0; i < block.elements.size(); ++i) {
      const Bounded &expected = block.elements[i];
      ++mine.elements;
      if (std::isinf(expected.error) || (isInteger && isOpen(expected, prepared->types[output]))) {
        ++mine.unverifiable;
        continue;
      }
      double value = actual.elements[i].value, bound = 0;
      double ratio = isInteger ? integerRatio(actual.integers[i], block.integers[i], expected,
                                              prepared->types[output])
                               : ratioOf(value, expected, type, bound);
      mine.worstRatio = std::max(mine.worstRatio, ratio);
      if (std::isfinite(value) && std::isfinite(expected.value)) {
        mine.addError(std::fabs(value - expected.value));
      }
      if (ratio > 1 && mine.mismatches++ == 0) {
        mine.first = {static_cast<int>(output),
                      first + static_cast<int64_t>(i),
                      value,
                      expected.value,
                      isInteger ? expected.error : bound,
                      "",
                      ""};
        if (isInteger) {
          mine.first.actualText = integerText(actual.integers[i], prepared->types[output]);
          mine.first.expectedText = integerText(block.integers[i], prepared->types[output]);
        }
      }
    }
    std::lock_guard guard(lock);
    total.merge(mine);
  };
  Status done = forEachBlock(*prepared, pool, visit);
  return done ? Result<Comparison>(total) : Result<Comparison>(done.error());
}

} // namespace nereid::eager
