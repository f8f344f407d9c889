// SPDX-License-Identifier: Apache-2.0
// The types a kernel is specialised for: upstream's ahead-of-time form "*fp32:16, i32, 1024", by
// position or by name ("x=*fp32:16, BLOCK=1024"). `:16` promises divisibility by 16; a literal is
// a constexpr; "(*fp32, *fp32)" is a tuple of arguments; `i32{1..64}` is for a library's launcher,
// see SizeRange.h; `num_warps=8` is an option, unless the kernel has a parameter of that name.
// Stands between the command line and emit/.
#pragma once

#include "lib/language/signature/KernelOptions.h"
#include "lib/language/signature/ParamType.h"
#include "lib/language/syntax/Ast.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

struct Signature {
  std::vector<ParamType> params; // exactly the kernel's parameters, in order
  KernelOptions options;
  /// Canonical text, equal for equal specialisations: "x=*fp32:16,n=i32,BLOCK=1024".
  std::string text() const;
  /// The parameters with a tuple's elements in its place: what a launch gives one by one.
  std::vector<ParamType> flattened() const;
  /// What the kernel is compiled for: ranges only choose among specializations.
  Signature withoutRanges() const;
};

/// E0026 when a parameter has a range, which only libraries can choose by.
std::optional<Diagnostic> refuseRanges(const Signature &signature);

/// A signature with gaps: parameters that the text does not give have no type yet.
struct PartialSignature {
  std::vector<std::optional<ParamType>> params; // in the kernel's order
  KernelOptions options;
  std::string given; // the text, for messages
  const FunctionDef *kernel = nullptr;
  /// Fills the gaps with defaults; E0206 names the first parameter that has none.
  Result<Signature> complete() const;
};
Result<PartialSignature> parsePartialSignature(std::string_view text, const FunctionDef &kernel);

/// Matches the text against the kernel's parameters; defaults fill what is missing.
/// E0206 count or name does not match, E0207 unknown type, E0208 a constexpr parameter got a type,
/// E0235 an option cannot have its value.
Result<Signature> parseSignature(std::string_view text, const FunctionDef &kernel);

} // namespace nereid::language
