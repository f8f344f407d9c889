// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/CaseText.h"

#include "lib/definition/cases/ComputedData.h"
#include "lib/definition/operations/Operations.h"
#include "lib/generator/EagerText.h"
#include "lib/generator/TestProgram.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

std::string quotedName(const std::string &name) {
  std::string text = "\"";
  for (char one : name) {
    text += one == '"' || one == '\\' ? std::string("\\") + one : std::string(1, one);
  }
  return text + "\"";
}

/// Only operations that compute each element from those at its place, or with all others of a
/// dimension, are known to keep rows apart.
bool mayMix(const definition::Operation *operation) {
  using Kind = definition::OperationKind;
  return operation && operation->kind != Kind::Pointwise && operation->kind != Kind::Reduction;
}

/// The dimension that all results begin with, when rows along it never meet: nothing reduces it and
/// it stands nowhere but in front.
std::optional<definition::Dim> outerDimension(const CalledOperator &called) {
  std::optional<definition::Dim> outer;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      const bool isSame = !operand.shape.empty() && !operand.shape[0].symbol.empty() &&
                          (!outer || *outer == operand.shape[0]);
      if (!isSame) {
        return std::nullopt;
      }
      outer = operand.shape[0];
    }
  }
  for (const Operand &operand : called.operands) {
    for (size_t i = 1; outer && i < operand.shape.size(); ++i) {
      outer = operand.shape[i] == *outer ? std::nullopt : outer;
    }
  }
  const definition::Operator opened = definition::decomposed(called.op);
  for (const definition::Node &node : opened.nodes) {
    const definition::Operation *operation = definition::findOperation(node.op);
    if (mayMix(operation)) {
      return std::nullopt;
    }
    if (!operation || operation->kind != definition::OperationKind::Reduction) {
      continue;
    }
    const definition::SymbolicShape &shape =
        opened.nodes[static_cast<size_t>(node.inputs[0])].shape;
    const std::vector<int64_t> dims = definition::dimsOf(node);
    const bool isOfAll = dims.empty();
    for (size_t i = 0; outer && i < shape.size(); ++i) {
      const int64_t dim = static_cast<int64_t>(i) - static_cast<int64_t>(shape.size());
      const bool isReduced = isOfAll || std::find(dims.begin(), dims.end(), dim) != dims.end();
      outer = isReduced && shape[i] == *outer ? std::nullopt : outer;
    }
  }
  return outer;
}

/// Whether some quotient or rest divides by the operand itself.
bool divides(const Generation &generation, const Operand &operand) {
  const std::vector<PrimitiveOperation> nodes = generation.primitives();
  return std::any_of(nodes.begin(), nodes.end(), [&](const PrimitiveOperation &node) {
    const bool isQuotient = node.op == "fmod" || node.op == "floor_divide" || node.op == "div";
    return isQuotient && nodes[static_cast<size_t>(node.inputs[1])].parameter == operand.index;
  });
}

std::vector<std::string> namesOf(const definition::Operator &op) {
  std::vector<std::string> names;
  for (const definition::Parameter &parameter : op.parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

/// What the test data of an input are, by PyTorch.
std::string dataFunction(const definition::Operator &data) {
  const CalledOperator called = calledOperator(data);
  std::string text =
      eagerHelpers(called) + fmt::format("def _{}({}):\n    \"\"\"{}\"\"\"\n", data.name,
                                         fmt::join(namesOf(data), ", "), data.summary);
  for (const std::string &line : eagerBody(called)) {
    text += "    " + line + "\n";
  }
  return text + fmt::format("    return {}\n\n\n", fmt::join(eagerResults(called), ", "));
}

} // namespace

std::string tupleText(const std::vector<std::string> &items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

std::string caseRow(const definition::Case &one, const SizeNames &names,
                    const std::string &behind) {
  std::vector<std::string> sizes;
  for (const std::string &size : names.given) {
    sizes.push_back(fmt::format("{}={}", size, one.binding.symbols.at(size)));
  }
  for (const SizeNames::Step &step : names.steps) {
    std::string value = "0";
    if (step.isRest) {
      std::vector<std::string> rest;
      for (int64_t size : one.binding.rest) {
        rest.push_back(std::to_string(size));
      }
      value = tupleText(rest);
    }
    for (const auto &[symbol, size] : one.binding.symbols) {
      definition::Dim dim;
      dim.symbol = symbol;
      if (!step.isRest && names.variable(dim) == step.variable) {
        value = std::to_string(size);
      }
    }
    sizes.push_back(step.variable + "=" + value);
  }
  return fmt::format("    ({}, dict({}){}),\n", quotedName(one.name), fmt::join(sizes, ", "),
                     behind);
}

std::string inputFunction(const Generation &generation, const SizeNames &names,
                          const std::string &widest) {
  const CalledOperator &called = generation.called();
  std::string sizes, list, functions;
  std::set<std::string> read; // by data of others
  for (size_t i = 0; i < called.op.parameters.size(); ++i) {
    if (const auto data = definition::dataOperator(called.op, i)) {
      const std::vector<std::string> names = namesOf(*data);
      read.insert(names.begin(), names.end());
    }
  }
  for (const std::string &size : names.given) {
    sizes += ", " + size;
  }
  for (const SizeNames::Step &step : names.steps) {
    sizes += ", " + step.variable;
  }
  for (const CallParameter &parameter : callParameters(called)) {
    if (parameter.operand < 0) {
      list +=
          fmt::format("        {},\n", parameter.isSize ? parameter.name
                                       : parameter.isInteger
                                           ? std::to_string(static_cast<int64_t>(parameter.value))
                                           : pythonNumber(parameter.value));
      continue;
    }
    const Operand &operand = called.operands[static_cast<size_t>(parameter.operand)];
    const std::string name = read.contains(operand.name) ? operand.name + " := " : "";
    if (const auto data = definition::dataOperator(called.op, static_cast<size_t>(operand.index))) {
      functions += dataFunction(*data);
      list +=
          fmt::format("        {}_{}({}),\n", name, data->name, fmt::join(namesOf(*data), ", "));
      continue;
    }
    const bool isWhole =
        definition::mustBeContiguous(called.op, static_cast<size_t>(operand.index));
    const std::string type = operand.fixedDtype ? torchType(*operand.fixedDtype) : "_dtype";
    if (const definition::IndexRange *range = rangeOf(generation, operand)) {
      list += fmt::format("        {}_data.indices({}, {}, {}, {}{}{}),\n", name,
                          shapeTuple(operand.shape, names), type, endText(range->low, names, ""),
                          endText(range->high, names, ""),
                          range->distinct == 0 ? "" : fmt::format(", distinct={}", range->distinct),
                          isWhole ? ", is_whole=True" : "");
      continue;
    }
    const auto call = [&](const Filling &filling) {
      const std::string first = shapeTuple(operand.shape, names) + ", " + type;
      std::string last = operand.name == widest && !filling.isConstraint ? ", is_widest=True" : "";
      last += isWhole ? ", is_whole=True" : "";
      switch (filling.kind) {
      case Filling::Kind::Uniform:
        return fmt::format("_data.uniform({}, {}, {}{})", first, pythonNumber(filling.low),
                           pythonNumber(filling.high), last);
      case Filling::Kind::Integers:
        return fmt::format("_data.integers({}, {:.0f}, {:.0f}{}{})", first, filling.low,
                           filling.high, divides(generation, operand) ? ", is_divisor=True" : "",
                           isWhole ? ", is_whole=True" : "");
      case Filling::Kind::Normal:
        break;
      }
      return fmt::format("_data.normal({}{})", first, last);
    };
    const bool ofFloats = mayBeFloat(generation, operand);
    const std::string own = call(fillingOf(generation, operand, ofFloats));
    list += hasFloatsAndOthers(generation, operand)
                ? fmt::format("        {}{}\n        if {}.is_floating_point\n        else {},\n",
                              name, own, type, call(fillingOf(generation, operand, false)))
                : fmt::format("        {}{},\n", name, own);
  }
  return fmt::format("{}def make_inputs(_data, _dtype{}):\n    \"\"\"What a call takes, in its "
                     "order.\"\"\"\n    return (\n{}    )\n\n\n",
                     functions, sizes, list);
}

std::string cutTables(const Generation &generation) {
  const CalledOperator &called = generation.called();
  const std::optional<definition::Dim> outer = outerDimension(called);
  auto behind = [&](const definition::SymbolicShape &shape) -> std::string {
    const bool isCut = outer && !shape.empty() && shape[0] == *outer;
    return isCut ? std::to_string(shape.size() - 1) : "None";
  };
  std::vector<std::string> inputs, results;
  for (const CallParameter &parameter : callParameters(called)) {
    inputs.push_back(parameter.operand < 0
                         ? "None"
                         : behind(called.operands[static_cast<size_t>(parameter.operand)].shape));
  }
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      results.push_back(behind(operand.shape));
    }
  }
  return fmt::format(
      "# A large case is judged in parts: so many dimensions follow the leading ones "
      "that are cut.\nCUT_INPUTS = {}\nCUT_RESULTS = {}\n"
      "ELEMENTS_AT_A_TIME = 1 << 22\n",
      tupleText(inputs), tupleText(results));
}

} // namespace nereid::generator
