// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/EagerForm.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nereid::develop {

using definition::Node;
using definition::Operator;
using runtime::LaunchError;
using runtime::Tensor;

namespace {

Diagnostic toError(const LaunchError &error) { return makeError(error.code, error.message); }

/// One operation of `whole` as an operator: leaves for what it takes, numbers copied.
class Isolation {
public:
  Isolation(const Operator &whole, const std::vector<DType> &types, DType dtype)
      : whole(whole), types(types), dtype(dtype) {}

  SingleOperation run(int number) {
    const Node &node = at(number);
    single.node = number;
    single.op.name = fmt::format("eager_{}_{}", number, node.op);
    single.op.summary = fmt::format("The operation '{}' alone.", node.op);
    single.op.dtypes = {dtype};
    addParameters(node);
    addConstants(node);
    Node own = node;
    own.name.clear();
    if (definition::isCreation(own)) { // no tensor brings its sizes
      own.shape = definition::createdShape(own);
    }
    for (int &input : own.inputs) {
      input = mapped.at(input);
    }
    single.op.outputs = {static_cast<int>(single.op.nodes.size())};
    single.op.nodes.push_back(std::move(own));
    single.op.outputNames = {"out"};
    single.op.outputDtypes = {fixedType(number)};
    single.op.body = node.source;
    return std::move(single);
  }

private:
  const Node &at(int number) const { return whole.nodes[static_cast<size_t>(number)]; }
  std::optional<DType> fixedType(int number) const {
    const DType type = types[static_cast<size_t>(number)];
    return type == dtype ? std::nullopt : std::optional(type);
  }

  /// They stand first among the nodes.
  void addParameters(const Node &node) {
    for (int input : node.inputs) {
      if (mapped.contains(input) || at(input).op == "constant") {
        continue;
      }
      if (definition::isNumber(at(input))) {
        add(input, whole.parameters[static_cast<size_t>(input)], at(input));
      } else {
        addTensor(input);
      }
    }
  }

  void addConstants(const Node &node) {
    for (int input : node.inputs) {
      if (!mapped.contains(input)) {
        mapped[input] = static_cast<int>(single.op.nodes.size());
        single.op.nodes.push_back(at(input));
      }
    }
  }

  void addTensor(int number) {
    definition::Parameter parameter;
    parameter.name = fmt::format("value_{}", number);
    parameter.shape = at(number).shape;
    parameter.fixedDtype = fixedType(number);
    Node leaf;
    leaf.op = "input";
    leaf.shape = parameter.shape;
    leaf.name = parameter.name;
    add(number, std::move(parameter), std::move(leaf));
    single.tensors.push_back(number);
  }

  void add(int number, definition::Parameter parameter, Node leaf) {
    mapped[number] = static_cast<int>(single.op.nodes.size());
    single.op.parameters.push_back(std::move(parameter));
    single.op.nodes.push_back(std::move(leaf));
  }

  const Operator &whole;
  const std::vector<DType> &types;
  DType dtype;
  SingleOperation single;
  std::map<int, int> mapped; ///< nodes of `whole` to those of the operation
};

} // namespace

std::vector<SingleOperation> singleOperations(const Operator &op, DType dtype) {
  const std::vector<DType> types = definition::nodeDtypes(op, dtype);
  std::vector<SingleOperation> operations;
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    if (!definition::isNumber(op.nodes[i]) && op.nodes[i].op != "input") {
      operations.push_back(Isolation(op, types, dtype).run(static_cast<int>(i)));
    }
  }
  return operations;
}

Result<Tensor> EagerForm::makeValue(int node, const definition::Binding &binding, DType type) {
  auto shape = definition::bind(op.nodes[static_cast<size_t>(node)].shape, binding);
  if (!shape) {
    return shape.error();
  }
  Tensor value = Tensor::empty(*shape, type, device);
  if (!value.isValid()) {
    return toError(device.noMemory(value.byteCount()));
  }
  return value;
}

Status EagerForm::addStep(const SingleOperation &single, const definition::Binding &binding,
                          const KernelSource &source, const Machine &chip) {
  auto step = std::make_unique<Step>();
  auto generation = generator::generate(single.op, chip, nullptr);
  if (!generation) {
    return generation.error();
  }
  step->generation = std::move(*generation);
  for (int tensor : single.tensors) {
    step->inputs.push_back(values[static_cast<size_t>(tensor)]);
  }
  step->outputs = {values[static_cast<size_t>(single.node)]};
  KernelSource own = source;
  own.path = single.op.name + "_triton.py";
  own.text = generator::writeTriton(step->generation);
  own.compiled = nullptr;
  const generator::Schedule schedule = step->generation.scheduleFor(binding, dtype, chip);
  auto launch =
      PreparedLaunch::prepare(own, step->generation, schedule, step->inputs, step->outputs);
  if (!launch) {
    return launch.error();
  }
  step->launch = std::make_unique<PreparedLaunch>(std::move(*launch));
  steps.push_back(std::move(step));
  return Done{};
}

Result<std::shared_ptr<EagerForm>> EagerForm::make(const Operator &op,
                                                   const definition::Binding &binding, DType dtype,
                                                   const CaseTensors &tensors,
                                                   const KernelSource &source, const Machine &chip,
                                                   runtime::Device &device) {
  std::shared_ptr<EagerForm> form(new EagerForm(op, dtype, tensors, device));
  const std::vector<DType> types = definition::nodeDtypes(op, dtype);
  form->values.resize(op.nodes.size());
  size_t next = 0;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (op.parameters[i].isScalar) {
      continue;
    }
    auto there = tensors.inputs[next++].likeThisOn(device);
    if (const auto *error = std::get_if<LaunchError>(&there)) {
      return toError(*error);
    }
    form->values[i] = std::get<Tensor>(std::move(there));
  }
  auto withNumbers = definition::withSizes(op, binding);
  if (!withNumbers) {
    return withNumbers.error();
  }
  for (const SingleOperation &single : singleOperations(*withNumbers, dtype)) {
    const auto node = static_cast<size_t>(single.node);
    auto value = form->makeValue(single.node, binding, types[node]);
    if (!value) {
      return value.error();
    }
    form->values[node] = std::move(*value);
    if (Status added = form->addStep(single, binding, source, chip); !added) {
      return added.error();
    }
  }
  return form;
}

LaunchError EagerForm::queue(runtime::Stream &stream) const {
  LaunchError error;
  for (const auto &step : steps) {
    for (const bench::Launch &launch : step->launch->launches()) {
      error = error ? error : runtime::launch(*launch.kernel, launch.grid, launch.values, stream);
    }
  }
  return error;
}

LaunchError EagerForm::send() const {
  LaunchError error;
  size_t next = 0;
  for (size_t i = 0; i < op.parameters.size() && !error; ++i) {
    error = op.parameters[i].isScalar ? LaunchError() : values[i].copyFrom(host.inputs[next++]);
  }
  for (int output : op.outputs) {
    error = error ? error : values[static_cast<size_t>(output)].poison();
  }
  return error;
}

std::string EagerForm::verify() const {
  std::vector<Tensor> outputs;
  for (int output : op.outputs) {
    auto here = values[static_cast<size_t>(output)].onHost();
    if (const auto *error = std::get_if<LaunchError>(&here)) {
      return error->message;
    }
    outputs.push_back(std::get<Tensor>(std::move(here)));
  }
  auto comparison = eager::checkOutputs(op, host.inputs, outputs, dtype,
                                        eager::Rounding::EachOperation, runtime::defaultPool());
  if (!comparison) {
    return comparison.error().message;
  }
  return comparison->passed() ? "" : "wrong result: " + comparison->text();
}

} // namespace nereid::develop
