// SPDX-License-Identifier: Apache-2.0
// Chapter 1: what is asked for. Everything in it stands in the definition, or follows from it.
#include "lib/definition/constraints/Declared.h"
#include "lib/document/Chapters.h"
#include "lib/document/OperatorClass.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nereid::document {
namespace {

using definition::Operator;
using definition::Parameter;

std::string typesText(const Operator &op) {
  std::string list;
  for (DType dtype : op.dtypes) {
    list += (list.empty() ? "" : ", ") + std::string(torchName(dtype));
  }
  return list;
}

std::string requirement(const Operator &op) {
  std::string out = "### 1.1 Requirement\n\n";
  if (op.requirement.empty()) {
    return out + "The definition quotes no requirement; its summary stands above.\n\n";
  }
  std::istringstream lines(op.requirement);
  for (std::string line; std::getline(lines, line);) {
    out += line.empty() ? ">\n" : "> " + line + "\n";
  }
  return out + "\n";
}

std::string basics(const DocumentInput &input) {
  const Operator &op = input.op;
  report::Table table({"property", "value", "from"});
  table.add({"name", code(op.name), "`operator.name`"});
  table.add({"device", cell(input.chip.name.empty() ? "not said" : input.chip.name),
             input.chip.isDevice ? "the target" : "the chip's descriptor"});
  table.add({"class", operatorClass(op), "the graph"});
  table.add({"function", cell(op.summary), "`operator.summary`"});
  table.add({"computation", cell(operationsText(op)), "`operator.body`"});
  table.add({"types", typesText(op), "`operator.dtypes`"});
  table.add({"inputs, outputs", fmt::format("{}, {}", op.parameters.size(), op.outputs.size()),
             "`[inputs]`, `[outputs]`"});
  return "### 1.2 Basics\n\n" + table.markdown() + "\n";
}

std::string signature(const Operator &op) {
  std::string text = op.name + "(";
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    text += (i ? ", " : "") + parameter.name +
            (parameter.isScalar ? fmt::format("={}", parameter.value) : "");
  }
  std::string results;
  for (const std::string &name : op.outputNames) {
    results += (results.empty() ? "" : ", ") + name;
  }
  return text + ") -> " + results;
}

bool mentions(const definition::ConstraintTerm &term, const Operator &op, size_t parameter) {
  using Kind = definition::ConstraintTerm::Kind;
  if (term.kind == Kind::Symbol) {
    const auto &shape = op.parameters[parameter].shape;
    return std::any_of(shape.begin(), shape.end(),
                       [&](const definition::Dim &dim) { return dim.symbol == term.name; });
  }
  return term.parameter == static_cast<int>(parameter) ||
         std::any_of(term.operands.begin(), term.operands.end(),
                     [&](const auto &operand) { return mentions(operand, op, parameter); });
}

std::string inputs(const Operator &op) {
  const SizeNames names(op);
  const std::vector<std::string> builtIn = definition::declaredChecks(op);
  report::Table table({"input", "shape", "type", "elements", "meaning", "constraints"});
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    std::string own;
    if (parameter.range) {
      own = "values in " +
            code(fmt::format("[{}, {})", parameter.range->low, parameter.range->high)) +
            (parameter.range->distinct == 0
                 ? ""
                 : fmt::format(", none twice along dimension {}", parameter.range->distinct));
    }
    for (const definition::Constraint &constraint : op.constraints) {
      const bool isAbout = mentions(constraint.left, op, i) || mentions(constraint.right, op, i);
      if (isAbout && !definition::isDeclared(constraint, op)) {
        own += (own.empty() ? "" : ", ") + code(constraint.text);
      }
    }
    const std::string type =
        parameter.fixedDtype ? std::string(torchName(*parameter.fixedDtype)) : "the operator's";
    table.add({code(parameter.name),
               parameter.isScalar ? "number" : code(definition::text(parameter.shape)),
               parameter.isScalar ? fmt::format("number, default {}", parameter.value) : type,
               parameter.isScalar ? "-" : SizeSum().add(1, parameter.shape).text(names),
               cell(parameter.description), own});
  }
  std::string out =
      "### 1.3 Inputs\n\n```python\n" + signature(op) + "\n```\n\n" + table.markdown() + "\n";
  if (names.hasRest()) {
    out += fmt::format("`...` stands for any number of leading dimensions, none included, and {} "
                       "for their product.\n\n",
                       names.rest());
  }
  out += "Each call is checked for the following, by the Python wrapper, the C++ launcher and the "
         "baseline alike, and the cases of the tests keep it:\n\n";
  for (const std::string &check : builtIn) {
    out += "- " + code(check) + "\n";
  }
  for (const definition::Constraint &constraint : op.constraints) {
    if (definition::isDeclared(constraint, op)) {
      continue;
    }
    out += "- " + code(constraint.text) +
           (constraint.isAboutValues() ? ", which only the data of tests keeps\n"
                                       : ", a constraint of the definition\n");
  }
  return out + "- operands broadcast as PyTorch's do; inputs may have any strides\n\n";
}

/// "the shape of `x`": the first input of the same shape.
std::string sameShape(const Operator &op, const definition::SymbolicShape &shape) {
  for (const Parameter &parameter : op.parameters) {
    if (!parameter.isScalar && parameter.shape == shape) {
      return "the shape of `" + parameter.name + "`";
    }
  }
  return "a shape of its own";
}

std::string outputs(const Operator &op) {
  const SizeNames names(op);
  report::Table table({"output", "shape", "type", "elements", "meaning", "properties"});
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const auto &shape = op.nodes[static_cast<size_t>(op.outputs[i])].shape;
    const std::optional<DType> dtype = op.outputDtypes[i];
    const std::string meaning =
        i < op.outputDescriptions.size() ? op.outputDescriptions[i] : std::string();
    const int input = definition::memoryOf(op, i);
    const std::string memory =
        input < 0
            ? sameShape(op, shape) + ", contiguous, in memory of its own"
            : "written into `" + op.parameters[static_cast<size_t>(input)].name + "`, which it is";
    table.add({code(op.outputNames[i]), code(definition::text(shape)),
               dtype ? std::string(torchName(*dtype)) : "the operator's",
               SizeSum().add(1, shape).text(names), cell(meaning), memory});
  }
  return "### 1.4 Outputs\n\n" + table.markdown() + "\n";
}

std::string rounds(const Operator &op) {
  return fmt::format(
      "### 1.5 Rounds\n\nTarget: {:.2f} times as fast as the unfused baseline, in at "
      "most {} optimisation round{} of all runs together.\n\n",
      op.targetSpeedup, op.maxRounds, op.maxRounds == 1 ? "" : "s");
}

std::string scenes(const Operator &op) {
  std::string out = "### 1.6 Scenes\n\n";
  if (op.scenes.empty()) {
    return out + "The definition has no `[[scene]]`.\n\n";
  }
  for (size_t i = 0; i < op.scenes.size(); ++i) {
    const definition::Scene &scene = op.scenes[i];
    out += fmt::format("**{}. {}**", i + 1, scene.name);
    out += scene.description.empty() ? "\n\n" : ": " + scene.description + "\n\n";
    out += "```python\n" + scene.code + "\n```\n\n";
  }
  return out;
}

} // namespace

std::string operatorChapter(const DocumentInput &input) {
  return "## 1 Operator\n\n" + requirement(input.op) + basics(input) + inputs(input.op) +
         outputs(input.op) + rounds(input.op) + scenes(input.op);
}

} // namespace nereid::document
