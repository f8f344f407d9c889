// SPDX-License-Identifier: Apache-2.0
// Lists and tuples of a body: of tensors, sizes and numbers, known entry by entry when the
// definition is read. `B, T, C = x.shape`, `parts.append(y)`, `[f(t) for t in parts]`,
// `x.view(*x.shape[:-1], H, D)`. Functions that take a list see it as if its entries were written
// there one by one.
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodySequences {
public:
  explicit BodySequences(BodyExpressions &body) : body(body) {}

  /// Its form and what names stand for say so; nothing is read.
  bool isSequence(const language::Expr &expr) const;
  /// The nodes of its entries, or nothing after an error was reported.
  std::optional<std::vector<int>> read(const language::Expr &expr);
  /// The number of entries, where it is known without reading them.
  std::optional<int64_t> lengthOf(const language::Expr &expr) const;

  /// `parts[i]` of a list, which is no part of a tensor.
  bool isEntry(const language::Expr &subscript) const;
  std::optional<int> entry(const language::Expr &subscript);
  /// The same of a name's list, where the place is known; nothing is reported.
  std::optional<int> knownEntry(const language::Expr &subscript) const;
  /// len(…) and sum(…).
  bool isFunction(const language::Expr &call) const;
  std::optional<int> called(const language::Expr &call);

  /// parts.append(x), parts.extend(more), parts.insert(0, x).
  bool isMethod(const language::Expr &call) const;
  bool runMethod(const language::Expr &call);
  /// parts += more; false after an error was reported.
  bool extend(const std::string &name, const language::Expr &more);
  /// The name stands for the list, which is that of `value` where it is another name.
  void give(const language::Expr &name, const language::Expr &value, const std::vector<int> &nodes);
  /// The name stands for a list that may grow from now on.
  bool grow(const language::Expr &name);

  /// What `for` walks over: for each turn the values of its targets.
  bool isIterable(const language::Expr &expr) const;
  std::optional<std::vector<std::vector<int>>> turnsOf(const language::Expr &iterable);
  /// The numbers of range(…) with known arguments.
  std::optional<std::vector<int64_t>> rangeOf(const language::Expr &iterable);

  /// An argument that is a list by another form than its entries in brackets, with these written
  /// out; any other, itself. Null after an error was reported.
  const language::Expr *opened(const language::Expr *argument);
  /// Arguments of a call, with `*entries` one by one; false after an error was reported.
  /// `keepsShapes`: x.shape stays what it is.
  bool openAll(std::vector<const language::Expr *> &arguments, bool keepsShapes = false);

private:
  using Shared = BodyExpressions::Sequence;

  Shared *named(const language::Expr &expr) const;
  std::optional<std::vector<int>> entriesOf(const language::Expr &list);
  std::optional<std::vector<int>> shapeOf(const language::Expr &tensor, SourceRange range);
  std::optional<std::vector<int>> sliced(const language::Expr &subscript);
  std::optional<std::vector<int>> spread(const language::Expr &call);
  std::optional<std::vector<int>> comprehended(const language::Expr &list);
  std::optional<std::vector<int>> repeated(const language::Expr &product);
  const language::Expr *tupleOf(const std::vector<int> &nodes, SourceRange range);
  std::optional<int64_t> place(const language::Expr &index, int64_t count);

  BodyExpressions &body;
};

} // namespace nereid::definition
