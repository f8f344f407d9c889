// SPDX-License-Identifier: Apache-2.0
// For a machine on which vfcvt.rtz cannot be used: QEMU before version 8 ends with an assertion of
// its own when it translates one.
#pragma once

namespace llvm {
class Module;
}

namespace nereid::cpu {

/// Takes conversions of vectors from floating point to integers, and truncations, one element at a
/// time; only scalar instructions round towards zero afterwards.
void truncateElementByElement(llvm::Module &module);

} // namespace nereid::cpu
