// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/KernelCases.h"

#include "lib/eager/Eager.h"
#include "lib/eager/Reference.h"
#include "lib/support/AtomicFile.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace nereid::cli {

using runtime::Tensor;

namespace {

Diagnostic badCase(const std::string &path, const std::string &name, const std::string &what) {
  return makeError("E0016", fmt::format("case '{}' of '{}' {}", name, path, what))
      .withHelp("kernels/README.md has the format of cases.toml");
}

std::map<std::string, std::string> readTexts(toml::node_view<const toml::node> node) {
  std::map<std::string, std::string> texts;
  if (const toml::table *table = node.as_table()) {
    for (const auto &[key, value] : *table) {
      texts[std::string(key.str())] = value.value_or(std::string());
    }
  }
  return texts;
}

Result<KernelCase> readCase(const toml::table &table, const std::string &folder,
                            const std::string &path) {
  KernelCase result;
  result.name = table["name"].value_or(std::string());
  std::string kernel = table["kernel"].value_or(std::string());
  result.kernel = folder + "/" + kernel;
  result.signature = table["signature"].value_or(std::string());
  result.grid = table["grid"].value_or(std::string());
  result.bytes = table["bytes"].value_or(std::string());
  result.flops = table["flops"].value_or(std::string());
  result.unfusedBytes = table["unfused_bytes"].value_or(std::string());
  for (const char *key : {"name", "kernel", "signature", "grid"}) {
    if (table[key].value_or(std::string()).empty()) {
      return badCase(path, result.name, fmt::format("has no text for the key '{}'", key));
    }
  }
  const toml::table *arguments = table["args"].as_table();
  if (arguments == nullptr) {
    return badCase(path, result.name, "has no table 'args'");
  }
  for (const auto &[key, value] : *arguments) {
    std::string text;
    if (auto asText = value.value<std::string>()) {
      text = *asText;
    } else if (auto integer = value.value_exact<int64_t>()) {
      text = std::to_string(*integer);
    } else if (auto real = value.value<double>()) {
      text = fmt::format("{}", *real);
    } else {
      return badCase(path, result.name,
                     fmt::format("expects a text or a number for argument '{}'", key.str()));
    }
    result.arguments.push_back(std::string(key.str()) + "=" + text);
  }
  if (const toml::table *given = table["given"].as_table()) {
    for (const auto &[key, value] : *given) {
      result.given.push_back(
          fmt::format("{}={}", std::string(key.str()), value.value_or(std::string())));
    }
  }
  result.isFinite = table["finite"].value_or(false);
  result.computed = readTexts(table["computed"]);
  result.reference = readTexts(table["reference"]);
  result.peer = readTexts(table["peer"]);
  if (const toml::table *tolerance = table["tolerance"].as_table()) {
    result.tolerance =
        definition::Tolerance{(*tolerance)["rtol"].value_or(0.0),
                              (*tolerance)["atol"].value_or(0.0), "stated by the case"};
  }
  if (const toml::array *use = table["use"].as_array()) {
    auto has = [&](std::string_view word) {
      return std::any_of(use->begin(), use->end(), [&](const toml::node &node) {
        return node.value_or(std::string()) == word;
      });
    };
    result.isTest = has("test");
    result.isBench = has("bench");
  }
  if (result.reference.empty() && (result.isTest || result.peer.empty())) {
    return badCase(path, result.name, "has no table 'reference'");
  }
  return result;
}

std::string shapeList(const Tensor &tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape(), ", "));
}

} // namespace

Result<std::vector<KernelCase>> loadCases(const std::string &folder) {
  std::string path = folder + "/cases.toml";
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  toml::parse_result parsed = toml::parse(*text, path);
  if (!parsed) {
    auto begin = parsed.error().source().begin;
    int line = static_cast<int>(begin.line), column = static_cast<int>(begin.column);
    return makeError("E0016", std::string(parsed.error().description()))
        .at(path, *text, {line, column, column + 1});
  }
  int64_t schema = parsed.table()["schema"].value_or(int64_t{0});
  if (schema != 1) {
    return makeError("E0016", fmt::format("'{}' expects schema = 1, but has {}", path, schema));
  }
  const toml::array *cases = parsed.table()["case"].as_array();
  if (cases == nullptr || cases->empty()) {
    return makeError("E0016", fmt::format("'{}' has no [[case]]", path));
  }
  std::vector<KernelCase> result;
  for (const toml::node &node : *cases) {
    const toml::table *table = node.as_table();
    if (table == nullptr) {
      return makeError("E0016", fmt::format("'{}' expects tables under [[case]]", path));
    }
    auto one = readCase(*table, folder, path);
    if (!one) {
      return one.error();
    }
    result.push_back(std::move(*one));
  }
  return result;
}

std::set<std::string> outputNames(const KernelCase &testCase) {
  std::set<std::string> names;
  for (const auto *table : {&testCase.reference, &testCase.peer}) {
    for (const auto &[name, expression] : *table) {
      names.insert(name);
    }
  }
  return names;
}

/// "name=maker", null where the case has none.
static const std::string *makerOf(const KernelCase &testCase, const std::string &name) {
  auto found = std::find_if(testCase.arguments.begin(), testCase.arguments.end(),
                            [&](const std::string &text) { return text.starts_with(name + "="); });
  return found == testCase.arguments.end() ? nullptr : &*found;
}

bool startsEmpty(const KernelCase &testCase, const std::string &output) {
  const std::string *maker = makerOf(testCase, output);
  return !maker || maker->starts_with(output + "=empty(");
}

static std::string beforeName(const std::string &output) { return output + "_before"; }

bool namesBefore(const KernelCase &testCase, const std::string &output) {
  const std::string name = beforeName(output);
  auto isPartOfName = [](const std::string &text, size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  return std::any_of(testCase.reference.begin(), testCase.reference.end(), [&](const auto &one) {
    const std::string &text = one.second;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if (!isPartOfName(text, at - 1) && !isPartOfName(text, at + name.size())) {
        return true;
      }
    }
    return false;
  });
}

Status resetOutputs(const KernelCase &testCase, KernelArguments &arguments) {
  for (const std::string &name : outputNames(testCase)) {
    auto output = arguments.tensors.find(name);
    if (output == arguments.tensors.end()) {
      return makeError("E0016", fmt::format("case '{}' has a reference for '{}', which is no "
                                            "tensor argument",
                                            testCase.name, name));
    }
    const Tensor &tensor = output->second;
    if (startsEmpty(testCase, name)) {
      tensor.poison();
      continue;
    }
    Tensor &before = arguments.before[name];
    if (!before.isValid()) {
      auto fresh = makeTensor(*makerOf(testCase, name), tensor.dtype());
      if (!fresh) {
        return fresh.error();
      }
      before = *fresh;
    }
    std::memcpy(tensor.data(), before.data(), tensor.byteCount());
  }
  return Done{};
}

/// An operator that computes the tensors of `expressions` from all others.
static Result<definition::Operator>
operatorFor(const std::map<std::string, std::string> &expressions, const std::string &caseName,
            const KernelArguments &arguments) {
  std::string inputs, outputs, body;
  for (const auto &[name, tensor] : arguments.tensors) {
    bool isOutput = expressions.count(name) > 0;
    std::string &section = isOutput ? outputs : inputs;
    section += fmt::format("[{}.{}]\nshape = {}\n", isOutput ? "outputs" : "inputs", name,
                           shapeList(tensor));
    if (!isOutput && !isFloat(tensor.dtype())) {
      section += fmt::format("dtype = \"{}\"\n", torchName(tensor.dtype()));
    }
  }
  for (const auto &[name, value] : arguments.reals) {
    inputs += fmt::format("[inputs.{}]\nvalue = {}\n", name, value);
  }
  for (const auto &[output, expression] : expressions) {
    body += fmt::format("{} = {}\n", output, expression);
  }
  std::string text =
      fmt::format("[operator]\nname = \"reference\"\nsummary = \"reference of case "
                  "{}\"\ndtypes = [\"float64\"]\nbody = '''\n{}'''\n{}{}[performance]\n"
                  "target_speedup = 1.0\ncases = [{{ name = \"given\" }}]\n",
                  caseName, body, inputs, outputs);
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
    auto tensor = makeTensor(assignment, DType::I64);
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
static Result<measure::Comparison> compareByBounds(const definition::Operator &op,
                                                   const KernelArguments &arguments, DType dtype) {
  std::vector<Tensor> outputs;
  for (const std::string &name : op.outputNames) {
    outputs.push_back(arguments.tensors.at(name));
  }
  auto agreement = eager::checkOutputs(op, inputsIn(dtype, op, arguments), outputs, dtype,
                                       eager::Rounding::OncePerResult, runtime::defaultPool());
  if (!agreement) {
    return agreement.error();
  }
  measure::Comparison comparison;
  comparison.elements = agreement->checked;
  comparison.mismatches = agreement->mismatches;
  comparison.unverifiable = agreement->unverifiable;
  comparison.maxAbsoluteError = agreement->worstAbsolute;
  comparison.firstMismatch = agreement->firstIndex;
  comparison.actual = agreement->firstActual;
  comparison.expected = agreement->firstExpected;
  return comparison;
}

/// Against one tolerance: the case's own, or the static one where types are mixed.
static Result<measure::Comparison> compareByTolerance(const definition::Operator &op,
                                                      const KernelCase &testCase,
                                                      const KernelArguments &arguments) {
  auto reference = evaluate(op, arguments);
  if (!reference) {
    return reference.error();
  }
  measure::Comparison all;
  for (size_t i = 0; i < op.outputNames.size(); ++i) {
    const Tensor &actual = arguments.tensors.at(op.outputNames[i]);
    auto tolerance =
        testCase.tolerance ? *testCase.tolerance : definition::toleranceFor(op, {}, actual.dtype());
    auto one = measure::compare(actual, (*reference)[i], tolerance.relative, tolerance.absolute);
    if (i == 0 || !one.passed()) {
      all = one;
    }
  }
  return all;
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

Result<measure::Comparison> compareOutputs(const KernelCase &testCase,
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

} // namespace nereid::cli
