// SPDX-License-Identifier: Apache-2.0
// Opens what definition::decomposed left: what has a lowering in operations.def, powers, means and
// variances.
#include "lib/generator/python/Steps.h"

#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/Signs.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/TypeLists.h"
#include "lib/generator/python/CreationText.h"
#include "lib/generator/python/MovementText.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace nereid::generator {
namespace {

using definition::Node;
using definition::OperandKind;

constexpr double infinity = std::numeric_limits<double>::infinity();

class Builder {
public:
  explicit Builder(const definition::Operator &written) : op(definition::decomposed(written)) {}

  Result<StepGraph> run() {
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      const Node &node = op.nodes[i];
      current = &node;
      std::vector<int> inputs;
      for (int input : node.inputs) {
        inputs.push_back(mapped[static_cast<size_t>(input)]);
      }
      int made = definition::hasNumberInputs(node) ? ofNumberInputs(node)
                 : definition::isSize(node) ? special("size", {}, node, definition::sizeText(node))
                 : definition::isLeaf(node) ? leaf(node, static_cast<int>(i))
                                            : open(node, inputs);
      if (made < 0) {
        return unsupported(node);
      }
      mapped.push_back(made);
    }
    for (int output : op.outputs) {
      graph.outputs.push_back(mapped[static_cast<size_t>(output)]);
    }
    return std::move(graph);
  }

private:
  Diagnostic unsupported(const Node &node) const {
    Diagnostic error = makeError(
        "E0607",
        fmt::format("operation '{}' has no form in the accuracy program in Python", node.op));
    error.file = op.path;
    if (!node.source.empty()) {
      error.note(fmt::format("used in '{}'", node.source));
    }
    return error;
  }

  int add(StepNode node) {
    node.source = current->source;
    inferTypes(node);
    graph.nodes.push_back(std::move(node));
    return static_cast<int>(graph.nodes.size()) - 1;
  }
  const StepNode &at(int node) const { return graph.nodes[static_cast<size_t>(node)]; }

  /// By the definition's rules, for each type of the operator.
  void inferTypes(StepNode &node) const {
    const definition::Operation *operation = definition::findOperation(node.op);
    for (size_t i = 0; i < op.dtypes.size(); ++i) {
      DType type = op.dtypes[i];
      if (node.op == "input") {
        type = op.parameters[static_cast<size_t>(node.parameter)].fixedDtype.value_or(type);
      } else if (node.kind == OperandKind::Whole || node.op == "count" ||
                 current->op == "_positions") {
        type = DType::I64;
      } else if (node.op == "squeeze" || node.op == "view" || node.op == "indexed" ||
                 node.op == "moved") {
        type = at(node.inputs[0]).types[i];
      } else if (!isFloat(type)) {
        type = DType::F32;
      }
      std::vector<definition::TypedOperand> operands;
      for (int input : node.inputs) {
        operands.push_back({at(input).types[i], at(input).kind});
      }
      node.types.push_back(operation ? definition::resultDtype(*operation, operands, type) : type);
    }
    node.isBoolean = !node.types.empty() && areAllBool(node.types);
  }

  bool areFloats(int node) const { return areAllFloat(at(node).types); }

  /// In float64, in which all types are judged, integers stay what they are.
  bool isFloatOfSome(int node) const {
    const std::vector<DType> &types = at(node).types;
    return std::any_of(types.begin(), types.end(), isFloat);
  }

  int leaf(const Node &node, int number) {
    StepNode made;
    made.op = node.op;
    made.shape = node.shape;
    made.kind = definition::operandKind(node);
    if (node.op == "constant") {
      made.value = definition::constantValue(node);
      const auto whole = static_cast<int64_t>(std::isfinite(made.value) ? made.value : 0);
      made.integer = definition::integerAttribute(node, "integer", whole);
    } else {
      made.parameter = number;
    }
    return add(std::move(made));
  }

  int constant(double value, OperandKind kind = OperandKind::Neutral) {
    StepNode made;
    made.op = "constant";
    made.value = value;
    made.integer = std::isfinite(value) ? static_cast<int64_t>(value) : 0;
    made.kind = kind;
    return add(std::move(made));
  }

  int pointwise(const std::string &name, std::vector<int> inputs) {
    StepNode made;
    made.op = name;
    for (int input : inputs) {
      // The definition has been checked, so the shapes broadcast.
      auto shape = definition::broadcast(made.shape, at(input).shape);
      made.shape = shape ? *shape : at(input).shape;
    }
    made.inputs = std::move(inputs);
    return add(std::move(made));
  }

  int reduction(const std::string &name, int input, const Node &node, bool keep) {
    StepNode made;
    made.op = name;
    made.inputs = {input};
    made.dims = allDims(node, at(input));
    if (name != "sum" && !keep && isOneElement(at(input).shape, made.dims)) {
      return squeezed(input, node);
    }
    made.keepsDims = keep;
    auto shape = definition::reduce(at(input).shape, made.dims, keep);
    made.shape = std::holds_alternative<definition::SymbolicShape>(shape)
                     ? std::get<definition::SymbolicShape>(shape)
                     : node.shape;
    return add(std::move(made));
  }

  static std::vector<int64_t> allDims(const Node &node, const StepNode &input) {
    std::vector<int64_t> dims = definition::dimsOf(node);
    if (dims.empty()) {
      for (int64_t i = -static_cast<int64_t>(input.shape.size()); i < 0; ++i) {
        dims.push_back(i);
      }
    }
    return dims;
  }

  static bool isOneElement(const definition::SymbolicShape &shape,
                           const std::vector<int64_t> &dims) {
    return !dims.empty() && std::all_of(dims.begin(), dims.end(), [&](int64_t dim) {
      const definition::Dim &size = shape[shape.size() + static_cast<size_t>(dim)];
      return size.symbol.empty() && size.constant == 1;
    });
  }

  /// The value without its reduced dimensions, as keepdim=False asks.
  int squeezed(int input, const Node &node) {
    StepNode made;
    made.op = "squeeze";
    made.inputs = {input};
    made.dims = allDims(node, at(input));
    made.shape = node.shape;
    return add(std::move(made));
  }

  /// How many elements a reduction of `x` combines.
  int count(int x, const Node &node) {
    StepNode made;
    made.op = "count";
    made.inputs = {x};
    made.dims = allDims(node, at(x));
    made.kind = OperandKind::Neutral;
    return add(std::move(made));
  }

  /// With what stands in the text besides.
  int special(const std::string &name, const std::vector<int> &in, const Node &node,
              const std::string &arguments) {
    StepNode made;
    made.op = name;
    made.inputs = in;
    made.shape = node.shape;
    made.kind = name == "size" ? definition::operandKind(node) : OperandKind::Tensor;
    const int number = add(std::move(made));
    graph.arguments[number] = arguments;
    return number;
  }

  /// Step by step, as the kernel computes it from numbers that are float32.
  int ofNumberInputs(const Node &node) {
    Diagnostics diags;
    const language::ExprPtr expr =
        language::parseExpression("size", definition::sizeText(node), diags);
    const int made = numberStep(*expr);
    graph.nodes[static_cast<size_t>(made)].kind = definition::operandKind(node);
    return made;
  }

  int numberStep(const language::Expr &expr) {
    using language::ExprKind;
    switch (expr.kind) {
    case ExprKind::Integer:
      return constant(static_cast<double>(expr.integer), OperandKind::Whole);
    case ExprKind::Float:
      return constant(expr.real, OperandKind::Fraction);
    case ExprKind::Unary:
      return pointwise("neg", {numberStep(*expr.operands[0])});
    case ExprKind::Call:
      return expr.operands[0]->text == "float"
                 ? numberStep(*expr.operands[1])
                 : pointwise(expr.operands[0]->text, {numberStep(*expr.operands[1])});
    case ExprKind::Binary:
      return pointwise(definition::operationOfSign(expr.text).value(),
                       {numberStep(*expr.operands[0]), numberStep(*expr.operands[1])});
    default:
      break;
    }
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      if (op.parameters[i].name == expr.text && !op.parameters[i].isSize()) {
        return leaf(op.nodes[i], static_cast<int>(i));
      }
    }
    return special("size", {}, definition::sizeNode(expr.text, true), expr.text);
  }

  static std::string pythonText(const definition::Attribute &value) {
    if (const auto *text = std::get_if<std::string>(&value)) {
      return "\"" + *text + "\"";
    }
    if (const auto *list = std::get_if<std::vector<int64_t>>(&value)) {
      return fmt::format("({})", fmt::join(*list, ", "));
    }
    const auto *number = std::get_if<int64_t>(&value);
    return number ? std::to_string(*number) : "";
  }

  /// "-1", and of sorted lines which places: "-1, first=0, count=8, descending=True".
  static std::string alongText(const Node &node) {
    const std::optional<int64_t> dim = definition::dimAlong(node);
    std::string text = dim ? std::to_string(*dim) : "None";
    const char *keeps = definition::keepsDim(node) ? ", keepdim=True" : "";
    if (definition::findOperation(node.op)->kind != definition::OperationKind::Sort) {
      return text + keeps;
    }
    const definition::SortedPart part = definition::sortedPart(node, 1);
    const bool isTopk = node.op.starts_with("topk");
    if (node.op.starts_with("median")) {
      text += ", is_median=True";
    } else if (isTopk || node.op.starts_with("kthvalue")) {
      text += fmt::format(", first={}, count={}", part.first, part.count);
    }
    text += part.isDescending ? ", descending=True" : "";
    const bool dropsDim = !isTopk && node.op != "sort" && node.op != "argsort";
    return text + (dropsDim && !definition::keepsDim(node) ? ", keepdim=False" : "");
  }

  /// "torch.int8, from_whole=True": the type, and what is known of the one before.
  std::string castText(const Node &node, int from) const {
    const definition::Operation &operation = *definition::findOperation(node.op);
    const std::vector<DType> &given = at(from).types;
    bool keepsAll = !given.empty();
    for (size_t i = 0; i < given.size(); ++i) {
      keepsAll = keepsAll &&
                 definition::holdsAll(definition::castDtype(operation, op.dtypes[i]), given[i]);
    }
    const bool isOwn = node.op == "to_own";
    return (isOwn ? "_t.dtype, is_own=True" : "torch." + node.op.substr(3)) +
           (keepsAll ? ", keeps_all=True" : "") + (areAllInteger(given) ? ", from_whole=True" : "");
  }

  /// -1: nothing of the kind.
  int openAsStep(const Node &node, const std::vector<int> &in) {
    const definition::Operation *operation = definition::findOperation(node.op);
    using Kind = definition::OperationKind;
    if (definition::isCast(node)) {
      return special(node.op, in, node, castText(node, in[0]));
    }
    if (node.op == "prod") {
      return reduction("prod", in[0], node, definition::keepsDim(node));
    }
    if (node.op.ends_with("_shift")) {
      return pointwise(node.op, in);
    }
    if (definition::isAlong(node)) {
      return special(node.op, in, node, alongText(node));
    }
    if (operation && operation->kind == Kind::Contraction) {
      return special("matmul", in, node, "");
    }
    if (operation && operation->kind == Kind::Convolution) {
      std::string list;
      for (const auto &[name, value] : node.attributes) {
        const std::string text = pythonText(value);
        list += text.empty() ? "" : fmt::format(", {}={}", name, text);
      }
      return special("conv2d", in, node, list);
    }
    if (definition::isMovement(node)) {
      return special("moved", in, node, movementLambda(node));
    }
    if (definition::isCreation(node)) {
      const int made = special("made", {}, node, "");
      StepNode &one = graph.nodes[static_cast<size_t>(made)];
      one.types.clear();
      for (DType dtype : op.dtypes) {
        one.types.push_back(definition::createdDtype(node, dtype));
      }
      one.isBoolean = areAllBool(one.types);
      graph.arguments[made] = createdStep(node, op);
      return made;
    }
    if (operation && operation->kind == Kind::Indexing) {
      std::string list = fmt::format("\"{}\"", node.op);
      for (const auto &[name, value] : node.attributes) {
        const bool *flag = std::get_if<bool>(&value);
        const std::string text = flag ? (*flag ? "True" : "False") : pythonText(value);
        list += name == "padding_idx" ? "" : fmt::format(", {}={}", name, text);
      }
      return special("indexed", in, node, list);
    }
    if (operation && operation->kind == Kind::View) {
      auto order = definition::viewOrder(node, at(in[0]).shape.size());
      std::vector<std::string> places;
      for (size_t dim : order ? *order : std::vector<size_t>()) {
        places.push_back(dim == definition::newDimension ? "None" : std::to_string(dim));
      }
      return special("view", in, node, fmt::format("({})", fmt::join(places, ", ")));
    }
    return -1;
  }

  int mul(int a, int b) { return pointwise("mul", {a, b}); }
  int plus(int a, int b) { return pointwise("add", {a, b}); }
  int minus(int a, int b) { return pointwise("sub", {a, b}); }
  int over(int a, int b) { return pointwise("div", {a, b}); }
  bool isConstant(int node, double value) const {
    return at(node).op == "constant" && at(node).value == value;
  }

  int mean(int x, const Node &node, bool keep) {
    return over(reduction("sum", x, node, keep), count(x, node));
  }
  /// Two passes: the mean first, then squared distances from it.
  int variance(int x, const Node &node) {
    int centred = minus(x, mean(x, node, true));
    int squares = reduction("sum", mul(centred, centred), node, definition::keepsDim(node));
    int64_t correction =
        definition::integerAttribute(node, "correction", 1); // not 0, see decomposed
    return over(squares, minus(count(x, node), constant(static_cast<double>(correction))));
  }

  int pow(int x, int exponent) {
    if (at(exponent).op == "constant") {
      double e = at(exponent).value;
      if (e == 1) {
        return x;
      }
      if (at(exponent).kind == OperandKind::Whole && e > 3 && !areFloats(x)) {
        return integerPower(x, at(exponent).integer);
      }
      if (e == 2 || e == 3) {
        int square = mul(x, x);
        return e == 2 ? square : mul(square, x);
      }
      if (e == -1) {
        return over(constant(1), x);
      }
    }
    return pointwise("pow", {x, exponent});
  }
  /// Products wrap as the power does, whatever their order.
  int integerPower(int x, int64_t exponent) {
    int result = -1;
    for (int power = x; exponent > 0; exponent >>= 1) {
      if ((exponent & 1) != 0) {
        result = result < 0 ? power : mul(result, power);
      }
      power = exponent > 1 ? mul(power, power) : power;
    }
    return result;
  }
  /// The operation's row of operations.def, opened in its place: node `number` of that graph.
  int inlined(const definition::Operator &lowering, int number, const std::vector<int> &in,
              std::map<int, int> &made) {
    if (auto known = made.find(number); known != made.end()) {
      return known->second;
    }
    const Node &node = lowering.nodes[static_cast<size_t>(number)];
    if (node.op == "input") {
      return made[number] = in[static_cast<size_t>(number)];
    }
    if (node.op == "constant") {
      const bool isFraction = definition::operandKind(node) == OperandKind::Fraction;
      return made[number] = constant(definition::constantValue(node),
                                     isFraction ? OperandKind::Fraction : OperandKind::Neutral);
    }
    auto operand = [&](size_t i) { return inlined(lowering, node.inputs[i], in, made); };
    if (node.op == "where" && isNeverMet(lowering, node.inputs[0], in)) {
      return made[number] = operand(2);
    }
    std::vector<int> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      operands.push_back(operand(i));
    }
    if (std::find(operands.begin(), operands.end(), -1) != operands.end()) {
      return made[number] = -1; // no form of it
    }
    bool isUnchanged = (node.op == "mul" || node.op == "div") && isConstant(operands[1], 1);
    return made[number] = isUnchanged ? operands[0] : open(node, operands);
  }
  /// A comparison with a bound that is left out: smaller than -inf, greater than inf.
  bool isNeverMet(const definition::Operator &lowering, int condition,
                  const std::vector<int> &in) const {
    const Node &node = lowering.nodes[static_cast<size_t>(condition)];
    bool isBound = (node.op == "lt" || node.op == "gt") &&
                   lowering.nodes[static_cast<size_t>(node.inputs[1])].op == "input";
    return isBound && isConstant(in[static_cast<size_t>(node.inputs[1])],
                                 node.op == "lt" ? -infinity : infinity);
  }

  int open(const Node &node, const std::vector<int> &in) {
    const bool isRounding =
        node.op == "floor" || node.op == "ceil" || node.op == "round" || node.op == "trunc";
    const bool areOfFloats = in.empty() || areFloats(in[0]) || (isRounding && isFloatOfSome(in[0]));
    if (isRounding && !areOfFloats) {
      return in[0]; // of integers, nothing to round
    }
    if (const int made = openAsStep(node, in); made >= 0) {
      return made;
    }
    const DType kind = areOfFloats ? DType::F32 : DType::I32;
    if (const definition::Operator *lowering = definition::loweringOf(node, kind)) {
      std::map<int, int> made;
      return inlined(*lowering, lowering->outputs[0], in, made);
    }
    if (node.op != "pow" && hasExpression(node.op, areOfFloats)) {
      return pointwise(node.op, in);
    }
    auto found = openers().find(node.op);
    return found == openers().end() ? -1 : found->second(*this, node, in);
  }

  using Opener = std::function<int(Builder &, const Node &, const std::vector<int> &)>;
  static const std::map<std::string, Opener> &openers() {
    using In = const std::vector<int> &;
    static const std::map<std::string, Opener> table = {
        {"pow", [](Builder &b, const Node &, In in) { return b.pow(in[0], in[1]); }},
        {"sum", [](Builder &b, const Node &n,
                   In in) { return b.reduction("sum", in[0], n, definition::keepsDim(n)); }},
        {"amax", [](Builder &b, const Node &n,
                    In in) { return b.reduction("amax", in[0], n, definition::keepsDim(n)); }},
        {"amin", [](Builder &b, const Node &n,
                    In in) { return b.reduction("amin", in[0], n, definition::keepsDim(n)); }},
        {"mean", [](Builder &b, const Node &n,
                    In in) { return b.mean(in[0], n, definition::keepsDim(n)); }},
        {"var", [](Builder &b, const Node &n, In in) { return b.variance(in[0], n); }},
        {"std", [](Builder &b, const Node &n,
                   In in) { return b.pointwise("sqrt", {b.variance(in[0], n)}); }},
    };
    return table;
  }

  const definition::Operator op;
  const Node *current = nullptr;
  StepGraph graph;
  std::vector<int> mapped;
};

} // namespace

bool isReductionName(const std::string &op) { return op == "sum" || op == "amax" || op == "amin"; }

Result<StepGraph> stepsOf(const definition::Operator &op) { return Builder(op).run(); }

} // namespace nereid::generator
