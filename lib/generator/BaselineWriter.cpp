// SPDX-License-Identifier: Apache-2.0
// `<op>_baseline.cpp`: the definition's graph one operation after another, as an eager framework
// runs it.
#include "lib/generator/CompanionWriter.h"

#include "lib/definition/operations/Movement.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/generator/SizeText.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

using definition::Node;

class BaselineWriter {
public:
  explicit BaselineWriter(const CalledOperator &called)
      : called(called), op(called.op), sizes(called) {
    taken = {"out", "seed", "main", "number", "release", "joined", "Sizes", "whole"};
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
    text = cppHead(called, "the unfused baseline, operation by operation.");
    text += R"(
#include <nereid/nereid.hpp>

)";
    const bool hasSizes = std::any_of(op.nodes.begin(), op.nodes.end(), definition::isSize);
    text += hasSizes ? "#include <cmath>\n" : "";
    text += R"(#include <cstdio>
#include <exception>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using nereid::joined;
using nereid::Sizes;

/// A number as an operand; it takes the type of the tensors it meets.
[[maybe_unused]] nereid::Tensor number(double value) {
  return nereid::Tensor::scalar(value, nereid::DType::F64);
}

/// A number without a fraction: it leaves integers what they are.
[[maybe_unused]] nereid::Tensor whole(int64_t value) {
  const nereid::Tensor tensor = nereid::Tensor::empty({}, nereid::DType::I64);
  *static_cast<int64_t *>(tensor.data()) = value;
  return tensor;
}

/// Gives memory back after the last use, as a framework does.
[[maybe_unused]] void release(nereid::Tensor &tensor) { tensor = number(0); }

} // namespace

namespace baseline {

)";
    text += packed(fmt::format("{} {}(", cppResult(called), op.name), cppParameters(called, false),
                   ") {\n");
    text += cppSizes(called, sizes, "  ");
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      operation(static_cast<int>(i));
    }
    std::string list;
    for (int output : op.outputs) {
      list += (list.empty() ? "" : ", ") + names[static_cast<size_t>(output)];
    }
    line(op.outputs.size() == 1 ? "return " + list + ";" : "return {" + list + "};");
    text += "}\n\n} // namespace baseline\n";
    mainFunction();
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
      names.push_back(
          fmt::format("{}({})", isWhole ? "whole" : "number", cppSizeNumber(node, sizes)));
      return;
    }
    if (definition::operandKind(node) == definition::OperandKind::Whole) {
      names.push_back(
          node.op == "scalar"
              ? fmt::format("whole(static_cast<int64_t>({}))",
                            op.parameters[static_cast<size_t>(number)].name)
              : fmt::format("whole({})", definition::integerAttribute(node, "integer", 0)));
      return;
    }
    if (node.op == "scalar" || node.op == "constant") {
      names.push_back(fmt::format(
          "number({})", node.op == "scalar" ? op.parameters[static_cast<size_t>(number)].name
                                            : cppNumber(definition::constantValue(node))));
      return;
    }
    std::string inputs;
    for (int input : node.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + names[static_cast<size_t>(input)];
    }
    std::string wanted = node.name.empty() ? "t" : node.name;
    std::string name = freshName(wanted == "out" ? "out_value" : wanted);
    names.push_back(name);
    std::string attributes = attributesText(node);
    std::string call = fmt::format("nereid::Tensor {} = nereid::eager(\"{}\", {{{}}}{});", name,
                                   node.op, inputs, attributes);
    if (call.size() > 98) {
      call = fmt::format("nereid::Tensor {} =\n      nereid::eager(\"{}\", {{{}}}{});", name,
                         node.op, inputs, attributes);
    }
    line(call);
    releaseAfter(number);
  }

  void releaseAfter(int number) {
    const Node &node = op.nodes[static_cast<size_t>(number)];
    std::set<int> done;
    for (int input : node.inputs) {
      bool isLeaf = definition::isLeaf(op.nodes[static_cast<size_t>(input)]);
      bool isOutput = std::find(op.outputs.begin(), op.outputs.end(), input) != op.outputs.end();
      bool isUsedLater = lastUse[static_cast<size_t>(input)] > number;
      if (!isLeaf && !isOutput && !isUsedLater && done.insert(input).second) {
        line(fmt::format("release({});", names[static_cast<size_t>(input)]));
      }
    }
  }

  std::string attributesText(const Node &node) const {
    std::string list;
    for (const auto &[name, value] : node.attributes) {
      std::string shown;
      if (const bool *flag = std::get_if<bool>(&value)) {
        shown = *flag ? "true" : "false";
      } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
        shown = fmt::format("{}", *integer);
      } else if (const double *real = std::get_if<double>(&value)) {
        shown = cppNumber(*real);
      } else if (const std::string *word = std::get_if<std::string>(&value)) {
        shown =
            definition::isMovement(node) && name != "mode" ? sizeTexts(*word) : "\"" + *word + "\"";
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

  std::string smallShape(const definition::SymbolicShape &shape) const {
    std::string list;
    for (const definition::Dim &dim : shape) {
      list += (list.empty() ? "" : ", ") + (dim.isRest()         ? "2, 3"
                                            : dim.symbol.empty() ? std::to_string(dim.constant)
                                                                 : "4");
    }
    return "{" + list + "}";
  }

  void mainFunction() {
    text += "\n#ifndef WITHOUT_MAIN\nint main() {\n  try {\n";
    std::string call;
    int seed = 1;
    DType type = op.dtypes.empty() ? DType::F32 : op.dtypes.front();
    for (const CallParameter &parameter : callParameters(called)) {
      call += call.empty() ? "" : ", ";
      if (parameter.operand < 0) {
        call += cppNumber(parameter.value);
        continue;
      }
      call += parameter.name;
      const Operand &operand = called.operands[static_cast<size_t>(parameter.operand)];
      DType own = operand.fixedDtype.value_or(type);
      text += fmt::format("    const nereid::Tensor {} = nereid::Tensor::empty({}, {});\n",
                          parameter.name, smallShape(operand.shape), cppType(own));
      text += isFloat(own)
                  ? fmt::format("    {}.fillUniform({}, 0.5, 2.0);\n", parameter.name, seed++)
                  : fmt::format("    {}.fillIntegers({}, 0, 2);\n", parameter.name, seed++);
    }
    text += fmt::format("    const auto result = baseline::{}({});\n", op.name, call);
    text += op.outputs.size() == 1 ? "    const nereid::Tensor &first = result;\n"
                                   : "    const nereid::Tensor &first = std::get<0>(result);\n";
    text += fmt::format(R"(    std::printf("{}: %lld elements, the first is %g\n",
                static_cast<long long>(first.elementCount()), first.at(0));
    return 0;
  }} catch (const std::exception &problem) {{
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }}
}}
#endif
)",
                        op.name);
  }

  const CalledOperator &called;
  const definition::Operator &op;
  SizeNames sizes;
  std::set<std::string> taken;
  std::map<std::string, int> suffixes; ///< the last one given to a name
  std::vector<int> lastUse;            ///< of each node, the last one that reads it
  std::vector<std::string> names;
  std::string text;
};

} // namespace

std::string writeBaseline(const Generation &generation) {
  return BaselineWriter(generation.called()).run();
}

} // namespace nereid::generator
