// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/indices/BodyIndexing.h"

#include "lib/definition/reader/creation/BodyCreation.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

constexpr ArgumentType operand = ArgumentType::Operand, dimension = ArgumentType::Dimension;

/// A function as PyTorch calls it, and the node it becomes.
struct IndexFunction {
  const char *name, *op;
  std::vector<Argument> arguments;
  std::vector<const char *> operands; ///< of the node, by argument; the table first
};

const std::vector<IndexFunction> &indexFunctions() {
  const auto needed = [](const char *name) { return Argument{name, operand, false, ""}; };
  const auto optional = [](const char *name, const char *given) {
    return Argument{name, operand, true, given};
  };
  const Argument input = needed("input"), index = needed("index"), src = optional("src", "none"),
                 value = optional("value", "none"), dim = {"dim", dimension, false, ""};
  const auto flag = [](const char *name, const char *given) {
    return Argument{name, ArgumentType::Bool, true, given};
  };
  static const std::vector<IndexFunction> list = {
      {"gather", "gather", {input, dim, index}, {"input", "index"}},
      {"take_along_dim", "gather", {input, needed("indices"), dim}, {"input", "indices"}},
      {"index_select", "index_select", {input, dim, index}, {"input", "index"}},
      {"embedding",
       "embedding",
       {input, needed("weight"), {"padding_idx", dimension, true, "none"}},
       {"weight", "input"}},
      {"scatter", "scatter", {input, dim, index, src, value}, {"input", "index", "src", "value"}},
      {"scatter_add", "scatter_add", {input, dim, index, src}, {"input", "index", "src"}},
      {"scatter_reduce",
       "scatter_reduce",
       {input,
        dim,
        index,
        src,
        {"reduce", ArgumentType::String, false, ""},
        flag("include_self", "True")},
       {"input", "index", "src"}},
      {"index_add",
       "index_add",
       {input, dim, index, needed("source"), optional("alpha", "1")},
       {"input", "index", "source"}},
      {"index_put",
       "index_put",
       {input, needed("indices"), needed("values"), flag("accumulate", "False")},
       {"input", "indices", "values"}},
  };
  return list;
}

const IndexFunction &functionNamed(const std::string &name) {
  const auto &list = indexFunctions();
  return *std::find_if(list.begin(), list.end(),
                       [&](const IndexFunction &each) { return each.name == name; });
}

bool isFullSlice(const Expr &expr) {
  return expr.kind == ExprKind::Slice &&
         std::all_of(expr.operands.begin(), expr.operands.end(),
                     [](const language::ExprPtr &each) { return !each; });
}

/// The expressions between the brackets.
std::vector<const Expr *> itemsOf(const Expr &index) {
  std::vector<const Expr *> items;
  if (index.kind != ExprKind::Tuple && index.kind != ExprKind::List) {
    return {&index};
  }
  for (const language::ExprPtr &each : index.operands) {
    items.push_back(each.get());
  }
  return items;
}

/// What is neither a position that is known nor a range.
bool isTensorItem(const Expr &item) {
  return item.kind == ExprKind::Name || item.kind == ExprKind::Call ||
         item.kind == ExprKind::Binary || item.kind == ExprKind::Subscript ||
         item.kind == ExprKind::Attribute;
}

} // namespace

bool BodyIndexing::isFunction(const std::string &name) {
  const auto &list = indexFunctions();
  return std::any_of(list.begin(), list.end(),
                     [&](const IndexFunction &each) { return each.name == name; });
}

std::vector<std::string> BodyIndexing::functionNames() {
  std::vector<std::string> names = {"cross_entropy", "nll_loss"};
  for (const IndexFunction &each : indexFunctions()) {
    names.emplace_back(each.name);
  }
  return names;
}

bool BodyIndexing::isIndexed(const Expr &expr) const {
  const std::vector<const Expr *> items = itemsOf(*expr.operands[1]);
  return std::any_of(items.begin(), items.end(), [this](const Expr *item) {
    return isTensorItem(*item) && namesTensor(*item);
  });
}

/// Numbers and sizes are positions that are known.
bool BodyIndexing::namesTensor(const Expr &expr) const {
  if (expr.kind == ExprKind::Name) {
    const std::optional<int> node = body.lookup(expr.text);
    return node && !isNumber(body.op.nodes[static_cast<size_t>(*node)]);
  }
  if (expr.kind == ExprKind::Call && expr.operands[0]->kind == ExprKind::Attribute &&
      BodyCreation::isFunction(expr.operands[0]->text)) {
    return true; // torch.arange(N) // 2
  }
  const bool isOfSizes = (expr.kind == ExprKind::Attribute && expr.text == "shape") ||
                         (expr.kind == ExprKind::Call && body.known.integerOf(expr)) ||
                         (expr.kind == ExprKind::Call && expr.operands[0]->text == "size");
  return !isOfSizes && std::any_of(expr.operands.begin(), expr.operands.end(),
                                   [this](const auto &each) { return each && namesTensor(*each); });
}

std::optional<int> BodyIndexing::subscript(const Expr &expr) {
  std::optional<Node> node = indexNode(expr);
  return node ? body.append(std::move(*node), expr.range) : std::nullopt;
}

std::optional<int> BodyIndexing::replaced(const Expr &expr, int value) {
  std::optional<Node> node = indexNode(expr);
  if (!node) {
    return std::nullopt;
  }
  node->op = "index_put";
  node->inputs.push_back(value);
  node->attributes["accumulate"] = false;
  return body.append(std::move(*node), expr.range);
}

std::optional<Node> BodyIndexing::indexNode(const Expr &expr) {
  const std::optional<int> table = body.read(*expr.operands[0]);
  if (!table) {
    return std::nullopt;
  }
  Node node;
  node.op = "index";
  node.inputs = {*table};
  int64_t before = 0;
  bool hasEllipsis = false, isBehind = false;
  for (const Expr *item : itemsOf(*expr.operands[1])) {
    if (isTensorItem(*item) && !isBehind) {
      const std::optional<int> index = body.read(*item);
      if (!index) {
        return std::nullopt;
      }
      node.inputs.push_back(*index);
      continue;
    }
    const bool isLeading = node.inputs.size() == 1;
    const bool isEllipsis = item->kind == ExprKind::Ellipsis && before == 0 && isLeading;
    isBehind |= !isLeading;
    if (!isEllipsis && !isFullSlice(*item)) {
      fail("E0608", item->range, "an index beside tensors expects ':' or '...'")
          .withHelp("index tensors stand side by side: x[i, j], x[:, i] or x[..., i]");
      return std::nullopt;
    }
    hasEllipsis |= isEllipsis;
    before += isEllipsis || !isLeading ? 0 : 1;
  }
  const auto rank = static_cast<int64_t>(op.nodes[static_cast<size_t>(*table)].shape.size());
  const auto count = static_cast<int64_t>(node.inputs.size()) - 1;
  if (count + before > rank) {
    fail(
        "E0604", expr.range,
        fmt::format("an index of {} dimensions does not fit a tensor of {}", count + before, rank));
    return std::nullopt;
  }
  node.attributes["dim"] = hasEllipsis ? -count : before - rank;
  return node;
}

const Expr *BodyIndexing::argument(const std::string &name) const {
  auto found = given.find(name);
  return found == given.end() ? nullptr : body.resolved(found->second);
}

std::optional<int> BodyIndexing::call(const BodyExpressions::Call &call) {
  const IndexFunction &function = functionNamed(call.function);
  auto matched = body.matched(call, call.function, function.arguments);
  if (!matched) {
    return std::nullopt;
  }
  given = std::move(*matched);
  const SourceRange whole = call.whole->range;
  Node node;
  node.op = function.op;
  if (!readOperands(call, node)) {
    return std::nullopt;
  }
  for (const Argument &each : function.arguments) {
    if (each.type != ArgumentType::Operand &&
        !readAttribute(each, argument(each.name), node, whole)) {
      return std::nullopt;
    }
  }
  setOwnDimension(node);
  if (const Expr *alpha = argument("alpha")) {
    const std::optional<int> factor = body.read(*alpha);
    const std::optional<int> scaled =
        factor ? body.apply("mul", {node.inputs.back(), *factor}, whole) : std::optional<int>();
    if (!scaled) {
      return std::nullopt;
    }
    node.inputs.back() = *scaled;
  }
  return body.append(std::move(node), whole);
}

bool BodyIndexing::readOperands(const BodyExpressions::Call &call, Node &node) {
  const IndexFunction &function = functionNamed(call.function);
  size_t needed = 0;
  for (const char *name : function.operands) {
    const bool isOther = std::string_view(name) == "value"; // of src and value one is given
    needed += isOther ? 0 : 1;
    const Expr *value = argument(name);
    if (!value) {
      continue;
    }
    const bool isList = std::string_view(name) == "indices" && node.op == "index_put";
    for (const Expr *item : isList ? itemsOf(*value) : std::vector<const Expr *>{value}) {
      const std::optional<int> operand = body.read(*item);
      if (!operand) {
        return false;
      }
      node.inputs.push_back(*operand);
    }
  }
  if (node.op == "scatter" && node.inputs.size() > needed) {
    fail("E0608", call.whole->range, "'scatter' expects src or value, but got both");
    return false;
  }
  if (node.inputs.size() < needed) {
    fail("E0608", call.whole->range, fmt::format("'{}' lacks an argument", call.function))
        .withHelp("its form is " + signatureText(call.function, function.arguments));
    return false;
  }
  if (node.op == "embedding" && op.nodes[static_cast<size_t>(node.inputs[0])].shape.size() != 2) {
    fail("E0604", call.whole->range,
         fmt::format("'embedding' expects a matrix of weights, but got {}",
                     text(op.nodes[static_cast<size_t>(node.inputs[0])].shape)));
    return false;
  }
  return true;
}

/// Where it is no argument: rows of a matrix, or the first dimension.
void BodyIndexing::setOwnDimension(Node &node) const {
  const auto rank =
      static_cast<int64_t>(op.nodes[static_cast<size_t>(node.inputs[0])].shape.size());
  if (node.op == "embedding" || node.op == "index_put") {
    node.attributes["dim"] = -rank;
  }
}

bool BodyIndexing::readAttribute(const Argument &argument, const Expr *value, Node &node,
                                 SourceRange range) {
  if (!value) {
    if (!argument.hasDefault) {
      fail("E0608", range, fmt::format("'{}' expects the argument '{}'", node.op, argument.name));
      return false;
    }
    if (argument.type == ArgumentType::Bool) {
      node.attributes[argument.name] = argument.defaultText == "True";
    }
    return true;
  }
  if (argument.type == ArgumentType::Dimension) {
    return readDimension(argument, *value, node);
  }
  static const std::vector<std::string> reductions = {"sum", "prod", "mean", "amax", "amin"};
  const bool isFlag = argument.type == ArgumentType::Bool;
  if (isFlag && value->kind == ExprKind::Bool) {
    node.attributes[argument.name] = value->integer != 0;
    return true;
  }
  if (!isFlag && value->kind == ExprKind::String &&
      std::find(reductions.begin(), reductions.end(), value->text) != reductions.end()) {
    node.attributes[argument.name] = value->text;
    return true;
  }
  fail("E0608", value->range,
       fmt::format("'{}' of '{}' expects {}", argument.name, node.op,
                   isFlag ? "a literal True or False"
                          : "\"sum\", \"prod\", \"mean\", \"amax\" or \"amin\""));
  return false;
}

/// Dimensions become negative, so that they mean the same whatever "..." stands for.
bool BodyIndexing::readDimension(const Argument &argument, const Expr &value, Node &node) {
  const SymbolicShape &table = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  const auto rank = static_cast<int64_t>(table.size());
  const std::optional<int64_t> number = literalInteger(value);
  if (argument.name == "padding_idx" && number) {
    node.attributes[argument.name] = *number;
    return true;
  }
  const bool isOpen = rank > 0 && table[0].isRest();
  const bool isInside = number && *number >= -rank && *number < rank;
  if (!isInside || (isOpen && *number >= 0)) {
    fail(number ? "E0604" : "E0608", value.range,
         fmt::format("'{}' of '{}' expects a literal integer that is a dimension of {}",
                     argument.name, node.op, text(table)))
        .withHelp("count from the end: -1 is the last dimension");
    return false;
  }
  node.attributes[argument.name] = *number < 0 ? *number : *number - rank;
  return true;
}

} // namespace nereid::definition
