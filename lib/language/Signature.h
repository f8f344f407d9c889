// SPDX-License-Identifier: Apache-2.0
// The types a kernel is specialised for: upstream's ahead-of-time form "*fp32:16, i32, 1024", by
// position or by name ("x=*fp32:16, BLOCK=1024"). `:16` promises divisibility by 16; a literal is
// a constexpr. Stands between the command line and emit/.
#pragma once

#include "lib/language/Ast.h"
#include "runtime/DType.h"

#include <string>
#include <variant>
#include <vector>

namespace nereid::language {

/// A constexpr's value; monostate is None.
using ConstValue = std::variant<std::monostate, bool, int64_t, double, std::string, DType>;

struct ParamType {
  enum class Kind { Pointer, Scalar, Constexpr };
  std::string name;
  Kind kind = Kind::Scalar;
  DType dtype = DType::I32; // Pointer: what it points to
  int64_t divisibility = 1; // of the value, or of the address in bytes
  ConstValue constant;      // Constexpr only; None is Constexpr with monostate
};

struct Signature {
  std::vector<ParamType> params; // exactly the kernel's parameters, in order
  /// Canonical text, equal for equal specialisations: "x=*fp32:16,n=i32,BLOCK=1024".
  std::string text() const;
};

/// Matches the text against the kernel's parameters; defaults fill what is missing.
/// E0206 count or name does not match, E0207 unknown type, E0208 a constexpr parameter got a type.
Result<Signature> parseSignature(std::string_view text, const FunctionDef &kernel);

} // namespace nereid::language
