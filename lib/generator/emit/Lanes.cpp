// SPDX-License-Identifier: Apache-2.0
// Monoids over a dimension of the tile, see Lanes.h.
#include "lib/generator/emit/Lanes.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::name;
using kernel::real;

constexpr double infinity = std::numeric_limits<double>::infinity();

kernel::Expr numberOf(double value, DType dtype) {
  if (isFloat(dtype)) {
    return real(value);
  }
  return value == -infinity  ? kernel::integer(std::to_string(definition::lowestInteger(dtype)))
         : value == infinity ? kernel::integer(std::to_string(definition::highestInteger(dtype)))
                             : kernel::Expr(static_cast<int64_t>(value));
}

kernel::Expr where(const kernel::Expr &condition, const kernel::Expr &a, const kernel::Expr &b) {
  return call("tl.where", {condition, a, b});
}
kernel::Expr both(const kernel::Expr &a, const kernel::Expr &b) { return binary("&", a, b); }
kernel::Expr either(const kernel::Expr &a, const kernel::Expr &b) { return binary("|", a, b); }
kernel::Expr isNan(const kernel::Expr &a) { return binary("!=", a, a); }

/// What exponentials are taken off: 0 where the largest element is infinite, so that a sum of them
/// is 0 or infinite itself.
kernel::Expr finiteOf(const kernel::Expr &most) {
  return where(binary("==", call("tl.abs", {most}), real(infinity)), real(0), most);
}

/// NaN wins.
kernel::Expr larger(bool isLargest, const kernel::Expr &a, const kernel::Expr &b, bool keepsNan) {
  std::vector<kernel::Argument> arguments = {a, b};
  if (keepsNan) {
    arguments.emplace_back("propagate_nan", name("tl.PropagateNan.ALL"));
  }
  return call(isLargest ? "tl.maximum" : "tl.minimum", std::move(arguments));
}

bool takesLargest(const Node &node) {
  return node.name == "max" || node.name == "argmax" || node.name == "any";
}
bool isOf(const Node &node, std::initializer_list<const char *> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char *each) { return node.name == each; });
}

} // namespace

std::string languageName(DType dtype) {
  static const std::map<DType, std::string> names = {
      {DType::Bool, "int1"},      {DType::U8, "uint8"},
      {DType::U16, "uint16"},     {DType::U32, "uint32"},
      {DType::U64, "uint64"},     {DType::F16, "float16"},
      {DType::BF16, "bfloat16"},  {DType::F8E4M3FN, "float8e4nv"},
      {DType::F8E5M2, "float8e5"}};
  auto found = names.find(dtype);
  return "tl." + (found == names.end() ? std::string(torchName(dtype)) : found->second);
}

DType LaneMonoids::typeOf(const Node &node, size_t component) {
  const DType dtype = node.inputs[component]->dtype;
  return dtype == DType::Bool ? DType::I32 : dtype;
}

kernel::Expr LaneMonoids::identityOf(const Node &node, size_t component) {
  return numberOf(findMonoid(node.name)->identity[component], typeOf(node, component));
}

kernel::Expr LaneMonoids::fresh(const std::string &hint, const kernel::Expr &value) {
  const std::string made = arguments.names.fresh(hint);
  body.assign(made, value);
  return name(made);
}

kernel::Expr LaneMonoids::freshFor(const std::string &word, const std::string &otherwise,
                                   const kernel::Expr &value) {
  const std::string made = arguments.freshFor(word, otherwise);
  body.assign(made, value);
  return name(made);
}

Lanes LaneMonoids::combined(const Node &node, const Lanes &a, const Lanes &b) {
  const DType dtype = typeOf(node, 0);
  if (isOf(node, {"sum", "prod", "xor"})) {
    return {binary(node.name == "sum" ? "+" : node.name == "prod" ? "*" : "^", a[0], b[0])};
  }
  if (isOf(node, {"max", "min", "any", "all"})) {
    return {larger(takesLargest(node), a[0], b[0], isFloat(dtype) && !covered.contains(&node))};
  }
  if (isOf(node, {"argmax", "argmin"})) {
    kernel::Expr isBetter = binary(takesLargest(node) ? ">" : "<", b[0], a[0]);
    kernel::Expr isSame = binary("==", a[0], b[0]);
    if (isFloat(dtype)) {
      isBetter = either(isBetter, both(isNan(b[0]), binary("==", a[0], a[0])));
      isSame = either(isSame, both(isNan(a[0]), isNan(b[0])));
    }
    const kernel::Expr takes =
        fresh("takes", either(isBetter, both(isSame, binary("<", b[1], a[1]))));
    return {where(takes, b[0], a[0]), where(takes, b[1], a[1])};
  }
  if (isOf(node, {"cummax", "cummin"})) { // b stands behind a
    kernel::Expr isBetter = binary(node.name == "cummax" ? ">=" : "<=", b[0], a[0]);
    isBetter = isFloat(dtype) ? either(isBetter, isNan(b[0])) : isBetter;
    const kernel::Expr takes = fresh("takes", isBetter);
    return {where(takes, b[0], a[0]), where(takes, b[1], a[1])};
  }
  if (node.name == "welford") {
    const kernel::Expr count = fresh("count", a[0] + b[0]);
    const kernel::Expr share =
        fresh("share", where(binary("==", count, real(0)), real(0), b[0] / count));
    const kernel::Expr mean = fresh("mean", a[1] + (b[1] - a[1]) * share);
    kernel::Expr distances, squares;
    for (const Lanes *each : {&a, &b}) { // moved to the common mean, which loses nothing
      const kernel::Expr by = fresh("by", (*each)[1] - mean);
      const kernel::Expr moved = fresh("moved", (*each)[0] * by);
      const kernel::Expr distance = (*each)[2] + moved;
      const kernel::Expr square = (*each)[3] + by * ((*each)[2] + (*each)[2] + moved);
      distances = distances ? distances + distance : distance;
      squares = squares ? squares + square : square;
    }
    return {count, mean, distances, squares};
  }
  const kernel::Expr most = fresh("most", larger(true, a[0], b[0], !covered.contains(&node)));
  const kernel::Expr finite = fresh("finite", finiteOf(most));
  return {most, a[1] * call("tl.exp", {a[0] - finite}) + b[1] * call("tl.exp", {b[0] - finite})};
}

// ---- lines ----

Lanes LaneMonoids::scanned(const Node &node, const Lanes &lanes,
                           const std::vector<std::string> &words) {
  const std::string function = arguments.kernelName + "_join";
  kernel::Kernel helper;
  helper.name = function;
  kernel::Body inside;
  Lanes a, b;
  for (const char *side : {"a", "b"}) {
    for (size_t component = 0; component < lanes.size(); ++component) {
      const std::string parameter =
          lanes.size() == 1 ? std::string(side) : side + std::to_string(component);
      helper.parameters.push_back({parameter, false});
      (side[0] == 'a' ? a : b).push_back(name(parameter));
    }
  }
  LaneMonoids own(tile, inside, arguments);
  Lanes joint = own.combined(node, a, b);
  inside.result(joint.size() == 1 ? joint[0] : kernel::tuple(joint));
  helper.body = inside.take();
  lineHelper = std::move(helper);
  const kernel::Expr all =
      call("tl.associative_scan",
           {lanes.size() == 1 ? lanes[0] : kernel::tuple(lanes),
            {"axis", kernel::Expr(static_cast<int64_t>(tile.axisOf(*tile.reducedDim())))},
            {"combine_fn", name(function)}});
  if (lanes.size() == 1) {
    return {freshFor(words.empty() ? "" : words[0], node.name, all)};
  }
  std::string names;
  Lanes result;
  for (size_t component = 0; component < lanes.size(); ++component) {
    result.push_back(name(arguments.freshFor(words.empty() ? "" : words[component], node.name)));
    names += (names.empty() ? "" : ", ") + result.back()->text;
  }
  body.assign(names, all);
  return result;
}

// ---- joining lanes ----

/// Along one reduced dimension after the other, the outermost first: lanes hold several elements
/// along that, and have one for all threads then.
kernel::Expr LaneMonoids::across(const std::string &function, kernel::Expr value,
                                 const std::vector<kernel::Argument> &how) const {
  for (const size_t dim : tile.reducedDims()) {
    std::vector<kernel::Argument> list = {
        value, {"axis", kernel::Expr(static_cast<int64_t>(tile.axisOf(dim)))}};
    list.insert(list.end(), how.begin(), how.end());
    list.emplace_back("keep_dims", name("True"));
    value = call(function, std::move(list));
  }
  return value;
}

/// By a function of the kernel's own, of which the module has one for all calls.
kernel::Expr LaneMonoids::joinedBy(const char *function, const kernel::Expr &joint,
                                   const kernel::Expr &lanes) {
  const std::string own = arguments.kernelName + "_" + function;
  kernel::Body body;
  body.result(joint);
  pairHelpers[own] = {own, {{"a"}, {"b"}}, body.take()};
  return across("tl.reduce", lanes, {{"combine_fn", name(own)}});
}

/// The language's own passes over NaN; here it wins where it is kept.
kernel::Expr LaneMonoids::extremum(bool isLargest, const kernel::Expr &lanes, bool keepsNan) {
  return keepsNan ? joinedBy(isLargest ? "largest" : "smallest",
                             larger(isLargest, name("a"), name("b"), keepsNan), lanes)
                  : across(isLargest ? "tl.max" : "tl.min", lanes);
}

Lanes LaneMonoids::momentsOf(const Node &node, const Lanes &lanes) {
  // Each lane has an element, which is its own mean.
  const bool areElements =
      isNumber(*node.inputs[0], 1) && isNumber(*node.inputs[2], 0) && isNumber(*node.inputs[3], 0);
  if (areElements && tile.isInLoop()) {
    const std::string type = languageName(typeOf(node, 0));
    const kernel::Expr count = fresh("count", call("tl.cast", {tile.countOfTurn(), name(type)}));
    const kernel::Expr mean = fresh("mean", across("tl.sum", lanes[1]) / count);
    const kernel::Expr away = fresh("away", lanes[0] * (lanes[1] - mean));
    return {count, mean, across("tl.sum", away), across("tl.sum", away * away)};
  }
  const kernel::Expr count = fresh("count", across("tl.sum", lanes[0]));
  const kernel::Expr divisor = where(binary("==", count, real(0)), real(1), count);
  const kernel::Expr mean = fresh("mean", across("tl.sum", lanes[0] * lanes[1]) / divisor);
  const kernel::Expr by = fresh("by", lanes[1] - mean);
  const kernel::Expr moved = fresh("moved", lanes[0] * by);
  return {count, mean, across("tl.sum", lanes[2] + moved),
          across("tl.sum", lanes[3] + by * (lanes[2] + lanes[2] + moved))};
}

Lanes LaneMonoids::together(const Node &node, const Lanes &lanes) {
  const DType dtype = typeOf(node, 0);
  if (isOf(node, {"sum", "xor"})) {
    return {across(node.name == "sum" ? "tl.sum" : "tl.xor_sum", lanes[0])};
  }
  if (node.name == "prod") {
    return {joinedBy("product", name("a") * name("b"), lanes[0])};
  }
  if (isOf(node, {"max", "min", "any", "all"})) {
    return {extremum(takesLargest(node), lanes[0], isFloat(dtype) && !covered.contains(&node))};
  }
  if (isOf(node, {"argmax", "argmin"})) {
    const kernel::Expr most = fresh("most", extremum(takesLargest(node), lanes[0], isFloat(dtype)));
    kernel::Expr isMost = binary("==", lanes[0], most);
    isMost = isFloat(dtype) ? either(isMost, both(isNan(lanes[0]), isNan(most))) : isMost;
    const kernel::Expr positions = where(isMost, lanes[1], identityOf(node, 1));
    return {most, across("tl.min", positions)};
  }
  if (node.name == "welford") {
    return momentsOf(node, lanes);
  }
  const kernel::Expr most = fresh("most", extremum(true, lanes[0], !covered.contains(&node)));
  const kernel::Expr finite = fresh("finite", finiteOf(most));
  return {most, across("tl.sum", lanes[1] * call("tl.exp", {lanes[0] - finite}))};
}

Lanes LaneMonoids::joined(const Node &node, const Lanes &lanes) {
  return inTypesOf(node, together(node, lanes));
}

Lanes LaneMonoids::inTypesOf(const Node &node, Lanes result) {
  for (size_t component = 0; component < result.size(); ++component) {
    const DType dtype = node.inputs[component]->dtype;
    if (dtype == DType::Bool) {
      result[component] = binary("!=", result[component], 0);
    } else if (sizeInBytes(dtype) < sizeof(int32_t)) { // the language joins these as 32 bits
      result[component] = generator::cast(result[component], languageName(dtype));
    }
  }
  return result;
}

std::vector<kernel::Kernel> LaneMonoids::helpers() const {
  std::vector<kernel::Kernel> list;
  for (const auto &[function, helper] : pairHelpers) {
    list.push_back(helper);
  }
  if (lineHelper) {
    list.push_back(*lineHelper);
  }
  return list;
}

} // namespace nereid::generator
