// SPDX-License-Identifier: Apache-2.0
// Dimensions of inputs that are computed of sizes: shape = ["B", "G * H", "L", "D"]. In the graph
// each has a name of its own, SIZE_1, and a size that stands nowhere alone is computed of it: G is
// SIZE_1 // H, where a constraint says that H divides it.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::definition {

struct ComputedDims {
  struct Named {
    std::string name, text;
  };
  std::vector<Named> dims;              ///< SIZE_1, "G * H"
  std::vector<Named> sizes;             ///< G, "SIZE_1 // H"
  std::vector<Named> known;             ///< SIZE_2, "3 * C": nothing follows of it
  std::vector<std::string> constraints; ///< what calls have to meet

  /// With dimensions of known sizes as they are computed: "3 * C" where C is a dimension.
  SymbolicShape spelt(SymbolicShape shape) const;
  /// A text over sizes with each computed one as what it is computed of.
  std::string replaced(const std::string &text) const;
};

/// Those of a whole definition; none where it has errors.
ComputedDims computedDimsOf(const std::string &text);

/// Dimensions of op.parameters get their names. Where a size cannot be found, an error, for which
/// `wrong` is the parameter's number.
Result<ComputedDims> nameComputedDims(Operator &op, size_t &wrong);

} // namespace nereid::definition
