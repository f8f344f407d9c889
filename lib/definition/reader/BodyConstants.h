// SPDX-License-Identifier: Apache-2.0
// What is known of an expression when a body is read: numbers, strings, True, False and None. By
// these conditions are decided and loops counted.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/language/syntax/Ast.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nereid::definition {

struct NoneValue {
  bool operator==(const NoneValue &) const = default;
};
using BodyConstant = std::variant<NoneValue, bool, int64_t, double, std::string>;

/// As Python's `if` takes it.
bool isTrue(const BodyConstant &value);

/// Quotient and remainder of Python, rounded down; nothing where it would raise or overflow.
std::optional<int64_t> floorDivided(int64_t a, int64_t b, bool isRemainder);

/// "-1" of a call's arguments.
std::optional<int64_t> literalInteger(const language::Expr &expr);

/// Never reports: what is not known may be another thing.
class BodyConstants {
public:
  using Names = std::map<std::string, int>;
  /// Names of values that are no tensors and no numbers; null is an argument that is left out.
  using Literals = std::map<std::string, const language::Expr *>;

  BodyConstants(const std::vector<Node> &nodes, const Names &names, const Literals &literals)
      : nodes(nodes), names(names), literals(literals) {}

  std::optional<BodyConstant> constantOf(const language::Expr &expr) const;
  std::optional<int64_t> integerOf(const language::Expr &expr) const;
  /// The expression with what is known put in the place of names: a string, a truth, None or a
  /// tuple of integers and names; null for others.
  const language::Expr *literalOf(const language::Expr &expr);
  const language::Expr *literalNamed(const language::Expr &name) const;
  const language::Expr *integerLiteral(int64_t value, SourceRange range);
  /// An expression that lives as long as this.
  language::Expr *keep(language::ExprKind kind, SourceRange range);

  /// A list's entry as an argument: a number as it would be written, another node by a name that no
  /// body has.
  language::ExprPtr entry(int node, SourceRange range) const;
  std::optional<int> numberedNode(const std::string &name) const;

  /// The number of entries of a list, and the node of the entry that a subscript names.
  using LengthOf = std::function<std::optional<int64_t>(const language::Expr &)>;
  using EntryOf = std::function<std::optional<int>(const language::Expr &)>;
  void findListsBy(LengthOf length, EntryOf entry) {
    lengthOf = std::move(length);
    entryOf = std::move(entry);
  }

private:
  std::optional<BodyConstant> constantNamed(const std::string &name) const;
  std::optional<BodyConstant> numberAt(int node) const;
  std::optional<BodyConstant> rankOf(const language::Expr &tensor) const;
  std::optional<BodyConstant> sizeOf(const language::Expr &tensor,
                                     const language::Expr &place) const;

  const std::vector<Node> &nodes;
  const Names &names;
  const Literals &literals;
  std::deque<language::ExprPtr> kept;
  LengthOf lengthOf;
  EntryOf entryOf;
};

} // namespace nereid::definition
