// SPDX-License-Identifier: Apache-2.0
// Statements of one line: assignments, imports, return and the like, and the loop over statements.
#include "lib/language/syntax/ParserCore.h"

#include <algorithm>

namespace nereid::language {
namespace {

constexpr std::string_view augmentedOperators[] = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", ">>=", "<<=", "&=", "^=", "|=", "@="};

const char *nameOfKind(const Expr &expression) {
  switch (expression.kind) {
  case ExprKind::Call:
    return "a call";
  case ExprKind::Integer:
  case ExprKind::Float:
  case ExprKind::String:
  case ExprKind::FString:
  case ExprKind::Bool:
  case ExprKind::None:
  case ExprKind::Ellipsis:
    return "a literal";
  case ExprKind::Compare:
  case ExprKind::ChainedCompare:
    return "a comparison";
  default:
    return "an expression";
  }
}

} // namespace

StmtPtr Parser::makeStatement(StmtKind kind, size_t start) const {
  auto statement = std::make_unique<Stmt>();
  statement->kind = kind;
  statement->range = rangeFrom(start);
  return statement;
}

void Parser::parseStatements(Block &out) {
  while (!is(TokenKind::Dedent) && !is(TokenKind::End)) {
    if (reportCount >= maxReports) {
      pos = stream.tokens.size() - 1;
      return;
    }
    size_t start = pos;
    if (!parseStatement(out)) {
      recover(start, out);
    }
  }
}

bool Parser::parseStatement(Block &out) {
  if (is(TokenKind::Newline)) { // left behind by a line that held only an error
    advance();
    return true;
  }
  if (is(TokenKind::Indent)) {
    if (!isReporting()) {
      advance();
      parseStatements(out);
      advance();
      return true;
    }
    failExpecting("a statement");
    return false;
  }
  StmtPtr statement;
  size_t start = pos;
  if (isOperator("@")) {
    statement = parseDecorated();
  } else if (isKeyword("def")) {
    statement = parseFunction(start, {});
  } else if (isKeyword("if")) {
    statement = parseIf();
  } else if (isKeyword("while")) {
    statement = parseWhile();
  } else if (isKeyword("for")) {
    statement = parseFor();
  } else if (isKeyword("with") || isKeyword("try") || isKeyword("class")) {
    statement = parseOpaqueBlock(start);
  } else if (isKeyword("async")) {
    advance();
    failUnsupported("'async'", start, "");
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

bool Parser::parseSimpleLine(Block &out) {
  size_t firstNew = out.size();
  do {
    StmtPtr statement = parseSimple();
    if (!statement) {
      out.resize(firstNew);
      return false;
    }
    out.push_back(std::move(statement));
  } while (acceptOperator(";") && !is(TokenKind::Newline));
  if (is(TokenKind::Newline)) {
    advance();
    return true;
  }
  failExpecting("the end of the statement");
  out.resize(firstNew);
  return false;
}

StmtPtr Parser::parseSimple() {
  size_t start = pos;
  if (acceptKeyword("pass")) {
    return makeStatement(StmtKind::Pass, start);
  }
  if (acceptKeyword("break")) {
    return makeStatement(StmtKind::Break, start);
  }
  if (acceptKeyword("continue")) {
    return makeStatement(StmtKind::Continue, start);
  }
  if (isKeyword("import")) {
    return parseImport();
  }
  if (isKeyword("from")) {
    return parseImportFrom();
  }
  if (isKeyword("del") || isKeyword("global") || isKeyword("nonlocal")) {
    return parseOpaqueSimple();
  }
  StmtKind kind = isKeyword("return")   ? StmtKind::Return
                  : isKeyword("raise")  ? StmtKind::Raise
                  : isKeyword("assert") ? StmtKind::Assert
                                        : StmtKind::ExprStmt;
  if (kind == StmtKind::ExprStmt) {
    return parseAssignmentOrExpression();
  }
  advance();
  ExprPtr value, message;
  bool isBare = is(TokenKind::Newline) || isOperator(";");
  if (!isBare || kind == StmtKind::Assert) {
    value = kind == StmtKind::Return ? parseExpressionList() : parseExpression();
    if (!value) {
      return nullptr;
    }
  }
  if (kind == StmtKind::Assert && acceptOperator(",") && !(message = parseExpression())) {
    return nullptr;
  }
  if (kind == StmtKind::Raise && acceptKeyword("from") && !parseExpression()) {
    return nullptr; // the cause changes nothing here and is not kept
  }
  StmtPtr statement = makeStatement(kind, start);
  statement->value = std::move(value);
  statement->message = std::move(message);
  return statement;
}

StmtPtr Parser::parseOpaqueSimple() {
  size_t start = pos;
  std::string word(spelling(current()));
  advance();
  if (!parseExpressionList()) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::Opaque, start);
  statement->text = std::move(word);
  return statement;
}

bool Parser::checkTarget(const Expr &target, std::string_view verb) {
  switch (target.kind) {
  case ExprKind::Name:
  case ExprKind::Attribute:
  case ExprKind::Subscript:
    return true;
  case ExprKind::Starred:
    return checkTarget(*target.operands[0], verb);
  case ExprKind::Tuple:
  case ExprKind::List:
    return std::all_of(target.operands.begin(), target.operands.end(),
                       [&](const ExprPtr &part) { return checkTarget(*part, verb); });
  default:
    break;
  }
  Diagnostic error = makeError("E0105", "cannot " + std::string(verb) + " " + nameOfKind(target));
  error.withHelp("put a name, 'object.name' or 'object[index]' here");
  report(target.range, std::move(error));
  return false;
}

StmtPtr Parser::parseAssignmentOrExpression() {
  size_t start = pos;
  ExprPtr first = parseExpressionList();
  if (!first) {
    return nullptr;
  }
  if (isOperator("=")) {
    return parseAssignChain(std::move(first), start);
  }
  bool isAugmented = is(TokenKind::Operator) &&
                     std::find(std::begin(augmentedOperators), std::end(augmentedOperators),
                               spelling(current())) != std::end(augmentedOperators);
  if (isAugmented) {
    std::string_view op = spelling(current());
    bool isPlain = first->kind != ExprKind::Tuple && first->kind != ExprKind::List &&
                   first->kind != ExprKind::Starred;
    if (!isPlain) {
      return report(first->range, makeError("E0105", "'" + std::string(op) +
                                                         "' expects one target, but got several"));
    }
    if (!checkTarget(*first, "assign to")) {
      return nullptr;
    }
    advance();
    ExprPtr value = parseExpressionList();
    if (!value) {
      return nullptr;
    }
    StmtPtr statement = makeStatement(StmtKind::AugAssign, start);
    statement->text = std::string(op.substr(0, op.size() - 1));
    statement->targets.push_back(std::move(first));
    statement->value = std::move(value);
    return statement;
  }
  if (isOperator(":") && first->kind != ExprKind::Tuple && first->kind != ExprKind::Call) {
    if (!checkTarget(*first, "annotate")) {
      return nullptr;
    }
    advance();
    ExprPtr annotation = parseExpression(), value;
    if (!annotation || (acceptOperator("=") && !(value = parseExpressionList()))) {
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

StmtPtr Parser::parseAssignChain(ExprPtr first, size_t start) {
  std::vector<ExprPtr> targets;
  ExprPtr value = std::move(first);
  while (acceptOperator("=")) {
    if (!checkTarget(*value, "assign to")) {
      return nullptr;
    }
    targets.push_back(std::move(value));
    value = parseExpressionList();
    if (!value) {
      return nullptr;
    }
  }
  StmtPtr statement = makeStatement(StmtKind::Assign, start);
  statement->targets = std::move(targets);
  statement->value = std::move(value);
  return statement;
}

bool Parser::parseDottedName(std::string &out) {
  do {
    if (!is(TokenKind::Name)) {
      failExpecting("a module name");
      return false;
    }
    out += spelling(current());
    advance();
    if (!isOperator(".")) {
      return true;
    }
    out += '.';
  } while (acceptOperator("."));
  return true;
}

StmtPtr Parser::parseImport() {
  size_t start = pos;
  advance();
  std::vector<ImportName> names;
  do {
    ImportName name;
    if (!parseDottedName(name.name)) {
      return nullptr;
    }
    if (acceptKeyword("as")) {
      if (!is(TokenKind::Name)) {
        return failExpecting("a name after 'as'");
      }
      name.alias = std::string(spelling(current()));
      advance();
    }
    names.push_back(std::move(name));
  } while (acceptOperator(","));
  StmtPtr statement = makeStatement(StmtKind::Import, start);
  statement->names = std::move(names);
  return statement;
}

StmtPtr Parser::parseImportFrom() {
  size_t start = pos;
  advance();
  std::string module;
  while (isOperator(".") || isOperator("...")) {
    module += spelling(current());
    advance();
  }
  if ((module.empty() || !isKeyword("import")) && !parseDottedName(module)) {
    return nullptr;
  }
  if (!acceptKeyword("import")) {
    return failExpecting("'import'");
  }
  StmtPtr statement = makeStatement(StmtKind::ImportFrom, start);
  if (!parseImportNames(*statement)) {
    return nullptr;
  }
  statement->range = rangeFrom(start);
  statement->text = std::move(module);
  return statement;
}

bool Parser::parseImportNames(Stmt &statement) {
  if (acceptOperator("*")) {
    statement.names.push_back({"*", {}});
    return true;
  }
  size_t open = pos;
  bool isBracketed = acceptOperator("(");
  do {
    if (isBracketed && isOperator(")")) {
      break;
    }
    if (!is(TokenKind::Name)) {
      failExpecting("a name to import");
      return false;
    }
    ImportName name{std::string(spelling(current())), {}};
    advance();
    if (acceptKeyword("as")) {
      if (!is(TokenKind::Name)) {
        failExpecting("a name after 'as'");
        return false;
      }
      name.alias = std::string(spelling(current()));
      advance();
    }
    statement.names.push_back(std::move(name));
  } while (acceptOperator(","));
  return !isBracketed || expectClosing(")", open, "after the imported names");
}

} // namespace nereid::language
