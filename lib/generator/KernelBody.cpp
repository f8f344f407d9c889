// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/KernelBody.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

constexpr size_t lineLimit = 96;

size_t matchingParenthesis(const std::string &value, size_t open) {
  int depth = 0;
  for (size_t i = open; i < value.size(); ++i) {
    depth += value[i] == '(' ? 1 : value[i] == ')' ? -1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return value.size() - 1;
}

std::string termsText(const std::vector<OffsetTerm> &terms, const std::string &index) {
  std::string sum;
  for (const OffsetTerm &term : terms) {
    std::string position = index;
    if (term.needsDivision) {
      position += " // " + sizeName(term.inner);
    }
    if (term.needsRemainder) {
      position =
          (term.needsDivision ? "(" + position + ")" : position) + " % " + sizeName(term.size);
    }
    bool isPlain = position == index;
    sum += (sum.empty() ? "" : " + ") + (isPlain ? position : "(" + position + ")") + " * " +
           term.stride;
  }
  return sum;
}

const char *reduceFunction(const std::string &op) {
  return op == "amax" ? "tl.max" : op == "amin" ? "tl.min" : "tl.sum";
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

// ---- lines ----

void KernelBody::line(const std::string &content) {
  text += std::string(indent * 4, ' ') + content + "\n";
}

void KernelBody::assign(const std::string &name, const std::string &value) {
  std::string whole = name + " = " + value;
  if (whole.size() + indent * 4 <= lineLimit || value.back() != ')') {
    line(whole);
    return;
  }
  size_t open = value.find('(');
  size_t close = matchingParenthesis(value, open);
  line(name + " = " + value.substr(0, open + 1));
  ++indent;
  line(value.substr(open + 1, close - open - 1));
  --indent;
  line(value.substr(close));
}

void KernelBody::header() {
  std::string runTime, constants;
  for (const KernelParameter &parameter : kernelParameters(fused, variant)) {
    taken.insert(parameter.name);
    bool isConstant = parameter.kind == KernelParameter::Kind::Constexpr;
    std::string &list = isConstant ? constants : runTime;
    std::string entry = parameter.name + (isConstant ? ": tl.constexpr," : ",");
    size_t lastLine = list.size() - (list.rfind('\n') == std::string::npos ? 0 : list.rfind('\n'));
    list += list.empty() ? "    " : lastLine + entry.size() > lineLimit ? "\n    " : " ";
    list += entry;
  }
  text += fmt::format("@triton.jit\ndef {}(\n{}\n{}\n):\n", kernelName(fused, variant), runTime,
                      constants);
}

void KernelBody::chooseComputeType() {
  computeType = "tl.float32";
  bool needsQuery = std::any_of(fused.op.dtypes.begin(), fused.op.dtypes.end(),
                                [](DType type) { return type == DType::F64; });
  auto free = std::find_if(fused.operands.begin(), fused.operands.end(),
                           [](const Operand &operand) { return !operand.fixedDtype; });
  if (fused.hasIntegers) {
    std::set<std::string> names;
    for (const FusedNode &node : fused.nodes) {
      names.insert({typeName(node.types), typeName(node.computedTypes)});
      if (node.op == "amax" || node.op == "amin") {
        names.insert(kernelTypes.end(node.types, node.op == "amax"));
      }
    }
    std::vector<std::string> lines = kernelTypes.lines(names);
    if (!lines.empty() && free != fused.operands.end()) {
      line("# Integers are computed in their own type, floats below 32 bits in float32.");
      line(fmt::format("element: tl.constexpr = {}.dtype.element_ty", pointerName(*free)));
      std::for_each(lines.begin(), lines.end(), [&](const std::string &each) { line(each); });
    }
    return;
  }
  if (needsQuery && free != fused.operands.end()) {
    line("# Types below 32 bits are computed in float32, all others in their own type.");
    line(fmt::format("element: tl.constexpr = {}.dtype.element_ty", pointerName(*free)));
    line("compute: tl.constexpr = (");
    line("    tl.float32 if element == tl.float16 or element == tl.bfloat16 else element");
    line(")");
    computeType = "compute";
  }
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
  std::string base = value.precedence == Precedence::Atom ? value.text : "(" + value.text + ")";
  return {base + (extent == Extent::Row ? "[None, :]" : "[:, None]"), Precedence::Atom,
          value.isBoolean};
}

void KernelBody::bind(int number, Expression value, bool force) {
  const FusedNode &n = node(number);
  bool isNamed = !n.name.empty();
  bool isLong = value.text.size() > 72;
  if (force || isNamed || isLong || uses[static_cast<size_t>(number)] > 1) {
    std::string name = variableFor(number);
    assign(name, value.text);
    value = {name, Precedence::Atom, value.isBoolean};
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
    values[number] = constantExpression(n.value, fused.hasIntegers);
  } else if (n.op == "columns") {
    values[number] = {"columns"};
  } else if (n.op == "scalar") {
    values[number] = {scalarName(n.parameter)};
  } else if (n.op == "squeeze") {
    values[number] = values.at(n.inputs[0]);
  } else {
    std::vector<Expression> operands;
    bool countsColumns = std::any_of(n.inputs.begin(), n.inputs.end(),
                                     [&](int input) { return node(input).op == "columns"; });
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const FusedNode &in = node(n.inputs[i]);
      operands.push_back(countsColumns && in.op == "constant" ? constantExpression(in.value, true)
                         : fused.hasIntegers                  ? operand(number, i)
                                                              : use(n.inputs[i], n.extent));
    }
    std::string op = n.op;
    if (op == "div" && isSumOfShiftedPowers(fused, n.inputs[1])) {
      // The divisor lies in [1, columns], so its reciprocal is safe: one division per row.
      op = "mul";
      operands[1] = {"(1.0 / " + operands[1].text + ")"};
    }
    const bool isFloating = !fused.hasIntegers || areAllFloat(n.computedTypes);
    auto made = pointwiseExpression(
        op, operands, fused.hasIntegers ? typeName(n.computedTypes) : computeType, isFloating);
    bool hasNoType = op == "where" && !isFloating &&
                     std::all_of(n.inputs.begin() + 1, n.inputs.end(),
                                 [&](int input) { return node(input).op == "constant"; });
    if (made && hasNoType) {
      made = cast(*made, typeName(n.types));
    }
    bind(number, made ? *made : Expression{n.op}, false);
  }
}

std::string KernelBody::typeName(const std::vector<DType> &types) const {
  return kernelTypes.name(types);
}

Expression KernelBody::cast(const Expression &value, const std::string &type) const {
  std::string base = value.precedence == Precedence::Atom ? value.text : "(" + value.text + ")";
  return {fmt::format("{}.to({})", base, type), Precedence::Atom, type == "tl.int1"};
}

Expression KernelBody::operand(int user, size_t input) {
  const FusedNode &n = node(user);
  const FusedNode &in = node(n.inputs[input]);
  if (in.op == "constant") {
    bool isInteger = !areAllFloat(n.computedTypes) && std::isfinite(in.value);
    return isInteger ? Expression{std::to_string(in.integer),
                                  in.integer < 0 ? Precedence::Unary : Precedence::Atom}
                     : constantExpression(in.value, false);
  }
  Expression value = use(n.inputs[input], n.extent);
  bool isCondition = n.op.starts_with("logical_") || (n.op == "where" && input == 0);
  const std::string type = typeName(n.computedTypes);
  if (isCondition || in.isBoolean || in.op == "columns" || typeName(in.types) == type) {
    return value;
  }
  // A number that the compiler knows has no method: a tensor of it has.
  return in.op == "scalar" ? Expression{fmt::format("tl.full((), {}, {})", value.text, type)}
                           : cast(value, type);
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
    assign(offsetVariables[key],
           termsText(offsetTerms(operand, ofRows ? fused.rowGroups : fused.columnGroups,
                                 ofRows ? operand.rowGroups : operand.columnGroups),
                     index));
  }
}

std::string KernelBody::address(const Operand &operand) {
  std::string at = pointerName(operand);
  if (variant == KernelVariant::Flat) {
    return operand.extent == Extent::Scalar ? at : at + " + offsets";
  }
  bool isTile = is2d() && operand.extent == Extent::Full;
  if (operand.hasSomeRows()) {
    bool isGeneral = hasGeneralRows(operand);
    std::string row = isGeneral ? offsetVariables.at(operand.name + "_row") : "row";
    at += " + " + row + (isTile ? "[:, None]" : "");
    at += isGeneral ? "" : " * " + rowStrideName(operand);
  }
  if (operand.hasSomeColumns()) {
    std::string col =
        hasGeneralColumns(operand) ? offsetVariables.at(operand.name + "_col") : "col";
    at += " + " + col + (isTile ? "[None, :]" : "");
  }
  return at;
}

std::string KernelBody::mask(Extent extent) const {
  if (extent == Extent::Scalar) {
    return "";
  }
  if (variant == KernelVariant::Flat || !is2d()) {
    bool isVector =
        variant == KernelVariant::Flat || extent == Extent::Full || extent == Extent::Row;
    return isVector ? "inside" : "";
  }
  return extent == Extent::Full ? "inside" : extent == Extent::Row ? "col_inside" : "row_inside";
}

void KernelBody::load(int number) {
  const Operand &operand = operandOf(number, false);
  std::string at = address(operand), guard = mask(operand.extent);
  std::string call = "tl.load(" + at;
  if (!guard.empty()) {
    bool isInteger = !areAllFloat(node(number).types);
    std::string other = isInteger ? "0" : "0.0";
    if (fused.hasReduction && !isInteger) {
      Lane lane = lanes[static_cast<size_t>(number)];
      other = lane == Lane::NegativeInfinity   ? "-float(\"inf\")"
              : lane == Lane::PositiveInfinity ? "float(\"inf\")"
                                               : other;
    }
    call += fmt::format(", mask={}, other={}", guard, other);
  }
  call += ")";
  const FusedNode &n = node(number);
  bool isFloating =
      std::any_of(n.types.begin(), n.types.end(), [](DType type) { return isFloat(type); });
  if (isFloating) {
    call += fmt::format(".to({})", fused.hasIntegers ? typeName(n.types) : computeType);
  }
  std::string name = variableFor(number);
  assign(name, call);
  values[number] = {name, Precedence::Atom, n.isBoolean};
}

void KernelBody::store(size_t output) {
  int number = fused.outputNodes[output];
  const Operand &operand =
      *std::find_if(fused.operands.begin(), fused.operands.end(), [&](const Operand &o) {
        return o.isOutput && o.index == static_cast<int>(output);
      });
  const Expression value = values.at(number);
  std::string at = address(operand), guard = mask(operand.extent);
  bool isLiteral = node(number).op == "constant" || node(number).op == "scalar";
  std::string stored = value.text;
  if (!isLiteral) {
    stored = storedName(operand);
    assign(stored,
           fmt::format("{}.to({}.dtype.element_ty)",
                       value.precedence == Precedence::Atom ? value.text : "(" + value.text + ")",
                       pointerName(operand)));
  }
  std::string arguments = at + ", " + stored + (guard.empty() ? "" : ", mask=" + guard);
  if (operand.extent != Extent::Full && !(operand.extent == Extent::Row && !fused.hasReduction)) {
    line("tl.store(" + arguments + ")");
    return;
  }
  std::string whole = "tl.store(" + arguments + ", cache_modifier=\".cs\")";
  if (whole.size() + (indent + 1) * 4 > lineLimit) {
    std::string name = addressName(operand);
    assign(name, at);
    arguments = name + ", " + stored + ", mask=" + guard;
  }
  line("if STREAMING:");
  line("    tl.store(" + arguments + ", cache_modifier=\".cs\")");
  line("else:");
  line("    tl.store(" + arguments + ")");
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

std::string KernelBody::identityText(int number) const {
  const FusedNode &n = node(number);
  if (areAllFloat(n.types)) {
    return n.op == "amax" ? "-float(\"inf\")" : n.op == "amin" ? "float(\"inf\")" : "0.0";
  }
  return n.op == "sum" ? "0" : kernelTypes.end(n.types, n.op == "amax");
}

Expression KernelBody::guarded(int reduction) {
  const FusedNode &n = node(reduction);
  Expression value = values.at(n.inputs[0]);
  const std::string type = fused.hasIntegers ? typeName(n.types) : computeType;
  if (value.isBoolean) {
    value = {fmt::format("({}).to({})", value.text, type)};
  } else if (fused.hasIntegers && typeName(node(n.inputs[0]).types) != type) {
    value = cast(value, type);
  }
  if (lanes[static_cast<size_t>(n.inputs[0])] == identityOf(n.op)) {
    return value;
  }
  return {fmt::format("tl.where(inside, {}, {})", value.text, identityText(reduction))};
}

bool KernelBody::needsNanCheck(int number) const {
  return node(number).op != "sum" && areAllFloat(node(number).types) &&
         !(node(number).op == "amax" && hasNanCovered(fused, number));
}

void KernelBody::finishReduction(int number, const std::string &value) {
  std::string name = variableFor(number);
  std::string reduced = fmt::format("{}({}, axis=0)", reduceFunction(node(number).op), value);
  // The language reduces narrow integers as 32 bits.
  assign(name, areAllFloat(node(number).types)
                   ? reduced
                   : fmt::format("{}.to({})", reduced, typeName(node(number).types)));
  if (needsNanCheck(number)) {
    line("# A maximum of the language passes over NaN; PyTorch's does not.");
    std::string count = freshName(name + "_nans");
    assign(count, fmt::format("tl.sum(({0} != {0}).to(tl.int32), axis=0)", value));
    assign(name, fmt::format("tl.where({} > 0, float(\"nan\"), {})", count, name));
  }
  values[number] = {name};
}

void KernelBody::reduceTile(int number) {
  Expression value = guarded(number);
  if (needsNanCheck(number)) {
    std::string part = freshName("masked");
    assign(part, value.text);
    value = {part};
  }
  finishReduction(number, value.text);
}

} // namespace nereid::generator
