// SPDX-License-Identifier: Apache-2.0
// Types in the source of a kernel that serves every type of its operator: a value's type is the
// same for all of them ("tl.int64"), or follows the operator's through a constant of the kernel.
#pragma once

#include "lib/generator/Fusion.h"

#include <set>

namespace nereid::generator {

class KernelTypes {
public:
  explicit KernelTypes(const definition::Operator &op);

  /// Name of the type that a value has for each type of the operator: "tl.int32", or "compute",
  /// "floating" or "total", which lines() defines. Empty when it follows in no such way.
  std::string name(const std::vector<DType> &types) const;
  /// The constants among `names`, as lines; `element` is the operator's type there.
  std::vector<std::string> lines(const std::set<std::string> &names) const;
  /// The end of an integer type's range, "lowest" or "highest": a number, or the name of a constant
  /// that lines() defines.
  std::string end(const std::vector<DType> &types, bool isLowest) const;

private:
  std::vector<DType> own; ///< the operator's types
};

/// For every type of the operator.
bool areAllFloat(const std::vector<DType> &types);
bool areAllBool(const std::vector<DType> &types);

} // namespace nereid::generator
