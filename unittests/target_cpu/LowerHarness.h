// SPDX-License-Identifier: Apache-2.0
// Takes tile IR text through convert-tile-to-loops and codegen and runs it, for the tests of
// lower/. The scratch area is exactly as large as the kernel says, between canaries.
#pragma once

#include "runtime/Kernel.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace nereid::cpu::test {

struct LoweredKernel {
  std::string loops; ///< after convert-tile-to-loops; verified, and it parses back
  std::string assembly;
  std::string error;   ///< rendered diagnostics; empty = compiled and loaded
  std::string remarks; ///< what was declined and why, a line each; see Recognisers.h
  std::set<std::string_view> recognised; ///< names of the recognisers that fired
  uint64_t scratchBytes = 0;
  bool takesRanges = false;
  std::shared_ptr<runtime::Module> code;
  runtime::KernelEntry entry = nullptr;

  /// Runs every program instance of the grid in order, in ranges of different sizes if it takes
  /// them, runs of different lengths with the same scratch; false when a canary was overwritten.
  bool launch(std::array<int32_t, 3> grid, std::vector<uint64_t> slots) const;
};

struct LowerLimits {
  uint64_t scratchBytes = 8u << 20;
};

/// Compiles the only kernel in `text` for "cpu:`architecture`".
LoweredKernel lowerKernel(const std::string &text, const std::string &architecture = "",
                          LowerLimits limits = {});

/// The optimised tile IR of the first kernel in a Triton-language text; empty with `error` set.
std::string tileText(const std::string &source, const std::string &signature, std::string &error);

/// lowerKernel of tileText; a text that has none fails the test.
LoweredKernel lowerSource(const std::string &source, const std::string &signature,
                          const std::string &architecture = "x86-64-v4", LowerLimits limits = {});

/// lowerKernel with 32-byte vectors of `kernel(x, out, n, BLOCK)`, whose body follows
/// `o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`.
LoweredKernel lowerBody(const std::string &body, const std::string &signature);

/// How often `word` stands in a text.
size_t countOf(const std::string &text, const std::string &word);

using Arguments = std::vector<runtime::ArgumentValue>;
/// Compiles the kernel for every runnable architecture and compares every tensor it may have
/// written with what the interpreter makes of it, within `tolerance` relative to the value. Returns
/// what is wrong, empty when nothing is. The tensors keep their content before the launch, except
/// that `result`, when given, receives the last architecture's output for further checks.
std::string compareWithOracle(const std::string &source, const std::string &signature,
                              std::array<int32_t, 3> grid, const Arguments &arguments,
                              double tolerance = 1e-5,
                              std::vector<runtime::Tensor> *results = nullptr);

/// A tensor of random values: normal for floats, small integers of both signs otherwise.
runtime::Tensor randomTensor(std::vector<int64_t> shape, DType dtype, uint64_t seed);

/// 64-byte vectors with instructions for sums of products of bfloat16 and int8.
constexpr const char *narrowDots = "x86-64-v4+avx512bf16+avx512vnni";
/// The architectures every execution test runs on: 16-, 32- and 64-byte vectors, and narrowDots, as
/// far as this machine can run them.
std::vector<std::string> runnableArchitectures();

template <class T> uint64_t address(const T *data) { return reinterpret_cast<uint64_t>(data); }
inline uint64_t number(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t floatBits(float value);

} // namespace nereid::cpu::test
