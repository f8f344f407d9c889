// SPDX-License-Identifier: Apache-2.0
// Kernels may store past the caches, which x86 does not order with later stores. A thread that has
// run programs calls this before it tells another one that they are done.
#pragma once

namespace nereid::runtime {

inline void finishStreamingStores() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

} // namespace nereid::runtime
