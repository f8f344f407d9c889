// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/cpp/EagerCalls.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/generator/CompanionWriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

using definition::Node;

class CallWriter {
public:
  CallWriter(const CalledOperator &called, const SizeNames &sizes) : op(called.op), sizes(sizes) {
    taken = {"out", "seed", "main", "joined", "Sizes"};
    for (const SizeNames::Step &step : sizes.steps) {
      taken.insert(step.variable);
    }
    for (const definition::Parameter &parameter : op.parameters) {
      taken.insert(parameter.name);
    }
    lastUse.assign(op.nodes.size(), -1);
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      for (int input : op.nodes[i].inputs) {
        lastUse[static_cast<size_t>(input)] = static_cast<int>(i);
      }
    }
  }

  std::string run() {
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      operation(static_cast<int>(i));
    }
    std::string list;
    for (int output : op.outputs) {
      list += (list.empty() ? "" : ", ") + names[static_cast<size_t>(output)];
    }
    line(op.outputs.size() == 1 ? "return " + list + ";" : "return {" + list + "};");
    return text;
  }

private:
  void line(const std::string &content) { text += "  " + content + "\n"; }

  std::string freshName(const std::string &wanted) {
    std::string name = wanted;
    for (int &i = suffixes[wanted]; taken.contains(name);) {
      name = fmt::format("{}_{}", wanted, ++i);
    }
    taken.insert(name);
    return name;
  }

  void operation(int number) {
    const Node &node = op.nodes[static_cast<size_t>(number)];
    if (node.op == "input") {
      names.push_back(node.name.empty() ? op.parameters[static_cast<size_t>(number)].name
                                        : node.name);
      return;
    }
    if (definition::isSize(node)) {
      const bool isWhole = node.attributes.contains("integer");
      names.push_back(fmt::format("nereid::{}({})", isWhole ? "wholeNumber" : "number",
                                  cppSizeNumber(node, sizes)));
      return;
    }
    if (definition::operandKind(node) == definition::OperandKind::Whole) {
      names.push_back(node.op == "scalar"
                          ? fmt::format("nereid::wholeNumber(static_cast<int64_t>({}))",
                                        op.parameters[static_cast<size_t>(number)].name)
                          : fmt::format("nereid::wholeNumber({})",
                                        definition::integerAttribute(node, "integer", 0)));
      return;
    }
    if (node.op == "scalar" || node.op == "constant") {
      names.push_back(
          fmt::format("nereid::number({})", node.op == "scalar"
                                                ? op.parameters[static_cast<size_t>(number)].name
                                                : cppNumber(definition::constantValue(node))));
      return;
    }
    std::string inputs;
    for (int input : node.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + names[static_cast<size_t>(input)];
    }
    if (const std::string lead = leadName();
        definition::isCreation(node) && isOfCall(node) && !lead.empty()) {
      inputs += (inputs.empty() ? "" : ", ") + lead;
    }
    std::string wanted = node.name.empty() ? "t" : node.name;
    std::string name = freshName(wanted == "out" ? "out_value" : wanted);
    names.push_back(name);
    std::string attributes = attributesText(node);
    const std::string operation = node.op == "to_own" ? castToOwn() : "\"" + node.op + "\"";
    std::string call = fmt::format("nereid::Tensor {} = nereid::eager({}, {{{}}}{});", name,
                                   operation, inputs, attributes);
    if (call.size() > 98) {
      call = fmt::format("nereid::Tensor {} =\n      nereid::eager({}, {{{}}}{});", name, operation,
                         inputs, attributes);
    }
    line(call);
    releaseAfter(number);
  }

  /// Its type is known when the operator is called.
  static bool isOfCall(const Node &node) {
    const std::string type = definition::stringAttribute(node, "dtype", "");
    return type == "operator" || type == "default";
  }
  std::string leadName() const {
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      if (!op.parameters[i].isScalar && !op.parameters[i].fixedDtype) {
        return names[i];
      }
    }
    return "";
  }

  /// The conversion to the type of the first input that has the operator's.
  std::string castToOwn() const {
    const std::string lead = leadName();
    return lead.empty() ? fmt::format("\"to_{}\"", torchName(op.dtypes.front()))
                        : fmt::format("std::string(\"to_\") + nereid::name({}.dtype())", lead);
  }

  void releaseAfter(int number) {
    const Node &node = op.nodes[static_cast<size_t>(number)];
    std::set<int> done;
    for (int input : node.inputs) {
      bool isLeaf = definition::isLeaf(op.nodes[static_cast<size_t>(input)]);
      bool isOutput = std::find(op.outputs.begin(), op.outputs.end(), input) != op.outputs.end();
      bool isUsedLater = lastUse[static_cast<size_t>(input)] > number;
      if (!isLeaf && !isOutput && !isUsedLater && done.insert(input).second) {
        line(fmt::format("nereid::release({});", names[static_cast<size_t>(input)]));
      }
    }
  }

  std::string attributesText(const Node &node) const {
    std::string list;
    for (const auto &[name, value] : node.attributes) {
      if (name == "corner") { // for gradients alone
        continue;
      }
      std::string shown;
      if (const bool *flag = std::get_if<bool>(&value)) {
        shown = *flag ? "true" : "false";
      } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
        shown = fmt::format("{}", *integer);
      } else if (const double *real = std::get_if<double>(&value)) {
        shown = cppNumber(*real);
      } else if (const std::string *word = std::get_if<std::string>(&value)) {
        const bool isShape = definition::isCreation(node) && name == "shape";
        shown = isShape                                          ? createdSizes(node)
                : definition::isMovement(node) && name != "mode" ? sizeTexts(*word)
                                                                 : "\"" + *word + "\"";
      } else {
        const auto &numbers = std::get<std::vector<int64_t>>(value);
        for (int64_t number : numbers) {
          shown += fmt::format("{}{}", shown.empty() ? "" : ", ", number);
        }
        shown = numbers.size() == 1 ? shown : "std::vector<int64_t>{" + shown + "}";
      }
      list += fmt::format("{}{{\"{}\", {}}}", list.empty() ? "" : ", ", name, shown);
    }
    return list.empty() ? "" : ", {" + list + "}";
  }

  /// Behind leading sizes, where there are any.
  std::string createdSizes(const Node &node) const {
    std::string list, rest;
    for (const definition::Dim &dim : definition::createdShape(node)) {
      if (dim.isRest()) {
        rest = sizes.variable(dim);
        continue;
      }
      const definition::SizePolynomial size = definition::SizePolynomial::of(dim);
      list += (list.empty() ? "" : ", ") +
              fmt::format("static_cast<int64_t>({})",
                          cppSizeNumber(definition::sizeNode(size.text(), true), sizes));
    }
    const std::string named = "std::vector<int64_t>{" + list + "}";
    return rest.empty() ? named : fmt::format("joined({}, {})", rest, named);
  }

  /// Sizes of a movement: one, or those of a shape.
  std::string sizeTexts(const std::string &text) const {
    std::string list;
    for (const definition::SizePolynomial &size : definition::sizeList(text)) {
      list += (list.empty() ? "" : ", ") +
              fmt::format("static_cast<int64_t>({})",
                          cppSizeNumber(definition::sizeNode(size.text(), true), sizes));
    }
    return text.find(',') == std::string::npos ? list : "std::vector<int64_t>{" + list + "}";
  }

  const definition::Operator &op;
  const SizeNames &sizes;
  std::set<std::string> taken;
  std::map<std::string, int> suffixes; ///< the last one given to a name
  std::vector<int> lastUse;            ///< of each node, the last one that reads it
  std::vector<std::string> names;
  std::string text;
};

} // namespace

std::string eagerCalls(const CalledOperator &called, const SizeNames &sizes) {
  return CallWriter(called, sizes).run();
}

} // namespace nereid::generator
