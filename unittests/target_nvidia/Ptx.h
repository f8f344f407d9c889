// SPDX-License-Identifier: Apache-2.0
// Kernels through all phases of the target, to PTX text.
#pragma once

#include "lib/support/Diagnostics.h"

#include <optional>
#include <string>

namespace nereid::nvidia {

/// PTX of a kernel below kernels/ ("softmax/softmax.py", with ":name" where the file has several);
/// a failure of the test otherwise.
std::string ptxOf(const std::string &kernel, const std::string &signature,
                  const std::string &target = "nvidia:sm_90a");

/// Nothing where diags says why.
std::optional<std::string> tryPtxOfKernel(const std::string &kernel, const std::string &signature,
                                          Diagnostics &diags, const std::string &target);

/// Of a kernel `k`, by the lines behind `import triton.language as tl`; nothing where diags says
/// why.
std::optional<std::string> tryPtxOfText(const std::string &lines, const std::string &signature,
                                        Diagnostics &diags,
                                        const std::string &target = "nvidia:sm_90a");
/// Of tile IR as behind phase `tile-opt`.
std::optional<std::string> tryPtxOfTiles(const std::string &module, Diagnostics &diags);
/// As tryPtxOfText where it must succeed, and ptxas accept it where there is one.
std::string ptxOfText(const std::string &lines, const std::string &signature,
                      const std::string &target = "nvidia:sm_90a");

/// The first warning of ptxas that the code is not made as it was written: registers that cannot be
/// kept (C7508), wgmma one after the other (C7510, C7511, C7518), accesses taken for a race
/// (C7602).
std::string lossOf(const std::string &log);
/// What ptxas says against the text, such a warning as well; empty when it has nothing to say or is
/// not there.
std::string complaintOfPtxas(const std::string &ptx, const std::string &architecture = "sm_90a");

int countOf(const std::string &text, const std::string &what);

} // namespace nereid::nvidia
