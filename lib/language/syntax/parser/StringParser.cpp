// SPDX-License-Identifier: Apache-2.0
#include "lib/language/syntax/parser/StringParser.h"

#include "lib/language/syntax/Literals.h"
#include "lib/language/syntax/StringExtent.h"
#include "lib/language/syntax/parser/ExpressionParser.h"

#include <algorithm>

namespace nereid::language {

/// Place of text inside a literal, which may span lines.
SourceRange StringParser::rangeInside(size_t token, size_t begin, size_t end) const {
  const Token &whole = tokens.at(token);
  SourceRange range{whole.line, whole.column, 0};
  for (size_t i = whole.begin; i < begin; ++i) {
    bool isNewLine = tokens.wholeText()[i] == '\n';
    range.line += isNewLine;
    range.column = isNewLine ? 1 : range.column + 1;
  }
  size_t lineEnd = std::min(tokens.wholeText().find('\n', begin), tokens.wholeText().size());
  size_t last = std::max(std::min(end, lineEnd), begin + 1);
  range.endColumn = range.column + static_cast<int>(last - begin);
  return range;
}

ExprPtr StringParser::parseStrings() {
  size_t start = tokens.position();
  auto whole = std::make_unique<Expr>();
  whole->kind = ExprKind::FString;
  bool isFormatted = false;
  while (tokens.is(TokenKind::String)) {
    size_t token = tokens.position();
    StringOpening opening = readStringOpening(tokens.wholeText(), tokens.current().begin);
    isFormatted |= opening.isFormatted;
    if (opening.isBytes) {
      return errors.failUnsupported("a bytes literal", token, "remove the 'b'");
    }
    if (!appendStringPart(*whole, token)) {
      return nullptr;
    }
    tokens.moveTo(token + 1);
  }
  if (!isFormatted) {
    return build.leaf(ExprKind::String, start,
                      whole->operands.empty() ? std::string()
                                              : std::move(whole->operands.front()->text));
  }
  return build.sealed(std::move(whole), start);
}

bool StringParser::appendStringPart(Expr &whole, size_t token) {
  const Token &literal = tokens.at(token);
  StringOpening opening = readStringOpening(tokens.wholeText(), literal.begin);
  size_t begin = literal.begin + opening.length(), end = literal.end - opening.quoteLength;
  return opening.isFormatted ? appendFormatted(whole, token, begin, end, opening.isRaw)
                             : appendLiteralText(whole, token, begin, end, opening.isRaw, false);
}

/// Adds literal tokens.wholeText(), to the String part before it if there is one.
bool StringParser::appendLiteralText(Expr &whole, size_t token, size_t begin, size_t end,
                                     bool isRaw, bool isFormatted) {
  std::string inside(tokens.wholeText().substr(begin, end - begin));
  if (isFormatted) { // "{{" and "}}" stand for one brace
    size_t to = 0;
    for (size_t i = 0; i < inside.size(); ++i) {
      inside[to++] = inside[i];
      i += inside[i] == '{' || inside[i] == '}';
    }
    inside.resize(to);
  }
  std::string value;
  EscapeError error = appendUnescaped(value, inside, isRaw);
  if (!error.message.empty()) {
    errors.report(rangeInside(token, begin + error.begin, begin + error.end),
                  makeError("E0108", error.message).withHelp("write '\\\\' for a backslash"));
    return false;
  }
  if (!whole.operands.empty() && whole.operands.back()->kind == ExprKind::String) {
    whole.operands.back()->text += value;
    return true;
  }
  ExprPtr part = build.leaf(ExprKind::String, token, std::move(value));
  part->range = rangeInside(token, begin, end);
  whole.operands.push_back(std::move(part));
  return true;
}

bool StringParser::appendFormatted(Expr &whole, size_t token, size_t insideBegin, size_t insideEnd,
                                   bool isRaw) {
  size_t plainBegin = insideBegin;
  auto flush = [&](size_t plainEnd) {
    return plainBegin == plainEnd ||
           appendLiteralText(whole, token, plainBegin, plainEnd, isRaw, true);
  };
  for (size_t i = insideBegin; i < insideEnd;) {
    char c = tokens.wholeText()[i];
    if (c != '{' && c != '}') {
      i += c == '\\' && !isRaw && i + 1 < insideEnd && tokens.wholeText()[i + 1] != '{' &&
                   tokens.wholeText()[i + 1] != '}'
               ? 2
               : 1;
      continue;
    }
    if (i + 1 < insideEnd && tokens.wholeText()[i + 1] == c) {
      i += 2;
      continue;
    }
    FieldExtent field = findField(tokens.wholeText(), i, insideEnd);
    bool isWhole = c == '{' && field.end != std::string_view::npos;
    if (!isWhole || field.expressionBegin == field.expressionEnd) {
      std::string message = isWhole    ? "the braces of the f-string hold no expression"
                            : c == '{' ? "the '{' of the f-string is not closed"
                                       : "the '}' of the f-string closes nothing";
      errors.report(rangeInside(token, i, i + 1),
                    makeError("E0108", message).withHelp("write '{{' or '}}' for a plain brace"));
      return false;
    }
    if (!flush(i)) {
      return false;
    }
    ExprPtr value = parseField(token, field.expressionBegin, field.expressionEnd);
    if (!value) {
      return false;
    }
    auto callNamed = [&](std::string name, std::vector<ExprPtr> arguments) {
      ExprPtr callee = build.leaf(ExprKind::Name, token, std::move(name));
      arguments.insert(arguments.begin(), std::move(callee));
      return build.node(ExprKind::Call, token, {}, std::move(arguments));
    };
    if (field.showsItself) {
      std::string label(tokens.wholeText().substr(field.expressionBegin,
                                                  field.expressionEnd - field.expressionBegin));
      whole.operands.push_back(build.leaf(ExprKind::String, token, label + "="));
    }
    bool showsRepr = field.conversion == 'r' || field.conversion == 'a' ||
                     (field.showsItself && !field.hasSpec && field.conversion == 0);
    if (showsRepr && value) {
      value = callNamed("repr", list(std::move(value)));
    }
    if (field.hasSpec && value) {
      ExprPtr spec = build.leaf(ExprKind::FString, token);
      if (!appendFormatted(*spec, token, field.specBegin, field.specEnd, isRaw)) {
        return false;
      }
      bool isPlain = spec->operands.size() == 1 && spec->operands[0]->kind == ExprKind::String;
      spec = isPlain ? std::move(spec->operands[0]) : build.sealed(std::move(spec), token);
      value = spec ? callNamed("format", list(std::move(value), std::move(spec))) : nullptr;
    }
    if (!value) {
      return false;
    }
    whole.operands.push_back(std::move(value));
    i = plainBegin = field.end;
  }
  return flush(insideEnd);
}

/// Parses the expression of a replacement field in place, so that its ranges are the file's.
ExprPtr StringParser::parseField(size_t token, size_t begin, size_t end) {
  ExpressionParser::Level level(expressions);
  if (level.isTooDeep()) {
    return build.failTooDeep(token);
  }
  SourceRange place = rangeInside(token, begin, end);
  TokenStream inner = tokenizePart(tokens.wholeText(), static_cast<uint32_t>(begin),
                                   static_cast<uint32_t>(end), place.line, place.column);
  InPart part(tokens, std::move(inner));
  ExprPtr expression = expressions.parseExpressionList();
  if (expression && !tokens.is(TokenKind::End)) {
    return errors.failExpecting("the end of the expression in the f-string");
  }
  return expression;
}

} // namespace nereid::language
