// SPDX-License-Identifier: Apache-2.0
// Nodes of a program as expressions of the kernel language over a tile: index expressions,
// addresses and masks, operations in exactly the types that the program says, stores. A value that
// several need is written once. A reduction is written where it is needed when all it runs over is
// in the tile; else `reduceInLoops` comes first. Other kinds that bind an iterator belong to
// templates of their own.
#pragma once

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/emit/ExponentProducts.h"
#include "lib/generator/emit/Lanes.h"
#include "lib/generator/emit/SharedValues.h"

namespace nereid::generator {

class Values {
public:
  /// `roots`: all values the kernel computes; what is used once is written where it is used.
  Values(const Program &program, const std::vector<const Node *> &roots, Tile &tile,
         kernel::Body &body, Arguments &arguments);

  /// Writes the reductions that the stores need as loops over the blocks of the tile's looped
  /// dimension: one loop for all that need no other, then for those that need these, and so on.
  void reduceInLoops(const std::vector<Store> &stores);
  /// A reduction in a loop that a template writes itself: its results before the loop, those with
  /// the elements of a turn, and what it is behind the loop, under the body's name.
  Lanes beforeTurns(const Node &reduce);
  void addTurn(const Node &reduce, const Lanes &results, const Conditions &around = {});
  Lanes behindTurns(const Node &reduce, const Lanes &results);
  /// Writes a loop over these blocks. What does not vary in it is written before it.
  void loopOverValues(const std::function<void()> &inside);

  /// The reduction's components, computed elsewhere.
  void give(const Node *reduce, Lanes components) { given[reduce] = std::move(components); }
  /// A line's values (Scan) or keys (Order) of each lane, what they are beyond its end included.
  Lanes lanesOfLine(const Node &line);
  /// `isLast`: nothing more is done to them.
  Lanes scanned(const Node &line, const Lanes &lanes, bool isLast);
  Lanes combined(const Node &line, const Lanes &a, const Lanes &b) {
    return monoids.combined(line, a, b);
  }
  /// What a walk along lines begins with, one for each line.
  Lanes beforeLines(const Node &line);
  /// A value in each lane, under a name.
  kernel::Expr laneValue(const Node *node, const Conditions &around = {});
  kernel::Expr fresh(const std::string &hint, const kernel::Expr &value) {
    return monoids.fresh(hint, value);
  }

  /// A factor of a contraction over a dimension of the tile, 0 beyond its end, in the type of its
  /// storage or in its own.
  kernel::Expr factor(const Node *value, DType type, size_t dim);
  /// The value, with its type.
  kernel::Expr valueOf(const Node *node, const Conditions &around = {}) {
    return typed(value(node, around), node->dtype);
  }

  /// Writes the stores: first all their values, because a stage reads before it writes.
  void store(const std::vector<Store> &stores);

  /// A component of a line's or reduction's values in each lane, under the body's name of it.
  kernel::Expr freshOf(const Node &node, size_t component, const kernel::Expr &value) {
    return monoids.freshFor(wordFor(node, component), node.name, value);
  }

  /// Functions that the kernel calls.
  std::vector<kernel::Kernel> helpers() const { return monoids.helpers(); }
  /// A condition of an access rests on a reduction that no loop has computed.
  bool lacksReduction() const { return isLacking; }
  /// Lanes of each turn have been joined in it.
  bool joinsTurns() const { return areTurnsJoined; }
  bool usesLibdevice() const { return needsLibdevice; }
  /// Every index expression that has been written, addresses included.
  const std::vector<Affine> &indicesWritten() const { return offsets; }

private:
  /// Assigns `results`, which are names, themselves joined with what is added.
  void join(const Node &reduce, const Lanes &results, const Lanes &added);
  /// Higher trees are cut into lines.
  static constexpr int heightAtMost = 6;

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

  /// A value under the conditions that it needs.
  using Key = std::pair<const Node *, Conditions>;

  const Conditions &needs(const Node *node, const Conditions &around);
  Value value(const Node *node, const Conditions &around);
  Value written(const Node *node, const Conditions &around, bool isNamed);
  Value compute(const Node *node, const Conditions &around);
  Value operation(const Node &node, const Conditions &around);
  Value converted(const Node &node, const Conditions &around);
  Value place(const Node *node, const Conditions &around);
  Value placeWritten(const Node &node, const Conditions &around);
  Value toEightBits(const Value &given, DType type);
  Value ordinal(const Node &node, const Conditions &around);
  Value select(const Node &node, const Conditions &around);
  Value power(const Node &node, Value base, int64_t exponent);
  Value operand(const Node &node, size_t number, const Conditions &around);
  Value roundedProduct(const Node &node, const Conditions &around);
  std::optional<kernel::Expr> comparison(const Node &node, bool holds);
  Value load(const Selected &selected, const Conditions &around);
  void write(const Store &store, const Value &value, const Conditions &around);

  const Lanes &reduced(const Node *node, const Conditions &around);
  kernel::Expr shapeOfLine(const Node &line, bool isWhole) const;
  Lanes lanesOf(const Node &node, const Conditions &around);
  kernel::Expr guarded(const Node &node, size_t component, const Conditions &around);
  bool isIdentityOutside(const Node *value, double identity, size_t dim) const;
  Lanes accumulators(const Node &node, const std::set<IteratorId> &iterators,
                     const std::string &hint);
  size_t levelOf(const Node *node, const Conditions &around);
  size_t levelOfConditions(const Conditions &conditions);

  Selected selectedLoad(const Node *node) const;
  bool reads(const Node *node) const { return reading.contains(node); }
  Value constant(const Node &node, DType dtype) const;
  kernel::Expr typed(const Value &value, DType dtype) const;
  Value named(const std::string &hint, const Value &value);
  /// Under the body's name of the node, if that has one.
  Value named(const Node &node, const std::string &otherwise, const Value &value);
  std::string wordFor(const Node &node, size_t component) const;

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
  kernel::Expr division(const Atom &atom);
  kernel::Expr address(BufferId buffer, const std::vector<Affine> &index);
  kernel::Expr condition(const Condition &condition, const Conditions &around);
  kernel::Expr maskOfAccess(const AccessMask &mask, const DimSet &dims, const Conditions &around);

  const Program &program;
  Tile &tile;
  kernel::Body &body;
  Arguments &arguments;
  LaneMonoids monoids;
  const SharedValues shared;
  const ExponentProducts products;
  std::map<const Node *, int> uses;
  std::set<const Node *> reading;                          ///< depend on memory
  std::map<const Node *, std::vector<const Node *>> picks; ///< of lines and reductions of several
  std::map<Key, Conditions> needed;
  std::map<Key, Value> known;
  std::map<Key, Value> places; ///< those of indices, in their width
  std::map<Key, Lanes> reductions;
  std::map<const Node *, Lanes> given;
  std::map<Key, size_t> levels;
  std::vector<std::vector<Key>> byLevel; ///< reductions that need none, that need those, …
  std::map<Atom, kernel::Expr> divisions;
  std::vector<Affine> offsets;
  Conditions present; ///< around the index that is written
  bool needsLibdevice = false, isLacking = false, areTurnsJoined = false;
};

} // namespace nereid::generator
