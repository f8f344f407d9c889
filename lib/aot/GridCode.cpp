// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/GridCode.h"

#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace nereid::aot {
namespace {

using language::Expr;
using language::ExprKind;

/// Why an expression has no value: the name of its text and of the block that returns it.
const std::map<std::string, std::string> &problems() {
  static const std::map<std::string, std::string> texts = {
      {"overflow", "a number that does not fit in 64 bits"},
      {"zero_divisor", "a division by zero"},
      {"negative_exponent", "a power with a negative exponent"},
      {"negative_shift", "a shift by a negative count"},
      {"no_next_power", "next_power_of_2 of a number outside of 0 to 2^62"}};
  return texts;
}

/// Instructions on 64-bit integers with checks. Values are operands of LLVM IR: "%v3" or "128".
class GridArithmetic {
public:
  std::string binary(const std::string &operation, const std::string &a, const std::string &b) {
    static const std::map<std::string, std::string> checked = {
        {"+", "sadd"}, {"-", "ssub"}, {"*", "smul"}};
    static const std::map<std::string, std::string> plain = {
        {"&", "and"}, {"|", "or"}, {"^", "xor"}};
    static const std::map<std::string, std::string> compared = {
        {"<", "slt"}, {"<=", "sle"}, {"==", "eq"}, {"!=", "ne"}, {">", "sgt"}, {">=", "sge"}};
    if (auto name = checked.find(operation); name != checked.end()) {
      return withOverflow(name->second, a, b);
    }
    if (auto name = plain.find(operation); name != plain.end()) {
      return let("{} i64 {}, {}", name->second, a, b);
    }
    if (auto name = compared.find(operation); name != compared.end()) {
      return widened(compare(name->second, a, b));
    }
    if (operation == "min" || operation == "max") {
      return let("call i64 @llvm.s{}.i64(i64 {}, i64 {})", operation, a, b);
    }
    return operation == "**"   ? power(a, b)
           : operation == "<<" ? shiftLeft(a, b)
           : operation == ">>" ? shiftRight(a, b)
                               : divide(operation, a, b);
  }

  std::string unary(const std::string &operation, const std::string &a) {
    if (operation == "~") {
      return let("xor i64 {}, -1", a);
    }
    if (operation == "not") {
      return widened(compare("eq", a, "0"));
    }
    if (operation == "next_power_of_2") {
      return nextPowerOfTwo(a);
    }
    const std::string negative = withOverflow("ssub", "0", a);
    return operation == "abs" ? let("call i64 @llvm.smax.i64(i64 {}, i64 {})", a, negative)
                              : negative;
  }

protected:
  template <class... Operands>
  std::string let(fmt::format_string<const Operands &...> instruction,
                  const Operands &...operands) {
    const std::string name = fmt::format("%v{}", count++);
    body += "  " + name + " = " + fmt::format(instruction, operands...) + "\n";
    return name;
  }
  std::string compare(const std::string &predicate, const std::string &a, const std::string &b) {
    return let("icmp {} i64 {}, {}", predicate, a, b);
  }
  std::string newBlock() { return fmt::format("b{}", count++); }
  void begin(const std::string &block) { body += "\n" + block + ":\n"; }
  void jump(const std::string &block) { body += fmt::format("  br label %{}\n", block); }
  void branch(const std::string &condition, const std::string &yes, const std::string &no) {
    body += fmt::format("  br i1 {}, label %{}, label %{}\n", condition, yes, no);
  }

  std::string body;
  std::set<std::string> met; ///< problems that may occur

private:
  std::string widened(const std::string &flag) { return let("zext i1 {} to i64", flag); }

  void failIf(const std::string &condition, const std::string &problem) {
    const std::string rest = newBlock();
    branch(condition, problem, rest);
    begin(rest);
    met.insert(problem);
  }

  std::string withOverflow(const std::string &name, const std::string &a, const std::string &b) {
    const std::string both =
        let("call {{ i64, i1 }} @llvm.{}.with.overflow.i64(i64 {}, i64 {})", name, a, b);
    failIf(let("extractvalue {{ i64, i1 }} {}, 1", both), "overflow");
    return let("extractvalue {{ i64, i1 }} {}, 0", both);
  }

  /// "//", "%" and "cdiv", from the quotient towards zero and its remainder.
  std::string divide(const std::string &operation, const std::string &a, const std::string &b) {
    failIf(compare("eq", b, "0"), "zero_divisor");
    const std::string isMinusOne = compare("eq", b, "-1");
    // The one quotient that does not fit; its remainder is 0.
    const std::string safe = let("select i1 {}, i64 1, i64 {}", isMinusOne, b);
    const std::string remainder = let("srem i64 {}, {}", a, safe);
    const std::string isInexact = compare("ne", remainder, "0");
    const std::string differs = compare("slt", let("xor i64 {}, {}", remainder, b), "0");
    if (operation == "%") {
      const std::string isBelow = let("and i1 {}, {}", isInexact, differs);
      return let("add i64 {}, {}", remainder, let("select i1 {}, i64 {}, i64 0", isBelow, b));
    }
    const std::string isSmallest = compare("eq", a, "-9223372036854775808");
    failIf(let("and i1 {}, {}", isSmallest, isMinusOne), "overflow");
    const std::string quotient = let("sdiv i64 {}, {}", a, b);
    if (operation == "//") {
      return let("sub i64 {}, {}", quotient, widened(let("and i1 {}, {}", isInexact, differs)));
    }
    const std::string agrees = let("xor i1 {}, true", differs);
    return let("add i64 {}, {}", quotient, widened(let("and i1 {}, {}", isInexact, agrees)));
  }

  std::string shiftLeft(const std::string &a, const std::string &b) {
    failIf(compare("slt", b, "0"), "negative_shift");
    const std::string isFar = compare("sgt", b, "62"), isOther = compare("ne", a, "0");
    failIf(let("and i1 {}, {}", isFar, isOther), "overflow");
    return withOverflow("smul", a, let("shl i64 1, {}", let("and i64 {}, 63", b)));
  }
  std::string shiftRight(const std::string &a, const std::string &b) {
    failIf(compare("slt", b, "0"), "negative_shift");
    return let("ashr i64 {}, {}", a, let("call i64 @llvm.smin.i64(i64 {}, i64 63)", b));
  }

  /// By repeated products: all but the powers of 0, 1 and -1 overflow soon, and of these every
  /// even exponent does what 2 does, every odd one what 1 does.
  std::string power(const std::string &base, const std::string &exponent) {
    failIf(compare("slt", exponent, "0"), "negative_exponent");
    const std::string isSmall = compare("ult", let("add i64 {}, 1", base), "3");
    const std::string least = let("sub i64 2, {}", let("and i64 {}, 1", exponent));
    const std::string same = let("call i64 @llvm.umin.i64(i64 {}, i64 {})", exponent, least);
    const std::string times = let("select i1 {}, i64 {}, i64 {}", isSmall, same, exponent);
    const std::string product = variable(), left = variable();
    store("1", product);
    store(times, left);
    const std::string head = newBlock(), turn = newBlock(), end = newBlock();
    jump(head);
    begin(head);
    const std::string remaining = load(left);
    branch(compare("eq", remaining, "0"), end, turn);
    begin(turn);
    store(withOverflow("smul", load(product), base), product);
    store(let("sub i64 {}, 1", remaining), left);
    jump(head);
    begin(end);
    return load(product);
  }

  std::string nextPowerOfTwo(const std::string &a) {
    failIf(compare("ugt", a, "4611686018427387904"), "no_next_power");
    const std::string before = let("sub i64 {}, 1", a);
    const std::string zeros = let("call i64 @llvm.ctlz.i64(i64 {}, i1 false)", before);
    const std::string bits = let("and i64 {}, 63", let("sub i64 64, {}", zeros));
    return let("select i1 {}, i64 {}, i64 {}", compare("ult", a, "2"), a,
               let("shl i64 1, {}", bits));
  }

protected:
  /// Memory for a value that several blocks make.
  std::string variable() {
    const std::string name = fmt::format("%m{}", count++);
    variables += fmt::format("  {} = alloca i64\n", name);
    return name;
  }
  void store(const std::string &value, const std::string &to) {
    body += fmt::format("  store i64 {}, ptr {}\n", value, to);
  }
  std::string load(const std::string &from) { return let("load i64, ptr {}", from); }

  std::string variables;
  int count = 0; ///< of names
};

class GridWriter : GridArithmetic {
public:
  GridWriter(const std::string &text, const Interface &interface, const SpecializationPlan &plan)
      : text(text), interface(interface), plan(plan) {}

  Result<std::string> write(const std::string &name) {
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
    for (size_t axis = 0; axis < 3 && !refused; ++axis) {
      const std::string size = axis < sizes.size() ? valueOf(*sizes[axis]) : "1";
      store(size, let("getelementptr i64, ptr %grid, i64 {}", axis));
    }
    if (refused) {
      return *refused;
    }
    body += "  ret ptr null\n";
    for (const std::string &problem : met) {
      begin(problem);
      body += fmt::format("  ret ptr @grid.{}\n", problem);
    }
    return fmt::format("define internal ptr @{}(ptr %slots, ptr %grid) nounwind {{\n{}{}}}\n\n",
                       name, variables, body);
  }

private:
  /// Gives an operand, so that what follows may be written and thrown away.
  std::string refuse(const Expr &place, const std::string &message, const std::string &help) {
    if (!refused) {
      refused = makeError("E0021", message).at("grid", text, place.range).withHelp(help);
    }
    return "0";
  }

  std::string valueOf(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Integer:
      if (expr.integer < 0) {
        return refuse(expr, "'" + expr.text + "' does not fit in 64 bits", "");
      }
      [[fallthrough]];
    case ExprKind::Bool:
      return std::to_string(expr.integer);
    case ExprKind::Name:
      return nameValue(expr);
    case ExprKind::Unary: {
      const std::string value = valueOf(*expr.operands[0]);
      return expr.text == "+" ? value : unary(expr.text, value);
    }
    case ExprKind::Binary:
    case ExprKind::Compare:
      return binaryValue(expr);
    case ExprKind::And:
    case ExprKind::Or:
      return logicalValue(expr);
    case ExprKind::Conditional:
      return conditionalValue(expr);
    case ExprKind::Call:
      return callValue(expr);
    default:
      return refuse(expr, "expects an integer expression",
                    "use integers, names, + - * // %, cdiv, min, max, next_power_of_2");
    }
  }

  std::string nameValue(const Expr &name) {
    if (auto constant = plan.constants.find(name.text); constant != plan.constants.end()) {
      return std::to_string(constant->second);
    }
    std::vector<std::string> known;
    for (size_t i = 0; i < interface.parameters.size(); ++i) {
      const CParameter &parameter = interface.parameters[i];
      if (parameter.kind != ParameterKind::Integer) {
        continue;
      }
      // A descriptor's sizes go by their names in C.
      if (parameter.kernelName == name.text || parameter.name == name.text) {
        return load(let("getelementptr i64, ptr %slots, i64 {}", i));
      }
      known.push_back(parameter.name);
    }
    for (const auto &[constant, value] : plan.constants) {
      known.push_back(constant);
    }
    std::vector<std::string> near = nearestNames(name.text, known);
    return refuse(name, "'" + name.text + "' is no integer parameter or constant of the kernel",
                  near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                               : "did you mean '" + near[0] + "'?");
  }

  std::string binaryValue(const Expr &expr) {
    static const std::set<std::string> known = {"+", "-", "*", "//", "%",  "**", "<<", ">>", "&",
                                                "|", "^", "<", "<=", "==", "!=", ">",  ">="};
    if (!known.contains(expr.text)) {
      return refuse(expr, "'" + expr.text + "' does not give an integer",
                    expr.text == "/" ? "divide with '//' or cdiv(a, b)" : "use + - * // % **");
    }
    const std::string a = valueOf(*expr.operands[0]), b = valueOf(*expr.operands[1]);
    return binary(expr.text, a, b);
  }

  /// Python's: the value that decides, the rest is not evaluated.
  std::string logicalValue(const Expr &expr) {
    const std::string result = variable(), end = newBlock();
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      const std::string value = valueOf(*expr.operands[i]);
      store(value, result);
      if (i + 1 == expr.operands.size()) {
        jump(end);
        break;
      }
      const std::string next = newBlock();
      const std::string decides = expr.kind == ExprKind::And ? "eq" : "ne";
      branch(compare(decides, value, "0"), end, next);
      begin(next);
    }
    begin(end);
    return load(result);
  }

  std::string conditionalValue(const Expr &expr) {
    const std::string result = variable();
    const std::string yes = newBlock(), no = newBlock(), end = newBlock();
    branch(compare("ne", valueOf(*expr.operands[0]), "0"), yes, no);
    begin(yes);
    store(valueOf(*expr.operands[1]), result);
    jump(end);
    begin(no);
    store(valueOf(*expr.operands[2]), result);
    jump(end);
    begin(end);
    return load(result);
  }

  std::string callValue(const Expr &expr) {
    static const std::set<std::string> known = {"abs", "cdiv", "max", "min", "next_power_of_2"};
    const Expr &callee = *expr.operands[0]; // cdiv, triton.cdiv, tl.cdiv
    if (!known.contains(callee.text)) {
      return refuse(callee, "'" + callee.text + "' is no function of integer expressions",
                    "there are abs, cdiv, max, min and next_power_of_2");
    }
    const bool isUnary = callee.text == "abs" || callee.text == "next_power_of_2";
    const bool takesMany = callee.text == "min" || callee.text == "max";
    const size_t given = expr.operands.size() - 1, wanted = isUnary ? 1 : 2;
    if (given < wanted || (!takesMany && given > wanted) || !expr.keywords.empty()) {
      return refuse(expr,
                    fmt::format("'{}' expects {}{}, but got {} arguments", callee.text,
                                takesMany ? "at least " : "", wanted, given),
                    "");
    }
    std::string value = valueOf(*expr.operands[1]);
    if (isUnary) {
      return unary(callee.text, value);
    }
    for (size_t i = 2; i < expr.operands.size(); ++i) {
      value = binary(callee.text, value, valueOf(*expr.operands[i]));
    }
    return value;
  }

  const std::string &text;
  const Interface &interface;
  const SpecializationPlan &plan;
  std::optional<Diagnostic> refused;
};

} // namespace

std::string gridName(size_t specialization) { return fmt::format("grid.{}", specialization); }

Result<std::string> gridFunction(const std::string &text, const Interface &interface,
                                 size_t specialization) {
  return GridWriter(text, interface, interface.specializations[specialization])
      .write(gridName(specialization));
}

std::string gridDeclarations() {
  std::string text;
  for (const auto &[name, said] : problems()) {
    text += fmt::format("@grid.{} = private unnamed_addr constant [{} x i8] c\"{}\\00\"\n", name,
                        said.size() + 1, said);
  }
  for (const char *name : {"sadd", "ssub", "smul"}) {
    text += fmt::format("declare {{ i64, i1 }} @llvm.{}.with.overflow.i64(i64, i64)\n", name);
  }
  for (const char *name : {"smin", "smax", "umin"}) {
    text += fmt::format("declare i64 @llvm.{}.i64(i64, i64)\n", name);
  }
  return text + "declare i64 @llvm.ctlz.i64(i64, i1)\n\n";
}

} // namespace nereid::aot
