// SPDX-License-Identifier: Apache-2.0
// Kernels of the language as trees, which generators make and one printer writes (Printer.h):
// nobody else puts text together or thinks of parentheses.
//
//   Body body;
//   body.loop("row", call("range", {name("first"), name("last")}), [&] {
//     body.assign("y", call("tl.exp", {name("x") - name("top")}));   // y = tl.exp(x - top)
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nereid::generator::kernel {

enum class ExprKind : uint8_t {
  Name,   ///< text; also dotted: "tl.float32"
  Number, ///< text, without a sign
  String, ///< text, without quotes
  Tuple,  ///< operands
  Unary,  ///< text: "-" or "~"; operands[0]
  Binary, ///< text: any binary operator of Python; operands[0..1]
  Choice, ///< operands[0] if operands[1] else operands[2]
  Call,   ///< operands[0] is what is called, then arguments; keywords name the last of these
  Member, ///< operands[0] . text
  Axis    ///< operands[0], a vector, along dimension `axis` of `rank`: "[:, None]"
};

struct ExprNode;

/// Expressions never change and are shared.
class Expr {
public:
  Expr() = default; ///< none
  Expr(int64_t number);
  Expr(int number) : Expr(static_cast<int64_t>(number)) {}
  explicit Expr(ExprNode node);

  explicit operator bool() const { return node != nullptr; }
  const ExprNode &operator*() const { return *node; }
  const ExprNode *operator->() const { return node.get(); }

private:
  std::shared_ptr<const ExprNode> node;
};

struct ExprNode {
  ExprKind kind = ExprKind::Name;
  std::string text = {};
  std::vector<Expr> operands = {};
  std::vector<std::string> keywords = {};
  unsigned axis = 0, rank = 0;
};

/// A positional argument, or {"mask", …}.
struct Argument {
  Argument(Expr value) : value(std::move(value)) {}
  Argument(int number) : value(number) {}
  Argument(std::string keyword, Expr value)
      : keyword(std::move(keyword)), value(std::move(value)) {}
  std::string keyword;
  Expr value;
};

Expr name(std::string text);
/// A decimal integer, with or without a sign.
Expr integer(const std::string &digits);
/// The shortest text that reads back as this number, infinities and NaN too; always a float.
Expr real(double value);
Expr string(std::string text);
Expr tuple(std::vector<Expr> elements);
Expr unary(std::string sign, Expr x);
Expr binary(std::string sign, Expr a, Expr b);
Expr choice(Expr value, Expr condition, Expr otherwise);
Expr call(Expr callee, std::vector<Argument> arguments);
Expr call(const std::string &function, std::vector<Argument> arguments);
Expr member(Expr base, std::string text);
/// base.text(arguments).
Expr method(Expr base, std::string text, std::vector<Argument> arguments);
Expr axis(Expr vector, unsigned axis, unsigned rank);

inline Expr operator+(Expr a, Expr b) { return binary("+", std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary("-", std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary("*", std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary("/", std::move(a), std::move(b)); }

enum class StatementKind : uint8_t {
  Assign,   ///< name = value; `annotation` after the name
  Update,   ///< name text= value
  Evaluate, ///< value, for its effect
  Select,   ///< name = the value of the case that `value` is equal to, else of the last
  For,      ///< name in value; body
  If,       ///< value; body, otherwise
  Return,   ///< value
  Comment   ///< text
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  StatementKind kind = StatementKind::Assign;
  std::string name = {}, text = {}, annotation = {};
  Expr value = {};
  std::vector<std::pair<Expr, Expr>> cases =
      {}; ///< of a Select: what it is compared with, and the value
  Block body = {}, otherwise = {};
};

struct Parameter {
  std::string name;
  bool isConstexpr = false;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  std::vector<Kernel> helpers = {}; ///< functions that it calls, printed before it
};

/// Statements in order, nested as they are made.
class Body {
public:
  void assign(const std::string &name, Expr value, const std::string &annotation = "");
  void update(const std::string &name, const std::string &sign, Expr value);
  void evaluate(Expr value);
  void select(const std::string &name, Expr subject, std::vector<std::pair<Expr, Expr>> cases);
  void comment(const std::string &text);
  void result(Expr value);
  void loop(const std::string &name, Expr iterable, const std::function<void()> &inside);
  void when(Expr condition, const std::function<void()> &inside,
            const std::function<void()> &otherwise = nullptr);

  /// What `write` writes stands before the loop or branch that is being written.
  void outside(const std::function<void()> &write);
  /// All that has been written becomes the body of a loop, behind what `before` writes, which says
  /// what the loop runs over.
  void enclose(const std::string &name, const std::function<Expr()> &before);

  /// How deep the next statement is nested; 0: in the kernel itself.
  size_t depth() const { return open.size() - 1; }
  Block take();

private:
  Block within(const std::function<void()> &inside);
  void add(Statement statement) { open.back().push_back(std::move(statement)); }

  std::vector<Block> open{1};
};

} // namespace nereid::generator::kernel
