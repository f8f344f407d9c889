// SPDX-License-Identifier: Apache-2.0
// The target by this machine's instruction sets, once for each kernel; the specialization by the
// arguments, the first whose conditions hold; the grid by its expression or as given.
#include "runtime/aot/CpuFeatures.h"
#include "runtime/aot/Launch.h"
#include "runtime/aot/Message.h"

#include <climits>

namespace nereid::aot {
namespace {

nereid_aot_status selectTarget(const Table &table, const nereid_aot_options *options,
                               int64_t &target) {
  int64_t known = table.state->target.load(std::memory_order_relaxed);
  if (known == 0) {
    known = -1;
    for (int64_t i = table.targetCount; i-- > 0;) {
      known = hasCpuFeatures(table.targets[i].features) ? i + 1 : known;
    }
    table.state->target.store(known, std::memory_order_relaxed);
  }
  if (known > 0) {
    target = known - 1;
    return NEREID_AOT_OK;
  }
  Message message(options);
  message << "kernel '" << table.name << "' is compiled for ";
  for (int64_t i = 0; i < table.targetCount; ++i) {
    message << (i == 0 ? "'" : ", '") << table.targets[i].name << "'";
  }
  const Target &least = table.targets[table.targetCount - 1];
  message << "; for '" << least.name << "' this machine lacks ";
  const char *separator = "";
  for (const char *at = least.features; *at;) {
    char name[32];
    uint64_t length = 0;
    for (; *at && *at != ','; ++at) {
      if (*at != '+' && length + 1 < sizeof name) {
        name[length++] = *at;
      }
    }
    at += *at == ',';
    name[length] = '\0';
    if (!hasCpuFeature(name, length)) {
      message << separator << name;
      separator = ", ";
    }
  }
  return NEREID_AOT_ERROR_CPU;
}

bool holds(const Condition &condition, const uint64_t *slots) {
  const uint64_t value = slots[condition.slot];
  switch (condition.kind) {
  case ConditionKind::AddressDivisible:
    return value % static_cast<uint64_t>(condition.value) == 0;
  case ConditionKind::ValueDivisible:
    return static_cast<int64_t>(value) % condition.value == 0;
  case ConditionKind::Equal:
    return value == static_cast<uint64_t>(condition.value);
  case ConditionKind::IsNull:
    return value == 0;
  case ConditionKind::IsPresent:
    return value != 0;
  case ConditionKind::AtLeast:
    return static_cast<int64_t>(value) >= condition.value;
  case ConditionKind::AtMost:
    return static_cast<int64_t>(value) <= condition.value;
  }
  return false;
}

const Condition *firstBroken(const Specialization &specialization, const uint64_t *slots) {
  for (int64_t i = 0; i < specialization.conditionCount; ++i) {
    if (!holds(specialization.conditions[i], slots)) {
      return &specialization.conditions[i];
    }
  }
  return nullptr;
}

nereid_aot_status describe(const Table &table, const Condition &broken, const uint64_t *slots,
                           Message &message) {
  const Parameter &parameter = table.parameters[broken.slot];
  const uint64_t value = slots[broken.slot];
  message << "parameter '" << parameter.name << "' expects ";
  switch (broken.kind) {
  case ConditionKind::AddressDivisible:
    message << "an address divisible by " << broken.value << ", but got ";
    message.hex(value);
    return NEREID_AOT_ERROR_ALIGNMENT;
  case ConditionKind::ValueDivisible:
    message << "a value divisible by " << broken.value << ", but got "
            << static_cast<int64_t>(value);
    return NEREID_AOT_ERROR_DIVISIBILITY;
  case ConditionKind::Equal:
    if (parameter.kind == ParameterKind::Float) {
      message << "another constant";
    } else {
      message << broken.value << ", but got " << static_cast<int64_t>(value);
    }
    return NEREID_AOT_ERROR_SPECIALIZATION;
  case ConditionKind::IsNull:
    message << "NULL, but got an address";
    return NEREID_AOT_ERROR_SPECIALIZATION;
  case ConditionKind::IsPresent:
    message << "an address, but got NULL";
    return NEREID_AOT_ERROR_NULL;
  case ConditionKind::AtLeast:
  case ConditionKind::AtMost:
    message << "a value of at " << (broken.kind == ConditionKind::AtLeast ? "least " : "most ")
            << broken.value << ", but got " << static_cast<int64_t>(value);
    return NEREID_AOT_ERROR_SPECIALIZATION;
  }
  return NEREID_AOT_ERROR_SPECIALIZATION;
}

} // namespace

nereid_aot_status selectSpecialization(const Table &table, const uint64_t *slots,
                                       const nereid_aot_options *options, int64_t &specialization) {
  if (table.version != tableVersion) {
    Message(options) << "kernel '" << table.name << "' was compiled for version " << table.version
                     << " of the runtime, and this is version " << tableVersion;
    return NEREID_AOT_ERROR_VERSION;
  }
  for (int64_t i = 0; i < table.specializationCount; ++i) {
    if (!firstBroken(table.specializations[i], slots)) {
      specialization = i;
      return NEREID_AOT_OK;
    }
  }
  Message message(options);
  message << "kernel '" << table.name << "': ";
  if (table.specializationCount == 1) {
    return describe(table, *firstBroken(table.specializations[0], slots), slots, message);
  }
  message << "no specialization fits";
  for (int64_t i = 0; i < table.specializationCount; ++i) {
    const Specialization &other = table.specializations[i];
    message << "; '" << other.signature << "': ";
    describe(table, *firstBroken(other, slots), slots, message);
  }
  return NEREID_AOT_ERROR_SPECIALIZATION;
}

nereid_aot_status select(const Table &table, const uint64_t *slots,
                         const nereid_aot_options *options, Choice &choice) {
  if (table.version == tableVersion) { // else the rest of the table is unknown
    if (nereid_aot_status status = selectTarget(table, options, choice.target)) {
      return status;
    }
  }
  return selectSpecialization(table, slots, options, choice.specialization);
}

nereid_aot_status takeSlots(const Table &table, int64_t specialization, const uint64_t *slots,
                            const nereid_aot_options *options, uint64_t *own) {
  const Specialization &chosen = table.specializations[specialization];
  for (int64_t i = 0; i < chosen.slotCount; ++i) {
    const int64_t slot = chosen.slots[i];
    const Parameter &parameter = table.parameters[slot];
    if (parameter.kind == ParameterKind::Pointer && slots[slot] == 0) {
      Message(options) << "kernel '" << table.name << "': parameter '" << parameter.name
                       << "' expects an address, but got NULL";
      return NEREID_AOT_ERROR_NULL;
    }
    own[i] = slots[slot];
  }
  return NEREID_AOT_OK;
}

nereid_aot_status findGrid(const Table &table, int64_t specialization, const uint64_t *slots,
                           const int64_t *given, const nereid_aot_options *options,
                           int64_t grid[3]) {
  if (!given) {
    if (const char *problem = table.specializations[specialization].grid(slots, grid)) {
      Message(options) << "kernel '" << table.name << "': its grid has no size: " << problem;
      return NEREID_AOT_ERROR_GRID;
    }
    given = grid;
  }
  bool isEmpty = false;
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = given[axis];
    isEmpty |= given[axis] == 0;
    if (given[axis] < 0 || given[axis] > INT32_MAX) {
      Message(options) << "kernel '" << table.name << "': grid size " << int64_t{axis}
                       << " expects a value from 0 to " << int64_t{INT32_MAX} << ", but got "
                       << given[axis];
      return NEREID_AOT_ERROR_GRID;
    }
  }
  if (!isEmpty && grid[0] > INT64_MAX / grid[1] / grid[2]) {
    Message(options) << "kernel '" << table.name << "': grid " << grid[0] << " x " << grid[1]
                     << " x " << grid[2] << " has more programs than can be counted";
    return NEREID_AOT_ERROR_GRID;
  }
  return NEREID_AOT_OK;
}

} // namespace nereid::aot
