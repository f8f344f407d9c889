// SPDX-License-Identifier: Apache-2.0
// Entry points, error reporting and recovery. Inside kernels an error is reported and parsing goes
// on with the next statement; outside, the statement becomes Opaque and nothing is said.
#include "lib/language/syntax/ParserCore.h"
#include "lib/language/syntax/WrappedKernels.h"
#include "lib/support/AtomicFile.h"

namespace nereid::language {
namespace {

constexpr size_t longestShown = 40;

bool isAnyOf(std::string_view word, std::initializer_list<std::string_view> words) {
  for (std::string_view candidate : words) {
    if (word == candidate) {
      return true;
    }
  }
  return false;
}

std::optional<SourceModule> parseText(std::string path, std::string text, Diagnostics &diags,
                                      bool isStrict) {
  if (Status status = normalizeText(path, text); !status) {
    diags.add(std::move(status.error()));
    return std::nullopt;
  }
  SourceModule module;
  module.path = std::move(path);
  module.text = std::move(text);
  Parser parser(module.path, module.text, tokenize(module.text), diags, isStrict);
  module.body = parser.parseFileBody();
  if (parser.hasReported()) {
    return std::nullopt;
  }
  defineWrappedKernels(module);
  return module;
}

} // namespace

std::optional<SourceModule> parseModule(std::string path, std::string text, Diagnostics &diags) {
  return parseText(std::move(path), std::move(text), diags, false);
}

std::optional<SourceModule> parseStatements(std::string path, std::string text,
                                            Diagnostics &diags) {
  return parseText(std::move(path), std::move(text), diags, true);
}

std::optional<SourceModule> parseFile(const std::string &path, Diagnostics &diags) {
  Result<std::string> text = readTextFile(path, maxFileBytes);
  if (!text) {
    diags.add(text.error()).withHelp("check the path; relative ones start at the current folder");
    return std::nullopt;
  }
  return parseModule(path, std::move(*text), diags);
}

ExprPtr parseExpression(std::string_view what, std::string_view text, Diagnostics &diags) {
  std::string normal(text);
  if (Status status = normalizeText(what, normal); !status) {
    diags.add(std::move(status.error()));
    return nullptr;
  }
  TokenStream stream = tokenizePart(normal, 0, static_cast<uint32_t>(normal.size()), 1, 1);
  return Parser(what, normal, std::move(stream), diags, true).parseOnlyExpression();
}

ExprPtr Parser::parseOnlyExpression() {
  if (is(TokenKind::End)) {
    return failExpecting("an expression");
  }
  ExprPtr expression = parseExpressionList();
  if (expression && !is(TokenKind::End)) {
    return failExpecting("the end of the expression");
  }
  return expression;
}

std::vector<StmtPtr> Parser::parseFileBody() {
  Block out;
  while (!is(TokenKind::End) && reportCount < maxReports) {
    if (is(TokenKind::Dedent)) {
      advance();
      continue;
    }
    parseStatements(out);
  }
  if (reportCount >= maxReports) {
    diags.add(makeError("E0105", "too many syntax errors, the rest of the file is not read"));
  }
  return out;
}

bool Parser::acceptOperator(std::string_view op) {
  bool found = isOperator(op);
  pos += found;
  return found;
}

bool Parser::acceptKeyword(std::string_view word) {
  bool found = isKeyword(word);
  pos += found;
  return found;
}

bool Parser::expectOperator(std::string_view op, std::string_view context) {
  if (acceptOperator(op)) {
    return true;
  }
  std::string expected = "'" + std::string(op) + "'";
  if (!context.empty()) {
    expected += " " + std::string(context);
  }
  failExpecting(expected);
  return false;
}

bool Parser::expectClosing(std::string_view op, size_t openToken, std::string_view context) {
  if (acceptOperator(op)) {
    return true;
  }
  if (is(TokenKind::Error)) {
    failExpecting("");
    return false;
  }
  const Token &open = stream.tokens[openToken];
  bool isMissing = current().isFirstOnLine || is(TokenKind::Newline) || is(TokenKind::End);
  Diagnostic error = makeError(isMissing ? "E0104" : "E0105",
                               "expects '" + std::string(op) + "' or ',' " + std::string(context) +
                                   ", but got " + describe(current()));
  error.note("'" + std::string(spelling(open)) + "' was opened at line " +
             std::to_string(open.line) + ", column " + std::to_string(open.column));
  report(rangeOf(current()), std::move(error));
  return false;
}

SourceRange Parser::rangeOf(const Token &token) const {
  std::string_view shown = spelling(token);
  size_t length = std::min(shown.find('\n'), shown.size());
  int width = static_cast<int>(std::max<size_t>(length, 1));
  return {token.line, token.column, token.column + width};
}

SourceRange Parser::rangeFrom(size_t firstToken) const {
  const Token &first = stream.tokens[firstToken];
  size_t last = pos > firstToken ? pos - 1 : firstToken;
  if (stream.tokens[last].line != first.line) {
    last = firstToken;
    while (last + 1 < stream.tokens.size() && stream.tokens[last + 1].line == first.line) {
      ++last;
    }
  }
  while (last > firstToken && stream.tokens[last].kind == TokenKind::Newline) {
    --last;
  }
  return {first.line, first.column, rangeOf(stream.tokens[last]).endColumn};
}

std::string Parser::describe(const Token &token) const {
  switch (token.kind) {
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Indent:
    return "an indented line";
  case TokenKind::Dedent:
    return "the end of the block";
  case TokenKind::End:
    return "the end of the text";
  case TokenKind::Keyword:
    return "the keyword '" + std::string(spelling(token)) + "'";
  case TokenKind::String:
    return "a string";
  default:
    break;
  }
  std::string_view shown = spelling(token);
  if (shown.size() <= longestShown) {
    return "'" + std::string(shown) + "'";
  }
  size_t cut = longestShown;
  while (cut > 0 && (static_cast<unsigned char>(shown[cut]) & 0xC0) == 0x80) {
    --cut;
  }
  return "'" + std::string(shown.substr(0, cut)) + "…'";
}

std::nullptr_t Parser::report(SourceRange range, Diagnostic diagnostic) {
  lastFailureWasReported = isReporting();
  if (lastFailureWasReported) {
    ++reportCount;
    if (reportCount <= maxReports) {
      diags.add(std::move(diagnostic.at(path, text, range)));
    }
  }
  return nullptr;
}

std::nullptr_t Parser::failExpecting(std::string_view expected) {
  const Token &token = current();
  if (token.kind == TokenKind::Error) {
    return report(rangeOf(token), stream.errors[token.error]);
  }
  if (token.kind == TokenKind::Indent) {
    return report(rangeOf(peek(1)), makeError("E0102", "the line is indented deeper than its block")
                                        .withHelp("line it up with the statement above it"));
  }
  std::string_view shown = spelling(token);
  bool isClosing = isAnyOf(shown, {")", "]", "}"}) && token.kind == TokenKind::Operator;
  if (isClosing && expected == "the end of the statement") {
    return report(rangeOf(token), makeError("E0104", "'" + std::string(shown) +
                                                         "' closes a bracket that is not open"));
  }
  Diagnostic error =
      makeError("E0105", "expects " + std::string(expected) + ", but got " + describe(token));
  if (isOperator("=") && expected.starts_with("':'")) {
    error.withHelp("compare with '=='");
  }
  if (isOperator(":=")) {
    error.code = "E0111";
    error.withHelp("assign in a statement of its own");
  }
  return report(rangeOf(token), std::move(error));
}

std::nullptr_t Parser::failUnsupported(std::string_view construct, size_t firstToken,
                                       std::string_view help) {
  return report(rangeOf(stream.tokens[firstToken]),
                makeError("E0111", std::string(construct) + " is not part of the kernel language")
                    .withHelp(std::string(help)));
}

std::nullptr_t Parser::failTooDeep(size_t token) {
  return report(rangeOf(stream.tokens[token]),
                makeError("E0107", "the expression is nested too deeply, more than " +
                                       std::to_string(maxDepth) + " levels or " +
                                       std::to_string(maxHeight) + " chained operations")
                    .withHelp("split it with intermediate names"));
}

void Parser::skipLine() {
  while (!is(TokenKind::Newline) && !is(TokenKind::End) && !is(TokenKind::Dedent) &&
         !is(TokenKind::Indent)) {
    advance();
  }
  if (is(TokenKind::Newline)) {
    advance();
  }
}

void Parser::skipNestedBlock() {
  int open = 0;
  do {
    open += is(TokenKind::Indent);
    open -= is(TokenKind::Dedent);
    advance();
  } while (open > 0 && !is(TokenKind::End));
}

/// Passes `elif`, `else`, `except`, `finally` and their blocks after a statement that was given up.
void Parser::skipContinuationClauses(bool parseThem) {
  while (is(TokenKind::Keyword) &&
         isAnyOf(spelling(current()), {"elif", "else", "except", "finally"})) {
    skipLine();
    if (is(TokenKind::Indent) && parseThem) {
      Block discarded;
      advance();
      parseStatements(discarded);
      if (is(TokenKind::Dedent)) {
        advance();
      }
    } else if (is(TokenKind::Indent)) {
      skipNestedBlock();
    }
  }
}

StmtPtr Parser::takeOpaque(size_t statementStart) {
  pos = statementStart;
  bool isDecorated = isOperator("@");
  std::string firstWord(spelling(current()).substr(0, longestShown));
  bool isDone = false;
  while (!isDone && !is(TokenKind::End)) {
    bool isHeader = isKeyword("def") || isKeyword("class") || isKeyword("async");
    isDone = !isDecorated || isHeader || (!isOperator("@") && !is(TokenKind::Error));
    size_t before = pos;
    skipLine();
    if (is(TokenKind::Indent)) {
      skipNestedBlock();
    }
    if (pos == before) {
      advance();
      break;
    }
  }
  skipContinuationClauses(false);
  size_t end = pos;
  pos = statementStart + 1;
  StmtPtr statement = makeStatement(StmtKind::Opaque, statementStart);
  pos = end;
  statement->text = std::move(firstWord);
  return statement;
}

void Parser::recover(size_t statementStart, Block &out) {
  bool wasReported = lastFailureWasReported;
  lastFailureWasReported = false;
  if (!wasReported) {
    out.push_back(takeOpaque(statementStart));
    return;
  }
  TokenKind before = pos > statementStart ? stream.tokens[pos - 1].kind : TokenKind::End;
  bool isAtNextStatement = before == TokenKind::Newline || before == TokenKind::Dedent;
  if (!isAtNextStatement || is(TokenKind::Indent)) {
    skipLine();
  }
  if (is(TokenKind::Indent)) {
    Block discarded;
    advance();
    parseStatements(discarded);
    if (is(TokenKind::Dedent)) {
      advance();
    }
  }
  skipContinuationClauses(true);
  if (pos == statementStart && !is(TokenKind::Dedent)) {
    advance();
  }
}

} // namespace nereid::language
