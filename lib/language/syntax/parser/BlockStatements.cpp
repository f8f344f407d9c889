// SPDX-License-Identifier: Apache-2.0
// Statements that own blocks: if, while, for, functions with their decorators and parameters.
#include "lib/language/syntax/parser/StatementParser.h"

namespace nereid::language {

bool StatementParser::parseBlock(Block &out, std::string_view owner, size_t ownerToken) {
  if (!errors.expectOperator(":", "after " + std::string(owner))) {
    return false;
  }
  if (!tokens.is(TokenKind::Newline)) {
    size_t start = tokens.position();
    bool isCompound = tokens.isKeyword("if") || tokens.isKeyword("for") ||
                      tokens.isKeyword("while") || tokens.isKeyword("def") ||
                      tokens.isKeyword("class") || tokens.isKeyword("with") ||
                      tokens.isKeyword("try");
    if (isCompound) {
      errors.failExpecting("a simple statement on the line of its block");
      return false;
    }
    if (!parseSimpleLine(out)) {
      recover(start, out);
    }
    return true;
  }
  tokens.advance();
  if (!tokens.is(TokenKind::Indent)) {
    if (tokens.is(TokenKind::Error)) {
      errors.failExpecting("");
      return false;
    }
    const Token &token = tokens.at(ownerToken);
    Diagnostic error = makeError("E0102", "expects an indented block after " + std::string(owner) +
                                              " of line " + std::to_string(token.line) +
                                              ", but got " + tokens.describe(tokens.current()));
    error.withHelp("indent its statements, or write 'pass'");
    errors.report(tokens.rangeOf(tokens.current()), std::move(error));
    return false;
  }
  tokens.advance();
  parseStatements(out);
  if (tokens.is(TokenKind::Dedent)) {
    tokens.advance();
  }
  return true;
}

StmtPtr StatementParser::parseIf() {
  StmtPtr first;
  Stmt *last = nullptr;
  for (int arms = 0;; ++arms) {
    size_t armStart = tokens.position();
    std::string word(tokens.spelling(tokens.current()));
    tokens.advance();
    ExprPtr condition = expressions.parseExpression();
    if (!condition) {
      return nullptr;
    }
    StmtPtr arm = makeStatement(StmtKind::If, armStart);
    arm->value = std::move(condition);
    if (!parseBlock(arm->body, "the '" + word + "'", armStart)) {
      return nullptr;
    }
    Stmt *added = arm.get();
    if (last) {
      last->orelse.push_back(std::move(arm));
    } else {
      first = std::move(arm);
    }
    last = added;
    if (!tokens.isKeyword("elif")) {
      break;
    }
    if (arms >= maxElifs) {
      return errors.report(
          tokens.rangeOf(tokens.current()),
          makeError("E0107", "more than " + std::to_string(maxElifs) + " 'elif' in one statement"));
    }
  }
  return parseElse(*last) ? std::move(first) : nullptr;
}

bool StatementParser::parseElse(Stmt &statement) {
  size_t start = tokens.position();
  return !tokens.acceptKeyword("else") || parseBlock(statement.orelse, "the 'else'", start);
}

StmtPtr StatementParser::parseWhile() {
  size_t start = tokens.position();
  tokens.advance();
  ExprPtr condition = expressions.parseExpression();
  if (!condition) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::While, start);
  statement->value = std::move(condition);
  bool isWhole = parseBlock(statement->body, "the 'while'", start) && parseElse(*statement);
  return isWhole ? std::move(statement) : nullptr;
}

StmtPtr StatementParser::parseFor() {
  size_t start = tokens.position();
  tokens.advance();
  ExprPtr target = expressions.parseTargetList();
  if (!target || !expressions.checkTarget(*target, "assign to")) {
    return nullptr;
  }
  if (!tokens.acceptKeyword("in")) {
    return errors.failExpecting("'in' after the loop variable");
  }
  ExprPtr iterable = expressions.parseExpressionList();
  if (!iterable) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::For, start);
  statement->targets.push_back(std::move(target));
  statement->value = std::move(iterable);
  bool isWhole = parseBlock(statement->body, "the 'for'", start) && parseElse(*statement);
  return isWhole ? std::move(statement) : nullptr;
}

/// `with`, `try` and `class`: the header is passed over, the statements inside are kept; those of a
/// handler apart, so that the body is what runs when nothing is raised.
StmtPtr StatementParser::parseOpaqueBlock(size_t start) {
  StmtPtr statement = makeStatement(StmtKind::Opaque, start);
  statement->text = std::string(tokens.spelling(tokens.current()));
  if (tokens.isKeyword("class") && tokens.peek(1).kind != TokenKind::Name) {
    tokens.advance();
    return errors.failExpecting("a class name");
  }
  if (tokens.isKeyword("class")) {
    statement->names.push_back({std::string(tokens.spelling(tokens.peek(1))), ""});
  }
  do {
    size_t clause = tokens.position();
    std::string word(tokens.spelling(tokens.current()));
    int open = 0;
    while (!tokens.is(TokenKind::Newline) && !tokens.is(TokenKind::End) &&
           !tokens.is(TokenKind::Error) && !(open == 0 && tokens.isOperator(":"))) {
      open += tokens.isOperator("(") || tokens.isOperator("[") || tokens.isOperator("{");
      open -= tokens.isOperator(")") || tokens.isOperator("]") || tokens.isOperator("}");
      tokens.advance();
    }
    Block *suite = &statement->body;
    if (word == "except") {
      statement->orelse.push_back(makeStatement(StmtKind::Opaque, clause));
      statement->orelse.back()->text = word;
      suite = &statement->orelse.back()->body;
    }
    if (!parseBlock(*suite, "the '" + word + "'", clause)) {
      return nullptr;
    }
  } while (statement->text == "try" &&
           (tokens.isKeyword("except") || tokens.isKeyword("else") || tokens.isKeyword("finally")));
  return statement;
}

/// Whether the decorator that starts at the '@' token `start` is `jit` or `triton.jit`.
bool StatementParser::decoratorsNameJit(size_t start) const {
  auto isName = [&](size_t token, std::string_view name) {
    return token < tokens.count() && tokens.at(token).kind == TokenKind::Name &&
           tokens.spelling(tokens.at(token)) == name;
  };
  return isName(start + 1, "jit") || (isName(start + 1, "triton") && isName(start + 3, "jit"));
}

ExprPtr StatementParser::parseDecorator(bool isJit) {
  InKernel inKernel(errors, isJit);
  ExprPtr expression = expressions.parseExpression();
  if (expression && !tokens.is(TokenKind::Newline)) {
    return errors.failExpecting("the end of the decorator");
  }
  return expression;
}

StmtPtr StatementParser::parseDecorated() {
  size_t start = tokens.position();
  std::vector<ExprPtr> decorators;
  bool isKernel = false;
  while (tokens.isOperator("@")) {
    size_t decorator = tokens.position();
    bool isJit = decoratorsNameJit(decorator);
    isKernel |= isJit;
    tokens.advance();
    ExprPtr expression = parseDecorator(isJit);
    if (expression) {
      decorators.push_back(std::move(expression));
      tokens.advance();
    } else if (errors.lastFailureWasReported()) {
      return nullptr;
    } else {
      tokens.skipLine(); // somebody else's decorator in Python we do not read: as good as unknown
    }
  }
  if (tokens.isKeyword("def")) {
    return parseFunction(std::move(decorators));
  }
  if (tokens.isKeyword("class") && !isKernel) {
    return parseOpaqueBlock(start);
  }
  InKernel inKernel(errors, isKernel);
  return errors.failExpecting("'def' after the decorators");
}

StmtPtr StatementParser::parseFunction(std::vector<ExprPtr> decorators) {
  size_t header = tokens.position();
  tokens.advance();
  auto function = std::make_unique<FunctionDef>();
  function->decorators = std::move(decorators);
  InKernel inKernel(errors, function->isJit());
  if (!tokens.is(TokenKind::Name)) {
    return errors.failExpecting("a function name after 'def'");
  }
  function->name = std::string(tokens.spelling(tokens.current()));
  function->nameRange = tokens.rangeOf(tokens.current());
  tokens.advance();
  if (!parseParams(*function)) {
    return nullptr;
  }
  if (tokens.acceptOperator("->") && !(function->returns = expressions.parseExpression())) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::FunctionDef, header);
  if (!parseBlock(function->body, "the 'def'", header)) {
    return nullptr;
  }
  statement->function = std::move(function);
  return statement;
}

bool StatementParser::parseParams(FunctionDef &function) {
  size_t open = tokens.position();
  if (!errors.expectOperator("(", "after the function's name")) {
    return false;
  }
  while (!tokens.isAtClosing(")")) {
    if (!parseParam(function)) {
      return false;
    }
    if (!tokens.acceptOperator(",")) {
      break;
    }
  }
  return errors.expectClosing(")", open, "after the parameters");
}

bool StatementParser::parseParam(FunctionDef &function) {
  size_t start = tokens.position();
  bool isSeparator = tokens.isOperatorAt(1, ",") || tokens.isOperatorAt(1, ")");
  if ((tokens.isOperator("*") || tokens.isOperator("/")) && isSeparator) {
    tokens
        .advance(); // keyword-only and positional-only marks: arguments are matched by name anyway
    return true;
  }
  Param param;
  param.isVarArgs = tokens.acceptOperator("*");
  param.isKeywordArgs = !param.isVarArgs && tokens.acceptOperator("**");
  if (!tokens.is(TokenKind::Name)) {
    errors.failExpecting("a parameter name");
    return false;
  }
  if (param.isKeywordArgs && errors.isInKernel()) {
    errors.failUnsupported("a '**' parameter", start, "name every parameter");
    return false;
  }
  param.name = std::string(tokens.spelling(tokens.current()));
  param.range = tokens.rangeOf(tokens.current());
  for (const Param &other : function.params) {
    if (other.name == param.name) {
      errors.report(param.range,
                    makeError("E0105", "the parameter '" + param.name + "' stands twice"));
      return false;
    }
  }
  tokens.advance();
  if (tokens.acceptOperator(":") && !(param.annotation = expressions.parseExpression())) {
    return false;
  }
  if (tokens.acceptOperator("=") && !(param.defaultValue = expressions.parseExpression())) {
    return false;
  }
  bool needsDefault = !param.defaultValue && !param.isVarArgs && !param.isKeywordArgs &&
                      !function.params.empty() && function.params.back().defaultValue;
  if (needsDefault && errors.isReporting()) {
    Diagnostic error =
        makeError("E0105", "the parameter '" + param.name + "' without a default follows '" +
                               function.params.back().name + "' with one");
    error.withHelp("give it a default, or move it forward");
    errors.report(param.range, std::move(error));
    return false;
  }
  function.params.push_back(std::move(param));
  return true;
}

} // namespace nereid::language
