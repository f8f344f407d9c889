// SPDX-License-Identifier: Apache-2.0
// What a kernel is specialised for in one of its parameters, and how signatures spell it:
// "*fp32:16" is a pointer whose address 16 divides, "i32{1..64}" an integer in a range, see
// SizeRange.h.
#pragma once

#include "lib/language/signature/ConstValue.h"
#include "lib/language/signature/SizeRange.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

struct ParamType {
  enum class Kind { Pointer, Scalar, Constexpr, Descriptor, Tuple };
  std::string name;
  Kind kind = Kind::Scalar;
  DType dtype = DType::I32;        // Pointer and Descriptor: of the elements
  int64_t divisibility = 1;        // of the value, or of the address in bytes
  SizeRange range;                 // Scalar integers only: when the specialization is meant
  std::vector<int64_t> blockShape; // Descriptor only: powers of two
  bool padsWithNan = false;        // Descriptor only: what lies outside reads as NaN, not as 0
  ConstValue constant;             // Constexpr only; None is Constexpr with monostate
  std::vector<ParamType> elements; // Tuple only: of x they are named "x[0]", "x[1]", …
};

/// Reads a type, of a scalar, a pointer or a descriptor. E0207 unknown or not for parameters, E0026
/// a range of what has none.
std::optional<Diagnostic> readParamType(std::string_view text, ParamType &out);

/// As signatures spell it, a constant's value and a tuple's elements as well.
std::string paramTypeText(const ParamType &param);

} // namespace nereid::language
