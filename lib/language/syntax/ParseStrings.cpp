// SPDX-License-Identifier: Apache-2.0
// String literals: adjacent ones joined, escapes resolved, f-strings taken apart. A format spec
// becomes the call format(x, "spec"), `!r` becomes repr(x), so that no meaning is lost on the way.
#include "lib/language/syntax/Literals.h"
#include "lib/language/syntax/ParserCore.h"
#include "lib/language/syntax/StringExtent.h"

#include <algorithm>

namespace nereid::language {

/// Place of text inside a literal, which may span lines.
SourceRange Parser::rangeInside(size_t token, size_t begin, size_t end) const {
  const Token &whole = stream.tokens[token];
  SourceRange range{whole.line, whole.column, 0};
  for (size_t i = whole.begin; i < begin; ++i) {
    bool isNewLine = text[i] == '\n';
    range.line += isNewLine;
    range.column = isNewLine ? 1 : range.column + 1;
  }
  size_t lineEnd = std::min(text.find('\n', begin), text.size());
  size_t last = std::max(std::min(end, lineEnd), begin + 1);
  range.endColumn = range.column + static_cast<int>(last - begin);
  return range;
}

ExprPtr Parser::parseStrings() {
  size_t start = pos;
  auto whole = std::make_unique<Expr>();
  whole->kind = ExprKind::FString;
  bool isFormatted = false;
  while (is(TokenKind::String)) {
    size_t token = pos;
    StringOpening opening = readStringOpening(text, current().begin);
    isFormatted |= opening.isFormatted;
    if (opening.isBytes) {
      return failUnsupported("a bytes literal", token, "remove the 'b'");
    }
    if (!appendStringPart(*whole, token)) {
      return nullptr;
    }
    pos = token + 1;
  }
  if (!isFormatted) {
    return makeLeaf(ExprKind::String, start,
                    whole->operands.empty() ? std::string()
                                            : std::move(whole->operands.front()->text));
  }
  return sealed(std::move(whole), start);
}

bool Parser::appendStringPart(Expr &whole, size_t token) {
  const Token &literal = stream.tokens[token];
  StringOpening opening = readStringOpening(text, literal.begin);
  size_t begin = literal.begin + opening.length(), end = literal.end - opening.quoteLength;
  return opening.isFormatted ? appendFormatted(whole, token, begin, end, opening.isRaw)
                             : appendLiteralText(whole, token, begin, end, opening.isRaw, false);
}

/// Adds literal text, to the String part before it if there is one.
bool Parser::appendLiteralText(Expr &whole, size_t token, size_t begin, size_t end, bool isRaw,
                               bool isFormatted) {
  std::string inside(text.substr(begin, end - begin));
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
    report(rangeInside(token, begin + error.begin, begin + error.end),
           makeError("E0108", error.message).withHelp("write '\\\\' for a backslash"));
    return false;
  }
  if (!whole.operands.empty() && whole.operands.back()->kind == ExprKind::String) {
    whole.operands.back()->text += value;
    return true;
  }
  ExprPtr part = makeLeaf(ExprKind::String, token, std::move(value));
  part->range = rangeInside(token, begin, end);
  whole.operands.push_back(std::move(part));
  return true;
}

bool Parser::appendFormatted(Expr &whole, size_t token, size_t insideBegin, size_t insideEnd,
                             bool isRaw) {
  size_t plainBegin = insideBegin;
  auto flush = [&](size_t plainEnd) {
    return plainBegin == plainEnd ||
           appendLiteralText(whole, token, plainBegin, plainEnd, isRaw, true);
  };
  for (size_t i = insideBegin; i < insideEnd;) {
    char c = text[i];
    if (c != '{' && c != '}') {
      i += c == '\\' && !isRaw && i + 1 < insideEnd && text[i + 1] != '{' && text[i + 1] != '}' ? 2
                                                                                                : 1;
      continue;
    }
    if (i + 1 < insideEnd && text[i + 1] == c) {
      i += 2;
      continue;
    }
    FieldExtent field = findField(text, i, insideEnd);
    bool isWhole = c == '{' && field.end != std::string_view::npos;
    if (!isWhole || field.expressionBegin == field.expressionEnd) {
      std::string message = isWhole    ? "the braces of the f-string hold no expression"
                            : c == '{' ? "the '{' of the f-string is not closed"
                                       : "the '}' of the f-string closes nothing";
      report(rangeInside(token, i, i + 1),
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
      ExprPtr callee = makeLeaf(ExprKind::Name, token, std::move(name));
      arguments.insert(arguments.begin(), std::move(callee));
      return makeNode(ExprKind::Call, token, {}, std::move(arguments));
    };
    if (field.showsItself) {
      std::string label(
          text.substr(field.expressionBegin, field.expressionEnd - field.expressionBegin));
      whole.operands.push_back(makeLeaf(ExprKind::String, token, label + "="));
    }
    bool showsRepr = field.conversion == 'r' || field.conversion == 'a' ||
                     (field.showsItself && !field.hasSpec && field.conversion == 0);
    if (showsRepr && value) {
      value = callNamed("repr", list(std::move(value)));
    }
    if (field.hasSpec && value) {
      ExprPtr spec = makeLeaf(ExprKind::FString, token);
      if (!appendFormatted(*spec, token, field.specBegin, field.specEnd, isRaw)) {
        return false;
      }
      bool isPlain = spec->operands.size() == 1 && spec->operands[0]->kind == ExprKind::String;
      spec = isPlain ? std::move(spec->operands[0]) : sealed(std::move(spec), token);
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
ExprPtr Parser::parseField(size_t token, size_t begin, size_t end) {
  Level level(*this);
  if (level.isTooDeep()) {
    return failTooDeep(token);
  }
  SourceRange place = rangeInside(token, begin, end);
  TokenStream inner = tokenizePart(text, static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                                   place.line, place.column);
  size_t outerPos = pos;
  std::swap(stream, inner);
  pos = 0;
  ExprPtr expression = parseExpressionList();
  if (expression && !is(TokenKind::End)) {
    failExpecting("the end of the expression in the f-string");
    expression = nullptr;
  }
  std::swap(stream, inner);
  pos = outerPos;
  return expression;
}

} // namespace nereid::language
