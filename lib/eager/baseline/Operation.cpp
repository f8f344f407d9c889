// SPDX-License-Identifier: Apache-2.0
// runOperation: checks one call against the operations table, finds shape and type of the result
// by the same rules the graph uses, and hands it to the pointwise, reduction or row code.
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/baseline/BlockPool.h"
#include "lib/eager/baseline/Cast.h"
#include "lib/eager/baseline/Convolution.h"
#include "lib/eager/baseline/Eager.h"
#include "lib/eager/baseline/FormulaLoop.h"
#include "lib/eager/baseline/Matmul.h"
#include "lib/eager/baseline/Pointwise.h"
#include "lib/eager/baseline/Reduction.h"
#include "lib/eager/baseline/indices/Along.h"
#include "lib/eager/baseline/indices/Creation.h"
#include "lib/eager/baseline/indices/Indexing.h"
#include "lib/eager/baseline/indices/Movement.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace nereid::eager {
namespace {

using definition::Argument;
using definition::ArgumentType;
using definition::Node;
using definition::Operation;
using definition::OperationKind;
using runtime::Tensor;

definition::SymbolicShape constantShape(const std::vector<int64_t> &sizes) {
  definition::SymbolicShape shape;
  for (int64_t size : sizes) {
    shape.push_back(definition::Dim{"", size});
  }
  return shape;
}

/// One call as a graph: its inputs, then its node. Shapes are constants.
struct CallGraph {
  Operator op;
  std::vector<Tensor> inputs;
};

Status checkAttribute(const Operation &operation, const std::string &name, const Attribute &value) {
  const bool isMark = operation.kind == definition::OperationKind::Indexing
                          ? name == "empty_is_zero"
                          : operation.name == "permute" && name == "trailing";
  if (isMark && std::holds_alternative<bool>(value)) {
    return Done{};
  }
  auto known =
      std::find_if(operation.arguments.begin(), operation.arguments.end(), [&](const Argument &a) {
        bool isShape = a.type == ArgumentType::TrailingShape;
        return a.type != ArgumentType::Operand && (a.name == name || (isShape && name == "dim"));
      });
  if (known == operation.arguments.end()) {
    return makeError("E0608", fmt::format("'{}' has no attribute '{}'", operation.name, name));
  }
  bool fits = false;
  switch (known->type) {
  case ArgumentType::Bool:
    fits = std::holds_alternative<bool>(value);
    break;
  case ArgumentType::String: {
    const auto *word = std::get_if<std::string>(&value);
    fits = word && (*word == "none" || *word == "tanh" || name == "reduce");
    break;
  }
  case ArgumentType::Integer:
  case ArgumentType::Dimension:
    fits = std::holds_alternative<int64_t>(value);
    break;
  case ArgumentType::Padding:
    fits = !std::holds_alternative<bool>(value) && !std::holds_alternative<double>(value);
    break;
  default:
    fits = std::holds_alternative<int64_t>(value) ||
           std::holds_alternative<std::vector<int64_t>>(value);
  }
  if (!fits) {
    return makeError("E0608", fmt::format("attribute '{}' of '{}' has a value it cannot take", name,
                                          operation.name));
  }
  return Done{};
}

/// Whether an attribute is a list of dimensions, of which one may stand by itself.
bool takesSeveral(const Operation &operation, const std::string &name) {
  return std::any_of(operation.arguments.begin(), operation.arguments.end(), [&](const auto &each) {
    return each.name == name && each.type == ArgumentType::Dims;
  });
}

/// "dim" as an ascending list of negative dimensions; a normalized_shape becomes one.
Status setDims(Node &node, const Attribute &value, bool isTrailingShape,
               const std::vector<int64_t> &sizes) {
  std::vector<int64_t> dims;
  if (const auto *one = std::get_if<int64_t>(&value)) {
    dims = {*one};
  } else {
    dims = std::get<std::vector<int64_t>>(value);
  }
  if (isTrailingShape) {
    bool fits =
        dims.size() <= sizes.size() && std::equal(dims.rbegin(), dims.rend(), sizes.rbegin());
    if (!fits || dims.empty()) {
      return makeError(
          "E0604", fmt::format("the normalised shape of '{}' expects the last sizes of "
                               "{}, but got {}",
                               node.op, definition::sizesText(sizes), definition::sizesText(dims)));
    }
    auto count = static_cast<int64_t>(dims.size());
    for (int64_t i = 0; i < count; ++i) {
      dims[static_cast<size_t>(i)] = i - count;
    }
  }
  auto normalised = definition::normaliseDims(constantShape(sizes), dims);
  if (auto *problem = std::get_if<std::string>(&normalised)) {
    return makeError("E0604", fmt::format("'{}': {}", node.op, *problem));
  }
  if (auto &list = std::get<std::vector<int64_t>>(normalised); !list.empty()) {
    node.attributes["dim"] = list;
  }
  return Done{};
}

/// Left out, or given as it would be then.
bool isDefault(const Argument &argument, const Tensor &given) {
  return argument.hasDefault && given.shape().empty() && isFloat(given.dtype()) &&
         given.at(0) == std::strtod(argument.defaultText.c_str(), nullptr);
}

Result<CallGraph> makeCall(const Operation &operation, std::span<const Tensor> inputs,
                           const std::map<std::string, Attribute> &attributes,
                           const std::vector<bool> &isTensor) {
  CallGraph call;
  call.inputs.assign(inputs.begin(), inputs.end());
  std::vector<const Argument *> operands;
  for (const Argument &argument : operation.arguments) {
    if (argument.type == ArgumentType::Operand) {
      operands.push_back(&argument);
    }
  }
  const bool isIndexing = operation.kind == OperationKind::Indexing;
  if (isIndexing && inputs.size() < operands.size()) {
    return makeError("E0608", fmt::format("'{}' expects {} operands, but got {}", operation.name,
                                          operands.size(), inputs.size()));
  }
  // Several indices are one argument.
  const bool takesMore = isIndexing && operation.name.starts_with("index");
  while (takesMore && inputs.size() > operands.size()) {
    operands.insert(operands.begin() + 1, operands[1]);
  }
  if (inputs.size() > operands.size()) {
    return makeError("E0608", fmt::format("'{}' expects at most {} operands, but got {}",
                                          operation.name, operands.size(), inputs.size()));
  }
  for (size_t i = inputs.size(); i < operands.size(); ++i) {
    if (!operands[i]->hasDefault) {
      return makeError(
          "E0608", fmt::format("'{}' expects the operand '{}'", operation.name, operands[i]->name));
    }
    call.inputs.push_back(numberTensor(std::strtod(operands[i]->defaultText.c_str(), nullptr)));
  }
  Node node;
  node.op = operation.name;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    Node leaf;
    const bool isNumber = call.inputs[i].shape().empty() && !(i < isTensor.size() && isTensor[i]);
    leaf.op = isNumber ? "scalar" : "input";
    leaf.shape = constantShape(call.inputs[i].shape());
    leaf.name = operands[i]->name;
    const bool isBool = call.inputs[i].dtype() == DType::Bool;
    if (isNumber && (isDefault(*operands[i], call.inputs[i]) || isBool)) {
      leaf.attributes["default"] = true; // says nothing about the result's type
    } else if (isNumber && !isFloat(call.inputs[i].dtype())) {
      leaf.attributes["integer"] = int64_t{0};
    }
    definition::Parameter parameter;
    parameter.name = leaf.name;
    parameter.shape = leaf.shape;
    parameter.fixedDtype = call.inputs[i].dtype();
    parameter.isScalar = isNumber;
    call.op.parameters.push_back(std::move(parameter));
    call.op.nodes.push_back(std::move(leaf));
    node.inputs.push_back(static_cast<int>(i));
  }
  bool needsDims = false;
  for (const Argument &argument : operation.arguments) {
    bool isShape = argument.type == ArgumentType::TrailingShape;
    needsDims |= (argument.type == ArgumentType::Dims || isShape) && !argument.hasDefault;
  }
  for (const auto &[name, value] : attributes) {
    if (name == "corner") { // for gradients alone
      continue;
    }
    if (Status fits = checkAttribute(operation, name, value); !fits) {
      return fits.error();
    }
    // Unsqueeze's own dimension, or one that is counted where indices are read.
    const bool isOfResult = operation.kind == OperationKind::View || isIndexing;
    if ((name == "dim" && !isOfResult) || name == "normalized_shape") {
      Status set = setDims(node, value, name == "normalized_shape", call.inputs[0].shape());
      if (!set) {
        return set.error();
      }
    } else {
      node.attributes[name] = value;
    }
  }
  if (needsDims && !node.attributes.count("dim")) {
    return makeError("E0608", fmt::format("'{}' expects the attribute 'dim'", operation.name));
  }
  call.op.name = operation.name;
  call.op.outputs = {static_cast<int>(call.op.nodes.size())};
  call.op.outputNames = {"out"};
  call.op.nodes.push_back(std::move(node));
  return call;
}

/// Of numbers among themselves: a body's constants are int64 and yield to tensors of rank 0.
DType smallestInteger(const std::vector<Tensor> &inputs) {
  DType type = DType::Bool;
  for (const Tensor &input : inputs) {
    bool isBetter = type == DType::Bool || sizeInBytes(input.dtype()) < sizeInBytes(type);
    type = input.dtype() != DType::Bool && isBetter ? input.dtype() : type;
  }
  return type;
}

/// The operator's type, as a graph of this call alone has it. Numbers do not decide it, unless
/// there is nothing else.
DType operatorType(const CallGraph &call) {
  std::optional<DType> preferred;
  bool anyTensor = false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const DType own = call.inputs[i].dtype();
    const bool isTensor = !definition::isNumber(call.op.nodes[i]);
    anyTensor = anyTensor || isTensor;
    if (isTensor && isFloat(own)) {
      preferred = preferred ? definition::promote(*preferred, own) : own;
    }
  }
  if (!anyTensor) {
    // Numbers among themselves: a body's constants are float64 and yield to tensors of rank 0.
    for (const Tensor &input : call.inputs) {
      if (isFloat(input.dtype()) &&
          (!preferred || sizeInBytes(input.dtype()) < sizeInBytes(*preferred))) {
        preferred = input.dtype();
      }
    }
  }
  if (!anyTensor && !preferred) {
    preferred = smallestInteger(call.inputs);
  }
  return preferred.value_or(DType::F32);
}

/// The type in which a call computes, when it is an integer's; nothing for floats and bools.
std::optional<DType> integerType(const CallGraph &call, const Operation &operation, DType type) {
  std::vector<DType> types = definition::nodeDtypes(call.op, type);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    types[i] = call.inputs[i].dtype();
  }
  const Node &node = call.op.nodes.back();
  DType computed = definition::computedDtype(
      operation, definition::typedOperands(node, call.op.nodes, types), type);
  bool isInteger = !isFloat(computed) && computed != DType::Bool;
  return isInteger ? std::optional(computed) : std::nullopt;
}

/// The type of what a call makes. `where` between integers of rank 0, which count as numbers here,
/// has the one's that is no constant of a body.
DType typeOfResult(const CallGraph &call, DType own) {
  const DType type = definition::nodeDtypes(call.op, own).back();
  const Node &node = call.op.nodes.back();
  const bool choosesNumbers =
      node.op == "where" && std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](int i) {
        return definition::isNumber(call.op.nodes[static_cast<size_t>(i)]);
      });
  return choosesNumbers && type == DType::I64 ? smallestInteger(call.inputs) : type;
}

/// float32 when nothing in the call needs more; wider floats and integers go through double.
/// Numbers, and tensors of rank 0 beside others, yield to those.
bool computesInFloat(const CallGraph &call, DType result) {
  auto fits = [](DType type) {
    return type == DType::F32 || type == DType::F16 || type == DType::BF16 || type == DType::Bool ||
           type == DType::U8 || type == DType::I8 || type == DType::I16 || type == DType::U16;
  };
  const auto isOfRankZero = [](const Tensor &t) { return t.shape().empty(); };
  const bool areAllOfRankZero = std::all_of(call.inputs.begin(), call.inputs.end(), isOfRankZero);
  bool allFit = fits(result);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor &input = call.inputs[i];
    const bool yields =
        definition::isNumber(call.op.nodes[i]) || (isOfRankZero(input) && !areAllOfRankZero);
    allFit = allFit && (yields || fits(input.dtype()));
  }
  return allFit;
}

Result<Tensor> allocate(const std::vector<int64_t> &sizes, DType dtype) {
  Tensor out = allocateTensor(sizes, dtype);
  if (!out.isValid() || (out.elementCount() > 0 && !out.data())) {
    return makeError("E0506", fmt::format("no memory for a {} tensor of shape {}", torchName(dtype),
                                          definition::sizesText(sizes)))
        .withHelp("use smaller shapes, or a machine with more memory");
  }
  return out;
}

Result<Tensor> reduceCall(const CallGraph &call, OpId id, DType type,
                          const std::vector<int64_t> &sizes, bool isInteger,
                          runtime::ThreadPool &pool) {
  const Node &node = call.op.nodes.back();
  const Tensor &in = call.inputs[0];
  ReductionPlan plan;
  plan.op = id;
  plan.correction = definition::integerAttribute(node, "correction", 1);
  std::vector<int64_t> dims = definition::dimsOf(node);
  auto rank = static_cast<int64_t>(in.shape().size());
  plan.reduced.assign(in.shape().size(), dims.empty());
  for (int64_t dim : dims) {
    plan.reduced[static_cast<size_t>(rank + dim)] = true;
  }
  Result<Tensor> out = allocate(sizes, type);
  bool isExtremum = id == OpId::amax || id == OpId::amin;
  if (isExtremum && in.elementCount() == 0 && out && out->elementCount() > 0) {
    return makeError("E0604", fmt::format("'{}' of no elements has no value, but got the shape {}",
                                          node.op, definition::sizesText(in.shape())));
  }
  if (out && out->elementCount() > 0 && isInteger) {
    runIntegerReduction(plan, in, *out, pool);
  } else if (out && out->elementCount() > 0) {
    runReduction(plan, in, *out, computesInFloat(call, type), pool);
  }
  return out;
}

/// The result in memory has the line last; its strides say where that belongs.
Result<Tensor> lineLast(const std::vector<int64_t> &sizes, std::optional<size_t> line, DType type) {
  std::vector<int64_t> inMemory = sizes, strides(sizes.size(), 1);
  if (line) {
    std::rotate(inMemory.begin() + static_cast<ptrdiff_t>(*line),
                inMemory.begin() + static_cast<ptrdiff_t>(*line) + 1, inMemory.end());
  }
  Result<Tensor> out = allocate(inMemory, type);
  if (!out || !line) {
    return out;
  }
  std::vector<int64_t> own = out->strides();
  own.insert(own.begin() + static_cast<ptrdiff_t>(*line), own.back());
  own.pop_back();
  auto view = out->view(0, sizes, own);
  return std::get<Tensor>(view);
}

/// Values and positions of a scan, a sorted line or an extremum; `both`: of a pair.
Result<std::pair<Tensor, Tensor>> alongCall(const Node &node, const Tensor &given, DType type,
                                            const std::vector<int64_t> &sizes, bool wantsValues,
                                            bool wantsPositions, runtime::ThreadPool &pool) {
  const bool isFlat = !definition::dimAlong(node);
  const Tensor in = isFlat && !given.isContiguous() ? given.to(given.dtype()) : given;
  const AlongPlan plan = alongPlan(node, in);
  const bool hasLine = sizes.size() == in.shape().size() && !isFlat && !sizes.empty();
  const auto line = hasLine ? std::optional(static_cast<size_t>(static_cast<int64_t>(sizes.size()) +
                                                                *definition::dimAlong(node)))
                            : std::nullopt;
  if (plan.length <
          std::max<int64_t>(
              definition::leastLength(node),
              definition::findOperation(node.op)->kind == OperationKind::Reduction ? 1 : 0) &&
      plan.lines > 0) {
    return makeError("E0604", fmt::format("'{}' of {} elements has no value, but got the shape {}",
                                          node.op, plan.length == 0 ? "no" : "too few",
                                          definition::sizesText(in.shape())));
  }
  Result<Tensor> values = wantsValues ? lineLast(sizes, line, type) : Result<Tensor>(Tensor());
  Result<Tensor> positions =
      wantsPositions ? lineLast(sizes, line, DType::I64) : Result<Tensor>(Tensor());
  if (!values || !positions) {
    return !values ? values.error() : positions.error();
  }
  runAlong(plan, in, wantsValues ? &*values : nullptr, wantsPositions ? &*positions : nullptr,
           pool);
  return std::pair(*values, *positions);
}

bool isWholeRow(const Tensor &tensor, int64_t columns) {
  return tensor.elementCount() == columns && tensor.isContiguous();
}

Result<Tensor> convolutionCall(const CallGraph &call, DType type, const std::vector<int64_t> &sizes,
                               runtime::ThreadPool &pool) {
  const Tensor &input = call.inputs[0], &weight = call.inputs[1];
  auto geometry = definition::convolutionSizes(call.op.nodes.back(), input.shape(), weight.shape());
  if (!geometry) {
    return geometry.error();
  }
  Result<Tensor> out = allocate(sizes, type);
  if (out && !runConvolution(*geometry, input, weight, call.inputs[2], *out,
                             computesInFloat(call, type), pool)) {
    return makeError("E0506", "no memory for the operands of 'conv2d'")
        .withHelp("use smaller shapes, or a machine with more memory");
  }
  return out;
}

/// The same memory with the strides in another order.
Result<Tensor> viewCall(const CallGraph &call, const std::vector<int64_t> &sizes) {
  const Tensor &input = call.inputs[0];
  auto order = definition::viewOrder(call.op.nodes.back(), input.shape().size());
  if (!order) {
    return order.error();
  }
  std::vector<int64_t> strides;
  for (size_t dim : *order) {
    strides.push_back(dim == definition::newDimension ? 1 : input.strides()[dim]);
  }
  auto view = input.view(0, sizes, strides);
  if (auto *problem = std::get_if<std::string>(&view)) {
    return makeError("E0604", fmt::format("'{}': {}", call.op.nodes.back().op, *problem));
  }
  return std::get<Tensor>(view);
}

/// The composites as one pass over rows, when the rows are contiguous; nothing otherwise.
std::optional<Result<Tensor>> rowCall(const CallGraph &call, OpId id, DType type,
                                      runtime::ThreadPool &pool) {
  const Node &node = call.op.nodes.back();
  const Tensor &in = call.inputs[0];
  std::vector<int64_t> dims = definition::dimsOf(node);
  bool isTrailing = !dims.empty() && dims.front() == -static_cast<int64_t>(dims.size());
  bool isKnown = id == OpId::softmax || id == OpId::log_softmax || id == OpId::layer_norm ||
                 id == OpId::rms_norm;
  if (!isKnown || !isTrailing || !in.isContiguous()) {
    return std::nullopt;
  }
  RowPlan plan;
  plan.op = id;
  plan.columns = 1;
  for (size_t i = in.shape().size() - dims.size(); i < in.shape().size(); ++i) {
    plan.columns *= in.shape()[i];
  }
  plan.rows = plan.columns ? in.elementCount() / plan.columns : 0;
  bool isNorm = id == OpId::layer_norm || id == OpId::rms_norm;
  if (isNorm) {
    const Tensor &eps = call.inputs.back();
    bool weightIsOne = call.inputs[1].shape().empty() && call.inputs[1].at(0) == 1;
    bool biasIsZero =
        id == OpId::rms_norm || (call.inputs[2].shape().empty() && call.inputs[2].at(0) == 0);
    if (!eps.shape().empty() || !(weightIsOne || isWholeRow(call.inputs[1], plan.columns)) ||
        !(biasIsZero || isWholeRow(call.inputs[2], plan.columns))) {
      return std::nullopt;
    }
    plan.weight = weightIsOne ? nullptr : &call.inputs[1];
    plan.bias = biasIsZero ? nullptr : &call.inputs[2];
    plan.eps = eps.at(0);
  }
  Result<Tensor> out = allocate(in.shape(), type);
  if (out) {
    runRows(plan, in, *out, computesInFloat(call, type), pool);
  }
  return out;
}

/// Operands that are left out, in the integer's type: of bounds without end, the ends of its range.
std::vector<Tensor> withBounds(const CallGraph &call, DType type) {
  std::vector<Tensor> inputs = call.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool isBound = call.op.nodes[i].attributes.contains("default") && isFloat(inputs[i].dtype());
    if (isBound) {
      const double value = inputs[i].at(0);
      const auto whole = static_cast<uint64_t>(std::isinf(value) ? 0 : static_cast<int64_t>(value));
      const uint64_t end = !std::isinf(value) ? whole
                           : value < 0 ? static_cast<uint64_t>(definition::lowestInteger(type))
                                       : definition::highestInteger(type);
      inputs[i] = Tensor::empty({}, type);
      runtime::storeInteger(inputs[i], 0, end);
    }
  }
  return inputs;
}

} // namespace

Result<Tensor> runOperation(const std::string &op, std::span<const Tensor> inputs,
                            const std::map<std::string, Attribute> &attributes,
                            runtime::ThreadPool &pool, const std::vector<bool> &isTensor) {
  const Operation *operation = definition::findOperation(op);
  if (!operation) {
    auto near = nearestNames(op, definition::operationNames());
    return makeError("E0603", fmt::format("unknown operation '{}'", op))
        .withHelp(near.empty() ? "'nereid ops' lists the operations"
                               : fmt::format("did you mean '{}'?", fmt::join(near, "', '")));
  }
  if (Node moved{operation->name, {}, attributes}; definition::isMovement(moved)) {
    for (auto &[name, value] : moved.attributes) {
      if (const auto *one = std::get_if<int64_t>(&value); one && takesSeveral(*operation, name)) {
        value = std::vector{*one};
      }
    }
    return inputs.empty() ? makeError("E0608", fmt::format("'{}' expects a tensor", op))
                          : runMovement(moved, inputs, pool);
  }
  if (operation->kind == OperationKind::Creation) {
    return runCreation(Node{operation->name, {}, attributes}, inputs, pool);
  }
  std::map<std::string, Attribute> known = attributes;
  if (!inputs.empty() &&
      !definition::withRank(known, static_cast<int64_t>(inputs[0].shape().size()))) {
    return inputs[0]; // no dimension is summed
  }
  Result<CallGraph> call = makeCall(*operation, inputs, known, isTensor);
  if (!call) {
    return call.error();
  }
  Node &node = call->op.nodes.back();
  Result<definition::SymbolicShape> shape = definition::inferShape(node, call->op.nodes);
  if (!shape) {
    return shape.error();
  }
  node.shape = *shape;
  Result<std::vector<int64_t>> sizes = definition::bind(node.shape, {});
  if (!sizes) {
    return sizes.error();
  }
  OpId id = idOf(operation->name);
  const DType own = operatorType(*call);
  const DType type = typeOfResult(*call, own);
  const std::optional<DType> integers = integerType(*call, *operation, own);
  if (definition::isAlong(node)) {
    const bool isPosition = operation->result == definition::ResultType::Position;
    auto both = alongCall(node, call->inputs[0], type, *sizes, !isPosition, isPosition, pool);
    return both ? Result<Tensor>(isPosition ? both->second : both->first)
                : Result<Tensor>(both.error());
  }
  if (operation->result == definition::ResultType::Cast) {
    Result<Tensor> out = allocate(*sizes, type);
    if (out) {
      runCast(call->inputs[0], *out, pool);
    }
    return out;
  }
  if (operation->kind == OperationKind::Reduction) {
    return reduceCall(*call, id, type, *sizes, integers.has_value(), pool);
  }
  if (operation->kind == OperationKind::Contraction) {
    Result<Tensor> out = allocate(*sizes, type);
    bool inFloat = computesInFloat(*call, type);
    if (out && !runMatmul(call->inputs[0], call->inputs[1], *out, inFloat, pool)) {
      return makeError("E0506", fmt::format("no memory for the operands of '{}'", node.op))
          .withHelp("use smaller shapes, or a machine with more memory");
    }
    return out;
  }
  if (operation->kind == OperationKind::Convolution) {
    return convolutionCall(*call, type, *sizes, pool);
  }
  if (operation->kind == OperationKind::View) {
    return viewCall(*call, *sizes);
  }
  if (operation->kind == OperationKind::Indexing) {
    Result<Tensor> out = allocate(*sizes, type);
    Status done = out ? runIndexing(node, call->inputs, *out, pool) : Status(Done{});
    return done ? out : Result<Tensor>(done.error());
  }
  if (operation->kind == OperationKind::Composite) {
    if (auto whole = rowCall(*call, id, type, pool)) {
      return std::move(*whole);
    }
    call->op.dtypes = {type};
    Result<std::vector<Tensor>> outputs =
        runGraph(definition::decomposed(call->op), call->inputs, pool);
    return outputs ? Result<Tensor>((*outputs)[0]) : Result<Tensor>(outputs.error());
  }
  Result<Tensor> out = allocate(*sizes, type);
  if (out && integers) {
    runIntegers(node, withBounds(*call, *integers), *out, *integers, pool);
  } else if (out) {
    runPointwise(node, call->inputs, *out, computesInFloat(*call, type), pool);
  }
  return out;
}

std::optional<Result<std::pair<Tensor, Tensor>>>
runPair(const Node &values, const Node &indices, const Tensor &in, runtime::ThreadPool &pool) {
  const definition::OperationPair *pair = definition::findPairOfIndices(indices.op);
  if (!pair || pair->values != values.op || values.inputs != indices.inputs ||
      values.attributes != indices.attributes) {
    return std::nullopt;
  }
  Node leaf;
  leaf.op = "input";
  leaf.shape = constantShape(in.shape());
  Node node = indices;
  node.inputs = {0};
  auto shape = definition::inferShape(node, {leaf});
  auto sizes = shape ? definition::bind(*shape, {}) : Result<std::vector<int64_t>>(shape.error());
  if (!sizes) {
    return Result<std::pair<Tensor, Tensor>>(sizes.error());
  }
  return alongCall(node, in, in.dtype(), *sizes, true, true, pool);
}

std::string_view kernelInstructionSet() { return kernelTable().instructionSet; }

} // namespace nereid::eager
