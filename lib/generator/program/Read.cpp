// SPDX-License-Identifier: Apache-2.0
// Programs from text, see Program.h: what Print.cpp writes and people edit.
#include "lib/generator/program/ReadExpression.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using namespace text;

using language::Expr;
using language::ExprKind;
using language::Stmt;
using language::StmtKind;

class Reader {
public:
  Program run(const std::vector<language::StmtPtr> &statements) {
    for (const language::StmtPtr &statement : statements) {
      read(*statement);
    }
    return std::move(program);
  }

private:
  // ---- statements ----

  void read(const Stmt &statement) {
    if (statement.kind == StmtKind::ExprStmt && isCall(*statement.value)) {
      call(*statement.value);
    } else if (statement.kind == StmtKind::Assign && statement.targets.size() == 1) {
      const Expr &target = *statement.targets[0], &value = *statement.value;
      if (target.kind == ExprKind::Subscript) {
        stores(target).push_back(store(target, expressions.value(value)));
      } else if (target.kind == ExprKind::Name) {
        define(target, value);
      } else {
        refuse(target, "expects a name or an element of a buffer");
      }
    } else {
      throw Complaint{statement.range, "expects a declaration, a stage or a store"};
    }
  }

  void call(const Expr &call) {
    const std::string &name = callee(call);
    if (name == "stage") {
      program.stages.push_back({string(argument(call, 0)), {}});
    } else if (name == "fact") {
      program.space.symbols.assume(expressions.polynomial(argument(call, 0)));
    } else if (name == "store") {
      Store made = store(argument(call, 0), expressions.value(argument(call, 1)));
      if (const Expr *monoid = keyword(call, "monoid")) {
        made.monoid = string(*monoid);
      }
      if (const Expr *guard = keyword(call, "guard")) {
        made.guard = expressions.value(*guard);
      }
      stores(call).push_back(std::move(made));
    } else if (name == "alias") {
      program.aliases.push_back(
          {expressions.buffer(argument(call, 0)), expressions.buffer(argument(call, 1))});
    } else if (name == "host_read") {
      program.hostReads.push_back({expressions.buffer(argument(call, 0))});
    } else {
      refuse(call,
             fmt::format("expects stage, fact, store, alias or host_read, but got '{}'", name));
    }
  }

  std::vector<Store> &stores(const Expr &at) {
    if (program.stages.empty()) {
      refuse(at, "expects stage(\"…\") before the first store");
    }
    return program.stages.back().stores;
  }

  Store store(const Expr &target, const Node *value) {
    if (target.kind != ExprKind::Subscript) {
      refuse(target, "expects an element of a buffer");
    }
    Store result;
    result.buffer = expressions.buffer(*target.operands[0]);
    result.index = expressions.indices(*target.operands[1]);
    result.value = value;
    return result;
  }

  void define(const Expr &target, const Expr &value) {
    const std::string &name = target.text;
    if (program.find(name) || program.space.iterators.find(name) ||
        program.space.symbols.find(name) || expressions.values.contains(name) ||
        expressions.quotients.contains(name)) {
      refuse(target, fmt::format("'{}' is defined twice", name));
    }
    const std::string kind = isCall(value) ? callee(value) : "";
    if (kind == "size") {
      defineSize(name, value);
    } else if (kind == "quotient") {
      Polynomial dividend = expressions.polynomial(argument(value, 0)),
                 divisor = expressions.polynomial(argument(value, 1));
      if (!program.space.symbols.isPositive(divisor)) {
        refuse(value, "expects a divisor that is positive");
      }
      expressions.quotients[name] = program.space.symbols.addQuotient(dividend, divisor, name);
    } else if (kind == "iterator") {
      program.space.iterators.add(expressions.polynomial(argument(value, 0)), name);
    } else if (kind == "view") {
      BufferId base = expressions.buffer(argument(value, 0));
      Buffer made = program.buffers[program.baseOf(base)];
      made.name = name;
      made.base = program.baseOf(base);
      readShape(value, made);
      program.add(std::move(made));
    } else if (auto role = roles().find(kind); role != roles().end()) {
      Buffer made;
      made.name = name;
      made.role = role->second;
      made.dtype = dtype(argument(value, 0));
      readShape(value, made);
      program.add(std::move(made));
    } else {
      expressions.values[name] = expressions.value(value);
    }
  }

  static const std::map<std::string, BufferRole> &roles() {
    static const std::map<std::string, BufferRole> table = {{"input", BufferRole::Input},
                                                            {"output", BufferRole::Output},
                                                            {"inout", BufferRole::InOut},
                                                            {"temporary", BufferRole::Temporary}};
    return table;
  }

  void defineSize(const std::string &name, const Expr &call) {
    Symbol symbol;
    symbol.name = name;
    if (const Expr *low = keyword(call, "low")) {
      symbol.low = expressions.integer(*low);
    }
    if (const Expr *high = keyword(call, "high")) {
      symbol.high = expressions.integer(*high);
    }
    if (const Expr *multiple = keyword(call, "multiple")) {
      symbol.divisor = expressions.integer(*multiple);
    }
    if (symbol.divisor < 1 || (symbol.high && *symbol.high < symbol.low)) {
      refuse(call, "expects low <= high and a positive multiple");
    }
    program.space.symbols.add(std::move(symbol));
  }

  void readShape(const Expr &call, Buffer &made) {
    made.sizes = expressions.polynomials(argument(call, 1));
    const Expr *strides = keyword(call, "strides");
    made.strides = strides ? expressions.polynomials(*strides) : contiguousStrides(made.sizes);
    if (const Expr *offset = keyword(call, "offset")) {
      made.offset = expressions.polynomial(*offset);
    }
    if (made.strides.size() != made.sizes.size()) {
      refuse(call, fmt::format("expects as many strides as sizes, but got {} and {}",
                               made.strides.size(), made.sizes.size()));
    }
  }

  Program program;
  ExpressionReader expressions{program};
};

} // namespace

Result<Program> readProgram(const std::string &path, const std::string &text) {
  Diagnostics diags;
  auto module = language::parseStatements(path, text, diags);
  if (!module) {
    return diags.all().front();
  }
  try {
    return Reader().run(module->body);
  } catch (const Complaint &complaint) {
    return makeError("E0618", complaint.message).at(path, text, complaint.range);
  }
}

} // namespace nereid::generator
