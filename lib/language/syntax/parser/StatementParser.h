// SPDX-License-Identifier: Apache-2.0
// Statements of Python. StatementParser.cpp has those of one line, BlockStatements.cpp those that
// own blocks, Recovery.cpp what follows an error. A rule that fails has reported why (once) and
// returns null.
#pragma once

#include "lib/language/syntax/parser/ExpressionParser.h"

namespace nereid::language {

class StatementParser {
public:
  StatementParser(TokenCursor &tokens, SyntaxErrors &errors, ExpressionParser &expressions)
      : tokens(tokens), errors(errors), expressions(expressions) {}

  std::vector<StmtPtr> parseFileBody();

private:
  using Block = std::vector<StmtPtr>;

  bool parseStatement(Block &out);
  void parseStatements(Block &out);
  bool parseSimpleLine(Block &out);
  StmtPtr parseSimple();
  StmtPtr parseAssignmentOrExpression();
  StmtPtr parseAssignChain(ExprPtr first, size_t start);
  StmtPtr parseImport();
  StmtPtr parseImportFrom();
  bool parseImportNames(Stmt &statement);
  bool parseDottedName(std::string &out);
  StmtPtr parseOpaqueSimple();
  StmtPtr makeStatement(StmtKind kind, size_t start) const;

  bool parseBlock(Block &out, std::string_view owner, size_t ownerToken);
  StmtPtr parseIf();
  StmtPtr parseWhile();
  StmtPtr parseFor();
  bool parseElse(Stmt &statement);
  ExprPtr parseDecorator(bool isJit);
  StmtPtr parseDecorated();
  StmtPtr parseFunction(std::vector<ExprPtr> decorators);
  bool parseParams(FunctionDef &function);
  bool parseParam(FunctionDef &function);
  bool decoratorsNameJit(size_t start) const;
  StmtPtr parseOpaqueBlock(size_t start);

  void recover(size_t statementStart, Block &out);
  void skipContinuationClauses(bool parseThem);
  StmtPtr takeOpaque(size_t statementStart);

  static constexpr int maxElifs = 200; ///< an elif is a nested If

  TokenCursor &tokens;
  SyntaxErrors &errors;
  ExpressionParser &expressions;
};

} // namespace nereid::language
