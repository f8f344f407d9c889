// SPDX-License-Identifier: Apache-2.0
// Reads interfaces back from files people may have edited, see InterfaceCheck.h. Python goes
// through the project's parser; of C++ only the one function's parameter list is scanned, with
// comments and strings blanked out first.
#include "lib/generator/InterfaceCheck.h"

#include "lib/language/Parser.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace nereid::generator {
namespace {

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

Diagnostic missing(const std::string &path, const std::string &name, const char *language) {
  Diagnostic error =
      makeError("E0610", fmt::format("expects a {} function '{}', but got none", language, name));
  error.file = path;
  return std::move(error.withHelp(
      fmt::format("name the operator's function '{}', or generate the file again", name)));
}

/// The text with comments and literals replaced by spaces; line breaks stay.
std::string withoutCommentsAndStrings(const std::string &text) {
  std::string result = text;
  enum class State { Code, Line, Block, String, Character } state = State::Code;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], following = i + 1 < text.size() ? text[i + 1] : '\0';
    bool isBlank = state != State::Code && c != '\n';
    switch (state) {
    case State::Code:
      state = c == '/' && following == '/'   ? State::Line
              : c == '/' && following == '*' ? State::Block
              : c == '"'                     ? State::String
              : c == '\''                    ? State::Character
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

/// Position after the parenthesis or brace that closes the one at `open`; npos without one.
size_t closing(const std::string &text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '{' || text[i] == '<' || text[i] == '['   ? 1
             : text[i] == ')' || text[i] == '}' || text[i] == '>' || text[i] == ']' ? -1
                                                                                    : 0;
    if (depth == 0) {
      return i;
    }
  }
  return std::string::npos;
}

/// Parameters at the top level of the list, without defaults; the name is the last word of each.
std::vector<std::string> parameterNames(const std::string &list) {
  std::vector<std::string> names;
  std::string current;
  int depth = 0;
  auto finish = [&] {
    std::string declaration = current.substr(0, current.find('='));
    size_t end = declaration.find_last_not_of(" \t\r\n");
    if (end != std::string::npos) {
      size_t begin = end + 1;
      while (begin > 0 && isWordCharacter(declaration[begin - 1])) {
        --begin;
      }
      names.push_back(declaration.substr(begin, end + 1 - begin));
    }
    current.clear();
  };
  for (char c : list) {
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      finish();
    } else {
      current += c;
    }
  }
  finish();
  return names;
}

int countWord(const std::string &text, const std::string &word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

/// What stands before the name back to the end of the statement before it: the result type.
std::string resultType(const std::string &code, size_t name) {
  size_t begin = code.find_last_of(";{}\n", name == 0 ? 0 : name - 1);
  return code.substr(begin == std::string::npos ? 0 : begin + 1,
                     name - (begin == std::string::npos ? 0 : begin + 1));
}

int pythonOutputs(const language::FunctionDef &function) {
  const language::Expr *returns = function.returns.get();
  if (returns && returns->kind == language::ExprKind::Subscript) {
    const language::Expr &index = *returns->operands[1];
    return index.kind == language::ExprKind::Tuple ? static_cast<int>(index.operands.size()) : 1;
  }
  return 1;
}

Diagnostic disagreement(const Interface &reference, const Interface &other) {
  Diagnostic error =
      makeError("E0610", fmt::format("expects {}, but got {}", reference.text(), other.text()));
  error.file = other.file;
  error.note(fmt::format("'{}' has {}", reference.file, reference.text()));
  return std::move(error.withHelp("give all four files the same function, or generate them again"));
}

} // namespace

std::string Interface::text() const {
  return fmt::format("'{}({}) -> {} tensor{}'", function, fmt::join(parameters, ", "), outputs,
                     outputs == 1 ? "" : "s");
}

Result<Interface> readPythonInterface(const std::string &path, const std::string &text,
                                      const std::string &name) {
  Diagnostics diags;
  auto module = language::parseModule(path, text, diags);
  if (!module) {
    return diags.all().empty() ? missing(path, name, "Python") : diags.all().front();
  }
  for (const language::StmtPtr &statement : module->body) {
    if (statement->kind != language::StmtKind::FunctionDef || !statement->function ||
        statement->function->name != name || statement->function->isJit()) {
      continue;
    }
    Interface interface{path, name, {}, pythonOutputs(*statement->function)};
    for (const language::Param &parameter : statement->function->params) {
      interface.parameters.push_back(parameter.name);
    }
    return interface;
  }
  return missing(path, name, "Python");
}

Result<Interface> readCppInterface(const std::string &path, const std::string &text,
                                   const std::string &name) {
  std::string code = withoutCommentsAndStrings(text);
  for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    size_t end = at + name.size();
    bool isWord = (at == 0 || !isWordCharacter(code[at - 1])) &&
                  (end >= code.size() || !isWordCharacter(code[end]));
    size_t open = code.find_first_not_of(" \t\r\n", end);
    if (!isWord || open == std::string::npos || code[open] != '(') {
      continue;
    }
    // A call has no result type in front: "baseline::name(" or "= name(".
    std::string type = resultType(code, at);
    size_t close = closing(code, open);
    if (close == std::string::npos || type.find("Tensor") == std::string::npos ||
        type.find('=') != std::string::npos || type.ends_with("::")) {
      continue;
    }
    return Interface{path, name, parameterNames(code.substr(open + 1, close - open - 1)),
                     std::max(countWord(type, "Tensor"), 1)};
  }
  return missing(path, name, "C++");
}

bool checkInterfaces(const std::string &directory, const std::string &operatorName,
                     Diagnostics &diags) {
  std::optional<Interface> reference;
  bool agrees = true;
  for (const char *suffix :
       {"_triton.py", "_kernel.hpp", "_baseline.cpp", "_accuracy.cpp", "_performance.cpp"}) {
    std::string path = directory + "/" + operatorName + suffix;
    auto text = readTextFile(path);
    if (!text) {
      diags.add(text.error());
      agrees = false;
      continue;
    }
    auto read = path.ends_with(".py") ? readPythonInterface(path, *text, operatorName)
                                      : readCppInterface(path, *text, operatorName);
    if (!read) {
      diags.add(read.error());
      agrees = false;
      continue;
    }
    if (!reference) {
      reference = *read;
    } else if (read->parameters != reference->parameters || read->outputs != reference->outputs) {
      diags.add(disagreement(*reference, *read));
      agrees = false;
    }
  }
  return agrees;
}

} // namespace nereid::generator
