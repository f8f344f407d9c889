// SPDX-License-Identifier: Apache-2.0
// Trees as short text, so that a test reads as source → structure.
#pragma once

#include "lib/language/syntax/Parser.h"

#include <string>

namespace nereid::language {

inline std::string dump(const ExprPtr &expr);

inline std::string dumpAll(const std::vector<ExprPtr> &operands, size_t from = 0) {
  std::string out;
  for (size_t i = from; i < operands.size(); ++i) {
    out += " " + dump(operands[i]);
  }
  return out;
}

inline std::string dump(const ExprPtr &expr) {
  if (!expr) {
    return "_";
  }
  const Expr &e = *expr;
  switch (e.kind) {
  case ExprKind::Name:
    return e.text;
  case ExprKind::Integer:
    return std::to_string(e.integer);
  case ExprKind::Float: {
    char buffer[64];
    snprintf(buffer, sizeof(buffer), "%g", e.real);
    return std::string(buffer) + "f";
  }
  case ExprKind::String:
    return "\"" + e.text + "\"";
  case ExprKind::FString:
    return "(fstring" + dumpAll(e.operands) + ")";
  case ExprKind::Bool:
    return e.integer ? "True" : "False";
  case ExprKind::None:
    return "None";
  case ExprKind::Ellipsis:
    return "...";
  case ExprKind::Attribute:
    return "(. " + dump(e.operands[0]) + " " + e.text + ")";
  case ExprKind::Subscript:
    return "(index" + dumpAll(e.operands) + ")";
  case ExprKind::Slice:
    return "(slice" + dumpAll(e.operands) + ")";
  case ExprKind::Tuple:
    return "(tuple" + dumpAll(e.operands) + ")";
  case ExprKind::List:
    return "(list" + dumpAll(e.operands) + ")";
  case ExprKind::Dict:
    return "(dict" + dumpAll(e.operands) + ")";
  case ExprKind::Unary:
  case ExprKind::Binary:
  case ExprKind::Compare:
    return "(" + e.text + dumpAll(e.operands) + ")";
  case ExprKind::ChainedCompare:
    return "(chained" + dumpAll(e.operands) + ")";
  case ExprKind::And:
    return "(and" + dumpAll(e.operands) + ")";
  case ExprKind::Or:
    return "(or" + dumpAll(e.operands) + ")";
  case ExprKind::Conditional:
    return "(if" + dumpAll(e.operands) + ")";
  case ExprKind::Call: {
    std::string out = "(call" + dumpAll(e.operands);
    for (const Keyword &keyword : e.keywords) {
      out += " " + (keyword.name.empty() ? "**" : keyword.name + "=") + dump(keyword.value);
    }
    return out + ")";
  }
  case ExprKind::Starred:
    return "(*" + dumpAll(e.operands) + ")";
  case ExprKind::Lambda: {
    std::string out = "(lambda (";
    for (size_t i = 0; i < e.params.size(); ++i) {
      out += (i ? " " : "") + e.params[i];
    }
    return out + ")" + dumpAll(e.operands) + ")";
  }
  case ExprKind::ListComp: {
    std::string out = "(listcomp" + dumpAll(e.operands);
    for (const ComprehensionClause &clause : e.clauses) {
      out += " for " + dump(clause.target) + " in " + dump(clause.iterable);
      for (const ExprPtr &condition : clause.conditions) {
        out += " if " + dump(condition);
      }
    }
    return out + ")";
  }
  }
  return "?";
}

inline std::string dump(const std::vector<StmtPtr> &block);

inline std::string dump(const Stmt &s) {
  auto withBlocks = [&](std::string head) {
    std::string out = head + " {" + dump(s.body) + "}";
    return s.orelse.empty() ? out : out + " else {" + dump(s.orelse) + "}";
  };
  auto importNames = [&] {
    std::string out;
    for (const ImportName &name : s.names) {
      out += " " + name.name + (name.alias.empty() ? "" : "/" + name.alias);
    }
    return out;
  };
  switch (s.kind) {
  case StmtKind::FunctionDef: {
    std::string out = "def " + s.function->name + "(";
    for (const Param &param : s.function->params) {
      out += out.back() == '(' ? "" : ", ";
      out += (param.isVarArgs ? "*" : param.isKeywordArgs ? "**" : "") + param.name;
      out += param.annotation ? ": " + dump(param.annotation) : "";
      out += param.defaultValue ? " = " + dump(param.defaultValue) : "";
    }
    out += s.function->returns ? ") -> " + dump(s.function->returns) : std::string(")");
    return out + " {" + dump(s.function->body) + "}";
  }
  case StmtKind::Return:
    return "return " + dump(s.value);
  case StmtKind::Assign: {
    std::string out;
    for (const ExprPtr &target : s.targets) {
      out += dump(target) + " = ";
    }
    return out + dump(s.value);
  }
  case StmtKind::AugAssign:
    return dump(s.targets[0]) + " " + s.text + "= " + dump(s.value);
  case StmtKind::AnnAssign:
    return dump(s.targets[0]) + ": " + dump(s.annotation) + " = " + dump(s.value);
  case StmtKind::For:
    return withBlocks("for " + dump(s.targets[0]) + " in " + dump(s.value));
  case StmtKind::While:
    return withBlocks("while " + dump(s.value));
  case StmtKind::If:
    return withBlocks("if " + dump(s.value));
  case StmtKind::ExprStmt:
    return dump(s.value);
  case StmtKind::Pass:
    return "pass";
  case StmtKind::Break:
    return "break";
  case StmtKind::Continue:
    return "continue";
  case StmtKind::Assert:
    return "assert " + dump(s.value) + (s.message ? ", " + dump(s.message) : "");
  case StmtKind::Raise:
    return "raise " + dump(s.value);
  case StmtKind::Import:
    return "import" + importNames();
  case StmtKind::ImportFrom:
    return "from " + s.text + " import" + importNames();
  case StmtKind::Opaque:
    return s.body.empty() ? "opaque " + s.text : withBlocks("opaque " + s.text);
  }
  return "?";
}

inline std::string dump(const std::vector<StmtPtr> &block) {
  std::string out;
  for (const StmtPtr &statement : block) {
    out += (out.empty() ? "" : "; ") + dump(*statement);
  }
  return out;
}

/// Structure of an expression, or the rendered diagnostics.
inline std::string expression(std::string_view text) {
  Diagnostics diags;
  ExprPtr parsed = parseExpression("text", text, diags);
  return parsed ? dump(parsed) : diags.render();
}

/// Structure of a text in which everything must be readable, or the rendered diagnostics.
inline std::string statements(std::string text) {
  Diagnostics diags;
  std::optional<SourceModule> module = parseStatements("k.py", std::move(text), diags);
  return module ? dump(module->body) : diags.render();
}

/// Structure of a file, or the rendered diagnostics.
inline std::string file(std::string text) {
  Diagnostics diags;
  std::optional<SourceModule> module = parseModule("k.py", std::move(text), diags);
  return module ? dump(module->body) : diags.render();
}

} // namespace nereid::language
