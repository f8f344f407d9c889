// SPDX-License-Identifier: Apache-2.0
#include "runtime/aot/Entry.h"

#include "runtime/aot/Launch.h"
#include "runtime/aot/Message.h"
#include "runtime/core/ProgramMemory.h"

namespace nereid::aot {
namespace {

/// Slots of the entry; more are refused when the library is made.
constexpr int64_t slotLimit = 256;

nereid_aot_status checkPointers(const Table &table, const Specialization &specialization,
                                const uint64_t *slots, const nereid_aot_options *options) {
  for (int64_t i = 0; i < specialization.slotCount; ++i) {
    const int64_t slot = specialization.slots[i];
    const Parameter &parameter = table.parameters[slot];
    if (parameter.kind == ParameterKind::Pointer && slots[slot] == 0) {
      Message(options) << "kernel '" << table.name << "': parameter '" << parameter.name
                       << "' expects an address, but got NULL";
      return NEREID_AOT_ERROR_NULL;
    }
  }
  return NEREID_AOT_OK;
}

} // namespace
} // namespace nereid::aot

using namespace nereid::aot;

extern "C" {

nereid_aot_status nereid_rt_launch_4(const Table *table, const uint64_t *slots,
                                     const int64_t *givenGrid, const nereid_aot_options *options) {
  Choice choice;
  int64_t grid[3];
  nereid_aot_status status = select(*table, slots, options, choice);
  if (status == NEREID_AOT_OK) {
    status = findGrid(*table, choice, slots, givenGrid, options, grid);
  }
  if (status != NEREID_AOT_OK || grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
    return status;
  }
  const Specialization &specialization = table->specializations[choice.specialization];
  status = checkPointers(*table, specialization, slots, options);
  if (status != NEREID_AOT_OK) {
    return status;
  }
  uint64_t own[slotLimit];
  for (int64_t i = 0; i < specialization.slotCount; ++i) {
    own[i] = slots[specialization.slots[i]];
  }
  return runGrid(*table, choice, own, grid, options);
}

nereid_aot_status nereid_rt_select_4(const Table *table, const uint64_t *slots,
                                     const int64_t *givenGrid, const nereid_aot_options *options,
                                     nereid_aot_selection *selection) {
  Choice choice;
  int64_t grid[3];
  nereid_aot_status status = select(*table, slots, options, choice);
  if (status == NEREID_AOT_OK) {
    status = findGrid(*table, choice, slots, givenGrid, options, grid);
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
    selection->scratch_bytes = variant.canWait ? 0 : static_cast<size_t>(variant.scratchBytes);
  }
  return status;
}

void nereid_aot_release(void) {
  destroyDefaultPool();
  nereid::runtime::releaseProgramMemory();
}
}
