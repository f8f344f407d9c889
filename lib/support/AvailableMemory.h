// SPDX-License-Identifier: Apache-2.0
// What this process may still allocate, asked before large tensors are made.
#pragma once

namespace nereid {

/// Bytes: the least of the system's available memory, the limit of the process's group and what is
/// left of its address space. 1e18 or more where none of them is known.
double availableMemory();

} // namespace nereid
