// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/parser/SyntaxErrors.h"

namespace nereid::language {

bool SyntaxErrors::expectOperator(std::string_view op, std::string_view context) {
  if (tokens.acceptOperator(op)) {
    return true;
  }
  std::string expected = "'" + std::string(op) + "'";
  if (!context.empty()) {
    expected += " " + std::string(context);
  }
  failExpecting(expected);
  return false;
}

bool SyntaxErrors::expectClosing(std::string_view op, size_t openToken, std::string_view context) {
  if (tokens.acceptOperator(op)) {
    return true;
  }
  if (tokens.is(TokenKind::Error)) {
    failExpecting("");
    return false;
  }
  const Token &open = tokens.at(openToken);
  bool isMissing =
      tokens.current().isFirstOnLine || tokens.is(TokenKind::Newline) || tokens.is(TokenKind::End);
  Diagnostic error = makeError(isMissing ? "E0104" : "E0105",
                               "expects '" + std::string(op) + "' or ',' " + std::string(context) +
                                   ", but got " + tokens.describe(tokens.current()));
  error.note("'" + std::string(tokens.spelling(open)) + "' was opened at line " +
             std::to_string(open.line) + ", column " + std::to_string(open.column));
  report(tokens.rangeOf(tokens.current()), std::move(error));
  return false;
}

std::nullptr_t SyntaxErrors::report(SourceRange range, Diagnostic diagnostic) {
  lastWasReported = isReporting();
  if (lastWasReported) {
    ++count;
    if (count <= maxReports) {
      diags.add(std::move(diagnostic.at(path, tokens.wholeText(), range)));
    }
  }
  return nullptr;
}

std::nullptr_t SyntaxErrors::failExpecting(std::string_view expected) {
  const Token &token = tokens.current();
  if (token.kind == TokenKind::Error) {
    return report(tokens.rangeOf(token), tokens.error(token));
  }
  if (token.kind == TokenKind::Indent) {
    return report(tokens.rangeOf(tokens.peek(1)),
                  makeError("E0102", "the line is indented deeper than its block")
                      .withHelp("line it up with the statement above it"));
  }
  std::string_view shown = tokens.spelling(token);
  bool isClosing =
      (shown == ")" || shown == "]" || shown == "}") && token.kind == TokenKind::Operator;
  if (isClosing && expected == "the end of the statement") {
    return report(
        tokens.rangeOf(token),
        makeError("E0104", "'" + std::string(shown) + "' closes a bracket that is not open"));
  }
  Diagnostic error = makeError("E0105", "expects " + std::string(expected) + ", but got " +
                                            tokens.describe(token));
  if (tokens.isOperator("=") && expected.starts_with("':'")) {
    error.withHelp("compare with '=='");
  }
  if (tokens.isOperator(":=")) {
    error.code = "E0111";
    error.withHelp("assign in a statement of its own");
  }
  return report(tokens.rangeOf(token), std::move(error));
}

std::nullptr_t SyntaxErrors::failUnsupported(std::string_view construct, size_t firstToken,
                                             std::string_view help) {
  return report(tokens.rangeOf(tokens.at(firstToken)),
                makeError("E0111", std::string(construct) + " is not part of the kernel language")
                    .withHelp(std::string(help)));
}

} // namespace nereid::language
