// SPDX-License-Identifier: Apache-2.0
// Machine code for a GPU from PTX, by NVIDIA's assembler ptxas where this machine has one. Nothing
// needs it: the driver compiles PTX as well, when it loads it.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::nvidia {

/// The file: the one that the knob NEREID_PTXAS names, else that of PATH, of CUDA_HOME or
/// CUDA_PATH, or of the folders into which CUDA is installed. Nothing where there is none, or the
/// knob says "none". E0027 when the knob names a file that is no program.
Result<std::optional<std::string>> findPtxas();

struct AssembledCode {
  std::vector<uint8_t> cubin;
  std::string log; ///< what ptxas says about the code with -v, and its warnings
};

/// The code for exactly `architecture`, "sm_90a". E0027 without ptxas, and when it refuses the
/// text.
Result<AssembledCode> assemble(std::string_view ptx, const std::string &architecture);

} // namespace nereid::nvidia
