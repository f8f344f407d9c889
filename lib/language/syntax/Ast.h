// SPDX-License-Identifier: Apache-2.0
// Syntax tree of the Python subset that kernels, decorators and definition bodies are written in.
// Plain data, no types, no MLIR: the parser makes it, emit/ and definition/ read it. Whatever a
// file holds outside `@triton.jit` functions and cannot be parsed becomes an Opaque statement.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nereid::language {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

enum class ExprKind {
  Name,    // text
  Integer, // integer (two's complement of the literal; literals above 2^64-1 are E0106);
           // text keeps the spelling
  Float,   // real; text keeps the spelling
  String,  // text, escapes resolved
  FString, // operands: String parts and expressions in order; `{x:spec}` is the call
           // format(x, "spec"), `{x!r}` is repr(x), `{x=}` a String "x=" and repr(x)
  Bool,    // integer 0 or 1
  None,
  Ellipsis,
  Attribute,      // operands[0] . text
  Subscript,      // operands[0] [ operands[1] ]; several indices are one Tuple
  Slice,          // operands[0..2] start, stop, step; each may be null
  Tuple,          // operands
  List,           // operands
  Dict,           // operands: key0, value0, key1, value1, …
  Unary,          // text: "-", "+", "~", "not"; operands[0]
  Binary,         // text: "+","-","*","/","//","%","**","<<",">>","&","|","^","@"; operands[0..1]
  Compare,        // text: "<","<=",">",">=","==","!=","is","is not","in","not in"; operands[0..1]
  ChainedCompare, // operands; params: the operators between them
  And,
  Or,          // operands (two or more)
  Conditional, // operands: condition, thenValue, elseValue
  Call,        // operands[0] callee, then positional arguments; keywords
  Starred,     // operands[0]
  Lambda,      // params; operands[0] body
  ListComp,    // operands[0] element; comprehension text not kept: clauses below
};

struct Keyword {
  std::string name; // empty for `**value`
  ExprPtr value;
  SourceRange range;
};

struct ComprehensionClause {
  ExprPtr target, iterable;
  std::vector<ExprPtr> conditions;
};

struct Expr {
  ExprKind kind;
  SourceRange range;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  std::vector<ExprPtr> operands;
  std::vector<Keyword> keywords;
  std::vector<std::string> params;          // Lambda, ChainedCompare
  std::vector<ComprehensionClause> clauses; // ListComp
  int height = 1;                           // of this tree; the parser bounds it (E0107)
};

enum class StmtKind {
  FunctionDef, // function
  Return,      // value or null
  Assign,      // targets (a = b = v has two), value
  AugAssign,   // targets[0], text: "+", …, value
  AnnAssign,   // targets[0], annotation, value or null
  For,         // targets[0], value = iterable, body, orelse
  While,       // value = condition, body, orelse
  If,          // value = condition, body, orelse (elif is a nested If)
  ExprStmt,    // value (docstrings included)
  Pass,
  Break,
  Continue,
  Assert,     // value, message or null
  Raise,      // value or null
  Import,     // names: `import a.b as c`
  ImportFrom, // text = module (leading dots kept), names
  Opaque,     // anything that is not of the above: text = its first word; `with`, `try` and
              // `class` keep the statements of their blocks in body; names has a class's own.
              // Of `try`, orelse has the handlers: Opaque statements `except` with a body.
              // Kernels refuse all of them
};

struct ImportName {
  std::string name, alias; // alias empty when there is none
};

struct Param {
  std::string name;
  ExprPtr annotation, defaultValue; // either may be null
  SourceRange range;
  bool isVarArgs = false;     // *args
  bool isKeywordArgs = false; // **kwargs; the parser refuses it in kernels
  /// Annotated as tl.constexpr, tl.constexpr[int] or "tl.constexpr".
  bool isConstexpr() const;
};

/// An annotation that makes a constant.
bool isConstexprAnnotation(const Expr &annotation);

struct FunctionDef {
  std::string name;
  std::vector<ExprPtr> decorators;
  std::vector<Param> params;
  ExprPtr returns;
  std::vector<StmtPtr> body;
  SourceRange nameRange;
  /// Decorated with `triton.jit` or `jit`, called or not, at any place in the decorator list.
  bool isJit() const;
  /// The decorator of this last name, `triton.NAME` or `NAME(…)`; null when there is none.
  const Expr *decorator(std::string_view name) const;
};

struct Stmt {
  StmtKind kind;
  SourceRange range; // of the statement's first line
  std::string text;
  std::vector<ExprPtr> targets;
  ExprPtr value, annotation, message;
  std::vector<StmtPtr> body, orelse;
  std::vector<ImportName> names;
  std::unique_ptr<FunctionDef> function;
};

struct SourceModule {
  std::string path; // as given by the user, for messages
  std::string text; // whole file
  std::vector<StmtPtr> body;
  bool isLibrary = false; // of the embedded standard library: messages point at its caller

  /// A top-level function by name, or null.
  const FunctionDef *find(std::string_view name) const;
  /// Names of the top-level jit functions, in file order.
  std::vector<std::string> jitFunctions() const;
};

} // namespace nereid::language
