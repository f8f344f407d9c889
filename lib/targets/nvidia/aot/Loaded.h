// SPDX-License-Identifier: Apache-2.0
// The functions of a library's kernel that are loaded, one for each specialization and context.
// They stay as long as their contexts.
#pragma once

#include "lib/targets/nvidia/aot/Driver.h"
#include "runtime/aot/DeviceTable.h"

namespace nereid::aot {

struct Loaded {
  Loaded *next;
  unsigned long long context; ///< CurrentContext::id
  int64_t specialization;
  cuda::Function function;
  cuda::Address failure; ///< the record of driver/Failure.h; 0: the kernel asserts nothing
  int gridLimits[3];
  int blocks;       ///< of a program
  int threads;      ///< of a block
  int memoryBytes;  ///< dynamic shared memory
  bool beginsEarly; ///< a grid may be launched that begins before those before it have ended
};

/// The target that the current device takes. NEREID_AOT_ERROR_DEVICE with a message when it runs
/// none of the library's.
nereid_aot_status chooseTarget(const CudaDriver &driver, const Table &table,
                               const nereid_aot_options *options, int64_t &target);

/// What is loaded in the current context, `context`; loads it when it is not. Threads that come at
/// the same time wait for the one that loads. Null with `status` and a message.
const Loaded *findLoaded(const CudaDriver &driver, const DeviceTable &device,
                         unsigned long long context, int64_t specialization,
                         const nereid_aot_options *options, nereid_aot_status &status);

/// All that the table has loaded, first the latest.
const Loaded *firstLoaded(const DeviceTable &device);

} // namespace nereid::aot
