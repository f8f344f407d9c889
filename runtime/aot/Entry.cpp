// SPDX-License-Identifier: Apache-2.0
#include "runtime/aot/Entry.h"

#include "runtime/aot/Launch.h"
#include "runtime/core/ProgramMemory.h"

using namespace nereid::aot;

extern "C" {

nereid_aot_status nereid_rt_launch_6(const Table *table, const uint64_t *slots,
                                     const int64_t *givenGrid, const nereid_aot_options *options) {
  Choice choice;
  int64_t grid[3];
  nereid_aot_status status = select(*table, slots, options, choice);
  if (status == NEREID_AOT_OK) {
    status = findGrid(*table, choice.specialization, slots, givenGrid, options, grid);
  }
  if (status != NEREID_AOT_OK || grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
    return status;
  }
  uint64_t own[slotLimit];
  status = takeSlots(*table, choice.specialization, slots, options, own);
  if (status != NEREID_AOT_OK) {
    return status;
  }
  return runGrid(*table, choice, own, grid, options);
}

nereid_aot_status nereid_rt_select_6(const Table *table, const uint64_t *slots,
                                     const int64_t *givenGrid, const nereid_aot_options *options,
                                     nereid_aot_selection *selection) {
  Choice choice;
  int64_t grid[3];
  nereid_aot_status status = select(*table, slots, options, choice);
  if (status == NEREID_AOT_OK) {
    status = findGrid(*table, choice.specialization, slots, givenGrid, options, grid);
  }
  if (status == NEREID_AOT_OK && selection) {
    const Specialization &specialization = table->specializations[choice.specialization];
    selection->specialization = static_cast<int>(choice.specialization);
    selection->signature = specialization.signature;
    selection->target = table->targets[choice.target].name;
    for (int axis = 0; axis < 3; ++axis) {
      selection->grid[axis] = grid[axis];
    }
    // Programs that wait have memory of their own.
    const Variant &variant = specialization.variants[choice.target];
    selection->scratch_bytes = variant.isBlocking ? 0 : static_cast<size_t>(variant.scratchBytes);
  }
  return status;
}

void nereid_aot_release(void) {
  destroyDefaultPool();
  nereid::runtime::releaseProgramMemory();
}
}
