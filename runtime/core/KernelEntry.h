// SPDX-License-Identifier: Apache-2.0
// How compiled code is called: the contract between it and both runtimes.
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// One program instance, or the neighbours from it to the end of a range, for kernels that take
/// ranges.
/// slots: one 8-byte slot per run-time parameter in order (constexprs have none): the address, the
/// integer sign- or zero-extended to 64 bits, a float32/64 by its bits in the low bytes (fp16 and
/// bf16 scalars are passed as float32 bits). A descriptor has several, its address, its sizes and
/// its strides but the last.
/// id/count: program id and grid size, three each; id[3] is the end of the range, id[0] + 1 for one
/// program; id[4] says that scratch is as the call before has left it, for another program of this
/// launch, and is missing where programs wait for each other. scratch: as many bytes as the kernel
/// needs, 64-byte aligned, private to the program while it runs; null when it needs none. The code
/// may call the functions of runtime/core/KernelSupport.h. Unless the kernel is blocking, its last
/// stores may be weakly ordered: see runtime/core/StoreFence.h.
using KernelEntry = void (*)(const uint64_t *slots, const int32_t *id, const int32_t *count,
                             uint8_t *scratch);

} // namespace nereid::runtime
