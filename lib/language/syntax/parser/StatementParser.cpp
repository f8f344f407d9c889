// SPDX-License-Identifier: Apache-2.0
// The loop over statements, and those of one line: assignments, imports, return and the like.
#include "lib/language/syntax/parser/StatementParser.h"

#include <algorithm>

namespace nereid::language {
namespace {

constexpr std::string_view augmentedOperators[] = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", ">>=", "<<=", "&=", "^=", "|=", "@="};

} // namespace

std::vector<StmtPtr> StatementParser::parseFileBody() {
  Block out;
  while (!tokens.is(TokenKind::End) && !errors.areTooMany()) {
    if (tokens.is(TokenKind::Dedent)) {
      tokens.advance();
      continue;
    }
    parseStatements(out);
  }
  return out;
}

StmtPtr StatementParser::makeStatement(StmtKind kind, size_t start) const {
  auto statement = std::make_unique<Stmt>();
  statement->kind = kind;
  statement->range = tokens.rangeFrom(start);
  return statement;
}

void StatementParser::parseStatements(Block &out) {
  while (!tokens.is(TokenKind::Dedent) && !tokens.is(TokenKind::End)) {
    if (errors.areTooMany()) {
      tokens.moveTo(tokens.count() - 1);
      return;
    }
    size_t start = tokens.position();
    if (!parseStatement(out)) {
      recover(start, out);
    }
  }
}

bool StatementParser::parseStatement(Block &out) {
  if (tokens.is(TokenKind::Newline)) { // left behind by a line that held only an error
    tokens.advance();
    return true;
  }
  if (tokens.is(TokenKind::Indent)) {
    if (!errors.isReporting()) {
      tokens.advance();
      parseStatements(out);
      tokens.advance();
      return true;
    }
    errors.failExpecting("a statement");
    return false;
  }
  StmtPtr statement;
  size_t start = tokens.position();
  if (tokens.isOperator("@")) {
    statement = parseDecorated();
  } else if (tokens.isKeyword("def")) {
    statement = parseFunction({});
  } else if (tokens.isKeyword("if")) {
    statement = parseIf();
  } else if (tokens.isKeyword("while")) {
    statement = parseWhile();
  } else if (tokens.isKeyword("for")) {
    statement = parseFor();
  } else if (tokens.isKeyword("with") || tokens.isKeyword("try") || tokens.isKeyword("class")) {
    statement = parseOpaqueBlock(start);
  } else if (tokens.isKeyword("async")) {
    tokens.advance();
    errors.failUnsupported("'async'", start, "");
    return false;
  } else {
    return parseSimpleLine(out);
  }
  if (!statement) {
    return false;
  }
  out.push_back(std::move(statement));
  return true;
}

bool StatementParser::parseSimpleLine(Block &out) {
  size_t firstNew = out.size();
  do {
    StmtPtr statement = parseSimple();
    if (!statement) {
      out.resize(firstNew);
      return false;
    }
    out.push_back(std::move(statement));
  } while (tokens.acceptOperator(";") && !tokens.is(TokenKind::Newline));
  if (tokens.is(TokenKind::Newline)) {
    tokens.advance();
    return true;
  }
  errors.failExpecting("the end of the statement");
  out.resize(firstNew);
  return false;
}

StmtPtr StatementParser::parseSimple() {
  size_t start = tokens.position();
  if (tokens.acceptKeyword("pass")) {
    return makeStatement(StmtKind::Pass, start);
  }
  if (tokens.acceptKeyword("break")) {
    return makeStatement(StmtKind::Break, start);
  }
  if (tokens.acceptKeyword("continue")) {
    return makeStatement(StmtKind::Continue, start);
  }
  if (tokens.isKeyword("import")) {
    return parseImport();
  }
  if (tokens.isKeyword("from")) {
    return parseImportFrom();
  }
  if (tokens.isKeyword("del") || tokens.isKeyword("global") || tokens.isKeyword("nonlocal")) {
    return parseOpaqueSimple();
  }
  StmtKind kind = tokens.isKeyword("return")   ? StmtKind::Return
                  : tokens.isKeyword("raise")  ? StmtKind::Raise
                  : tokens.isKeyword("assert") ? StmtKind::Assert
                                               : StmtKind::ExprStmt;
  if (kind == StmtKind::ExprStmt) {
    return parseAssignmentOrExpression();
  }
  tokens.advance();
  ExprPtr value, message;
  bool isBare = tokens.is(TokenKind::Newline) || tokens.isOperator(";");
  if (!isBare || kind == StmtKind::Assert) {
    value = kind == StmtKind::Return ? expressions.parseExpressionList()
                                     : expressions.parseExpression();
    if (!value) {
      return nullptr;
    }
  }
  if (kind == StmtKind::Assert && tokens.acceptOperator(",") &&
      !(message = expressions.parseExpression())) {
    return nullptr;
  }
  if (kind == StmtKind::Raise && tokens.acceptKeyword("from") && !expressions.parseExpression()) {
    return nullptr; // the cause changes nothing here and is not kept
  }
  StmtPtr statement = makeStatement(kind, start);
  statement->value = std::move(value);
  statement->message = std::move(message);
  return statement;
}

StmtPtr StatementParser::parseOpaqueSimple() {
  size_t start = tokens.position();
  std::string word(tokens.spelling(tokens.current()));
  tokens.advance();
  if (!expressions.parseExpressionList()) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::Opaque, start);
  statement->text = std::move(word);
  return statement;
}

StmtPtr StatementParser::parseAssignmentOrExpression() {
  size_t start = tokens.position();
  ExprPtr first = expressions.parseExpressionList();
  if (!first) {
    return nullptr;
  }
  if (tokens.isOperator("=")) {
    return parseAssignChain(std::move(first), start);
  }
  bool isAugmented = tokens.is(TokenKind::Operator) &&
                     std::find(std::begin(augmentedOperators), std::end(augmentedOperators),
                               tokens.spelling(tokens.current())) != std::end(augmentedOperators);
  if (isAugmented) {
    std::string_view op = tokens.spelling(tokens.current());
    bool isPlain = first->kind != ExprKind::Tuple && first->kind != ExprKind::List &&
                   first->kind != ExprKind::Starred;
    if (!isPlain) {
      return errors.report(
          first->range,
          makeError("E0105", "'" + std::string(op) + "' expects one target, but got several"));
    }
    if (!expressions.checkTarget(*first, "assign to")) {
      return nullptr;
    }
    tokens.advance();
    ExprPtr value = expressions.parseExpressionList();
    if (!value) {
      return nullptr;
    }
    StmtPtr statement = makeStatement(StmtKind::AugAssign, start);
    statement->text = std::string(op.substr(0, op.size() - 1));
    statement->targets.push_back(std::move(first));
    statement->value = std::move(value);
    return statement;
  }
  if (tokens.isOperator(":") && first->kind != ExprKind::Tuple && first->kind != ExprKind::Call) {
    if (!expressions.checkTarget(*first, "annotate")) {
      return nullptr;
    }
    tokens.advance();
    ExprPtr annotation = expressions.parseExpression(), value;
    if (!annotation ||
        (tokens.acceptOperator("=") && !(value = expressions.parseExpressionList()))) {
      return nullptr;
    }
    StmtPtr statement = makeStatement(StmtKind::AnnAssign, start);
    statement->targets.push_back(std::move(first));
    statement->annotation = std::move(annotation);
    statement->value = std::move(value);
    return statement;
  }
  StmtPtr statement = makeStatement(StmtKind::ExprStmt, start);
  statement->value = std::move(first);
  return statement;
}

StmtPtr StatementParser::parseAssignChain(ExprPtr first, size_t start) {
  std::vector<ExprPtr> targets;
  ExprPtr value = std::move(first);
  while (tokens.acceptOperator("=")) {
    if (!expressions.checkTarget(*value, "assign to")) {
      return nullptr;
    }
    targets.push_back(std::move(value));
    value = expressions.parseExpressionList();
    if (!value) {
      return nullptr;
    }
  }
  StmtPtr statement = makeStatement(StmtKind::Assign, start);
  statement->targets = std::move(targets);
  statement->value = std::move(value);
  return statement;
}

bool StatementParser::parseDottedName(std::string &out) {
  do {
    if (!tokens.is(TokenKind::Name)) {
      errors.failExpecting("a module name");
      return false;
    }
    out += tokens.spelling(tokens.current());
    tokens.advance();
    if (!tokens.isOperator(".")) {
      return true;
    }
    out += '.';
  } while (tokens.acceptOperator("."));
  return true;
}

StmtPtr StatementParser::parseImport() {
  size_t start = tokens.position();
  tokens.advance();
  std::vector<ImportName> names;
  do {
    ImportName name;
    if (!parseDottedName(name.name)) {
      return nullptr;
    }
    if (tokens.acceptKeyword("as")) {
      if (!tokens.is(TokenKind::Name)) {
        return errors.failExpecting("a name after 'as'");
      }
      name.alias = std::string(tokens.spelling(tokens.current()));
      tokens.advance();
    }
    names.push_back(std::move(name));
  } while (tokens.acceptOperator(","));
  StmtPtr statement = makeStatement(StmtKind::Import, start);
  statement->names = std::move(names);
  return statement;
}

StmtPtr StatementParser::parseImportFrom() {
  size_t start = tokens.position();
  tokens.advance();
  std::string module;
  while (tokens.isOperator(".") || tokens.isOperator("...")) {
    module += tokens.spelling(tokens.current());
    tokens.advance();
  }
  if ((module.empty() || !tokens.isKeyword("import")) && !parseDottedName(module)) {
    return nullptr;
  }
  if (!tokens.acceptKeyword("import")) {
    return errors.failExpecting("'import'");
  }
  StmtPtr statement = makeStatement(StmtKind::ImportFrom, start);
  if (!parseImportNames(*statement)) {
    return nullptr;
  }
  statement->range = tokens.rangeFrom(start);
  statement->text = std::move(module);
  return statement;
}

bool StatementParser::parseImportNames(Stmt &statement) {
  if (tokens.acceptOperator("*")) {
    statement.names.push_back({"*", {}});
    return true;
  }
  size_t open = tokens.position();
  bool isBracketed = tokens.acceptOperator("(");
  do {
    if (isBracketed && tokens.isOperator(")")) {
      break;
    }
    if (!tokens.is(TokenKind::Name)) {
      errors.failExpecting("a name to import");
      return false;
    }
    ImportName name{std::string(tokens.spelling(tokens.current())), {}};
    tokens.advance();
    if (tokens.acceptKeyword("as")) {
      if (!tokens.is(TokenKind::Name)) {
        errors.failExpecting("a name after 'as'");
        return false;
      }
      name.alias = std::string(tokens.spelling(tokens.current()));
      tokens.advance();
    }
    statement.names.push_back(std::move(name));
  } while (tokens.acceptOperator(","));
  return !isBracketed || errors.expectClosing(")", open, "after the imported names");
}

} // namespace nereid::language
