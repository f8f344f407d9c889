// SPDX-License-Identifier: Apache-2.0
#include "lib/support/Knobs.h"

namespace nereid {

const std::vector<Knob> &allKnobs() {
  static const std::vector<Knob> knobs = {
      {"NEREID_BLOCKING",
       "1 = launches on a GPU wait for their kernel, so that the one that fails is named; for "
       "debugging"},
      {"NEREID_CACHE_BYTES", "size limit of the kernel cache in bytes; default 1 GiB"},
      {"NEREID_CACHE_DIR", "folder for cached kernels and the calibrated chip descriptor"},
      {"NEREID_CPU_FEATURES", "restrict the features this machine is taken to have, e.g. -avx512f"},
      {"NEREID_CUDA_COMPILER", "the libnvrtc or the nvcc that compiles peers in CUDA C++; default: "
                               "that of the system or of "
                               "CUDA's usual folders; none = do without"},
      {"NEREID_DEADLOCK_SECONDS",
       "how long a launch waits when no program gets on; default 10, 0 = for ever"},
      {"NEREID_IMPORT_PATH", "folders in which kernels' imports are looked for, split by colons"},
      {"NEREID_OPERATOR_PATH", "folders in which programs look for operators by name, before the "
                               "shipped ones, split by colons"},
      {"NEREID_PATTERNS", "file of what worked, read and extended by develop and optimize"},
      {"NEREID_PTXAS", "the ptxas that makes machine code for NVIDIA GPUs; default: that of PATH "
                       "or of CUDA's usual "
                       "folders; none = do without"},
      {"NEREID_RECORD_KERNELS",
       "folder that gets source and signature of every kernel that is compiled, one file each"},
      {"NEREID_THREADS", "threads that launches use; default: the CPUs this process may run on"},
  };
  return knobs;
}

} // namespace nereid
