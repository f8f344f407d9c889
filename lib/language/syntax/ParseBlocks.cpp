// SPDX-License-Identifier: Apache-2.0
// Statements that own blocks: if, while, for, functions with their decorators and parameters.
#include "lib/language/syntax/ParserCore.h"

namespace nereid::language {

bool Parser::parseBlock(Block &out, std::string_view owner, size_t ownerToken) {
  if (!expectOperator(":", "after " + std::string(owner))) {
    return false;
  }
  if (!is(TokenKind::Newline)) {
    size_t start = pos;
    bool isCompound = isKeyword("if") || isKeyword("for") || isKeyword("while") ||
                      isKeyword("def") || isKeyword("class") || isKeyword("with") ||
                      isKeyword("try");
    if (isCompound) {
      failExpecting("a simple statement on the line of its block");
      return false;
    }
    if (!parseSimpleLine(out)) {
      recover(start, out);
    }
    return true;
  }
  advance();
  if (!is(TokenKind::Indent)) {
    if (is(TokenKind::Error)) {
      failExpecting("");
      return false;
    }
    const Token &token = stream.tokens[ownerToken];
    Diagnostic error =
        makeError("E0102", "expects an indented block after " + std::string(owner) + " of line " +
                               std::to_string(token.line) + ", but got " + describe(current()));
    error.withHelp("indent its statements, or write 'pass'");
    report(rangeOf(current()), std::move(error));
    return false;
  }
  advance();
  parseStatements(out);
  if (is(TokenKind::Dedent)) {
    advance();
  }
  return true;
}

StmtPtr Parser::parseIf() {
  StmtPtr first;
  Stmt *last = nullptr;
  for (int arms = 0;; ++arms) {
    size_t armStart = pos;
    std::string word(spelling(current()));
    advance();
    ExprPtr condition = parseExpression();
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
    if (!isKeyword("elif")) {
      break;
    }
    if (arms >= maxElifs) {
      return report(rangeOf(current()), makeError("E0107", "more than " + std::to_string(maxElifs) +
                                                               " 'elif' in one statement"));
    }
  }
  return parseElse(*last) ? std::move(first) : nullptr;
}

bool Parser::parseElse(Stmt &statement) {
  size_t start = pos;
  return !acceptKeyword("else") || parseBlock(statement.orelse, "the 'else'", start);
}

StmtPtr Parser::parseWhile() {
  size_t start = pos;
  advance();
  ExprPtr condition = parseExpression();
  if (!condition) {
    return nullptr;
  }
  StmtPtr statement = makeStatement(StmtKind::While, start);
  statement->value = std::move(condition);
  bool isWhole = parseBlock(statement->body, "the 'while'", start) && parseElse(*statement);
  return isWhole ? std::move(statement) : nullptr;
}

StmtPtr Parser::parseFor() {
  size_t start = pos;
  advance();
  ExprPtr target = parseTargetList();
  if (!target || !checkTarget(*target, "assign to")) {
    return nullptr;
  }
  if (!acceptKeyword("in")) {
    return failExpecting("'in' after the loop variable");
  }
  ExprPtr iterable = parseExpressionList();
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
StmtPtr Parser::parseOpaqueBlock(size_t start) {
  StmtPtr statement = makeStatement(StmtKind::Opaque, start);
  statement->text = std::string(spelling(current()));
  if (isKeyword("class") && peek(1).kind != TokenKind::Name) {
    advance();
    return failExpecting("a class name");
  }
  if (isKeyword("class")) {
    statement->names.push_back({std::string(spelling(peek(1))), ""});
  }
  do {
    size_t clause = pos;
    std::string word(spelling(current()));
    int open = 0;
    while (!is(TokenKind::Newline) && !is(TokenKind::End) && !is(TokenKind::Error) &&
           !(open == 0 && isOperator(":"))) {
      open += isOperator("(") || isOperator("[") || isOperator("{");
      open -= isOperator(")") || isOperator("]") || isOperator("}");
      advance();
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
           (isKeyword("except") || isKeyword("else") || isKeyword("finally")));
  return statement;
}

/// Whether the decorator that starts at the '@' token `start` is `jit` or `triton.jit`.
bool Parser::decoratorsNameJit(size_t start) const {
  auto isName = [&](size_t token, std::string_view name) {
    return token < stream.tokens.size() && stream.tokens[token].kind == TokenKind::Name &&
           spelling(stream.tokens[token]) == name;
  };
  return isName(start + 1, "jit") || (isName(start + 1, "triton") && isName(start + 3, "jit"));
}

StmtPtr Parser::parseDecorated() {
  size_t start = pos;
  std::vector<ExprPtr> decorators;
  bool isKernel = false;
  while (isOperator("@")) {
    size_t decorator = pos;
    bool isJit = decoratorsNameJit(decorator);
    isKernel |= isJit;
    advance();
    kernelDepth += isJit;
    ExprPtr expression = parseExpression();
    bool isWhole = expression != nullptr;
    if (isWhole && !is(TokenKind::Newline)) {
      failExpecting("the end of the decorator");
      isWhole = false;
    }
    kernelDepth -= isJit;
    if (isWhole) {
      decorators.push_back(std::move(expression));
      advance();
    } else if (lastFailureWasReported) {
      return nullptr;
    } else {
      skipLine(); // somebody else's decorator in Python we do not read: as good as unknown
    }
  }
  if (isKeyword("def")) {
    return parseFunction(start, std::move(decorators));
  }
  if (isKeyword("class") && !isKernel) {
    return parseOpaqueBlock(start);
  }
  kernelDepth += isKernel;
  failExpecting("'def' after the decorators");
  kernelDepth -= isKernel;
  return nullptr;
}

StmtPtr Parser::parseFunction(size_t start, std::vector<ExprPtr> decorators) {
  size_t header = pos;
  advance();
  auto function = std::make_unique<FunctionDef>();
  function->decorators = std::move(decorators);
  bool isKernel = function->isJit();
  kernelDepth += isKernel;
  auto parseRest = [&]() -> StmtPtr {
    if (!is(TokenKind::Name)) {
      return failExpecting("a function name after 'def'");
    }
    function->name = std::string(spelling(current()));
    function->nameRange = rangeOf(current());
    advance();
    if (!parseParams(*function)) {
      return nullptr;
    }
    if (acceptOperator("->") && !(function->returns = parseExpression())) {
      return nullptr;
    }
    StmtPtr statement = makeStatement(StmtKind::FunctionDef, header);
    if (!parseBlock(function->body, "the 'def'", header)) {
      return nullptr;
    }
    statement->function = std::move(function);
    return statement;
  };
  StmtPtr statement = parseRest();
  kernelDepth -= isKernel;
  return statement;
}

bool Parser::parseParams(FunctionDef &function) {
  size_t open = pos;
  if (!expectOperator("(", "after the function's name")) {
    return false;
  }
  while (!isAtClosing(")")) {
    if (!parseParam(function)) {
      return false;
    }
    if (!acceptOperator(",")) {
      break;
    }
  }
  return expectClosing(")", open, "after the parameters");
}

bool Parser::parseParam(FunctionDef &function) {
  size_t start = pos;
  bool isSeparator = isOperatorAt(1, ",") || isOperatorAt(1, ")");
  if ((isOperator("*") || isOperator("/")) && isSeparator) {
    advance(); // keyword-only and positional-only marks: arguments are matched by name anyway
    return true;
  }
  Param param;
  param.isVarArgs = acceptOperator("*");
  param.isKeywordArgs = !param.isVarArgs && acceptOperator("**");
  if (!is(TokenKind::Name)) {
    failExpecting("a parameter name");
    return false;
  }
  if (param.isKeywordArgs && kernelDepth > 0) {
    failUnsupported("a '**' parameter", start, "name every parameter");
    return false;
  }
  param.name = std::string(spelling(current()));
  param.range = rangeOf(current());
  for (const Param &other : function.params) {
    if (other.name == param.name) {
      report(param.range, makeError("E0105", "the parameter '" + param.name + "' stands twice"));
      return false;
    }
  }
  advance();
  if (acceptOperator(":") && !(param.annotation = parseExpression())) {
    return false;
  }
  if (acceptOperator("=") && !(param.defaultValue = parseExpression())) {
    return false;
  }
  bool needsDefault = !param.defaultValue && !param.isVarArgs && !param.isKeywordArgs &&
                      !function.params.empty() && function.params.back().defaultValue;
  if (needsDefault && isReporting()) {
    Diagnostic error =
        makeError("E0105", "the parameter '" + param.name + "' without a default follows '" +
                               function.params.back().name + "' with one");
    error.withHelp("give it a default, or move it forward");
    report(param.range, std::move(error));
    return false;
  }
  function.params.push_back(std::move(param));
  return true;
}

} // namespace nereid::language
