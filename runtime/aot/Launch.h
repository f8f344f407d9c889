// SPDX-License-Identifier: Apache-2.0
// The parts of a launch, each in a file of its own: choosing what to run (Select.cpp), running the
// programs of a grid (Run.cpp) on a pool (Pool.cpp). Inside of the runtime.
#pragma once

#include "nereid/aot.h"
#include "runtime/aot/Table.h"

#include <cstdint>

namespace nereid::aot {

/// Specialization and target by number.
struct Choice {
  int64_t specialization = 0, target = 0;
};

/// Slots of an entry; more are refused when the library is made.
inline constexpr int64_t slotLimit = 256;

/// By the arguments and this machine; on failure writes the message.
nereid_aot_status select(const Table &table, const uint64_t *slots,
                         const nereid_aot_options *options, Choice &choice);

/// By the arguments alone: the first specialization whose conditions hold, if the table is of this
/// version.
nereid_aot_status selectSpecialization(const Table &table, const uint64_t *slots,
                                       const nereid_aot_options *options, int64_t &specialization);

/// Puts the caller's slots that the specialization takes into `own`, of which there is room for
/// slotLimit. A pointer among them that is NULL is an error.
nereid_aot_status takeSlots(const Table &table, int64_t specialization, const uint64_t *slots,
                            const nereid_aot_options *options, uint64_t *own);

/// `given` or the specialization's own; checks sizes. Empty grids are allowed.
nereid_aot_status findGrid(const Table &table, int64_t specialization, const uint64_t *slots,
                           const int64_t *given, const nereid_aot_options *options,
                           int64_t grid[3]);

/// Runs all programs on the options' pool. `slots` are the entry's own.
nereid_aot_status runGrid(const Table &table, const Choice &choice, const uint64_t *slots,
                          const int64_t grid[3], const nereid_aot_options *options);

/// Calls task(data, index) for each of so many tasks on the pool. False when the pool failed.
bool runTasks(const nereid_aot_pool &pool, int tasks, void (*task)(void *, int), void *data);

/// The process's pool, made at the first call; one without threads when memory is short.
const nereid_aot_pool &defaultPool();
void destroyDefaultPool();
/// Whether a worker looks for work just now; false of pools that are not this library's.
bool hasAwakeWorker(const nereid_aot_pool &pool);

} // namespace nereid::aot
