// SPDX-License-Identifier: Apache-2.0
// Expressions of programs' text: sizes, index expressions and values. What declares and stores is
// read in Read.cpp.
#pragma once

#include "lib/generator/program/Program.h"
#include "lib/language/syntax/Ast.h"

namespace nereid::generator::text {

/// Thrown while a text is read and caught by readProgram, so that expressions can be read as
/// values.
struct Complaint {
  SourceRange range;
  std::string message;
};
[[noreturn]] void refuse(const language::Expr &at, std::string message);

bool isCall(const language::Expr &e);
const std::string &callee(const language::Expr &call);
/// A positional argument; refused when there are fewer.
const language::Expr &argument(const language::Expr &call, size_t number);
/// null: not given.
const language::Expr *keyword(const language::Expr &call, const std::string &name);
bool isSet(const language::Expr &call, const std::string &name, bool otherwise);
std::string string(const language::Expr &e);
DType dtype(const language::Expr &e);
/// Of a tuple or a list; anything else alone.
std::vector<const language::Expr *> elements(const language::Expr &e);

class ExpressionReader {
public:
  explicit ExpressionReader(Program &program) : program(program) {}

  BufferId buffer(const language::Expr &e) const;
  IteratorId iterator(const language::Expr &e) const;
  int64_t integer(const language::Expr &e);
  Polynomial polynomial(const language::Expr &e);
  std::vector<Polynomial> polynomials(const language::Expr &e);
  Affine affine(const language::Expr &e);
  std::vector<Affine> indices(const language::Expr &e);
  const Node *value(const language::Expr &e);

  std::map<std::string, const Node *> values;  ///< that have a name
  std::map<std::string, Polynomial> quotients; ///< also those that are no symbols of their own

private:
  const Node *literal(const language::Expr &e, DType type);
  const Node *map(const language::Expr &e, const std::string &name,
                  std::vector<const Node *> inputs);
  const Node *reduction(const language::Expr &e);
  const Node *called(const language::Expr &e);
  NodeParts ref(const language::Expr &e);
  NodeParts scan(const language::Expr &e);
  NodeParts order(const language::Expr &e);
  NodeParts pick(const language::Expr &e);
  NodeParts random(const language::Expr &e);

  Program &program;
};

} // namespace nereid::generator::text
