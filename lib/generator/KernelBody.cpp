// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/KernelBody.h"

#include "lib/generator/kernel/Printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

/// The offset that the terms add up to, from the position `index`.
kernel::Expr offset(const std::vector<OffsetTerm> &terms, const std::string &index) {
  kernel::Expr sum;
  for (const OffsetTerm &term : terms) {
    kernel::Expr position = kernel::name(index);
    if (term.needsDivision) {
      position = kernel::binary("//", position, kernel::name(sizeName(term.inner)));
    }
    if (term.needsRemainder) {
      position = kernel::binary("%", position, kernel::name(sizeName(term.size)));
    }
    kernel::Expr part = position * kernel::name(term.stride);
    sum = sum ? sum + part : part;
  }
  return sum;
}

const char *reduceFunction(const std::string &op) {
  return op == "amax" ? "tl.max" : op == "amin" ? "tl.min" : "tl.sum";
}

kernel::Expr infinity(bool isNegative) {
  return kernel::real(isNegative ? -std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::infinity());
}

} // namespace

KernelBody::KernelBody(const FusedOperator &fused, KernelVariant variant)
    : fused(fused), variant(variant), lanes(analyseLanes(fused)), uses(fused.nodes.size(), 0),
      kernelTypes(fused.op) {
  for (const FusedNode &node : fused.nodes) {
    for (int input : node.inputs) {
      ++uses[static_cast<size_t>(input)];
    }
  }
  for (int output : fused.outputNodes) {
    ++uses[static_cast<size_t>(output)];
  }
  taken = {"tl",
           "triton",
           "torch",
           "libdevice",
           "row",
           "col",
           "first",
           "last",
           "start",
           "pid",
           "pid_m",
           "pid_n",
           "inside",
           "row_inside",
           "col_inside",
           "offsets",
           "element",
           "compute",
           "column_blocks",
           "floating",
           "total",
           "lowest",
           "highest",
           "float",
           "range",
           "if",
           "for",
           "in",
           "is",
           "and",
           "or",
           "not",
           "def",
           "return",
           "lambda",
           "else",
           "while",
           "pass",
           "None",
           "True",
           "False"};
}

void KernelBody::chooseParameters() {
  for (const KernelParameter &parameter : kernelParameters(fused, variant)) {
    taken.insert(parameter.name);
    parameters.push_back({parameter.name, parameter.kind == KernelParameter::Kind::Constexpr});
  }
}

void KernelBody::chooseComputeType() {
  computeType = "tl.float32";
  bool needsQuery = std::any_of(fused.op.dtypes.begin(), fused.op.dtypes.end(),
                                [](DType type) { return type == DType::F64; });
  auto free = std::find_if(fused.operands.begin(), fused.operands.end(),
                           [](const Operand &operand) { return !operand.fixedDtype; });
  if (free == fused.operands.end() || (!fused.hasIntegers && !needsQuery)) {
    return;
  }
  auto element = kernel::name(pointerName(*free) + ".dtype.element_ty");
  if (fused.hasIntegers) {
    std::set<std::string> names;
    for (const FusedNode &node : fused.nodes) {
      names.insert({typeName(node.types), typeName(node.computedTypes)});
      if (node.op == "amax" || node.op == "amin") {
        names.insert(kernel::text(kernelTypes.end(node.types, node.op == "amax")));
      }
    }
    if (kernelTypes.hasConstants(names)) {
      body.comment("Integers are computed in their own type, floats below 32 bits in float32.");
      body.assign("element", element, "tl.constexpr");
      kernelTypes.define(names, body);
    }
    return;
  }
  body.comment("Types below 32 bits are computed in float32, all others in their own type.");
  body.assign("element", element, "tl.constexpr");
  auto isElement = [](const char *type) {
    return kernel::binary("==", kernel::name("element"), kernel::name(type));
  };
  body.assign(
      "compute",
      kernel::choice(kernel::name("tl.float32"),
                     kernel::binary("or", isElement("tl.float16"), isElement("tl.bfloat16")),
                     kernel::name("element")),
      "tl.constexpr");
  computeType = "compute";
}

// ---- names and values ----

std::string KernelBody::freshName(const std::string &wanted) {
  std::string name = wanted;
  for (int &i = suffixes[wanted]; taken.contains(name);) {
    name = fmt::format("{}_{}", wanted, ++i);
  }
  taken.insert(name);
  return name;
}

Expression KernelBody::use(int number, Extent as) {
  const Expression &value = values.at(number);
  Extent extent = node(number).extent;
  bool isLeaf =
      node(number).op == "constant" || node(number).op == "scalar" || node(number).op == "columns";
  if (!is2d() || as != Extent::Full || extent == as || extent == Extent::Scalar || isLeaf) {
    return value;
  }
  return {kernel::axis(value.tree, extent == Extent::Row ? 1 : 0, 2), value.isBoolean};
}

void KernelBody::bind(int number, Expression value, bool force) {
  const FusedNode &n = node(number);
  bool isNamed = !n.name.empty();
  bool isLong = kernel::text(value.tree).size() > 72;
  if (force || isNamed || isLong || uses[static_cast<size_t>(number)] > 1) {
    std::string name = variableFor(number);
    body.assign(name, value.tree);
    value.tree = kernel::name(name);
  }
  values[number] = std::move(value);
}

std::string KernelBody::variableFor(int number) {
  auto known = variables.find(number);
  if (known != variables.end()) {
    return known->second;
  }
  const FusedNode &n = node(number);
  std::string wanted = !n.name.empty()  ? n.name
                       : n.op == "amax" ? "row_max"
                       : n.op == "amin" ? "row_min"
                       : n.isReduction  ? sumName(number)
                                        : "t";
  return variables[number] = freshName(wanted);
}

std::string KernelBody::sumName(int number) const {
  for (const FusedNode &user : fused.nodes) {
    bool isUser = std::find(user.inputs.begin(), user.inputs.end(), number) != user.inputs.end();
    if (isUser && !user.name.empty()) {
      return user.name + "_sum";
    }
  }
  return "row_sum";
}

void KernelBody::compute(int number) {
  const FusedNode &n = node(number);
  if (n.op == "constant") {
    values[number] = {constantExpression(n.value, fused.hasIntegers)};
  } else if (n.op == "columns") {
    values[number] = {kernel::name("columns")};
  } else if (n.op == "scalar") {
    values[number] = {kernel::name(scalarName(n.parameter))};
  } else if (n.op == "squeeze") {
    values[number] = values.at(n.inputs[0]);
  } else {
    std::vector<Expression> operands;
    bool countsColumns = std::any_of(n.inputs.begin(), n.inputs.end(),
                                     [&](int input) { return node(input).op == "columns"; });
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const FusedNode &in = node(n.inputs[i]);
      operands.push_back(countsColumns && in.op == "constant"
                             ? Expression{constantExpression(in.value, true)}
                         : fused.hasIntegers ? operand(number, i)
                                             : use(n.inputs[i], n.extent));
    }
    std::string op = n.op;
    if (op == "div" && isSumOfShiftedPowers(fused, n.inputs[1])) {
      // The divisor lies in [1, columns], so its reciprocal is safe: one division per row.
      op = "mul";
      operands[1] = {kernel::real(1) / operands[1].tree};
    }
    // Of floats and integers in one text: integers have no NaN, and what is said of it is ignored.
    const bool mayBeNaN = (op == "maximum" || op == "minimum") && !areAllInteger(n.computedTypes);
    const bool isFloating = !fused.hasIntegers || areAllFloat(n.computedTypes) || mayBeNaN;
    auto made = pointwiseExpression(
        op, operands, fused.hasIntegers ? typeName(n.computedTypes) : computeType, isFloating);
    bool hasNoType = op == "where" && !isFloating &&
                     std::all_of(n.inputs.begin() + 1, n.inputs.end(),
                                 [&](int input) { return node(input).op == "constant"; });
    if (made && hasNoType) {
      const std::string type = typeName(n.types);
      made = Expression{cast(made->tree, type), type == "tl.int1"};
    }
    bind(number, made ? *made : Expression{kernel::name(n.op)}, false);
  }
}

std::string KernelBody::typeName(const std::vector<DType> &types) const {
  return kernelTypes.name(types);
}

Expression KernelBody::operand(int user, size_t input) {
  const FusedNode &n = node(user);
  const FusedNode &in = node(n.inputs[input]);
  if (in.op == "constant") {
    bool isInteger = !areAllFloat(n.computedTypes) && std::isfinite(in.value);
    return {isInteger ? kernel::Expr(in.integer) : constantExpression(in.value, false)};
  }
  Expression value = use(n.inputs[input], n.extent);
  bool isCondition = n.op.starts_with("logical_") || (n.op == "where" && input == 0);
  const std::string type = typeName(n.computedTypes);
  if (isCondition || in.isBoolean || in.op == "columns" || typeName(in.types) == type) {
    return value;
  }
  // A number that the compiler knows has no method: a tensor of it has.
  return in.op == "scalar" ? Expression{kernel::call(
                                 "tl.full", {kernel::tuple({}), value.tree, kernel::name(type)})}
                           : Expression{cast(value.tree, type), type == "tl.int1"};
}

std::string KernelBody::scalarName(int parameter) const {
  for (const KernelParameter &p : kernelParameters(fused, variant)) {
    if (p.scalar == parameter) {
      return p.name;
    }
  }
  return "0";
}

// ---- memory ----

const Operand &KernelBody::operandOf(int number, bool isOutput) const {
  return *std::find_if(fused.operands.begin(), fused.operands.end(), [&](const Operand &o) {
    return o.node == number && o.isOutput == isOutput;
  });
}

void KernelBody::generalOffsets(bool ofRows) {
  for (const Operand &operand : fused.operands) {
    const char *index = ofRows ? "row" : "col";
    bool isGeneral = ofRows ? hasGeneralRows(operand) : hasGeneralColumns(operand);
    if (!isGeneral) {
      continue;
    }
    std::string key = fmt::format("{}_{}", operand.name, index);
    if (!offsetVariables.contains(key)) {
      offsetVariables[key] = freshName(key);
    }
    body.assign(offsetVariables[key],
                offset(offsetTerms(operand, ofRows ? fused.rowGroups : fused.columnGroups,
                                   ofRows ? operand.rowGroups : operand.columnGroups),
                       index));
  }
}

kernel::Expr KernelBody::address(const Operand &operand) {
  kernel::Expr at = kernel::name(pointerName(operand));
  if (variant == KernelVariant::Flat) {
    return operand.extent == Extent::Scalar ? at : at + kernel::name("offsets");
  }
  bool isTile = is2d() && operand.extent == Extent::Full;
  auto along = [&](const std::string &index, unsigned dim) {
    return isTile ? kernel::axis(kernel::name(index), dim, 2) : kernel::name(index);
  };
  if (operand.hasSomeRows()) {
    bool isGeneral = hasGeneralRows(operand);
    kernel::Expr row = along(isGeneral ? offsetVariables.at(operand.name + "_row") : "row", 0);
    at = at + (isGeneral ? row : row * kernel::name(rowStrideName(operand)));
  }
  if (operand.hasSomeColumns()) {
    bool isGeneral = hasGeneralColumns(operand);
    at = at + along(isGeneral ? offsetVariables.at(operand.name + "_col") : "col", 1);
  }
  return at;
}

kernel::Expr KernelBody::mask(Extent extent) const {
  if (extent == Extent::Scalar) {
    return {};
  }
  if (variant == KernelVariant::Flat || !is2d()) {
    bool isVector =
        variant == KernelVariant::Flat || extent == Extent::Full || extent == Extent::Row;
    return isVector ? kernel::name("inside") : kernel::Expr();
  }
  return kernel::name(extent == Extent::Full  ? "inside"
                      : extent == Extent::Row ? "col_inside"
                                              : "row_inside");
}

void KernelBody::load(int number) {
  const Operand &operand = operandOf(number, false);
  std::vector<kernel::Argument> arguments = {address(operand)};
  if (kernel::Expr guard = mask(operand.extent)) {
    bool isInteger = !areAllFloat(node(number).types);
    kernel::Expr other = isInteger ? kernel::Expr(0) : kernel::real(0);
    if (fused.hasReduction && !isInteger) {
      Lane lane = lanes[static_cast<size_t>(number)];
      bool isInfinite = lane == Lane::NegativeInfinity || lane == Lane::PositiveInfinity;
      other = isInfinite ? infinity(lane == Lane::NegativeInfinity) : other;
    }
    arguments.emplace_back("mask", guard);
    arguments.emplace_back("other", other);
  }
  kernel::Expr value = kernel::call("tl.load", std::move(arguments));
  const FusedNode &n = node(number);
  bool isFloating =
      std::any_of(n.types.begin(), n.types.end(), [](DType type) { return isFloat(type); });
  if (isFloating) {
    value = cast(value, fused.hasIntegers ? typeName(n.types) : computeType);
  }
  std::string name = variableFor(number);
  body.assign(name, value);
  values[number] = {kernel::name(name), n.isBoolean};
}

void KernelBody::store(size_t output) {
  int number = fused.outputNodes[output];
  const Operand &operand =
      *std::find_if(fused.operands.begin(), fused.operands.end(), [&](const Operand &o) {
        return o.isOutput && o.index == static_cast<int>(output);
      });
  kernel::Expr stored = values.at(number).tree, at = address(operand);
  bool isLiteral = node(number).op == "constant" || node(number).op == "scalar";
  if (!isLiteral) {
    const std::string name = storedName(operand);
    body.assign(name, cast(stored, pointerName(operand) + ".dtype.element_ty"));
    stored = kernel::name(name);
  }
  auto call = [&](bool isStreaming) {
    std::vector<kernel::Argument> arguments = {at, stored};
    if (kernel::Expr guard = mask(operand.extent)) {
      arguments.emplace_back("mask", guard);
    }
    if (isStreaming) {
      arguments.emplace_back("cache_modifier", kernel::string(".cs"));
    }
    return kernel::call("tl.store", std::move(arguments));
  };
  if (operand.extent != Extent::Full && !(operand.extent == Extent::Row && !fused.hasReduction)) {
    body.evaluate(call(false));
    return;
  }
  if (kernel::text(call(true)).size() + (body.depth() + 2) * 4 > kernel::lineLimit) {
    std::string name = addressName(operand);
    body.assign(name, at);
    at = kernel::name(name);
  }
  body.when(
      kernel::name("STREAMING"), [&] { body.evaluate(call(true)); },
      [&] { body.evaluate(call(false)); });
}

std::string KernelBody::storedName(const Operand &operand) {
  std::string &name = offsetVariables[operand.name + " stored"];
  return name.empty() ? name = freshName(operand.name + "_rounded") : name;
}

std::string KernelBody::addressName(const Operand &operand) {
  std::string &name = offsetVariables[operand.name + " address"];
  return name.empty() ? name = freshName(operand.name + "_at") : name;
}

// ---- reductions ----

kernel::Expr KernelBody::identity(int number) const {
  const FusedNode &n = node(number);
  bool isEnd = n.op == "amax" || n.op == "amin";
  if (areAllFloat(n.types)) {
    return isEnd ? infinity(n.op == "amax") : kernel::real(0);
  }
  return isEnd ? kernelTypes.end(n.types, n.op == "amax") : kernel::Expr(0);
}

kernel::Expr KernelBody::guarded(int reduction) {
  const FusedNode &n = node(reduction);
  const Expression &own = values.at(n.inputs[0]);
  const std::string type = fused.hasIntegers ? typeName(n.types) : computeType;
  bool isOther = fused.hasIntegers && typeName(node(n.inputs[0]).types) != type;
  kernel::Expr value = own.isBoolean || isOther ? cast(own.tree, type) : own.tree;
  if (lanes[static_cast<size_t>(n.inputs[0])] == identityOf(n.op)) {
    return value;
  }
  return kernel::call("tl.where", {kernel::name("inside"), value, identity(reduction)});
}

bool KernelBody::needsNanCheck(int number) const {
  return node(number).op != "sum" && areAllFloat(node(number).types) &&
         !(node(number).op == "amax" && hasNanCovered(fused, number));
}

void KernelBody::finishReduction(int number, const kernel::Expr &value) {
  std::string name = variableFor(number);
  const kernel::Argument alongRow("axis", 0);
  kernel::Expr reduced = kernel::call(reduceFunction(node(number).op), {value, alongRow});
  // The language reduces narrow integers as 32 bits.
  body.assign(name, areAllFloat(node(number).types) ? reduced
                                                    : cast(reduced, typeName(node(number).types)));
  if (needsNanCheck(number)) {
    body.comment("A maximum of the language passes over NaN; PyTorch's does not.");
    std::string count = freshName(name + "_nans");
    kernel::Expr isNan = cast(kernel::binary("!=", value, value), "tl.int32");
    body.assign(count, kernel::call("tl.sum", {isNan, alongRow}));
    body.assign(name, kernel::call("tl.where", {kernel::binary(">", kernel::name(count), 0),
                                                kernel::real(std::nan("")), kernel::name(name)}));
  }
  values[number] = {kernel::name(name)};
}

void KernelBody::reduceTile(int number) {
  kernel::Expr value = guarded(number);
  if (needsNanCheck(number)) {
    std::string part = freshName("masked");
    body.assign(part, value);
    value = kernel::name(part);
  }
  finishReduction(number, value);
}

} // namespace nereid::generator
