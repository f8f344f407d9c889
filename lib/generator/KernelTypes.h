// SPDX-License-Identifier: Apache-2.0
// Types in the source of a kernel that serves every type of its operator: a value's type is the
// same for all of them ("tl.int64"), or follows the operator's through a constant of the kernel.
#pragma once

#include "lib/generator/Fusion.h"
#include "lib/generator/kernel/Tree.h"

#include <set>

namespace nereid::generator {

class KernelTypes {
public:
  explicit KernelTypes(const definition::Operator &op);

  /// Name of the type that a value has for each type of the operator: "tl.int32", or "compute",
  /// "floating" or "total", which define() defines. Empty when it follows in no such way.
  std::string name(const std::vector<DType> &types) const;
  /// True when some of `names` are constants that have to be defined.
  bool hasConstants(const std::set<std::string> &names) const;
  /// Defines the constants among `names`; `element` is the operator's type there.
  void define(const std::set<std::string> &names, kernel::Body &body) const;
  /// The end of an integer type's range: a number, or a constant, "lowest" or "highest".
  kernel::Expr end(const std::vector<DType> &types, bool isLowest) const;

private:
  std::vector<DType> own; ///< the operator's types
};

/// For every type of the operator.
bool areAllFloat(const std::vector<DType> &types);
bool areAllInteger(const std::vector<DType> &types); ///< bool counts as one
bool areAllBool(const std::vector<DType> &types);

} // namespace nereid::generator
