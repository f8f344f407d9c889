// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/Parser.h"

#include "lib/language/syntax/WrappedKernels.h"
#include "lib/language/syntax/parser/StatementParser.h"
#include "lib/support/AtomicFile.h"

namespace nereid::language {
namespace {

std::optional<SourceModule> parseText(std::string path, std::string text, Diagnostics &diags,
                                      bool isStrict) {
  if (Status status = normalizeText(path, text); !status) {
    diags.add(std::move(status.error()));
    return std::nullopt;
  }
  SourceModule module;
  module.path = std::move(path);
  module.text = std::move(text);
  TokenCursor tokens(module.text, tokenize(module.text));
  SyntaxErrors errors(module.path, tokens, diags, isStrict);
  ExpressionParser expressions(tokens, errors);
  module.body = StatementParser(tokens, errors, expressions).parseFileBody();
  if (errors.areTooMany()) {
    diags.add(makeError("E0105", "too many syntax errors, the rest of the file is not read"));
  }
  if (errors.hasReported()) {
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
  TokenCursor tokens(normal, tokenizePart(normal, 0, static_cast<uint32_t>(normal.size()), 1, 1));
  SyntaxErrors errors(what, tokens, diags, true);
  if (tokens.is(TokenKind::End)) {
    return errors.failExpecting("an expression");
  }
  ExprPtr expression = ExpressionParser(tokens, errors).parseExpressionList();
  if (expression && !tokens.is(TokenKind::End)) {
    return errors.failExpecting("the end of the expression");
  }
  return expression;
}

} // namespace nereid::language
