// SPDX-License-Identifier: Apache-2.0
// Single instructions of AVX-512 on a full register of floats that no operation of LLVM stands for.
#pragma once

namespace nereid::lowering {
class LaneInstructions;
}

namespace nereid::cpu {

/// Of AVX-512 with F and DQ, and when asked for with BF16. They live as long as the process.
const lowering::LaneInstructions &avx512Instructions(bool hasBf16);

} // namespace nereid::cpu
