// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/CaseReference.h"

#include "lib/eager/Compare.h"
#include "lib/eager/baseline/Eager.h"
#include "lib/eager/reference/Reference.h"
#include "lib/launch/TensorMaker.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::launch {

using runtime::Tensor;

static std::string shapeList(const Tensor &tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape(), ", "));
}

/// An operator that computes the tensors of `expressions` from all others. Of `dtype`, with those
/// of other types as they are and results converted, as a kernel's stores do; without one it is in
/// float64 and takes floats of all types.
static Result<definition::Operator>
operatorFor(const std::map<std::string, std::string> &expressions, const std::string &caseName,
            const KernelArguments &arguments, std::optional<DType> dtype = {}) {
  std::string inputs, outputs, body;
  bool isMixed = false;
  for (const auto &[name, tensor] : arguments.tensors) {
    bool isOutput = expressions.count(name) > 0;
    std::string &section = isOutput ? outputs : inputs;
    section += fmt::format("[{}.{}]\nshape = {}\n", isOutput ? "outputs" : "inputs", name,
                           shapeList(tensor));
    const bool isOwn = dtype ? tensor.dtype() != dtype : !isOutput && !isFloat(tensor.dtype());
    isMixed = isMixed || (dtype && isOwn);
    if (isOwn) {
      section += fmt::format("dtype = \"{}\"\n", torchName(tensor.dtype()));
    }
  }
  for (const auto &[name, value] : arguments.reals) {
    inputs += fmt::format("[inputs.{}]\nvalue = {}\n", name, value);
  }
  for (const auto &[output, expression] : expressions) {
    const auto found = arguments.tensors.find(output);
    body += isMixed && found != arguments.tensors.end()
                ? fmt::format("{} = ({}).to(torch.{})\n", output, expression,
                              torchName(found->second.dtype()))
                : fmt::format("{} = {}\n", output, expression);
  }
  std::string text =
      fmt::format("[operator]\nname = \"reference\"\nsummary = \"reference of case "
                  "{}\"\ndtypes = [\"{}\"]\nbody = '''\n{}'''\n{}{}[performance]\n"
                  "target_speedup = 1.0\ncases = [{{ name = \"given\" }}]\n",
                  caseName, torchName(dtype.value_or(DType::F64)), body, inputs, outputs);
  Diagnostics diags;
  auto op = definition::parseOperator(caseName, text, diags);
  if (!op) {
    return diags.all().front();
  }
  return *op;
}

Result<definition::Operator> referenceOperator(const KernelCase &testCase,
                                               const KernelArguments &arguments) {
  return operatorFor(testCase.reference, testCase.name, arguments);
}

/// The tensor parameters of the operator, numbers in a type that holds all of theirs.
static std::vector<Tensor> inputsIn(DType dtype, const definition::Operator &op,
                                    const KernelArguments &arguments) {
  std::vector<Tensor> inputs;
  for (const auto &parameter : op.parameters) {
    if (parameter.isScalar) {
      continue;
    }
    const Tensor &input = arguments.tensors.at(parameter.name);
    inputs.push_back(isFloat(input.dtype()) && input.dtype() != dtype ? input.to(dtype) : input);
  }
  return inputs;
}

/// The operator's results in float64.
static Result<std::vector<Tensor>> evaluate(const definition::Operator &op,
                                            const KernelArguments &arguments) {
  return eager::runGraph(op, inputsIn(DType::F64, op, arguments), runtime::defaultPool());
}

/// With the tensors that only expressions read.
static Result<KernelArguments> withGiven(const KernelCase &testCase,
                                         const KernelArguments &arguments) {
  KernelArguments all = arguments;
  for (const std::string &assignment : testCase.given) {
    auto tensor = makeTensor(assignment, DType::I64, arguments.integers);
    if (!tensor) {
      return tensor.error();
    }
    all.tensors.insert_or_assign(assignment.substr(0, assignment.find('=')), *tensor);
  }
  return all;
}

/// With the tensors that only references read: those given, and contents before the launch. An
/// argument of the case that has the name of such contents is what is meant.
static Result<KernelArguments> forReference(const KernelCase &testCase,
                                            const KernelArguments &arguments) {
  auto all = withGiven(testCase, arguments);
  for (const std::string &output : outputNames(testCase)) {
    const std::string name = beforeName(output);
    if (!all || all->tensors.contains(name) || !namesBefore(testCase, output)) {
      continue;
    }
    auto before = arguments.before.find(output);
    if (before == arguments.before.end()) {
      return makeError("E0016", fmt::format("case '{}' refers to '{}', but '{}' holds nothing "
                                            "before the launch",
                                            testCase.name, name, output))
          .withHelp(fmt::format("make '{}' with something else than empty", output));
    }
    all->tensors.insert_or_assign(name, before->second);
  }
  return all;
}

Status computeInputs(const KernelCase &testCase, const KernelArguments &launched) {
  if (testCase.computed.empty()) {
    return Done{};
  }
  auto all = withGiven(testCase, launched);
  if (!all) {
    return all.error();
  }
  KernelArguments &arguments = *all;
  for (const std::string &output : outputNames(testCase)) {
    arguments.tensors.erase(output);
  }
  for (const auto &[name, expression] : testCase.computed) {
    if (!arguments.tensors.count(name)) {
      return makeError("E0016", fmt::format("case '{}' computes '{}', which is no tensor argument",
                                            testCase.name, name));
    }
  }
  auto op = operatorFor(testCase.computed, testCase.name, arguments);
  if (!op) {
    return op.error();
  }
  auto values = evaluate(*op, arguments);
  if (!values) {
    return values.error();
  }
  for (size_t i = 0; i < op->outputNames.size(); ++i) {
    const Tensor &input = arguments.tensors.at(op->outputNames[i]);
    Tensor content = (*values)[i].to(input.dtype());
    std::memcpy(input.data(), content.data(), input.byteCount());
  }
  return Done{};
}

std::optional<DType> boundType(const KernelCase &testCase, const KernelArguments &arguments) {
  std::optional<DType> type;
  for (const auto &[name, formula] : testCase.reference) {
    const auto output = arguments.tensors.find(name);
    const bool isSame = output != arguments.tensors.end() && isFloat(output->second.dtype()) &&
                        type.value_or(output->second.dtype()) == output->second.dtype();
    if (!isSame || testCase.tolerance) {
      return std::nullopt;
    }
    type = output->second.dtype();
  }
  const bool holdsAll =
      type && std::all_of(arguments.tensors.begin(), arguments.tensors.end(), [&](const auto &one) {
        const DType dtype = one.second.dtype();
        return !isFloat(dtype) || dtype == *type || sizeInBytes(dtype) < sizeInBytes(*type);
      });
  return holdsAll ? type : std::nullopt;
}

/// Against a bound for each element, which knows the data and the lengths that are summed.
static Result<eager::Comparison> compareByBounds(const definition::Operator &op,
                                                 const KernelArguments &arguments, DType dtype) {
  std::vector<Tensor> outputs;
  for (const std::string &name : op.outputNames) {
    outputs.push_back(arguments.tensors.at(name));
  }
  return eager::checkOutputs(op, inputsIn(dtype, op, arguments), outputs, dtype,
                             eager::Rounding::OncePerResult, runtime::defaultPool());
}

/// Against one tolerance: the case's own, or the static one where types are mixed.
static Result<eager::Comparison> compareByTolerance(const definition::Operator &op,
                                                    const KernelCase &testCase,
                                                    const KernelArguments &arguments) {
  auto reference = evaluate(op, arguments);
  if (!reference) {
    return reference.error();
  }
  eager::Comparison all;
  for (size_t i = 0; i < op.outputNames.size(); ++i) {
    const Tensor &actual = arguments.tensors.at(op.outputNames[i]);
    const auto tolerance =
        testCase.tolerance ? *testCase.tolerance : definition::toleranceFor(op, {}, actual.dtype());
    auto one = eager::compare(actual, (*reference)[i], tolerance.relative, tolerance.absolute);
    one.first.output = static_cast<int>(i);
    all.merge(one);
  }
  return all;
}

/// The first float among outputs, else among inputs: what a definition would call its type.
static DType formType(const KernelCase &testCase, const KernelArguments &arguments) {
  std::optional<DType> type;
  for (const auto &[name, tensor] : arguments.tensors) {
    const bool isOutput = testCase.reference.contains(name);
    if (isFloat(tensor.dtype()) && (isOutput || !type)) {
      type = tensor.dtype();
      if (isOutput) {
        break;
      }
    }
  }
  return type.value_or(DType::F32);
}

/// Such as workspaces of the case's kernel.
static std::vector<std::string> unreadTensors(const definition::Operator &op) {
  std::set<int> read(op.outputs.begin(), op.outputs.end());
  for (const definition::Node &node : op.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (!op.parameters[i].isScalar && !read.contains(static_cast<int>(i))) {
      names.push_back(op.parameters[i].name);
    }
  }
  return names;
}

Result<FormOperator> formOperator(const KernelCase &testCase, const KernelArguments &launched) {
  auto all = forReference(testCase, launched);
  if (!all) {
    return all.error();
  }
  const DType dtype = formType(testCase, *all);
  auto op = operatorFor(testCase.reference, testCase.name, *all, dtype);
  const std::vector<std::string> unread = op ? unreadTensors(*op) : std::vector<std::string>();
  if (!unread.empty()) {
    for (const std::string &name : unread) {
      all->tensors.erase(name);
    }
    op = operatorFor(testCase.reference, testCase.name, *all, dtype);
  }
  if (!op) {
    return op.error();
  }
  FormOperator form{std::move(*op), dtype, {}, {}};
  for (const auto &parameter : form.op.parameters) {
    if (!parameter.isScalar) {
      form.inputs.push_back(all->tensors.at(parameter.name));
    }
  }
  for (const std::string &name : form.op.outputNames) {
    const Tensor &output = all->tensors.at(name);
    form.outputs.push_back(Tensor::empty(output.shape(), output.dtype()));
    if (!form.outputs.back().isValid()) {
      return makeError("E0506", fmt::format("no memory for {} bytes of a form of case '{}'",
                                            output.byteCount(), testCase.name));
    }
  }
  return form;
}

Result<std::vector<ExpectedOutput>> expectedOutputs(const KernelCase &testCase,
                                                    const KernelArguments &launched) {
  auto arguments = forReference(testCase, launched);
  if (!arguments) {
    return arguments.error();
  }
  auto op = referenceOperator(testCase, *arguments);
  if (!op) {
    return op.error();
  }
  std::vector<ExpectedOutput> expected;
  if (const auto dtype = boundType(testCase, *arguments)) {
    auto reference = eager::runReference(*op, inputsIn(*dtype, *op, *arguments), *dtype,
                                         eager::Rounding::OncePerResult, runtime::defaultPool());
    if (!reference) {
      return reference.error();
    }
    for (size_t i = 0; i < reference->size(); ++i) {
      expected.push_back({op->outputNames[i], (*reference)[i].values, (*reference)[i].bounds});
    }
    return expected;
  }
  auto values = evaluate(*op, *arguments);
  if (!values) {
    return values.error();
  }
  for (size_t i = 0; i < values->size(); ++i) {
    expected.push_back({op->outputNames[i], (*values)[i], Tensor()});
  }
  return expected;
}

Result<eager::Comparison> compareOutputs(const KernelCase &testCase,
                                         const KernelArguments &launched) {
  auto all = forReference(testCase, launched);
  if (!all) {
    return all.error();
  }
  const KernelArguments &arguments = *all;
  auto op = referenceOperator(testCase, arguments);
  if (!op) {
    return op.error();
  }
  const auto dtype = boundType(testCase, arguments);
  return dtype ? compareByBounds(*op, arguments, *dtype)
               : compareByTolerance(*op, testCase, arguments);
}

} // namespace nereid::launch
