// SPDX-License-Identifier: Apache-2.0
// What a call of an operator must fulfil: dimensions, shapes and types of its tensors and numbers.
// Said once; the Python wrapper and the C++ companions spell it in their languages.
#pragma once

#include "lib/generator/WrapperNames.h"

namespace nereid::generator {

/// One line of a wrapper, about one input.
struct InputCheck {
  enum class Kind {
    Rank,  ///< `count` dimensions, or at least as many
    Size,  ///< no check: `step` names a size, or the leading sizes, of the input
    Shape, ///< as the definition's symbols say
    Type,  ///< one of `types`, or that of input `sameAs`
    Whole  ///< `number` is an integer
  };
  Kind kind = Kind::Rank;
  const Operand *operand = nullptr; ///< none of a number
  size_t count = 0;
  bool isAtLeast = false;
  const SizeNames::Step *step = nullptr;
  std::vector<DType> types = {};
  std::string sameAs = {};
  std::string number = {};
};

/// In the order in which wrappers make them; what they point to is `called` and `names`.
std::vector<InputCheck> inputChecks(const CalledOperator &called, const SizeNames &names);

/// The first input of the operator's own type, which the others share; "" when all have their own.
std::string leadInput(const CalledOperator &called);

} // namespace nereid::generator
