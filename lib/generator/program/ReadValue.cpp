// SPDX-License-Identifier: Apache-2.0
// Values: operations, reductions and other nodes, see ReadExpression.h.
#include "lib/generator/program/Monoids.h"
#include "lib/generator/program/ReadExpression.h"
#include "lib/generator/program/Types.h"

#include <fmt/format.h>

namespace nereid::generator::text {
namespace {

using language::Expr;
using language::ExprKind;

const std::map<std::string, std::string> infix = {
    {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"<", "lt"},
    {"<=", "le"}, {">", "gt"},  {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}};

void checkMonoid(const Expr &e, const std::string &name, size_t inputs) {
  const Monoid *monoid = findMonoid(name);
  if (!monoid || monoid->components != inputs) {
    refuse(e, monoid ? fmt::format("'{}' has {} components, but got {}", name, monoid->components,
                                   inputs)
                     : fmt::format("'{}' is no monoid", name));
  }
}

} // namespace

const Node *ExpressionReader::value(const Expr &e) {
  NodeTable &nodes = program.nodes;
  switch (e.kind) {
  case ExprKind::Integer:
    return nodes.integer(e.integer, DType::I64);
  case ExprKind::Float:
    return nodes.real(e.real, DType::F32);
  case ExprKind::Bool:
    return nodes.integer(e.integer, DType::Bool);
  case ExprKind::Name:
    if (auto found = values.find(e.text); found != values.end()) {
      return found->second;
    }
    refuse(e, fmt::format("'{}' is no value", e.text));
  case ExprKind::Unary:
    if (e.text == "-") {
      return literal(e, e.operands[0]->kind == ExprKind::Float ? DType::F32 : DType::I64);
    }
    break;
  case ExprKind::Binary:
  case ExprKind::Compare:
    if (auto found = infix.find(e.text); found != infix.end()) {
      return map(e, found->second, {value(*e.operands[0]), value(*e.operands[1])});
    }
    break;
  case ExprKind::Subscript: {
    BufferId from = buffer(*e.operands[0]);
    return nodes.load(from, program.buffers[from].dtype, indices(*e.operands[1]));
  }
  case ExprKind::Call:
    return e.operands[0]->kind == ExprKind::Subscript ? reduction(e) : called(e);
  default:
    break;
  }
  refuse(e, "expects a value");
}

const Node *ExpressionReader::literal(const Expr &e, DType type) {
  bool isNegative = e.kind == ExprKind::Unary && e.text == "-";
  const Expr &number = isNegative ? *e.operands[0] : e;
  int sign = isNegative ? -1 : 1;
  if (isFloat(type)) {
    if (number.kind == ExprKind::String) {
      const std::string &text = number.text;
      double value = text.ends_with("inf") ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
      return program.nodes.real(text.starts_with("-") ? -value : value, type);
    }
    if (number.kind == ExprKind::Float) {
      return program.nodes.real(sign * number.real, type);
    }
  } else if (number.kind == ExprKind::Integer || number.kind == ExprKind::Bool) {
    return program.nodes.integer(sign * number.integer, type);
  }
  refuse(e, "expects a number of this type");
}

const Node *ExpressionReader::map(const Expr &e, const std::string &name,
                                  std::vector<const Node *> inputs) {
  if (std::string complaint = mapComplaint(name, inputs); !complaint.empty()) {
    refuse(e, complaint);
  }
  DType type = mapType(name, inputs);
  return program.nodes.map(name, type, std::move(inputs));
}

const Node *ExpressionReader::reduction(const Expr &e) {
  const Expr &head = *e.operands[0];
  NodeParts parts{NodeKind::Reduce};
  parts.name = head.operands[0]->text;
  for (const Expr *each : elements(*head.operands[1])) {
    parts.iterators.push_back(iterator(*each));
  }
  for (size_t i = 1; i < e.operands.size(); ++i) {
    parts.inputs.push_back(value(*e.operands[i]));
  }
  checkMonoid(e, parts.name, parts.inputs.size());
  parts.dtype = parts.inputs[0]->dtype;
  return program.nodes.make(std::move(parts));
}

const Node *ExpressionReader::called(const Expr &e) {
  if (!isCall(e)) {
    refuse(e, "expects a value");
  }
  const std::string &name = callee(e);
  if (name == "index") {
    return program.nodes.index(affine(argument(e, 0)));
  }
  if (name == "parameter") {
    return program.nodes.parameter(string(argument(e, 0)), dtype(argument(e, 1)));
  }
  if (name == "cast") {
    return program.nodes.map("cast", dtype(argument(e, 1)), {value(argument(e, 0))});
  }
  static const std::map<std::string, NodeParts (ExpressionReader::*)(const Expr &)> kinds = {
      {"ref", &ExpressionReader::ref},
      {"scan", &ExpressionReader::scan},
      {"order", &ExpressionReader::order},
      {"pick", &ExpressionReader::pick},
      {"random", &ExpressionReader::random}};
  if (auto kind = kinds.find(name); kind != kinds.end()) {
    return program.nodes.make((this->*kind->second)(e));
  }
  if (auto type = parseDType(name)) {
    return literal(argument(e, 0), *type);
  }
  std::vector<const Node *> inputs;
  for (size_t i = 1; i < e.operands.size(); ++i) {
    inputs.push_back(value(*e.operands[i]));
  }
  return map(e, name, std::move(inputs));
}

NodeParts ExpressionReader::ref(const Expr &e) {
  const Node *load = value(argument(e, 0));
  if (load->kind != NodeKind::Load) {
    refuse(e, "expects an element of a temporary buffer");
  }
  NodeParts parts = *load;
  parts.kind = NodeKind::Ref;
  return parts;
}

NodeParts ExpressionReader::scan(const Expr &e) {
  NodeParts parts{NodeKind::Scan};
  parts.name = string(argument(e, 0));
  parts.iterators = {iterator(argument(e, 1))};
  for (size_t i = 2; i + 1 < e.operands.size(); ++i) {
    parts.inputs.push_back(value(argument(e, i)));
  }
  checkMonoid(e, parts.name, parts.inputs.size());
  const Expr *at = keyword(e, "at");
  if (!at) {
    refuse(e, "expects the position, at=…");
  }
  parts.indices = {affine(*at)};
  parts.isReverse = isSet(e, "reverse", false);
  parts.isExclusive = isSet(e, "exclusive", false);
  parts.dtype = parts.inputs[0]->dtype;
  return parts;
}

NodeParts ExpressionReader::order(const Expr &e) {
  NodeParts parts{NodeKind::Order};
  parts.iterators = {iterator(argument(e, 0))};
  parts.inputs = {value(argument(e, 1))};
  parts.isDescending = isSet(e, "descending", false);
  parts.isStable = isSet(e, "stable", true);
  parts.dtype = parts.inputs[0]->dtype;
  return parts;
}

NodeParts ExpressionReader::pick(const Expr &e) {
  NodeParts parts{NodeKind::Pick};
  parts.inputs = {value(argument(e, 0))};
  parts.component = static_cast<uint32_t>(integer(argument(e, 1)));
  if (e.operands.size() > 3) {
    parts.indices = {affine(argument(e, 2))};
  }
  const NodeKind kind = parts.inputs[0]->kind;
  if (kind != NodeKind::Reduce && kind != NodeKind::Scan && kind != NodeKind::Order) {
    refuse(e, "expects a reduction, a scan or an order to pick from");
  }
  parts.dtype = componentType(*parts.inputs[0], parts.component);
  return parts;
}

NodeParts ExpressionReader::random(const Expr &e) {
  NodeParts parts{NodeKind::Random, DType::U32};
  parts.inputs = {value(argument(e, 0))};
  parts.indices = {affine(argument(e, 1))};
  return parts;
}

} // namespace nereid::generator::text
