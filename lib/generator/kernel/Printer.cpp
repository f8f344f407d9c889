// SPDX-License-Identifier: Apache-2.0
// Trees as Python text, see Printer.h.
#include "lib/generator/kernel/Printer.h"

#include <fmt/format.h>

#include <map>

namespace nereid::generator::kernel {
namespace {

/// How tightly an expression binds; larger binds tighter.
enum class Precedence {
  Choice,
  Or,
  And,
  Comparison,
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Sum,
  Product,
  Unary,
  Atom
};

Precedence ofBinary(const std::string &sign) {
  static const std::map<std::string, Precedence> table = {
      {"or", Precedence::Or},     {"and", Precedence::And},   {"|", Precedence::BitOr},
      {"^", Precedence::BitXor},  {"&", Precedence::BitAnd},  {"<<", Precedence::Shift},
      {">>", Precedence::Shift},  {"+", Precedence::Sum},     {"-", Precedence::Sum},
      {"*", Precedence::Product}, {"/", Precedence::Product}, {"//", Precedence::Product},
      {"%", Precedence::Product}};
  auto found = table.find(sign);
  return found == table.end() ? Precedence::Comparison : found->second;
}

Precedence precedenceOf(const Expr &x) {
  switch (x->kind) {
  case ExprKind::Choice:
    return Precedence::Choice;
  case ExprKind::Binary:
    return ofBinary(x->text);
  case ExprKind::Unary:
    return Precedence::Unary;
  default:
    return Precedence::Atom;
  }
}

bool isDivision(const Expr &x) {
  return x->kind == ExprKind::Binary && (x->text == "//" || x->text == "%");
}

/// The text as an operand that has to bind at least, or more, tightly.
std::string operand(const Expr &x, Precedence around, bool isTighter, bool isPart = false) {
  Precedence own = precedenceOf(x);
  bool isGrouped = own < around || (own == around && isTighter) || isPart;
  return isGrouped ? "(" + text(x) + ")" : text(x);
}

std::string binaryText(const ExprNode &node) {
  const Precedence own = ofBinary(node.text);
  // Operators associate to the left, and comparisons do not chain.
  const bool isProduct = own == Precedence::Product;
  const Expr &a = node.operands[0], &b = node.operands[1];
  return operand(a, own, own == Precedence::Comparison, isProduct && isDivision(a)) + " " +
         node.text + " " + operand(b, own, true);
}

std::string callText(const ExprNode &node) {
  std::string arguments;
  const size_t positional = node.operands.size() - node.keywords.size();
  for (size_t i = 1; i < node.operands.size(); ++i) {
    arguments += i > 1 ? ", " : "";
    arguments += i < positional ? "" : node.keywords[i - positional] + "=";
    arguments += text(node.operands[i]);
  }
  return operand(node.operands[0], Precedence::Atom, false) + "(" + arguments + ")";
}

std::string tupleText(const ExprNode &node) {
  std::string elements;
  for (const Expr &element : node.operands) {
    elements += (elements.empty() ? "" : ", ") + text(element);
  }
  return "(" + elements + (node.operands.size() == 1 ? ",)" : ")");
}

std::string axisText(const ExprNode &node) {
  std::string places;
  for (unsigned dim = 0; dim < node.rank; ++dim) {
    places += (dim > 0 ? ", " : "") + std::string(dim == node.axis ? ":" : "None");
  }
  return operand(node.operands[0], Precedence::Atom, false) + "[" + places + "]";
}

size_t closing(const std::string &line, size_t open) {
  int depth = 0;
  for (size_t i = open; i < line.size(); ++i) {
    depth += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return line.size() - 1;
}

class Printer {
public:
  std::string run(const Kernel &kernel) {
    for (const Kernel &helper : kernel.helpers) {
      header(helper);
      block(helper.body);
      out += "\n\n";
    }
    header(kernel);
    block(kernel.body);
    return std::move(out);
  }

private:
  void line(const std::string &content) { out += std::string(indent * 4, ' ') + content + "\n"; }

  void header(const Kernel &kernel) {
    std::string lists[2]; // of the launch, of the compiler
    for (const Parameter &parameter : kernel.parameters) {
      std::string &list = lists[parameter.isConstexpr];
      const std::string entry = parameter.name + (parameter.isConstexpr ? ": tl.constexpr," : ",");
      const size_t begin = list.rfind('\n') == std::string::npos ? 0 : list.rfind('\n');
      const bool isFull = list.size() - begin + entry.size() > lineLimit;
      list += list.empty() ? "    " : isFull ? "\n    " : " ";
      list += entry;
    }
    out += fmt::format("@triton.jit\ndef {}(\n{}{}\n):\n", kernel.name, lists[0],
                       lists[1].empty() ? "" : "\n" + lists[1]);
  }

  void block(const Block &statements) {
    ++indent;
    for (const Statement &each : statements) {
      statement(each);
    }
    --indent;
  }

  void statement(const Statement &each) {
    switch (each.kind) {
    case StatementKind::Assign:
      assign(each);
      break;
    case StatementKind::Update:
      line(fmt::format("{} {}= {}", each.name, each.text, text(each.value)));
      break;
    case StatementKind::Evaluate:
      written("", text(each.value));
      break;
    case StatementKind::Select:
      select(each);
      break;
    case StatementKind::For:
      line(fmt::format("for {} in {}:", each.name, text(each.value)));
      block(each.body);
      break;
    case StatementKind::If:
      line(fmt::format("if {}:", text(each.value)));
      block(each.body);
      if (!each.otherwise.empty()) {
        line("else:");
        block(each.otherwise);
      }
      break;
    case StatementKind::Return:
      line("return " + text(each.value));
      break;
    case StatementKind::Comment:
      line("# " + each.text);
      break;
    }
  }

  void inParentheses(const std::string &before, const std::string &content,
                     const std::string &after) {
    line(before);
    ++indent;
    line(content);
    --indent;
    line(after);
  }

  void assign(const Statement &each) {
    const std::string annotation = each.annotation.empty() ? "" : ": " + each.annotation;
    const std::string head = each.name + annotation + " = ", value = text(each.value);
    if (each.value->kind == ExprKind::Choice) {
      inParentheses(head + "(", value, ")");
      return;
    }
    written(head, value);
  }

  /// What is called has its arguments in a line of their own where one line is too short.
  void written(const std::string &head, const std::string &value) {
    const bool fits = head.size() + value.size() + indent * 4 <= lineLimit;
    if (fits || value.back() != ')') {
      line(head + value);
      return;
    }
    const size_t open = value.find('('), close = closing(value, open);
    const std::string inside = value.substr(open + 1, close - open - 1);
    const std::vector<std::string> arguments = split(inside);
    if ((indent + 1) * 4 + inside.size() <= lineLimit || arguments.size() == 1) {
      inParentheses(head + value.substr(0, open + 1), inside, value.substr(close));
      return;
    }
    line(head + value.substr(0, open + 1));
    ++indent;
    for (const std::string &argument : arguments) {
      line(argument + ",");
    }
    --indent;
    line(value.substr(close));
  }

  /// At the commas that stand in no brackets.
  static std::vector<std::string> split(const std::string &list) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < list.size();) {
      size_t end = begin;
      for (int depth = 0; end < list.size() && (depth > 0 || list[end] != ','); ++end) {
        const char c = list[end];
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      }
      parts.push_back(list.substr(begin, end - begin));
      begin = end + 2; // behind ", "
    }
    return parts;
  }

  void select(const Statement &each) {
    line(fmt::format("{}: {} = (", each.name, each.annotation));
    ++indent;
    for (size_t i = 0; i + 1 < each.cases.size(); ++i) {
      line(fmt::format("{} if {} == {} else", text(each.cases[i].second), text(each.value),
                       text(each.cases[i].first)));
    }
    line(text(each.cases.back().second));
    --indent;
    line(")");
  }

  std::string out;
  size_t indent = 0;
};

} // namespace

std::string text(const Expr &x) {
  const ExprNode &node = *x;
  switch (node.kind) {
  case ExprKind::Name:
  case ExprKind::Number:
    return node.text;
  case ExprKind::String:
    return "\"" + node.text + "\"";
  case ExprKind::Tuple:
    return tupleText(node);
  case ExprKind::Unary:
    return node.text + operand(node.operands[0], Precedence::Unary, false);
  case ExprKind::Binary:
    return binaryText(node);
  case ExprKind::Choice:
    return fmt::format("{} if {} else {}", operand(node.operands[0], Precedence::Choice, true),
                       operand(node.operands[1], Precedence::Choice, true), text(node.operands[2]));
  case ExprKind::Call:
    return callText(node);
  case ExprKind::Member: // a point after digits would belong to the number
    return operand(node.operands[0], Precedence::Atom, false,
                   node.operands[0]->kind == ExprKind::Number) +
           "." + node.text;
  case ExprKind::Axis:
    return axisText(node);
  }
  return "";
}

std::string text(const Kernel &kernel) { return Printer().run(kernel); }

} // namespace nereid::generator::kernel
