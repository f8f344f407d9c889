// SPDX-License-Identifier: Apache-2.0
// Picks the build of the inner loops once, by what the processor and the system support.
#include "lib/eager/baseline/kernels/KernelTable.h"

namespace nereid::eager {
namespace {

const KernelTable &pick() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool hasV3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("f16c");
  bool hasV4 = hasV3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
  if (hasV4) {
    return v4::kernels();
  }
  if (hasV3) {
    return v3::kernels();
  }
#endif
  return v2::kernels();
}

} // namespace

const KernelTable &kernelTable() {
  static const KernelTable &table = pick();
  return table;
}

} // namespace nereid::eager
