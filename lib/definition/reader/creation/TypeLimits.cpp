// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/creation/TypeLimits.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/reader/BodyCasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// Of a type of floats.
double floatLimit(const std::string &what, DType type) {
  const bool isHalf = type == DType::F16, isBrain = type == DType::BF16,
             isDouble = type == DType::F64;
  if (what == "max" || what == "min") {
    return what == "max" ? largestFinite(type) : -largestFinite(type);
  }
  return what == "eps" ? std::exp2(isHalf     ? -10
                                   : isBrain  ? -7
                                   : isDouble ? -52
                                              : -23)
                       : std::exp2(isHalf     ? -14
                                   : isDouble ? -1022
                                              : -126);
}

} // namespace

const Expr *TypeLimits::literal(const Expr &expr) {
  const bool isAttribute = expr.kind == ExprKind::Attribute;
  const Expr *base = isAttribute ? expr.operands[0].get() : nullptr;
  if (isAttribute && base->kind == ExprKind::Name && base->text == "torch" &&
      !body.lookup("torch")) {
    return parseDType(expr.text) || expr.text == "float" || expr.text == "half" ||
                   expr.text == "double" || expr.text == "long" || expr.text == "int"
               ? &expr
               : nullptr;
  }
  if (!isAttribute || expr.text != "dtype") {
    return nullptr;
  }
  const std::optional<int> like = body.read(*base);
  if (!like) {
    return nullptr;
  }
  auto tensor = std::make_unique<Expr>();
  tensor->kind = ExprKind::Name;
  tensor->range = expr.range;
  tensor->text = "#" + std::to_string(*like);
  Expr *kept = body.known.keep(ExprKind::Attribute, expr.range);
  kept->text = "dtype";
  kept->operands.push_back(std::move(tensor));
  return kept;
}

bool TypeLimits::isLimit(const Expr &expr) {
  const Expr *call = expr.kind == ExprKind::Attribute ? expr.operands[0].get() : nullptr;
  const Expr *callee = call && call->kind == ExprKind::Call ? call->operands[0].get() : nullptr;
  return callee && callee->kind == ExprKind::Attribute &&
         (callee->text == "finfo" || callee->text == "iinfo");
}

std::optional<int> TypeLimits::limit(const Expr &expr) {
  const Expr &call = *expr.operands[0];
  static const std::map<std::string, std::string> words = {{"max", "max"},
                                                           {"min", "min"},
                                                           {"eps", "eps"},
                                                           {"tiny", "tiny"},
                                                           {"smallest_normal", "tiny"}};
  const auto what = words.find(expr.text);
  if (what == words.end() || call.operands.size() != 2 || !call.keywords.empty()) {
    body.fail("E0608", expr.range,
              fmt::format("'{}' has no '{}'", call.operands[0]->text, expr.text))
        .withHelp("available: torch.finfo(x.dtype).max, .min, .eps and .tiny");
    return std::nullopt;
  }
  const std::optional<std::string> target = BodyCasts(body).target(*call.operands[1]);
  return target ? limitOf(what->second, *target, expr.range) : std::nullopt;
}

std::optional<int> TypeLimits::limitOf(const std::string &what, const std::string &target,
                                       SourceRange range) {
  std::vector<DType> list = body.dtypes;
  if (target != "own") {
    list = {*parseDType(target)};
  }
  if (list.size() == 1 && !isFloat(list[0])) {
    if (what != "max" && what != "min") {
      body.fail("E0608", range, fmt::format("integers have no '{}'", what));
      return std::nullopt;
    }
    const auto most = static_cast<int64_t>(highestInteger(list[0]));
    const int64_t value = what == "min" ? lowestInteger(list[0]) : most;
    return body.integerConstant(value, std::to_string(value));
  }
  if (list.size() == 1) {
    const double value = floatLimit(what, list[0]);
    return body.constant(value, fmt::format("{}", value));
  }
  if (!std::all_of(list.begin(), list.end(), isFloat)) {
    body.fail("E0608", range, "what a type holds differs between the operator's types")
        .withHelp("give the definition one type of integers");
    return std::nullopt;
  }
  std::sort(list.begin(), list.end(),
            [](DType a, DType b) { return largestFinite(a) < largestFinite(b); });
  const bool hasDouble = list.back() == DType::F64;
  const auto number = [&](double value) {
    Node node = creationNode("full", {}, hasDouble ? "float64" : "float32");
    node.inputs = {body.constant(value, fmt::format("{}", value))};
    return body.append(std::move(node), range);
  };
  std::optional<int> result = number(floatLimit(what, list[0]));
  for (size_t i = 1; i < list.size() && result; ++i) {
    const std::optional<int> probe = number(largestFinite(list[i]));
    const auto here = probe ? body.apply("to_own", {*probe}, range) : std::nullopt;
    const auto isBeyond = here ? body.apply("isinf", {*here}, range) : std::nullopt;
    const auto wider = isBeyond ? number(floatLimit(what, list[i])) : std::nullopt;
    result = wider ? body.apply("where", {*isBeyond, *result, *wider}, range) : std::nullopt;
  }
  return result ? body.apply("to_own", {*result}, range) : std::nullopt;
}

} // namespace nereid::definition
