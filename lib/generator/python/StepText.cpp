// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/StepText.h"

#include "lib/definition/operations/Operations.h"
#include "lib/generator/python/Steps.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace nereid::generator {
namespace {

struct StepForm {
  const char *function; ///< PyTorch's, of float64
  /// What upstream's compiler rounds at least, where it takes an instruction that approximates:
  /// div.full is good to 2 ulp, sqrt.approx to 1.
  double leastRoundings = 0;
  /// Roundings of the operand: ex2.approx gets the product with log2(e).
  double ofArgument = 0;
};

const std::map<std::string, StepForm> &stepForms() {
  static const std::map<std::string, StepForm> forms = {
      {"add", {"torch.add"}},
      {"sub", {"torch.sub"}},
      {"mul", {"torch.mul"}},
      {"div", {"torch.div", 4}},
      {"neg", {"torch.neg"}},
      {"abs", {"torch.abs"}},
      {"sign", {"torch.sign"}},
      {"floor", {"torch.floor"}},
      {"ceil", {"torch.ceil"}},
      {"round", {"torch.round"}},
      {"trunc", {"torch.trunc"}},
      {"sqrt", {"torch.sqrt", 3}},
      {"rsqrt", {"torch.rsqrt", 5}},
      {"exp", {"torch.exp", 0, 2}},
      {"exp2", {"torch.exp2"}},
      {"expm1", {"torch.expm1"}},
      {"log", {"torch.log"}},
      {"log2", {"torch.log2"}},
      {"log10", {"torch.log10"}},
      {"log1p", {"torch.log1p"}},
      {"sin", {"torch.sin"}},
      {"cos", {"torch.cos"}},
      {"tan", {"torch.tan"}},
      {"asin", {"torch.asin"}},
      {"acos", {"torch.acos"}},
      {"atan", {"torch.atan"}},
      {"sinh", {"torch.sinh"}},
      {"cosh", {"torch.cosh"}},
      {"tanh", {"torch.tanh"}},
      {"asinh", {"torch.asinh"}},
      {"acosh", {"torch.acosh"}},
      {"atanh", {"torch.atanh"}},
      {"erf", {"torch.erf"}},
      {"erfc", {"torch.erfc"}},
      {"erfinv", {"torch.erfinv"}},
      {"lgamma", {"torch.lgamma", 0, 2}}, // near its zeros good to an absolute error alone
      {"i0", {"lambda x: torch.special.i0e(x) * torch.exp(x.abs() / 2) * torch.exp(x.abs() / 2)"}},
      {"sigmoid", {"torch.sigmoid", 12, 2}},
      {"pow", {"torch.pow"}},
      {"fmod", {"torch.fmod"}},
      {"floor_divide", {"torch.floor_divide"}},
      {"atan2", {"torch.atan2"}},
      {"hypot", {"torch.hypot"}},
      {"copysign", {"torch.copysign"}},
      {"maximum", {"torch.maximum"}},
      {"minimum", {"torch.minimum"}},
      {"eq", {"torch.eq"}},
      {"ne", {"torch.ne"}},
      {"lt", {"torch.lt"}},
      {"le", {"torch.le"}},
      {"gt", {"torch.gt"}},
      {"ge", {"torch.ge"}},
      {"logical_and", {"torch.logical_and"}},
      {"logical_or", {"torch.logical_or"}},
      {"logical_xor", {"torch.logical_xor"}},
      {"logical_not", {"torch.logical_not"}},
      {"bitwise_and", {"lambda a, b: a.long() & b.long()"}},
      {"bitwise_or", {"lambda a, b: a.long() | b.long()"}},
      {"bitwise_xor", {"lambda a, b: a.long() ^ b.long()"}},
      {"bitwise_not", {"lambda a: ~a.long()"}},
      {"bitwise_left_shift", {"lambda a, b: a.long() << b.long()"}},
      {"bitwise_right_shift", {"lambda a, b: a.long() >> b.long()"}},
  };
  return forms;
}

bool isComparison(const std::string &op) {
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge";
}

/// Operands are numbers or tensors; everything else is computed.
bool isLeaf(const StepNode &node) {
  return node.op == "input" || node.op == "scalar" || node.op == "constant" || node.op == "size";
}

class StepWriter {
public:
  StepWriter(const CalledOperator &called, const SizeNames &names, const StepGraph &steps)
      : called(called), names(names), steps(steps) {}

  std::string run() {
    const bool isExact =
        std::all_of(steps.nodes.begin(), steps.nodes.end(), [](const StepNode &node) {
          const definition::Operation *operation = definition::findOperation(node.op);
          const bool isPosition =
              operation && operation->result == definition::ResultType::Position;
          return isLeaf(node) ||
                 (!isPosition && std::none_of(node.types.begin(), node.types.end(), isFloat));
        });
    std::string head = fmt::format("def _steps(_t, {}):\n", argumentNames(called));
    if (isExact) {
      return head + "    \"\"\"Integers and truth values alone: nothing is rounded.\"\"\"\n" +
             fmt::format("    return (({0}),) * {1}\n", "None, None", steps.outputs.size());
    }
    sizes();
    std::vector<bool> isLaunched; // what the launcher computes of the call's numbers
    for (size_t i = 0; i < steps.nodes.size(); ++i) {
      const StepNode &one = steps.nodes[i];
      const auto holds = [&](int input) { return isLaunched[static_cast<size_t>(input)]; };
      const bool isOfNumbers = std::all_of(one.inputs.begin(), one.inputs.end(), [&](int input) {
        return holds(input) || steps.nodes[static_cast<size_t>(input)].op == "constant" ||
               steps.nodes[static_cast<size_t>(input)].op == "size";
      });
      const bool isComputed =
          isOfNumbers && std::any_of(one.inputs.begin(), one.inputs.end(), holds);
      isLaunched.push_back(one.op == "scalar" || isComputed);
      const auto given = steps.arguments.find(static_cast<int>(i));
      const std::string computed = node(one, given == steps.arguments.end() ? "" : given->second);
      text += fmt::format("    _n{} = {}\n", i,
                          isComputed ? fmt::format("_t.launched({})", computed) : computed);
    }
    std::string results;
    for (int output : steps.outputs) {
      results += fmt::format("_n{}, ", output);
    }
    results.resize(results.size() - (steps.outputs.size() > 1 ? 2 : 1));
    return table() + head +
           "    \"\"\"What the kernel computes, operation by operation, and what its roundings may "
           "do.\"\"\"\n" +
           text + fmt::format("    return ({})\n", results);
  }

private:
  /// The sizes that steps name.
  void sizes() {
    const bool hasSizes =
        std::any_of(steps.nodes.begin(), steps.nodes.end(), [](const StepNode &node) {
          return node.op == "size" || node.op == "moved" || node.op == "made";
        });
    for (const SizeNames::Step &step : names.steps) {
      const Operand &operand = called.operands[static_cast<size_t>(step.operand)];
      if (hasSizes && !step.isRest) {
        text +=
            fmt::format("    {} = {}.shape[-{}]\n", (operand.shape.end() - step.fromEnd)->symbol,
                        operand.name, step.fromEnd);
      }
    }
  }

  std::string table() const {
    std::string list;
    for (const std::string &name : used) {
      const StepForm &form = stepForms().at(name);
      const definition::Operation *operation = definition::findOperation(name);
      const double roundings = std::max(operation ? operation->rounding : 0, form.leastRoundings);
      list += fmt::format("    \"{}\": ({}, {}, {}),\n", name, form.function, roundings,
                          form.ofArgument);
    }
    return "# The kernel's operations: in float64; roundings of the result, in halves of the "
           "type's\n"
           "# epsilon, and of the operand.\nSTEPS = {\n" +
           list + "}\n\n\n";
  }

  /// ", is_exact=True" of integers and truth values.
  static std::string exactness(const StepNode &node) {
    const bool isOneFloat = std::any_of(node.types.begin(), node.types.end(), isFloat);
    const bool areAllFloats = std::all_of(node.types.begin(), node.types.end(), isFloat);
    return areAllFloats ? "" : isOneFloat ? ", is_exact=not _t.is_floating" : ", is_exact=True";
  }

  /// PyTorch computes 0.5 x (1 + tanh u) where the kernel has x sigmoid(2u).
  static const char *formula(const StepNode &node) {
    const bool isTanhForm = node.op == "mul" && node.source.find("gelu") != std::string::npos &&
                            node.source.find("tanh") != std::string::npos;
    // Places between pixels are quotients of integers, where PyTorch multiplies floats.
    const bool isPlace =
        node.op == "div" && (node.source.find("interpolate(") != std::string::npos ||
                             node.source.find("upsample_") != std::string::npos);
    return isTanhForm || isPlace ? ", is_written_otherwise=True" : "";
  }

  std::string node(const StepNode &node, const std::string &further) {
    std::vector<std::string> in;
    for (int input : node.inputs) {
      in.push_back(fmt::format("_n{}", input));
    }
    const std::string operands = fmt::format("{}", fmt::join(in, ", "));
    const definition::SymbolicShape &from =
        node.inputs.empty() ? node.shape : steps.nodes[static_cast<size_t>(node.inputs[0])].shape;
    // Of all dimensions where their number is open: none is named.
    const bool isOfAll = node.op != "squeeze" && !from.empty() && from[0].isRest() &&
                         node.dims.size() == from.size();
    const std::string dims = isOfAll ? "()"
                                     : fmt::format("({}{})", fmt::join(node.dims, ", "),
                                                   node.dims.size() == 1 ? "," : "");
    const char *keeps = node.keepsDims ? "True" : "False";
    if (node.op == "input" || node.op == "scalar") {
      const std::string &name = called.op.parameters[static_cast<size_t>(node.parameter)].name;
      return fmt::format("_t.{}({})", node.op == "input" ? "tensor" : "number", name);
    }
    if (node.op == "constant") {
      const bool isWhole = node.kind == definition::OperandKind::Whole;
      return fmt::format("_t.number({}, True)",
                         isWhole ? std::to_string(node.integer) : pythonNumber(node.value));
    }
    if (node.op == "size") {
      return fmt::format("_t.number({}, True)", further);
    }
    if (node.op == "count") {
      return fmt::format("_t.count({}, {})", operands, dims);
    }
    if (node.op == "made") {
      return further;
    }
    if (node.op == "moved") {
      return fmt::format("_t.moved({}, {})", further, operands);
    }
    if (node.op == "indexed") {
      return fmt::format(
          "_t.indexed({}, {}{})", further.substr(0, further.find(',')), operands,
          (further.find(',') == std::string::npos ? "" : further.substr(further.find(','))) +
              exactness(node));
    }
    if (node.op == "view") {
      return fmt::format("_t.view({}, {})", operands, further);
    }
    if (node.op == "matmul" || node.op == "conv2d") {
      return fmt::format("_t.{}({}{}{})", node.op, operands, further, exactness(node));
    }
    const definition::Operation *operation = definition::findOperation(node.op);
    if (operation && operation->result == definition::ResultType::Cast) {
      return fmt::format("_t.cast({}, {})", operands, further);
    }
    if (operation && operation->kind == definition::OperationKind::Scan) {
      return fmt::format("_t.scan(\"{}\", {}, {}{})", node.op, operands, further, exactness(node));
    }
    if (operation && operation->kind == definition::OperationKind::Sort) {
      const bool isPosition = operation->result == definition::ResultType::Position;
      return fmt::format("_t.order({}, {}, {})", isPosition ? "True" : "False", operands, further);
    }
    if (node.op == "argmax" || node.op == "argmin") {
      return fmt::format("_t.searched(torch.{}, {}, {})", node.op, operands, further);
    }
    if (node.op == "prod") {
      return fmt::format("_t.prod({}, {}, {}{})", operands, dims, keeps, exactness(node));
    }
    if (node.op == "squeeze") {
      return fmt::format("_t.squeezed({}, {})", operands, dims);
    }
    const bool isOfLeading = node.op == "sum" && !from.empty() && from[0].isRest() &&
                             node.dims.size() < from.size() &&
                             node.dims.front() == -static_cast<int64_t>(from.size());
    if (isOfLeading) {
      return fmt::format("_t.total_of_leading({}, {}{})", operands, from.size() - node.dims.size(),
                         exactness(node));
    }
    if (node.op == "sum") {
      return fmt::format("_t.total({}, {}, {}{})", operands, dims, keeps, exactness(node));
    }
    if (isReductionName(node.op)) {
      return fmt::format("_t.extremum(torch.{}, {}, {}, {})", node.op, operands, dims, keeps);
    }
    if (node.op == "where") {
      return fmt::format("_t.where({})", operands);
    }
    const std::string name = node.op == "bitwise_not" && node.isBoolean ? "logical_not" : node.op;
    used.insert(name);
    return isComparison(name) ? fmt::format("_t.compare(\"{}\", {})", name, operands)
                              : fmt::format("_t.step(\"{}\", {}{}{})", name, operands,
                                            exactness(node), formula(node));
  }

  const CalledOperator &called;
  const SizeNames &names;
  const StepGraph &steps;
  std::set<std::string> used;
  std::string text;
};

} // namespace

std::string stepFunctions(const Generation &generation, const SizeNames &names) {
  const auto steps = stepsOf(generation.op()); // as who writes files has asked
  return StepWriter(generation.called(), names, *steps).run();
}

} // namespace nereid::generator
