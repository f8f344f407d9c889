// SPDX-License-Identifier: Apache-2.0
// Promises about values that the compiler may build upon: `tl.multiple_of`, `tl.max_contiguous` and
// `tl.max_constancy`, attributes of the operation that makes the value, one number per dimension.
#pragma once

#include "lib/interpreter/Instance.h"

#include <optional>
#include <string>

namespace nereid::check {

class Hints {
public:
  /// Finds the operations with hints; once per launch.
  void find(mlir::Operation *module);

  struct Broken {
    std::string hint;  ///< "tl.multiple_of(…, 16)"
    std::string where; ///< the values that contradict it
  };
  /// The first promise about the result of `op`, just evaluated, that does not hold.
  std::optional<Broken> check(interpreter::Instance &instance, mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Operation *> operations;
};

} // namespace nereid::check
