// SPDX-License-Identifier: Apache-2.0
// Compiles text of the loops level and makes it callable, for the tests of codegen/.
#pragma once

#include "lib/targets/cpu/codegen/Codegen.h"
#include "runtime/Kernel.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace nereid::cpu::test {

struct CompiledLoops {
  std::shared_ptr<runtime::Module> code;
  runtime::KernelEntry entry = nullptr;
  std::vector<uint8_t> object;
  std::string llvmText;
  std::string error; ///< empty = compiled and loaded

  /// Runs one program instance on the given slots.
  void call(std::initializer_list<uint64_t> slots) const;
};

/// Compiles the function "kernel" of `text` for "cpu:`architecture`" with the verifier on.
CompiledLoops compileLoops(const std::string &text, const std::string &architecture = "");

/// The same up to assembly.
std::string assemblyOf(const std::string &text, const std::string &architecture);

/// A kernel `for i in range(0, slot[n], lanes): body`, with %lanes of `type` loaded from each of
/// `inputs` arrays as %x0, %x1, … and %y of `resultType` stored to one more array; `lanes` = 1 uses
/// scalars. Slots: the inputs, the output, the count.
std::string elementwiseKernel(const std::string &type, const std::string &resultType, int lanes,
                              int inputs, const std::string &body);

inline uint64_t slot(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

} // namespace nereid::cpu::test
