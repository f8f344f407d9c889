// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/GridProgram.h"

#include "lib/language/Parser.h"

#include <fmt/format.h>

#include <map>

namespace nereid::aot {
namespace {

using language::Expr;
using language::ExprKind;

class Compiler {
public:
  Compiler(const std::string &text, const Interface &interface, const SpecializationPlan &plan)
      : text(text), interface(interface), plan(plan) {}

  Result<std::vector<Step>> compile() {
    Diagnostics diags;
    language::ExprPtr parsed = language::parseExpression("grid", text, diags);
    if (!parsed) {
      return diags.all().front();
    }
    std::vector<const Expr *> sizes;
    if (parsed->kind == ExprKind::Tuple) {
      for (const auto &size : parsed->operands) {
        sizes.push_back(size.get());
      }
    } else {
      sizes.push_back(parsed.get());
    }
    if (sizes.empty() || sizes.size() > 3) {
      refuse(*parsed, fmt::format("a grid expects 1 to 3 sizes, but got {}", sizes.size()), "");
    }
    for (size_t i = 0; i < sizes.size() && !problem; ++i) {
      add(*sizes[i]);
    }
    for (size_t i = sizes.size(); i < 3 && !problem; ++i) {
      push(StepKind::Constant, 1);
    }
    if (!problem && deepest > gridStackLimit) {
      refuse(*parsed, "the grid's expression is nested too deeply", "split it into arguments");
    }
    if (problem) {
      return *problem;
    }
    return std::move(steps);
  }

private:
  void refuse(const Expr &place, const std::string &message, const std::string &help) {
    if (!problem) {
      problem = makeError("E0021", message).at("grid", text, place.range).withHelp(help);
    }
  }

  void push(StepKind kind, int64_t value) {
    steps.push_back({kind, value});
    deepest = std::max(deepest, ++depth);
  }
  /// Takes two values and leaves one.
  void binary(StepKind kind) {
    steps.push_back({kind, 0});
    --depth;
  }
  void unary(StepKind kind) { steps.push_back({kind, 0}); }
  /// A jump whose distance endJump fills in.
  size_t beginJump(StepKind kind) {
    steps.push_back({kind, 0});
    return steps.size() - 1;
  }
  void endJump(size_t jump) { steps[jump].value = static_cast<int64_t>(steps.size() - jump - 1); }

  void add(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Integer:
      if (expr.integer < 0) {
        return refuse(expr, "'" + expr.text + "' does not fit in 64 bits", "");
      }
      [[fallthrough]];
    case ExprKind::Bool:
      return push(StepKind::Constant, expr.integer);
    case ExprKind::Name:
      return addName(expr);
    case ExprKind::Unary:
      return addUnary(expr);
    case ExprKind::Binary:
    case ExprKind::Compare:
      return addBinary(expr);
    case ExprKind::And:
    case ExprKind::Or:
      return addLogical(expr);
    case ExprKind::Conditional:
      return addConditional(expr);
    case ExprKind::Call:
      return addCall(expr);
    default:
      return refuse(expr, "expects an integer expression",
                    "use integers, names, + - * // %, cdiv, min, max, next_power_of_2");
    }
  }

  void addName(const Expr &name) {
    if (auto constant = plan.constants.find(name.text); constant != plan.constants.end()) {
      return push(StepKind::Constant, constant->second);
    }
    std::vector<std::string> known;
    for (size_t i = 0; i < interface.parameters.size(); ++i) {
      const CParameter &parameter = interface.parameters[i];
      if (parameter.kind != ParameterKind::Integer) {
        continue;
      }
      // A descriptor's sizes go by their names in C.
      if (parameter.kernelName == name.text || parameter.name == name.text) {
        return push(StepKind::Slot, static_cast<int64_t>(i));
      }
      known.push_back(parameter.name);
    }
    for (const auto &[constant, value] : plan.constants) {
      known.push_back(constant);
    }
    std::vector<std::string> near = nearestNames(name.text, known);
    refuse(name, "'" + name.text + "' is no integer parameter or constant of the kernel",
           near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                        : "did you mean '" + near[0] + "'?");
  }

  void addUnary(const Expr &expr) {
    static const std::map<std::string, StepKind> kinds = {
        {"-", StepKind::Negate}, {"~", StepKind::Invert}, {"not", StepKind::Not}};
    add(*expr.operands[0]);
    if (auto kind = kinds.find(expr.text); kind != kinds.end()) {
      unary(kind->second);
    }
  }

  void addBinary(const Expr &expr) {
    static const std::map<std::string, StepKind> kinds = {
        {"+", StepKind::Add},          {"-", StepKind::Subtract},    {"*", StepKind::Multiply},
        {"//", StepKind::FloorDivide}, {"%", StepKind::Remainder},   {"**", StepKind::Power},
        {"<<", StepKind::ShiftLeft},   {">>", StepKind::ShiftRight}, {"&", StepKind::BitAnd},
        {"|", StepKind::BitOr},        {"^", StepKind::BitXor},      {"<", StepKind::Less},
        {"<=", StepKind::LessEqual},   {"==", StepKind::Equal},      {"!=", StepKind::NotEqual},
        {">", StepKind::LessEqual},    {">=", StepKind::Less}};
    auto kind = kinds.find(expr.text);
    if (kind == kinds.end()) {
      return refuse(expr, "'" + expr.text + "' does not give an integer",
                    expr.text == "/" ? "divide with '//' or cdiv(a, b)" : "use + - * // % **");
    }
    add(*expr.operands[0]);
    add(*expr.operands[1]);
    binary(kind->second);
    if (expr.text == ">" || expr.text == ">=") {
      unary(StepKind::Not); // of <= and <
    }
  }

  /// Python's: the value that decides, the rest is not evaluated.
  void addLogical(const Expr &expr) {
    const StepKind leave =
        expr.kind == ExprKind::And ? StepKind::JumpIfZeroKeep : StepKind::JumpIfOtherKeep;
    std::vector<size_t> jumps;
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      if (i > 0) {
        jumps.push_back(beginJump(leave));
        steps.push_back({StepKind::Drop, 0});
        --depth;
      }
      add(*expr.operands[i]);
    }
    for (size_t jump : jumps) {
      endJump(jump);
    }
  }

  void addConditional(const Expr &expr) {
    add(*expr.operands[0]);
    const size_t otherwise = beginJump(StepKind::JumpIfZero);
    --depth;
    add(*expr.operands[1]);
    const size_t end = beginJump(StepKind::Jump);
    endJump(otherwise);
    --depth; // only one of the two is evaluated
    add(*expr.operands[2]);
    endJump(end);
  }

  void addCall(const Expr &expr) {
    static const std::map<std::string, StepKind> kinds = {
        {"cdiv", StepKind::CeilDivide},
        {"min", StepKind::Minimum},
        {"max", StepKind::Maximum},
        {"abs", StepKind::Absolute},
        {"next_power_of_2", StepKind::NextPowerOfTwo}};
    const Expr &callee = *expr.operands[0]; // cdiv, triton.cdiv, tl.cdiv
    auto kind = kinds.find(callee.text);
    if (kind == kinds.end()) {
      return refuse(callee, "'" + callee.text + "' is no function of integer expressions",
                    "there are abs, cdiv, max, min and next_power_of_2");
    }
    const bool isUnary =
        kind->second == StepKind::Absolute || kind->second == StepKind::NextPowerOfTwo;
    const size_t given = expr.operands.size() - 1;
    const bool takesMany = callee.text == "min" || callee.text == "max";
    if (given < (isUnary ? 1u : 2u) || (!takesMany && given > (isUnary ? 1u : 2u)) ||
        !expr.keywords.empty()) {
      return refuse(expr,
                    fmt::format("'{}' expects {}, but got {} arguments", callee.text,
                                isUnary     ? "1"
                                : takesMany ? "at least 2"
                                            : "2",
                                given),
                    "");
    }
    add(*expr.operands[1]);
    if (isUnary) {
      return unary(kind->second);
    }
    for (size_t i = 2; i < expr.operands.size(); ++i) {
      add(*expr.operands[i]);
      binary(kind->second);
    }
  }

  const std::string &text;
  const Interface &interface;
  const SpecializationPlan &plan;
  std::vector<Step> steps;
  std::optional<Diagnostic> problem;
  int64_t depth = 0, deepest = 0;
};

} // namespace

Result<std::vector<Step>> compileGrid(const std::string &text, const Interface &interface,
                                      const SpecializationPlan &specialization) {
  return Compiler(text, interface, specialization).compile();
}

} // namespace nereid::aot
