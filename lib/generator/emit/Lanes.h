// SPDX-License-Identifier: Apache-2.0
// Monoids over a dimension of the tile. Each lane has a value for every component of the monoid.
// The whole dimension in the tile: the lanes' values are joined at once. A loop over its blocks:
// every lane combines what it meets, and the lanes are joined behind the loop.
#pragma once

#include "lib/generator/emit/Tile.h"

#include <optional>
#include <set>
#include <utility>

namespace nereid::generator {

/// One value for each component of a monoid.
using Lanes = std::vector<kernel::Expr>;

class LaneMonoids {
public:
  /// `covered`: extrema that may pass over NaN, see NanCover.h.
  LaneMonoids(Tile &tile, kernel::Body &body, Arguments &arguments,
              std::set<const Node *> covered = {})
      : tile(tile), body(body), arguments(arguments), covered(std::move(covered)) {}

  /// The type in which a component of a Reduce is combined.
  static DType typeOf(const Node &node, size_t component);
  static kernel::Expr identityOf(const Node &node, size_t component);

  /// a and b of each lane as one value, those of a before those of b.
  Lanes combined(const Node &node, const Lanes &a, const Lanes &b);
  /// All lanes of the reduced dimension as one, in the types of the program.
  Lanes joined(const Node &node, const Lanes &lanes);
  /// The same, in the types in which they are combined, and those then in the program's.
  Lanes together(const Node &node, const Lanes &lanes);
  static Lanes inTypesOf(const Node &node, Lanes joined);
  /// For each lane of the reduced dimension, those up to it as one value.
  /// `words`: what the body calls them; none, or one of each component.
  Lanes scanned(const Node &node, const Lanes &lanes, const std::vector<std::string> &words = {});
  /// A new name for the value.
  kernel::Expr fresh(const std::string &hint, const kernel::Expr &value);
  /// The same, by what the body calls it; `otherwise`: where that is nothing.
  kernel::Expr freshFor(const std::string &word, const std::string &otherwise,
                        const kernel::Expr &value);
  /// Functions that have been called.
  std::vector<kernel::Kernel> helpers() const;

private:
  kernel::Expr across(const std::string &function, kernel::Expr value,
                      const std::vector<kernel::Argument> &how = {}) const;
  kernel::Expr joinedBy(const char *function, const kernel::Expr &joint, const kernel::Expr &lanes);
  Lanes momentsOf(const Node &node, const Lanes &lanes);
  kernel::Expr extremum(bool isLargest, const kernel::Expr &lanes, bool keepsNan);

  Tile &tile;
  kernel::Body &body;
  Arguments &arguments;
  const std::set<const Node *> covered;
  std::optional<kernel::Kernel> lineHelper;          ///< joins two values of a line
  std::map<std::string, kernel::Kernel> pairHelpers; ///< join the lanes of a tile, by name
};

/// "tl.float32", as the kernel language calls the type.
std::string languageName(DType dtype);

} // namespace nereid::generator
