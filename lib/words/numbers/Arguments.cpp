// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/Arguments.h"

#include "lib/definition/operations/Operations.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace nereid::words {
namespace {

using definition::Argument;
using definition::ArgumentType;
using language::Expr;
using language::ExprKind;
using language::Stmt;

const std::vector<Argument> *signatureOf(const std::string &function, bool isMethod) {
  if (function == "unfold" && !isMethod) { // "F.unfold", while "x.unfold" is in the table
    static const std::vector<Argument> windows = [] {
      std::vector<Argument> made;
      for (const char *name : {"input", "kernel_size", "dilation", "padding", "stride"}) {
        made.push_back({name, ArgumentType::Integer, false, ""});
      }
      return made;
    }();
    return &windows;
  }
  if (const auto *operation = definition::findOperation(function)) {
    return &operation->arguments;
  }
  const auto *known = definition::findFunction(function);
  return known ? &known->arguments : nullptr;
}

std::optional<double> numberIn(const Expr &value) {
  if (value.kind == ExprKind::Integer) {
    return static_cast<double>(value.integer);
  }
  if (value.kind == ExprKind::Float) {
    return value.real;
  }
  if (value.kind == ExprKind::Unary && value.text == "-") {
    const auto number = numberIn(*value.operands[0]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  return std::nullopt;
}

class Reader {
public:
  std::vector<BodyArgument> found;

  void read(const Stmt &statement) {
    for (const auto &target : statement.targets) {
      read(target.get());
    }
    read(statement.value.get());
    for (const auto *block : {&statement.body, &statement.orelse}) {
      for (const auto &one : *block) {
        read(*one);
      }
    }
    if (statement.function) {
      for (const auto &one : statement.function->body) {
        read(*one);
      }
    }
  }

private:
  void read(const Expr *expression) {
    if (!expression) {
      return;
    }
    if (expression->kind == ExprKind::Call) {
      readCall(*expression);
    }
    for (const auto &operand : expression->operands) {
      read(operand.get());
    }
    for (const auto &keyword : expression->keywords) {
      read(keyword.value.get());
    }
  }

  /// "x.unfold(1, 3, 2)": the tensor is the first argument; "F" and "torch" are none.
  static bool isMethod(const Expr &callee) {
    const Expr *root = &callee;
    while (root->kind == ExprKind::Attribute) {
      root = root->operands[0].get();
    }
    return callee.kind == ExprKind::Attribute &&
           !(root->kind == ExprKind::Name && (root->text == "torch" || root->text == "F"));
  }

  void readCall(const Expr &call) {
    const Expr &callee = *call.operands[0];
    const auto *signature = signatureOf(callee.text, isMethod(callee));
    const size_t shift = isMethod(callee) ? 0 : 1;
    for (size_t i = 1; i < call.operands.size(); ++i) {
      const bool isKnown = signature && i - shift < signature->size();
      add(callee.text, isKnown ? (*signature)[i - shift].name : "", *call.operands[i]);
    }
    for (const auto &keyword : call.keywords) {
      add(callee.text, keyword.name, *keyword.value);
    }
  }

  void add(const std::string &function, const std::string &name, const Expr &value) {
    BodyArgument argument{function, name, "", {}, 1, false};
    if (value.kind == ExprKind::String) {
      argument.text = value.text;
      argument.isWord = true;
    } else if (value.kind == ExprKind::Tuple || value.kind == ExprKind::List) {
      argument.members = value.operands.size();
      for (const auto &member : value.operands) {
        if (const auto number = numberIn(*member)) {
          argument.values.push_back(*number);
        }
      }
      argument.text = fmt::format("({})", fmt::join(argument.values, ", "));
      if (argument.values.size() != argument.members) { // of sizes with names
        argument.values.clear();
      }
    } else if (const auto number = numberIn(value)) {
      argument.values = {*number};
      argument.text = fmt::format("{}", *number);
    } else {
      return;
    }
    found.push_back(std::move(argument));
  }
};

} // namespace

std::vector<BodyArgument> argumentsOf(const std::string &body) {
  Diagnostics diags;
  const auto module = language::parseModule("body", body, diags);
  Reader reader;
  if (module && !diags.hasErrors()) {
    for (const auto &statement : module->body) {
      reader.read(*statement);
    }
  }
  return std::move(reader.found);
}

bool isMixed(const BodyArgument &argument) {
  return std::any_of(argument.values.begin(), argument.values.end(),
                     [&](double value) { return value != argument.values.front(); });
}

bool isArgumentName(const std::string &name) {
  static const std::set<std::string> names = [] {
    std::set<std::string> all = {"k", "p", "axis", "kernel"};
    const auto add = [&](const std::vector<Argument> &arguments) {
      for (const Argument &argument : arguments) {
        if (argument.type != ArgumentType::Operand && argument.name.size() > 1) {
          all.insert(argument.name);
        }
      }
    };
    for (const std::string &one : definition::operationNames()) {
      add(definition::findOperation(one)->arguments);
    }
    for (const std::string &one : definition::functionNames()) {
      add(definition::findFunction(one)->arguments);
    }
    return all;
  }();
  return names.contains(name);
}

} // namespace nereid::words
