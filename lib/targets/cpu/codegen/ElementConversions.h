// SPDX-License-Identifier: Apache-2.0
// Conversions of vectors taken one element at a time, for machines on which the vector form is
// wrong or cannot be used.
#pragma once

namespace llvm {
class Module;
}

namespace nereid::cpu {

/// Conversions of vectors from floating point to integers, and truncations: only scalar
/// instructions round towards zero afterwards. For a machine on which vfcvt.rtz cannot be used:
/// QEMU before version 8 ends with an assertion of its own when it translates one.
void truncateElementByElement(llvm::Module &module);

/// Conversions of vectors of 64-bit integers to floats of fewer bits. With NEON LLVM 19 takes them
/// by way of float64 and so rounds twice; the scalar instruction rounds once.
void roundWideIntegersElementByElement(llvm::Module &module);

} // namespace nereid::cpu
