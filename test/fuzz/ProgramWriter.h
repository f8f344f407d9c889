// SPDX-License-Identifier: Apache-2.0
// Writes random well-typed kernels. Every result is exact by construction, so that the interpreter
// and a target must agree to the last bit: floating-point values are whole numbers between -64 and
// 64 (what an operation makes is clamped and rounded down again), divisors and shifts are bounded,
// and only functions that are exact on whole numbers are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::fuzz {

struct Program {
  /// The statements of the kernel's body, each with everything it needs in front of it; a minimiser
  /// may drop any that later ones do not name.
  std::vector<std::string> statements;
  std::string source() const;
};

/// Elements of the input and output arrays: *i32 A, *fp32 X; results go to *i64 OUT.
inline constexpr int64_t inputElements = 4096, outputElements = 1 << 16;
inline constexpr const char *signature = "A=*i32, X=*fp32, OUT=*i64, n=i32, m=i32";

Program writeProgram(uint64_t seed);

} // namespace nereid::fuzz
