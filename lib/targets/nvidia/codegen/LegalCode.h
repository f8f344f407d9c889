// SPDX-License-Identifier: Apache-2.0
// What LLVM 19 has no code for on NVIDIA GPUs, where its code generator ends the process without a
// diagnostic (a fence), and what it compiles to something else without a word (an atomic operation
// with an order, a remainder of floats). Neither may reach it: our own phases write instructions
// of PTX for such things, and LLVM IR that is fed in is looked through before.
#pragma once

#include <optional>
#include <string>

namespace llvm {
class Module;
}

namespace nereid::nvidia {

/// Of a kernel, "2,1,1": the blocks of its clusters along each axis.
inline constexpr const char *clusterAttribute = "nvvm.cluster_dim";

struct IllegalCode {
  std::string what; ///< "'fence' in function 'k'"
  std::string why;  ///< and what to write instead
};

/// The first that is found. `capability`: 80 for sm_80.
std::optional<IllegalCode> findIllegalCode(const llvm::Module &module, int capability);

} // namespace nereid::nvidia
