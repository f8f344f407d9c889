// SPDX-License-Identifier: Apache-2.0
// Cuts text into tokens in one pass with a bracket depth and a stack of indentations. After an
// unclosed bracket it goes on at the first line that begins with a statement keyword, so that one
// forgotten ')' does not swallow the kernels below it.
#include "lib/language/syntax/Lexer.h"

#include "lib/language/syntax/Characters.h"
#include "lib/language/syntax/StringExtent.h"

#include <algorithm>
#include <array>

namespace nereid::language {
namespace {

constexpr size_t maxErrors = 1000;
constexpr size_t maxIndentations = 100;
constexpr size_t maxBrackets = 1000; // deeper ones are refused by the parser long before

bool isOneOf(std::string_view word, const auto &words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

constexpr std::string_view keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// Words that begin a statement and can never stand inside brackets.
constexpr std::string_view statementWords[] = {
    "def",  "class", "return", "while", "pass",   "break",  "continue", "assert",  "raise",
    "with", "del",   "global", "try",   "except", "import", "finally",  "nonlocal"};

constexpr std::string_view operators[] = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==",
    "!=",  "->",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "@=", ":=",
    "+",   "-",   "*",   "/",   "%",   "@",  "&",  "|",  "^",  "~",  "<",  ">",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "="};

struct Indentation {
  // The depth with tabs to multiples of 8 and with tabs as one column: when the two disagree about
  // deeper or shallower, the text depends on the tab width.
  int wide = 0, narrow = 0;
};

class Lexer {
public:
  Lexer(std::string_view text, uint32_t begin, uint32_t end, int line, int column, bool isPart)
      : text(text.substr(0, end)), at(begin), line(line), lineBegin(begin - (column - 1)),
        isPart(isPart) {}

  TokenStream run() {
    if (!isPart) {
      startLine();
    }
    while (at < text.size()) {
      next();
    }
    finish();
    return std::move(out);
  }

private:
  bool ignoresLines() const { return isPart || !brackets.empty(); }

  Token &push(TokenKind kind, size_t begin, size_t end, int atLine, int column) {
    Token token;
    token.kind = kind;
    token.begin = static_cast<uint32_t>(begin);
    token.end = static_cast<uint32_t>(end);
    token.line = atLine;
    token.column = column;
    token.isFirstOnLine = isFirst;
    if (kind != TokenKind::Indent && kind != TokenKind::Dedent) {
      isFirst = false;
    }
    out.tokens.push_back(token);
    return out.tokens.back();
  }

  void take(TokenKind kind, size_t length) {
    push(kind, at, at + length, line, column());
    at += length;
  }

  int column() const { return static_cast<int>(at - lineBegin) + 1; }

  void fail(size_t begin, size_t end, int atLine, int column, Diagnostic diagnostic) {
    Token &token = push(TokenKind::Error, begin, end, atLine, column);
    if (out.errors.size() < maxErrors) {
      out.errors.push_back(std::move(diagnostic));
    }
    token.error = static_cast<uint16_t>(out.errors.size() - 1);
  }

  void failHere(size_t length, Diagnostic diagnostic) {
    fail(at, at + length, line, column(), std::move(diagnostic));
    at += length;
  }

  void newLine() {
    ++at;
    ++line;
    lineBegin = at;
    isFirst = true;
  }

  void next() {
    char c = text[at];
    if (c == ' ' || c == '\t' || c == '\f') {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '\n') {
      endLine();
    } else if (c == '\\') {
      joinLines();
    } else if (isDigit(c) || (c == '.' && at + 1 < text.size() && isDigit(text[at + 1]))) {
      number();
    } else if (StringOpening opening = readStringOpening(text, at); opening.quote != 0) {
      string(opening);
    } else if (size_t length = nameLength(text, at)) {
      name(length);
    } else {
      operatorOrStray();
    }
  }

  void endLine() {
    if (ignoresLines()) {
      newLine();
      if (!isPart && resumesAfterOpenBracket()) {
        abandonBrackets();
        startLine();
      }
      return;
    }
    push(TokenKind::Newline, at, at + 1, line, column());
    newLine();
    startLine();
  }

  /// Skips blank and comment lines, then emits the Indent or Dedent tokens of the next line.
  void startLine() {
    Indentation depth;
    while (at < text.size()) {
      char c = text[at];
      if (c == ' ') {
        ++depth.wide, ++depth.narrow;
      } else if (c == '\t') {
        depth.wide = (depth.wide / 8 + 1) * 8, ++depth.narrow;
      } else if (c == '\f') {
        depth = {};
      } else if (c == '#') {
        at = std::min(text.find('\n', at), text.size());
        continue;
      } else if (c == '\n') {
        newLine();
        depth = {};
        continue;
      } else {
        break;
      }
      ++at;
    }
    isFirst = true;
    if (at < text.size()) {
      indentTo(depth);
    }
  }

  void indentTo(Indentation depth) {
    Indentation current = indentations.back();
    bool wideDeeper = depth.wide > current.wide, narrowDeeper = depth.narrow > current.narrow;
    bool wideSame = depth.wide == current.wide, narrowSame = depth.narrow == current.narrow;
    if (wideDeeper != narrowDeeper || wideSame != narrowSame) {
      fail(lineBegin, at, line, 1,
           makeError("E0102", "tabs and spaces are mixed so that the depth depends on tab width")
               .withHelp("indent every line of the block with the same characters"));
      return;
    }
    if (wideDeeper) {
      if (indentations.size() > maxIndentations) {
        fail(lineBegin, at, line, 1,
             makeError("E0107", "blocks are nested deeper than " + std::to_string(maxIndentations) +
                                    " levels"));
        return;
      }
      indentations.push_back(depth);
      push(TokenKind::Indent, lineBegin, at, line, 1);
      return;
    }
    bool isOpenLevel = std::any_of(indentations.begin(), indentations.end(),
                                   [&](const Indentation &i) { return i.wide == depth.wide; });
    if (!isOpenLevel) { // before the Dedents, so that the block it was meant for reports it
      fail(lineBegin, at, line, 1,
           makeError("E0102", "the line returns to column " + std::to_string(depth.wide + 1) +
                                  ", where no open block begins")
               .withHelp("line it up with the block it belongs to"));
    }
    while (indentations.size() > 1 && indentations.back().wide > depth.wide) {
      indentations.pop_back();
      push(TokenKind::Dedent, at, at, line, column());
    }
  }

  void joinLines() {
    if (at + 1 < text.size() && text[at + 1] == '\n') {
      ++at;
      newLine();
      isFirst = false;
      return;
    }
    failHere(1,
             makeError("E0101", "'\\' joins two lines and must be the last character of its line")
                 .withHelp("remove what follows it, spaces included"));
  }

  void number() {
    size_t end = at;
    bool isReal = false;
    bool isBased = text[at] == '0' && at + 1 < text.size() &&
                   std::string_view("xXoObB").find(text[at + 1]) != std::string_view::npos;
    while (end < text.size()) {
      char c = text[end];
      bool isSign = (c == '+' || c == '-') && !isBased && end > at &&
                    (text[end - 1] == 'e' || text[end - 1] == 'E') && end + 1 < text.size() &&
                    isDigit(text[end + 1]);
      if (c == '.' && !isBased) {
        isReal = true;
      } else if (!isAsciiLetter(c) && !isDigit(c) && !isSign) {
        break;
      }
      isReal |= !isBased && (c == 'e' || c == 'E');
      ++end;
    }
    take(isReal ? TokenKind::Float : TokenKind::Integer, end - at);
  }

  void string(const StringOpening &opening) {
    size_t end = findStringEnd(text, at, opening);
    if (end == std::string_view::npos) {
      unterminated(opening);
      return;
    }
    push(TokenKind::String, at, end, line, column());
    for (; at < end; ++at) {
      if (text[at] == '\n') {
        ++line;
        lineBegin = at + 1;
      }
    }
  }

  void unterminated(const StringOpening &opening) {
    std::string quotes(opening.quoteLength, opening.quote);
    Diagnostic error = makeError("E0103", "the string opened with " + quotes + " does not end");
    if (opening.quoteLength == 3) {
      error.withHelp("close it with " + quotes);
      int openLine = line, openColumn = column();
      size_t begin = at;
      for (; at < text.size(); ++at) {
        if (text[at] == '\n') {
          ++line;
          lineBegin = at + 1;
        }
      }
      fail(begin, begin + opening.length(), openLine, openColumn, std::move(error));
      return;
    }
    error.withHelp("close it with " + quotes + " on its line, or use three quotes");
    failHere(std::min(text.find('\n', at), text.size()) - at, std::move(error));
  }

  void name(size_t length) {
    bool isKeyword = isOneOf(text.substr(at, length), keywords);
    take(isKeyword ? TokenKind::Keyword : TokenKind::Name, length);
  }

  void operatorOrStray() {
    for (std::string_view spelling : operators) {
      if (text.substr(at, spelling.size()) == spelling) {
        trackBracket(spelling[0]);
        take(TokenKind::Operator, spelling.size());
        return;
      }
    }
    stray();
  }

  void trackBracket(char c) {
    if (c == '(' || c == '[' || c == '{') {
      ++depthBeyondLimit;
      if (brackets.size() < maxBrackets) {
        --depthBeyondLimit;
        brackets.push_back(out.tokens.size());
      }
    } else if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) {
      if (depthBeyondLimit > 0) {
        --depthBeyondLimit;
      } else {
        brackets.pop_back();
      }
    }
  }

  /// A run of characters that start no token, reported once.
  void stray() {
    CodePoint point = decodeUtf8(text, at);
    size_t length = std::max<size_t>(point.bytes, 1);
    std::string shown(text.substr(at, length));
    while (at + length < text.size() && text.substr(at + length, shown.size()) == shown) {
      length += shown.size();
    }
    bool isControl = point.value < 0x20 || point.value == 0x7F;
    Diagnostic error =
        makeError("E0101", isControl ? "a control character (code " + std::to_string(point.value) +
                                           ") is not part of the language"
                                     : "the character '" + shown + "' is not part of the language");
    switch (point.value) {
    case '!':
      error.withHelp("write 'not' for negation, '!=' for unequal");
      break;
    case 0x2018:
    case 0x2019:
    case 0x201C:
    case 0x201D:
      error.withHelp("write a plain quote, ' or \"");
      break;
    case 0x2013:
    case 0x2014:
    case 0x2212:
      error.withHelp("write '-'");
      break;
    case 0xA0:
    case 0x3000:
      error.withHelp("replace this special space by an ordinary one");
      break;
    default:
      break;
    }
    failHere(length, std::move(error));
  }

  bool resumesAfterOpenBracket() const {
    size_t i = at;
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) {
      ++i;
    }
    if (i < text.size() && text[i] == '@' && i == lineBegin) {
      return nameLength(text, i + 1) > 0;
    }
    return isOneOf(text.substr(i, nameLength(text, i)), statementWords);
  }

  void abandonBrackets() {
    Token open = out.tokens[brackets.back()];
    std::string shown(text.substr(open.begin, 1));
    brackets.clear();
    depthBeyondLimit = 0;
    isFirst = false;
    fail(open.begin, open.end, open.line, open.column,
         makeError("E0104", "the bracket '" + shown + "' is never closed")
             .withHelp("close it before line " + std::to_string(line)));
    push(TokenKind::Newline, at, at, line, 1);
  }

  void finish() {
    isFirst = false;
    if (!isPart) {
      if (!brackets.empty()) {
        Token open = out.tokens[brackets.back()];
        fail(open.begin, open.end, open.line, open.column,
             makeError("E0104", "the bracket '" + std::string(text.substr(open.begin, 1)) +
                                    "' is never closed"));
      }
      TokenKind last = out.tokens.empty() ? TokenKind::Newline : out.tokens.back().kind;
      if (last != TokenKind::Newline && last != TokenKind::Dedent) {
        push(TokenKind::Newline, at, at, line, column());
      }
      for (size_t i = 1; i < indentations.size(); ++i) {
        push(TokenKind::Dedent, at, at, line, column());
      }
    }
    push(TokenKind::End, at, at, line, column());
  }

  std::string_view text;
  size_t at;
  int line;
  size_t lineBegin;
  bool isPart, isFirst = true;
  std::vector<size_t> brackets; // indices of the open brackets' tokens
  size_t depthBeyondLimit = 0;  // brackets open beyond maxBrackets
  std::vector<Indentation> indentations = {{}};
  TokenStream out;
};

} // namespace

Status normalizeText(std::string_view path, std::string &text) {
  if (text.size() > maxFileBytes) {
    return makeError("E0001", "'" + std::string(path) + "' cannot be read: expects at most " +
                                  std::to_string(maxFileBytes) + " bytes, but got " +
                                  std::to_string(text.size()));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.erase(0, 3);
  }
  if (text.find('\r') != std::string::npos) {
    size_t to = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      bool isReturn = text[i] == '\r';
      text[to++] = isReturn ? '\n' : text[i];
      i += isReturn && i + 1 < text.size() && text[i + 1] == '\n';
    }
    text.resize(to);
  }
  int line = 1;
  size_t lineBegin = 0;
  for (size_t i = 0; i < text.size();) {
    CodePoint point = decodeUtf8(text, i);
    if (point.bytes == 0 || point.value == 0) {
      int column = static_cast<int>(i - lineBegin) + 1;
      unsigned byte = static_cast<unsigned char>(text[i]);
      Diagnostic error = makeError(
          "E0109", point.bytes == 0 ? "expects UTF-8 text, but got the byte " + std::to_string(byte)
                                    : "expects text, but got a zero byte");
      error.withHelp("save the file as UTF-8 text");
      return error.at(path, text, {line, column, column + 1});
    }
    i += point.bytes;
    if (point.value == '\n') {
      ++line;
      lineBegin = i;
    }
  }
  return Done{};
}

TokenStream tokenize(std::string_view text) {
  return Lexer(text, 0, static_cast<uint32_t>(text.size()), 1, 1, false).run();
}

TokenStream tokenizePart(std::string_view text, uint32_t begin, uint32_t end, int line,
                         int column) {
  return Lexer(text, begin, end, line, column, true).run();
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && nameLength(text, 0) == text.size() && !isOneOf(text, keywords);
}

} // namespace nereid::language
