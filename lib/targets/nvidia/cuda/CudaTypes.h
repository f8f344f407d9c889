// SPDX-License-Identifier: Apache-2.0
// Whether a kernel in CUDA C++ takes the arguments that it would be given. A function with C++'s
// linkage has its types in its name; of one that is extern "C" PTX knows kinds and sizes alone.
#pragma once

#include "lib/targets/nvidia/cuda/PtxEntries.h"
#include "runtime/Kernel.h"

#include <span>
#include <string>
#include <vector>

namespace nereid::nvidia {

/// A kernel as its source calls it.
struct CudaFunction {
  PtxEntry entry;
  std::string name; ///< "gelu", without namespaces and template arguments
  std::string text; ///< "gelu<float>(float const*, float*, int)"; the name alone without types
  std::vector<std::string> types; ///< of the parameters; empty when they are not known
};

CudaFunction describeEntry(PtxEntry entry);

/// Why the function cannot be called so, empty = it can. A pointer to elements of another size or
/// kind than the tensor's does not fit; one to an unsigned integer of the same size, to void or to
/// a type that is not known does.
std::string problemOfCall(const CudaFunction &function,
                          std::span<const runtime::ArgumentInfo> arguments);

/// How CUDA C++ declares a parameter for the argument: "const float *x".
std::string declarationOf(const runtime::ArgumentInfo &argument);

} // namespace nereid::nvidia
