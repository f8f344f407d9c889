// SPDX-License-Identifier: Apache-2.0
// Map nodes as expressions of exact types, see Values.h.
#include "lib/generator/KernelExpression.h"
#include "lib/generator/emit/Values.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Guards.h"
#include "lib/generator/program/Types.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::name;

bool isConst(const Node *node) { return node->kind == NodeKind::Const; }

std::string opposite(const std::string &comparison) {
  static const std::map<std::string, std::string> table = {
      {"lt", "ge"}, {"ge", "lt"}, {"le", "gt"}, {"gt", "le"}, {"eq", "ne"}, {"ne", "eq"}};
  return table.at(comparison);
}

} // namespace

Values::Value Values::operation(const Node &node, const Conditions &around) {
  if (node.name == "cast") {
    return converted(node, around);
  }
  if (node.name == "where") {
    return select(node, around);
  }
  if (isOrdinal(node.name)) {
    return ordinal(node, around);
  }
  present = around;
  if (std::optional<kernel::Expr> compared = comparison(node, true)) {
    return {*compared};
  }
  std::vector<Value> in;
  in.reserve(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    in.push_back(operand(node, i, around));
  }
  int height = 1;
  for (const Value &each : in) {
    height = std::max(height, each.height + 1);
  }
  const DType dtype = node.inputs[0]->dtype;
  if (std::all_of(in.begin(), in.end(), [](const Value &each) { return each.isLiteral; })) {
    in[0] = {typed(in[0], dtype)};
  }
  if (takesTypedOperands(node.name, isFloat(dtype)) && dtype != DType::F32 && dtype != DType::I32) {
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = {typed(in[i], node.inputs[i]->dtype), in[i].height};
    }
  }
  if (node.name == "pow" && isConst(node.inputs[1])) {
    const Node &exponent = *node.inputs[1];
    const double number = isFloat(dtype) ? exponent.real : static_cast<double>(exponent.integer);
    const bool isProduct = isFloat(dtype) ? number == 2 || number == 3 : number >= 1;
    if (number == 0) {
      return {typed({kernel::Expr(1), 1, true}, dtype)};
    }
    if (isProduct) {
      return power(node, in[0], static_cast<int64_t>(number));
    }
  }
  needsLibdevice |= generator::needsLibdevice(node.name, isFloat(dtype));
  if (node.name == "floor_divide" || node.name == "sign") { // writes operands several times
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = in[i].height > 1 ? named(*node.inputs[i], "t", in[i]) : in[i];
    }
    height += 3;
  }
  std::vector<Expression> operands;
  operands.reserve(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    operands.push_back({in[i].tree, node.inputs[i]->dtype == DType::Bool});
  }
  return {pointwiseExpression(node.name, operands, languageName(dtype), isFloat(dtype))->tree,
          height};
}

Values::Value Values::operand(const Node &node, size_t number, const Conditions &around) {
  const Node &own = *node.inputs[number];
  const bool isRounded = number == 0 && products.differences.contains(&node);
  if (isRounded && isMap(own, "neg")) {
    const Value product = roundedProduct(*own.inputs[0], around);
    return {kernel::unary("-", product.tree), product.height + 1};
  }
  return isRounded ? roundedProduct(own, around) : value(&own, around);
}

/// See ExponentProducts.h.
Values::Value Values::roundedProduct(const Node &node, const Conditions &around) {
  const Value made = operation(node, around);
  std::vector<kernel::Argument> factors;
  for (size_t i = 0; i < 2; ++i) {
    const bool isLiteral = isMap(node, "mul") && isConst(node.inputs[i]);
    const kernel::Expr &factor = made.tree->operands[i];
    factors.emplace_back(isLiteral ? typed({factor, 1, true}, node.dtype) : factor);
  }
  factors.emplace_back(kernel::real(0));
  return {call("tl.fma", std::move(factors)), made.height};
}

/// By products, which wrap as the power does.
Values::Value Values::power(const Node &node, Value base, int64_t exponent) {
  base = {typed(base, node.dtype), base.height};
  std::optional<kernel::Expr> result;
  bool isBase = true;
  for (kernel::Expr square = base.tree; exponent > 0; exponent >>= 1) {
    if (square->kind != kernel::ExprKind::Name) {
      square = isBase ? named(*node.inputs[0], "t", {square}).tree : named("t", {square}).tree;
    }
    isBase = false;
    if ((exponent & 1) != 0) {
      result = result ? *result * square : square;
    }
    square = square * square;
  }
  return {*result, 3};
}

Values::Value Values::converted(const Node &node, const Conditions &around) {
  const Node &from = *node.inputs[0];
  if (isConst(&from)) {
    return constant(from, node.dtype);
  }
  if (isPlace(&from) && !from.free.empty() && isFloat(node.dtype) && !isFloat8(node.dtype)) {
    const Value number = place(&from, around);
    return {generator::cast(number.tree, languageName(node.dtype)), number.height};
  }
  // A load that nothing else needs stands in one line with its conversion.
  const bool isOwnLoad = uses[&from] == 1 && selectedLoad(&from).load;
  const Value in = isOwnLoad ? compute(&from, around) : value(&from, around);
  if (node.dtype == DType::Bool) {
    return {binary("!=", in.tree, 0), in.height + 1};
  }
  if (isFloat8(node.dtype) && !isFloat8(from.dtype)) {
    return toEightBits({typed(in, from.dtype), in.height}, node.dtype);
  }
  const kernel::Expr type = name(languageName(node.dtype));
  if (node.free.empty()) { // an argument that is 1 may be a number in the kernel
    return {call("tl.cast", {typed(in, from.dtype), type}), in.height + 1};
  }
  return {generator::cast(typed(in, from.dtype), languageName(node.dtype)), in.height};
}

/// PyTorch's conversion of float32. That of the language takes the largest number for what is
/// beyond it; here it is NaN, or of float8_e5m2 the infinity, whose code is the next one.
Values::Value Values::toEightBits(const Value &given, DType type) {
  const bool isShort = given.tree->kind == kernel::ExprKind::Name;
  const kernel::Expr number = isShort ? given.tree : named("t", given).tree;
  const kernel::Expr size = call("tl.abs", {number});
  if (type != DType::F8E5M2) {
    const kernel::Expr isBeyond = binary(">", size, kernel::real(464));
    return {
        cast(call("tl.where", {isBeyond, kernel::real(std::nan("")), number}), languageName(type)),
        2};
  }
  const kernel::Argument bitcast("bitcast", name("True"));
  const kernel::Expr isBeyond = named("beyond", {binary(">=", size, kernel::real(61440))}).tree;
  const kernel::Expr end =
      call("tl.where", {binary("<", number, 0), kernel::real(-57344), kernel::real(57344)});
  const kernel::Expr held = named("held", {call("tl.where", {isBeyond, end, number})}).tree;
  const kernel::Expr code =
      kernel::method(cast(held, languageName(type)), "to", {name("tl.uint8"), bitcast});
  return {kernel::method(binary("+", code, cast(isBeyond, "tl.uint8")), "to",
                         {name(languageName(type)), bitcast}),
          3};
}

/// float32 as its place among all of them, and back: the bits count up for positive numbers, down
/// for negative ones. NaN is behind infinity.
Values::Value Values::ordinal(const Node &node, const Conditions &around) {
  const bool isPlace = node.dtype == DType::I32;
  const Node &from = *node.inputs[0];
  const Value given = value(&from, around);
  const kernel::Expr number = named(from, "number", {typed(given, from.dtype), given.height}).tree;
  const kernel::Argument bitcast("bitcast", name("True"));
  auto as = [&](const kernel::Expr &value, const char *type) {
    return call("tl.cast", {value, name(type), bitcast});
  };
  const kernel::Expr bits = isPlace ? named("bits", {as(number, "tl.int32"), 2}).tree : number;
  const kernel::Expr most(int64_t{std::numeric_limits<int32_t>::max()});
  const kernel::Expr turned = binary("^", bits, binary("&", binary(">>", bits, 31), most));
  if (!isPlace) {
    return {as(turned, "tl.float32"), 4};
  }
  return {call("tl.where", {binary("==", number, number), turned, most}), 4};
}

Values::Value Values::select(const Node &node, const Conditions &around) {
  Value parts[3];
  int height = 1;
  for (size_t i = 0; i < 3; ++i) {
    Conditions inner = around;
    if (i > 0) {
      addConditions(node.inputs[0], i == 1, inner);
    }
    parts[i] = value(node.inputs[i], inner);
    height = std::max(height, parts[i].height + 1);
  }
  const bool areLiterals = parts[1].isLiteral && parts[2].isLiteral;
  return {
      call("tl.where", {typed(parts[0], DType::Bool),
                        areLiterals ? typed(parts[1], node.dtype) : parts[1].tree, parts[2].tree}),
      height};
}

/// A comparison of index expressions or places, in the width of indices; none when it is another
/// one.
std::optional<kernel::Expr> Values::comparison(const Node &node, bool holds) {
  static const std::map<std::string, std::string> signs = {
      {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};
  auto sign = [&] { return signs.at(holds ? node.name : opposite(node.name)); };
  if (comparisonOf(node)) {
    auto side = [&](const Node *input) {
      return index(input->kind == NodeKind::Index ? input->indices[0] : Affine(input->integer));
    };
    return binary(sign(), side(node.inputs[0]), side(node.inputs[1]));
  }
  auto isSide = [](const Node *input) { return isConst(input) || isPlace(input); };
  const bool areTwo = node.kind == NodeKind::Map && node.inputs.size() == 2 &&
                      signs.contains(node.name) && !node.free.empty() &&
                      node.inputs[0]->dtype == DType::I64;
  if (!areTwo || !isSide(node.inputs[0]) || !isSide(node.inputs[1])) {
    return std::nullopt;
  }
  const Conditions around = present;
  const kernel::Expr a = place(node.inputs[0], around).tree, b = place(node.inputs[1], around).tree;
  return binary(sign(), a, b);
}

// ---- places ----

/// A place in the width of indices, under a name when it is needed more than once.
Values::Value Values::place(const Node *node, const Conditions &around) {
  if (isConst(node)) {
    return constant(*node, node->dtype);
  }
  const Conditions kept = needs(node, around);
  const Key key(node, kept);
  if (auto found = places.find(key); found != places.end()) {
    return found->second;
  }
  const bool isOutside = tile.isInLoop() && !tile.variesInLoop(node->free);
  Value made;
  auto write = [&] {
    made = placeWritten(*node, kept);
    const bool isLong = isOutside || uses[node] > 1 || made.height > heightAtMost;
    if (node->kind == NodeKind::Map && isLong) {
      made = named(*node, "place", made);
    }
  };
  if (isOutside) {
    tile.outside(write);
  } else {
    write();
  }
  return places[key] = made;
}

Values::Value Values::placeWritten(const Node &node, const Conditions &around) {
  if (node.kind == NodeKind::Index) {
    present = around;
    return {index(node.indices[0])};
  }
  int height = 1;
  std::vector<Expression> operands;
  for (const Node *input : node.inputs) {
    Conditions inner = around;
    const bool isChosen = node.name == "where" && input != node.inputs[0];
    if (isChosen) {
      addConditions(node.inputs[0], input == node.inputs[1], inner);
    }
    const bool isCondition = node.name == "where" && !isChosen;
    const Value in = isCondition ? value(input, inner) : place(input, inner);
    height = std::max(height, in.height + 1);
    operands.push_back({in.tree, isCondition});
  }
  return {pointwiseExpression(node.name, operands, languageName(DType::I64), false)->tree, height};
}

} // namespace nereid::generator
