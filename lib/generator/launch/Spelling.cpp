// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/launch/Spelling.h"

#include "lib/generator/launch/Table.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::generator {
namespace {

using language::ExprKind;

constexpr size_t columns = 100, step = 4;

/// What is written: a leaf, a call of `text`, or operands joined by `text`.
struct Term {
  enum class Kind { Leaf, Call, Chain };
  /// How tightly a chain binds; leaves and calls bind like nothing else.
  enum Level { Choice, Comparison, Sum, Product, Atom };
  Kind kind = Kind::Leaf;
  Level level = Atom;
  std::string text;                 ///< of a leaf; what is called
  std::vector<Term> operands;       ///< of a call or chain
  std::vector<std::string> joiners; ///< of a chain: one less than operands

  bool is(const char *leaf) const { return kind == Kind::Leaf && text == leaf; }
};

Term leaf(std::string text) { return {Term::Kind::Leaf, Term::Atom, std::move(text), {}, {}}; }

class Writer {
public:
  Writer(ExpressionLanguage language, const std::map<std::string, std::string> &names)
      : language(language), names(names) {}

  Term term(const language::Expr &expr) const {
    switch (expr.kind) {
    case ExprKind::Name: {
      auto found = names.find(expr.text);
      return leaf(found == names.end() ? expr.text : found->second);
    }
    case ExprKind::Unary: {
      Term negative = leaf(expr.text + flat(term(*expr.operands[0]), Term::Atom));
      negative.level = Term::Product;
      return negative;
    }
    case ExprKind::Binary:
    case ExprKind::Compare:
      return joined(expr.text, term(*expr.operands[0]), term(*expr.operands[1]));
    case ExprKind::Conditional: { // the condition, and what it chooses from
      const std::string condition = flat(term(*expr.operands[0]), Term::Comparison);
      const std::string first = flat(term(*expr.operands[1]), Term::Comparison);
      const std::string second = flat(term(*expr.operands[2]), Term::Choice);
      Term chosen = leaf(language == ExpressionLanguage::Python
                             ? fmt::format("{} if {} else {}", first, condition, second)
                             : fmt::format("{} ? {} : {}", condition, first, second));
      chosen.level = Term::Choice;
      return chosen;
    }
    case ExprKind::Call: {
      std::vector<Term> operands;
      for (size_t i = 1; i < expr.operands.size(); ++i) {
        operands.push_back(term(*expr.operands[i]));
      }
      return called(expr.operands[0]->text, std::move(operands));
    }
    case ExprKind::String:
      return leaf("\"" + expr.text + "\"");
    default:
      return leaf(expr.text);
    }
  }

  /// Text of the term where one of `least` is wanted.
  std::string flat(const Term &term, Term::Level least) const {
    std::string text;
    switch (term.kind) {
    case Term::Kind::Leaf:
      text = term.text;
      break;
    case Term::Kind::Call: {
      std::vector<std::string> list;
      for (const Term &operand : term.operands) {
        list.push_back(flat(operand, Term::Choice));
      }
      text = opening(term) + fmt::format("{}", fmt::join(list, ", ")) + closing(term);
      break;
    }
    case Term::Kind::Chain:
      for (size_t i = 0; i < term.operands.size(); ++i) {
        text +=
            (i ? " " + term.joiners[i - 1] + " " : "") + flat(term.operands[i], within(term, i));
      }
      break;
    }
    return term.level < least ? "(" + text + ")" : text;
  }

  /// The same over several lines, the first of which begins at `column`; the others lie `indent`
  /// and more to the right. A sum that `isAlone` begins with a line of its own, a step further in.
  std::string broken(const Term &term, Term::Level least, size_t column, size_t indent,
                     bool isAlone = false) const {
    const std::string one = flat(term, least);
    if ((column + one.size() <= columns && !isAlone) || term.kind == Term::Kind::Leaf) {
      return one;
    }
    const size_t inner = indent + step;
    const std::string next = "\n" + std::string(inner, ' ');
    if (term.kind == Term::Kind::Call) {
      std::string text = opening(term);
      for (size_t i = 0; i < term.operands.size(); ++i) {
        const bool isLast = i + 1 == term.operands.size();
        text += next + broken(term.operands[i], Term::Choice, inner + 1, inner) +
                (isLast && language == ExpressionLanguage::Cpp ? "" : ",");
      }
      return text + "\n" + std::string(indent, ' ') + closing(term);
    }
    const std::string last =
        " " + term.joiners.back() + " " + flat(term.operands.back(), Term::Sum);
    const bool isInside = term.level < least;
    if (term.level == Term::Comparison) { // of something long with a number
      const std::string whole =
          broken(term.operands[0], Term::Sum, column + last.size() + (isInside ? 2 : 0), indent) +
          last;
      return isInside ? "(" + whole + ")" : whole;
    }
    std::string text = isInside ? "(" + next : "";
    for (size_t i = 0; i < term.operands.size(); ++i) {
      const bool isBehind = i == 0 && !isInside && !isAlone;
      text += (i ? next + term.joiners[i - 1] + " " : "") +
              broken(term.operands[i], within(term, i), isBehind ? column : inner + 4,
                     isBehind ? indent : inner);
    }
    return text + (isInside ? "\n" + std::string(indent, ' ') + ")" : "");
  }

private:
  /// What operand `i` of a chain has to be at least: one to the right of - or // binds tighter.
  static Term::Level within(const Term &chain, size_t i) {
    return static_cast<Term::Level>(chain.level + (i > 0 || chain.level == Term::Comparison));
  }

  std::string opening(const Term &call) const { return call.text + (isList(call) ? "({" : "("); }
  std::string closing(const Term &call) const { return isList(call) ? "})" : ")"; }
  bool isList(const Term &call) const { return call.text.starts_with("std::m"); }

  Term called(const std::string &function, std::vector<Term> operands) const {
    static const std::map<std::string, const char *> python = {
        {"cdiv", "triton.cdiv"}, {"next_power_of_2", "triton.next_power_of_2"}};
    static const std::map<std::string, const char *> cpp = {
        {"cdiv", "nereid::cdiv"},
        {"next_power_of_2", "nereid::nextPowerOf2"},
        {"min", "std::min<int64_t>"},
        {"max", "std::max<int64_t>"},
        {"//", "nereid::quotientRoundedDown"},
        {"%", "nereid::remainderRoundedDown"},
        {"abs", "nereid::magnitude"}};
    if (function == "abs" && flat(operands[0], Term::Comparison).find('-') == std::string::npos) {
      return operands[0];
    }
    if (function == "max" || function == "min") { // told once
      std::vector<Term> different;
      for (Term &one : operands) {
        const std::string text = flat(one, Term::Comparison);
        if (std::none_of(different.begin(), different.end(), [&](const Term &known) {
              return flat(known, Term::Comparison) == text;
            })) {
          different.push_back(std::move(one));
        }
      }
      operands = withOneNumber(std::move(different), function == "max");
      if (operands.size() == 1) {
        return operands[0];
      }
    }
    if (function == choicePrefix) {
      auto tuned = names.find(function);
      return {Term::Kind::Call,
              Term::Atom,
              (tuned == names.end() ? "tuned" : tuned->second) + ".get",
              std::move(operands),
              {}};
    }
    const auto &table = language == ExpressionLanguage::Python ? python : cpp;
    auto found = table.find(function);
    return {Term::Kind::Call,
            Term::Atom,
            found == table.end() ? function : found->second,
            std::move(operands),
            {}};
  }

  /// Of a literal.
  static std::optional<int64_t> numberOf(const Term &term) {
    const bool isNumber = term.kind == Term::Kind::Leaf && term.text.size() < 19 &&
                          term.text.find_first_not_of("0123456789") == std::string::npos;
    return isNumber ? std::optional(std::stoll(term.text)) : std::nullopt;
  }

  /// Of several numbers the one that counts, first.
  static std::vector<Term> withOneNumber(std::vector<Term> operands, bool isMost) {
    std::optional<int64_t> number;
    std::erase_if(operands, [&](const Term &one) {
      const std::optional<int64_t> value = numberOf(one);
      if (value) {
        number = !number ? value : isMost ? std::max(*number, *value) : std::min(*number, *value);
      }
      return value.has_value();
    });
    if (number) {
      operands.insert(operands.begin(), leaf(std::to_string(*number)));
    }
    return operands;
  }

  Term joined(const std::string &op, Term left, Term right) const {
    if ((op == "*" && left.is("1")) || (op == "+" && left.is("0"))) {
      return right;
    }
    if (((op == "*" || op == "//") && right.is("1")) ||
        ((op == "+" || op == "-") && right.is("0"))) {
      return left;
    }
    if (op == "*" && (left.is("0") || right.is("0"))) {
      return leaf("0");
    }
    if (op == "+" && numberOf(left) && numberOf(right)) {
      return leaf(std::to_string(*numberOf(left) + *numberOf(right)));
    }
    if (op == "-" && numberOf(left) && numberOf(right) && *numberOf(left) >= *numberOf(right)) {
      return leaf(std::to_string(*numberOf(left) - *numberOf(right)));
    }
    if (op == "//" && numberOf(left) && numberOf(right).value_or(0) > 0) {
      return leaf(std::to_string(*numberOf(left) / *numberOf(right)));
    }
    if (language == ExpressionLanguage::Cpp && (op == "//" || op == "%")) {
      return called(op, {std::move(left), std::move(right)});
    }
    const Term::Level level = op == "+" || op == "-"                 ? Term::Sum
                              : op == "*" || op == "//" || op == "%" ? Term::Product
                                                                     : Term::Comparison;
    if (left.kind == Term::Kind::Chain && left.level == level && level != Term::Comparison) {
      left.operands.push_back(std::move(right));
      left.joiners.push_back(op);
      return left;
    }
    return {Term::Kind::Chain, level, "", {std::move(left), std::move(right)}, {op}};
  }

  const ExpressionLanguage language;
  const std::map<std::string, std::string> &names;
};

Term read(const Writer &writer, const std::string &expression) {
  Diagnostics diags;
  const language::ExprPtr expr = language::parseExpression("launch", expression, diags);
  return expr ? writer.term(*expr) : leaf(expression);
}

} // namespace

std::string Spelling::text(const std::string &expression, bool isFactor) const {
  const Writer writer(language, names);
  return writer.flat(read(writer, expression), isFactor ? Term::Product : Term::Choice);
}

std::string Spelling::line(const std::string &head, const std::string &expression,
                           const std::string &tail) const {
  const Writer writer(language, names);
  const Term term = read(writer, expression);
  const size_t indent = head.find_first_not_of(' ');
  std::string text = head + writer.broken(term, Term::Choice, head.size() + tail.size(), indent);
  // Python goes on in the next line inside of brackets alone.
  const bool isOpen = text.find('\n') != std::string::npos && term.kind == Term::Kind::Chain &&
                      term.level != Term::Comparison;
  if (isOpen && language == ExpressionLanguage::Python) {
    text = head + "(\n" + std::string(indent + step, ' ') +
           writer.broken(term, Term::Choice, columns, indent, true) + "\n" +
           std::string(indent, ' ') + ")";
  }
  return text + tail + "\n";
}

} // namespace nereid::generator
