// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/PeerCall.h"

#include "lib/language/syntax/Parser.h"
#include "lib/launch/TensorMaker.h"

namespace nereid::bench {

using language::Expr;
using language::ExprKind;

std::optional<measure::PeerCall> parsePeerCall(const std::string &expression) {
  Diagnostics diags;
  language::ExprPtr expr = language::parseExpression("peer", expression, diags);
  if (!expr) {
    return std::nullopt;
  }
  measure::PeerCall call;
  bool isProduct = expr->kind == ExprKind::Binary && expr->text == "@";
  if (!isProduct && expr->kind != ExprKind::Call) {
    return std::nullopt;
  }
  size_t first = 0;
  if (isProduct) {
    call.operation = "matmul";
  } else {
    const Expr &callee = *expr->operands[0];
    if (callee.kind != ExprKind::Name && callee.kind != ExprKind::Attribute) {
      return std::nullopt;
    }
    call.operation = callee.text;
    first = 1;
  }
  for (size_t i = first; i < expr->operands.size(); ++i) {
    if (expr->operands[i]->kind == ExprKind::List) {
      continue; // the shape that is normalised over: the weights have it
    }
    if (expr->operands[i]->kind != ExprKind::Name) {
      return std::nullopt;
    }
    call.inputs.push_back(expr->operands[i]->text);
  }
  for (const auto &keyword : expr->keywords) {
    if (auto value = launch::literalNumber(*keyword.value)) {
      call.attributes[keyword.name] = *value;
    } else if (keyword.value->kind == ExprKind::Name) {
      call.inputs.push_back(keyword.value->text);
    } else {
      return std::nullopt;
    }
  }
  return call;
}

} // namespace nereid::bench
