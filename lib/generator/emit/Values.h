// SPDX-License-Identifier: Apache-2.0
// Nodes of a program as expressions of the kernel language over a tile: index expressions,
// addresses and masks, operations in exactly the types that the program says, stores. A value that
// several need is written once. Reductions and other kinds that bind an iterator belong to
// templates of their own.
#pragma once

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/emit/Tile.h"

namespace nereid::generator {

class Values {
public:
  /// `roots`: all values the kernel computes; what is used once is written where it is used.
  Values(const Program &program, const std::vector<const Node *> &roots, Tile &tile,
         kernel::Body &body, Arguments &arguments);

  /// Writes the stores: first all their values, because a stage reads before it writes.
  void store(const std::vector<Store> &stores);

  bool usesLibdevice() const { return needsLibdevice; }
  /// Every index expression that has been written, addresses included.
  const std::vector<Affine> &written() const { return offsets; }

private:
  struct Value {
    kernel::Expr tree;
    int height = 1;         ///< of the tree, from the last name on
    bool isLiteral = false; ///< takes its type from what it meets
  };
  /// A load under conditions that give its lanes another value: where(condition, load, other).
  struct Selected {
    const Node *load = nullptr, *other = nullptr;
    Conditions own;
  };

  const Conditions &needs(const Node *node, const Conditions &around);
  Value value(const Node *node, const Conditions &around);
  Value compute(const Node *node, const Conditions &around);
  Value operation(const Node &node, const Conditions &around);
  Value converted(const Node &node, const Conditions &around);
  Value select(const Node &node, const Conditions &around);
  Value power(const Node &node, Value base, int64_t exponent);
  std::optional<kernel::Expr> comparison(const Node &node, bool holds);
  Value load(const Selected &selected, const Conditions &around);
  void write(const Store &store, const Value &value, const Conditions &around);

  Selected selectedLoad(const Node *node) const;
  bool reads(const Node *node) const { return reading.contains(node); }
  Value constant(const Node &node, DType dtype) const;
  kernel::Expr typed(const Value &value, DType dtype) const;
  Value named(const std::string &hint, const Value &value);

  /// A term of a sum, added or taken off.
  struct Part {
    kernel::Expr tree;
    bool isOff = false;
  };
  void takePacked(Affine::Terms &terms, std::vector<Part> &parts);
  void addPart(std::vector<Part> &parts, const Polynomial &coefficient, const kernel::Expr &factor);
  kernel::Expr sum(kernel::Expr from, const Affine &value);
  kernel::Expr index(const Affine &value);
  kernel::Expr atom(const Atom &atom);
  kernel::Expr address(BufferId buffer, const std::vector<Affine> &index);
  kernel::Expr condition(const Condition &condition, const Conditions &around);
  kernel::Expr maskOfAccess(const AccessMask &mask, const DimSet &dims, const Conditions &around);

  const Program &program;
  Tile &tile;
  kernel::Body &body;
  Arguments &arguments;
  std::map<const Node *, int> uses;
  std::set<const Node *> reading; ///< depend on memory
  std::map<std::pair<const Node *, Conditions>, Conditions> needed;
  std::map<std::pair<const Node *, Conditions>, Value> known;
  std::map<Atom, kernel::Expr> divisions;
  std::vector<Affine> offsets;
  Conditions present; ///< around the index that is written
  bool needsLibdevice = false;
};

/// "tl.float32", as the kernel language calls the type.
std::string languageName(DType dtype);

} // namespace nereid::generator
