// SPDX-License-Identifier: Apache-2.0
// The C++ companions' side of Interface.h. The one function is read, with comments and
// literals blanked out first: its parameters, its result and the calls `expect…(…)` at the top of
// its body; and of the launcher's class Launch the constructor.
#include "lib/generator/Interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

namespace nereid::generator {
namespace {

constexpr size_t longestMeaning = 4000;

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The text with comments and literals replaced by spaces; line breaks stay.
std::string withoutCommentsAndStrings(const std::string &text) {
  std::string result = text;
  enum class State { Code, Line, Block, String, Character } state = State::Code;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], following = i + 1 < text.size() ? text[i + 1] : '\0';
    bool isBlank = state != State::Code && c != '\n';
    // Between digits it separates them.
    bool isQuote = c == '\'' && (i == 0 || !isWordCharacter(text[i - 1]));
    switch (state) {
    case State::Code:
      state = c == '/' && following == '/'   ? State::Line
              : c == '/' && following == '*' ? State::Block
              : c == '"'                     ? State::String
              : isQuote                      ? State::Character
                                             : State::Code;
      isBlank = state == State::Line || state == State::Block;
      break;
    case State::Line:
      state = c == '\n' ? State::Code : state;
      break;
    case State::Block:
      if (c == '*' && following == '/') {
        result[i] = ' ';
        result[++i] = ' ';
        state = State::Code;
        continue;
      }
      break;
    case State::String:
    case State::Character:
      if (c == '\\' && i + 1 < text.size()) {
        result[i] = ' ';
        result[++i] = ' ';
        continue;
      }
      if (c == (state == State::String ? '"' : '\'') || c == '\n') {
        state = State::Code;
      }
      break;
    }
    if (isBlank) {
      result[i] = ' ';
    }
  }
  return result;
}

int nesting(char c) {
  return c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
}

/// Position of the bracket that closes the one at `open`; npos without one.
size_t closing(const std::string &text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += nesting(text[i]);
    if (depth == 0) {
      return i;
    }
  }
  return std::string::npos;
}

struct Span {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

Span trimmed(const std::string &text, Span span) {
  auto isSpace = [&](size_t i) { return std::isspace(static_cast<unsigned char>(text[i])) != 0; };
  while (span.begin < span.end && isSpace(span.begin)) {
    ++span.begin;
  }
  while (span.end > span.begin && isSpace(span.end - 1)) {
    --span.end;
  }
  return span;
}

/// Parts between commas outside of brackets, those of templates included.
std::vector<Span> listItems(const std::string &code, Span list) {
  std::vector<Span> items;
  int depth = 0;
  size_t begin = list.begin;
  for (size_t i = list.begin; i <= list.end; ++i) {
    bool isEnd = i == list.end;
    depth += isEnd ? 0 : nesting(code[i]) + (code[i] == '<') - (code[i] == '>');
    if (isEnd || (code[i] == ',' && depth == 0)) {
      Span item = trimmed(code, {begin, i});
      if (item.size() > 0) {
        items.push_back(item);
      }
      begin = i + 1;
    }
  }
  return items;
}

std::vector<std::string> tokensOf(const std::string &code, Span span) {
  std::vector<std::string> tokens;
  for (size_t i = span.begin; i < span.end;) {
    size_t end = i + 1;
    if (isWordCharacter(code[i])) {
      bool isNumber = std::isdigit(static_cast<unsigned char>(code[i])) != 0;
      while (end < span.end && (isWordCharacter(code[end]) || (isNumber && code[end] == '.'))) {
        ++end;
      }
      tokens.push_back(code.substr(i, end - i));
    } else if (!std::isspace(static_cast<unsigned char>(code[i]))) {
      tokens.emplace_back(1, code[i]);
    }
    i = end;
  }
  return tokens;
}

using Meanings = std::map<std::string, std::string>;

/// Tokens side by side, a space between words only; names of variables replaced by their values.
std::string meaningOf(const std::string &code, Span span, const Meanings &names) {
  std::string meaning, former;
  for (const std::string &token : tokensOf(code, span)) {
    bool isMember = former == "." || former == ">" || former == ":";
    auto found = isMember ? names.end() : names.find(token);
    const std::string &text = found == names.end() ? token : found->second;
    bool isSplit = !meaning.empty() && !text.empty() && isWordCharacter(meaning.back()) &&
                   isWordCharacter(text[0]);
    meaning += (isSplit ? " " : "") + text;
    former = token;
    if (meaning.size() > longestMeaning) {
      return "...";
    }
  }
  return meaning;
}

SourceRange placeOf(const std::string &text, Span span) {
  SourceRange place;
  size_t line = text.rfind('\n', span.begin);
  size_t start = line == std::string::npos || span.begin == 0 ? 0 : line + 1;
  place.line = 1 + static_cast<int>(std::count(text.begin(),
                                               text.begin() + static_cast<long>(span.begin), '\n'));
  place.column = 1 + static_cast<int>(span.begin - start);
  size_t end = std::min(span.end, text.find('\n', span.begin));
  place.endColumn = 1 + static_cast<int>(end - start);
  return place;
}

/// As it is written, in one line.
std::string shownText(const std::string &text, Span span) {
  std::string shown;
  for (size_t i = span.begin; i < span.end; ++i) {
    bool isSpace = std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (!isSpace || (!shown.empty() && shown.back() != ' ')) {
      shown += isSpace ? ' ' : text[i];
    }
  }
  return shown;
}

class FunctionReader {
public:
  FunctionReader(const std::string &path, const std::string &text, std::string code)
      : path(path), text(text), code(std::move(code)) {}

  Result<Interface> run(const std::string &name) {
    for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
      size_t end = at + name.size();
      bool isWord = (at == 0 || !isWordCharacter(code[at - 1])) &&
                    (end >= code.size() || !isWordCharacter(code[end]));
      size_t open = code.find_first_not_of(" \t\r\n", end);
      size_t close = isWord && open != std::string::npos && code[open] == '(' ? closing(code, open)
                                                                              : std::string::npos;
      Span type = resultType(at);
      if (close != std::string::npos && isResultType(type)) {
        Interface found = interfaceOf(name, {at, end}, type, {open + 1, close});
        found.ofLaunch = constructorOfLaunch();
        return found;
      }
    }
    return missingFunction(path, name, "C++", {});
  }

private:
  /// What stands before the name back to the end of the statement before it.
  Span resultType(size_t name) const {
    size_t begin = code.find_last_of(";{}#", name == 0 ? 0 : name - 1);
    begin = begin == std::string::npos ? 0 : begin + 1;
    if (begin > 0 && code[begin - 1] == '#') {
      size_t line = code.find('\n', begin);
      begin = std::min(line, name);
    }
    return trimmed(code, {begin, name});
  }
  /// A call has no result type in front: "baseline::name(" or "= name(".
  bool isResultType(Span span) const {
    std::string type = code.substr(span.begin, span.size());
    return type.find("Tensor") != std::string::npos && type.find('=') == std::string::npos &&
           type.find('(') == std::string::npos && !type.ends_with("::");
  }

  Interface::Part part(Span span) const {
    return {shownText(text, span), meaningOf(code, span, {}), placeOf(text, span)};
  }

  Interface interfaceOf(const std::string &name, Span place, Span type, Span list) {
    Interface interface;
    interface.file = path;
    interface.source = text;
    interface.function = name;
    interface.place = placeOf(text, place);
    interface.result = part(withoutSpecifiers(type));
    const std::string &result = interface.result.meaning;
    interface.outputs = 0;
    for (size_t at = result.find("Tensor"); at != std::string::npos;
         at = result.find("Tensor", at + 1)) {
      ++interface.outputs;
    }
    for (Span item : listItems(code, list)) {
      interface.parameters.push_back(parameter(item));
    }
    size_t body = code.find_first_not_of(" \t\r\n", list.end + 1);
    size_t end =
        body != std::string::npos && code[body] == '{' ? closing(code, body) : std::string::npos;
    if (end != std::string::npos) {
      readChecks({body + 1, end}, interface);
    }
    return interface;
  }

  /// Its parameters, and what it checks.
  std::vector<Interface::Part> constructorOfLaunch() {
    const std::string name = "Launch::Launch(";
    const size_t at = code.find(name);
    const size_t open = at + name.size() - 1;
    const size_t close = at == std::string::npos ? at : closing(code, open);
    const size_t body =
        close == std::string::npos ? close : code.find_first_not_of(" \t\r\n", close + 1);
    if (body == std::string::npos || code[body] != '{') {
      return {};
    }
    std::vector<Interface::Part> parts;
    for (Span item : listItems(code, {open + 1, close})) {
      parts.push_back(part(item));
    }
    Interface inside;
    readChecks({body + 1, std::min(closing(code, body), code.size())}, inside);
    parts.insert(parts.end(), inside.checks.begin(), inside.checks.end());
    return parts;
  }

  Span withoutSpecifiers(Span type) const {
    static const std::set<std::string> specifiers = {"inline", "static", "extern"};
    for (;;) {
      size_t end = type.begin;
      while (end < type.end && isWordCharacter(code[end])) {
        ++end;
      }
      if (!specifiers.contains(code.substr(type.begin, end - type.begin))) {
        return type;
      }
      type = trimmed(code, {end, type.end});
    }
  }

  /// The name is the last word before "=".
  Interface::Parameter parameter(Span item) const {
    size_t equals = std::min(code.find('=', item.begin), item.end);
    Span declaration = trimmed(code, {item.begin, equals});
    size_t begin = declaration.end;
    while (begin > declaration.begin && isWordCharacter(code[begin - 1])) {
      --begin;
    }
    Interface::Parameter result;
    result.name = code.substr(begin, declaration.end - begin);
    result.place = placeOf(text, item);
    result.type = part(trimmed(code, {declaration.begin, begin}));
    result.value.place = result.place;
    if (equals < item.end) {
      result.value = part(trimmed(code, {equals + 1, item.end}));
      const std::string &value = result.value.meaning;
      char *end = nullptr;
      double number = std::strtod(value.c_str(), &end);
      if (!value.empty() && *end == '\0') {
        result.value.meaning = fmt::format("{}", number);
      }
    }
    return result;
  }

  /// Statements at the top level of the body up to the first that returns or launches; what the
  /// preprocessor may leave out is blanked.
  void readChecks(Span body, Interface &interface) {
    blankConditionalLines(body);
    Meanings names;
    size_t begin = body.begin;
    int depth = 0;
    for (size_t i = body.begin; i < body.end; ++i) {
      depth += nesting(code[i]);
      Span statement = trimmed(code, {begin, i});
      if (depth == 1 && code[i] == '{' && isControl(statement)) {
        size_t end = std::min(closing(code, i), body.end);
        if (mayReturn({i, end})) {
          return;
        }
        readCondition(statement, {i + 1, end}, names, interface);
        forget({i, end}, names);
        begin = end + 1;
        i = end;
        depth = 0;
      } else if (depth == 0 && code[i] == ';') {
        begin = i + 1;
        if (!readStatement(statement, names, interface)) {
          return;
        }
      }
    }
  }

  /// What follows such a statement is not checked in every call.
  bool mayReturn(Span statement) const {
    const std::vector<std::string> tokens = tokensOf(code, statement);
    return std::find(tokens.begin(), tokens.end(), "return") != tokens.end();
  }

  /// "if (…) { throw …; }" is a check as well.
  void readCondition(Span statement, Span block, const Meanings &names,
                     Interface &interface) const {
    std::string head = meaningOf(code, statement, names);
    if (head.starts_with("if") && meaningOf(code, block, {}).starts_with("throw")) {
      interface.checks.push_back(
          {shownText(text, statement) + " throw", head, placeOf(text, statement)});
    }
  }

  bool isControl(Span statement) const {
    static const std::set<std::string> words = {"",   "if",  "else",  "for",   "while",
                                                "do", "try", "catch", "switch"};
    size_t end = statement.begin;
    while (end < statement.end && isWordCharacter(code[end])) {
      ++end;
    }
    return words.contains(code.substr(statement.begin, end - statement.begin));
  }

  /// Variables that a block assigns are unknown behind it.
  void forget(Span block, Meanings &names) const {
    std::vector<std::string> tokens = tokensOf(code, block);
    for (size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i] == "=" && names.contains(tokens[i - 1])) {
        names[tokens[i - 1]] = "changed " + tokens[i - 1];
      }
    }
  }

  bool readStatement(Span statement, Meanings &names, Interface &interface) {
    std::string meaning = meaningOf(code, statement, names);
    std::string plain = meaning.starts_with("nereid::") ? meaning.substr(8) : meaning;
    if (plain.starts_with("expect")) {
      interface.checks.push_back({shownText(text, statement), plain, placeOf(text, statement)});
      return true;
    }
    size_t equals = assignment(statement);
    if (equals != std::string::npos) {
      Span left = trimmed(code, {statement.begin, equals});
      size_t begin = left.end;
      while (begin > left.begin && isWordCharacter(code[begin - 1])) {
        --begin;
      }
      names[code.substr(begin, left.end - begin)] =
          meaningOf(code, {equals + 1, statement.end}, names);
    }
    return !mayReturn(statement) && meaning.find("Launch(") == std::string::npos;
  }

  size_t assignment(Span statement) const {
    for (size_t i = statement.begin; i + 1 < statement.end && nesting(code[i]) == 0; ++i) {
      if (code[i] == '=' && code[i + 1] != '=') {
        return i;
      }
    }
    return std::string::npos;
  }

  void blankConditionalLines(Span body) {
    int depth = 0;
    for (size_t line = body.begin; line < body.end;) {
      size_t end = std::min(code.find('\n', line), body.end);
      Span content = trimmed(code, {line, end});
      bool isDirective = content.size() > 0 && code[content.begin] == '#';
      std::string meaning = isDirective ? meaningOf(code, content, {}) : "";
      depth += meaning.starts_with("#if") ? 1 : meaning.starts_with("#endif") ? -1 : 0;
      if (isDirective || depth > 0) {
        std::fill(code.begin() + static_cast<long>(line), code.begin() + static_cast<long>(end),
                  ' ');
      }
      line = end + 1;
    }
  }

  const std::string &path, &text;
  std::string code;
};

} // namespace

Result<Interface> readCppInterface(const std::string &path, const std::string &text,
                                   const std::string &name) {
  return FunctionReader(path, text, withoutCommentsAndStrings(text)).run(name);
}

} // namespace nereid::generator
