// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/PythonText.h"

#include <fmt/format.h>

namespace nereid::generator {

using language::Expr;
using language::ExprKind;
using language::FunctionDef;
using language::SourceModule;
using language::Stmt;
using language::StmtKind;
using language::StmtPtr;

namespace {

/// Substitution can double a text with every line of a file; nothing that is compared is as long.
constexpr size_t longestText = 4000;
constexpr int mostInlinedCalls = 200;

std::string numberText(const Expr &expr) {
  return expr.kind == ExprKind::Float ? fmt::format("{}", expr.real) : std::to_string(expr.integer);
}

/// Order between sizes has no NaN, so that its inverse is exact.
bool isAboutSizes(const std::string &text) {
  return text.find(".dim()") != std::string::npos || text.find(".shape") != std::string::npos ||
         text.find(".numel()") != std::string::npos;
}

std::string inverse(const std::string &op, bool isExact) {
  static const std::map<std::string, std::string> always = {{"==", "!="},     {"!=", "=="},
                                                            {"in", "not in"}, {"not in", "in"},
                                                            {"is", "is not"}, {"is not", "is"}};
  static const std::map<std::string, std::string> order = {
      {"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}};
  if (auto found = always.find(op); found != always.end()) {
    return found->second;
  }
  auto found = order.find(op);
  return isExact && found != order.end() ? found->second : "";
}

bool needsParentheses(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Binary:
  case ExprKind::Compare:
  case ExprKind::ChainedCompare:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Conditional:
  case ExprKind::Lambda:
    return true;
  case ExprKind::Unary:
    return expr.text == "not";
  default:
    return false;
  }
}

} // namespace

std::string PythonText::operand(const Expr &expr, const Meanings &names) {
  std::string inner = text(expr, names);
  return needsParentheses(expr) ? "(" + inner + ")" : inner;
}

std::string PythonText::text(const Expr &expr, const Meanings &names) {
  std::string whole = plainText(expr, names);
  return whole.size() > longestText ? "..." : whole;
}

std::string PythonText::list(const Expr &expr, size_t first, const Meanings &names) {
  std::string items;
  for (size_t i = first; i < expr.operands.size(); ++i) {
    items += (i > first ? ", " : "") + (expr.operands[i] ? text(*expr.operands[i], names) : "");
  }
  return items;
}

std::string PythonText::compareText(std::string op, std::string left, std::string right) const {
  if (isCanonical && (op == ">" || op == ">=")) {
    op = op == ">" ? "<" : "<=";
    std::swap(left, right);
  }
  if (isCanonical && (op == "==" || op == "!=") && right < left) {
    std::swap(left, right);
  }
  return left + " " + op + " " + right;
}

std::string PythonText::condition(const Expr &expr, bool isWanted, const Meanings &names) {
  if (isWanted || expr.kind != ExprKind::Compare) {
    return isWanted ? text(expr, names) : "not " + operand(expr, names);
  }
  std::string left = operand(*expr.operands[0], names), right = operand(*expr.operands[1], names);
  std::string op = inverse(expr.text, isAboutSizes(left + right));
  return op.empty() ? "not (" + compareText(expr.text, left, right) + ")"
                    : compareText(op, left, right);
}

/// The value of a call to a function of this file that does nothing but return it.
std::string PythonText::inlined(const Expr &call, const Meanings &names) {
  const Expr &callee = *call.operands[0];
  const FunctionDef *function = callee.kind == ExprKind::Name && !names.contains(callee.text)
                                    ? finalFunction(module, callee.text)
                                    : nullptr;
  bool isValue = function != nullptr && !function->body.empty() &&
                 function->body.back()->kind == StmtKind::Return && function->body.back()->value;
  for (size_t i = 0; isValue && i + 1 < function->body.size(); ++i) {
    const Stmt &statement = *function->body[i];
    isValue = statement.kind == StmtKind::ExprStmt && statement.value->kind == ExprKind::String;
  }
  if (!isValue || ++inlinedCalls > mostInlinedCalls) {
    return "";
  }
  std::optional<Meanings> bound = arguments(*function, call, names);
  return bound ? operand(*function->body.back()->value, *bound) : "";
}

std::string PythonText::callText(const Expr &expr, const Meanings &names) {
  const Expr &callee = *expr.operands[0];
  bool hasOne = expr.operands.size() == 2 && expr.keywords.empty();
  if (isCanonical) {
    if (std::string value = inlined(expr, names); !value.empty()) {
      return value;
    }
    if (hasOne && callee.kind == ExprKind::Name && callee.text == "len") {
      std::string argument = text(*expr.operands[1], names);
      if (argument.ends_with(".shape")) {
        return argument.substr(0, argument.size() - 6) + ".dim()";
      }
    }
    if (callee.kind == ExprKind::Attribute && callee.text == "size" && expr.keywords.empty()) {
      std::string shape = operand(*callee.operands[0], names) + ".shape";
      return hasOne ? shape + "[" + text(*expr.operands[1], names) + "]" : shape;
    }
  }
  std::string arguments = list(expr, 1, names);
  for (const language::Keyword &keyword : expr.keywords) {
    arguments += (arguments.empty() ? "" : ", ") +
                 (keyword.name.empty() ? "**" : keyword.name + "=") + text(*keyword.value, names);
  }
  return operand(callee, names) + "(" + arguments + ")";
}

std::string PythonText::plainText(const Expr &expr, const Meanings &names) {
  auto part = [&](size_t i) { return operand(*expr.operands[i], names); };
  auto joined = [&](const std::string &word) {
    std::string all;
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      all += (i ? " " + word + " " : "") + part(i);
    }
    return all;
  };
  switch (expr.kind) {
  case ExprKind::Name: {
    auto found = names.find(expr.text);
    return found == names.end() ? expr.text : found->second;
  }
  case ExprKind::Integer:
  case ExprKind::Float:
    return isCanonical ? numberText(expr) : expr.text;
  case ExprKind::String:
    return "\"" + expr.text + "\"";
  case ExprKind::FString:
    return "f\"" + list(expr, 0, names) + "\"";
  case ExprKind::Bool:
    return expr.integer ? "True" : "False";
  case ExprKind::None:
    return "None";
  case ExprKind::Ellipsis:
    return "...";
  case ExprKind::Attribute:
    return part(0) + (isCanonical && expr.text == "ndim" ? ".dim()" : "." + expr.text);
  case ExprKind::Subscript: {
    const Expr &index = *expr.operands[1];
    return part(0) + "[" +
           (index.kind == ExprKind::Tuple ? list(index, 0, names) : text(index, names)) + "]";
  }
  case ExprKind::Slice: {
    std::string ends;
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      bool isStep = i == 2;
      ends += i == 1 || (isStep && expr.operands[i]) ? ":" : "";
      ends += expr.operands[i] ? text(*expr.operands[i], names) : "";
    }
    return ends;
  }
  case ExprKind::Tuple:
    return "(" + list(expr, 0, names) + (expr.operands.size() == 1 ? ",)" : ")");
  case ExprKind::List:
    return "[" + list(expr, 0, names) + "]";
  case ExprKind::Dict:
    return "{" + list(expr, 0, names) + "}";
  case ExprKind::Unary:
    return expr.text + (expr.text == "not" ? " " : "") + part(0);
  case ExprKind::Binary:
    return part(0) + " " + expr.text + " " + part(1);
  case ExprKind::Compare:
    return compareText(expr.text, part(0), part(1));
  case ExprKind::ChainedCompare:
    return joined("?");
  case ExprKind::And:
    return joined("and");
  case ExprKind::Or:
    return joined("or");
  case ExprKind::Conditional:
    return part(1) + " if " + part(0) + " else " + part(2);
  case ExprKind::Call:
    return callText(expr, names);
  case ExprKind::Starred:
    return "*" + part(0);
  case ExprKind::Lambda:
    return "lambda " + part(0);
  case ExprKind::ListComp:
    return "[" + part(0) + " for ...]";
  }
  return "";
}

const FunctionDef *finalFunction(const SourceModule &module, const std::string &name) {
  const FunctionDef *found = nullptr;
  for (const StmtPtr &statement : module.body) {
    if (statement->kind == StmtKind::FunctionDef && statement->function->name == name) {
      found = statement->function.get();
    }
    for (const language::ExprPtr &target : statement->targets) {
      bool isReplaced = target->kind == ExprKind::Name && target->text == name;
      found = isReplaced ? nullptr : found;
    }
    for (const language::ImportName &import : statement->names) {
      found = (import.alias.empty() ? import.name : import.alias) == name ? nullptr : found;
    }
  }
  bool isConditional = module.find(name) != found;
  return found == nullptr || found->isJit() || isConditional ? nullptr : found;
}

PythonText::PythonText(const SourceModule &module, Spelling spelling)
    : module(module), isCanonical(spelling == Spelling::Canonical) {
  if (isCanonical) {
    readTopLevel();
  }
}

void PythonText::readTopLevel() {
  for (const StmtPtr &statement : module.body) {
    for (const language::ImportName &import : statement->names) {
      bool isFrom = statement->kind == StmtKind::ImportFrom;
      const std::string &name = import.alias.empty() ? import.name : import.alias;
      if (isFrom || !import.alias.empty()) {
        fileNames[name] = isFrom ? statement->text + "." + import.name : import.name;
      }
    }
    bool isAssignment = statement->kind == StmtKind::Assign && statement->value &&
                        statement->targets.size() == 1 &&
                        statement->targets[0]->kind == ExprKind::Name;
    if (isAssignment) {
      fileNames[statement->targets[0]->text] = operand(*statement->value, fileNames);
    }
  }
}

std::optional<Meanings> PythonText::arguments(const FunctionDef &function, const Expr &call,
                                              const Meanings &names) {
  Meanings bound = fileNames;
  const size_t given = call.operands.size() - 1;
  if (given > function.params.size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < function.params.size(); ++i) {
    const language::Param &parameter = function.params[i];
    const Expr *value = i < given ? call.operands[i + 1].get() : nullptr;
    for (const language::Keyword &keyword : call.keywords) {
      value = keyword.name == parameter.name ? keyword.value.get() : value;
    }
    bool isDefault = value == nullptr;
    value = isDefault ? parameter.defaultValue.get() : value;
    bool isPlain = value != nullptr && value->kind != ExprKind::Starred && !parameter.isVarArgs &&
                   !parameter.isKeywordArgs;
    if (!isPlain) {
      return std::nullopt;
    }
    bound[parameter.name] = operand(*value, isDefault ? fileNames : names);
  }
  return bound;
}

} // namespace nereid::generator
