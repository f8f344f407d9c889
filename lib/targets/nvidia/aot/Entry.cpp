// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/aot/Entry.h"

#include "lib/targets/nvidia/aot/Loaded.h"
#include "lib/targets/nvidia/driver/Failure.h"
#include "lib/targets/nvidia/driver/Grids.h"
#include "runtime/aot/Launch.h"

#include <cstring>

namespace nereid::aot {
namespace {

nereid_aot_status checkGrid(const Table &table, const Loaded &loaded, const int64_t grid[3],
                            const nereid_aot_options *options) {
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t limit = loaded.gridLimits[axis] / (axis == 0 ? loaded.blocks : 1);
    if (grid[axis] > limit) {
      Message(options) << "kernel '" << table.name << "': grid size " << int64_t{axis}
                       << " expects at most " << limit << " on this device, but got " << grid[axis];
      return NEREID_AOT_ERROR_GRID;
    }
  }
  return NEREID_AOT_OK;
}

nereid_aot_status launch(const CudaDriver &driver, const Table &table, const Loaded &loaded,
                         const int64_t grid[3], uint64_t *own, int64_t count, cuda::Stream stream,
                         const nereid_aot_options *options) {
  void *parameters[slotLimit]; // the driver takes the low bytes of each
  for (int64_t i = 0; i < count; ++i) {
    parameters[i] = own + i;
  }
  const cuda::LaunchConfig config = nvidia::launchConfig(
      grid, static_cast<uint64_t>(loaded.blocks), static_cast<unsigned>(loaded.threads),
      static_cast<uint64_t>(loaded.memoryBytes), stream, loaded.beginsEarly);
  const cuda::Result result = driver.launchKernelEx(&config, loaded.function, parameters, nullptr);
  return result == cuda::Success ? NEREID_AOT_OK
                                 : refused(driver, result, table.name, "the launch", options);
}

/// Copies the record to `bytes`, or back, and waits.
cuda::Result copyRecord(const CudaDriver &driver, cuda::Address record, uint8_t *bytes, bool isBack,
                        cuda::Stream stream) {
  cuda::Result result = isBack
                            ? driver.memcpyHtoDAsync(record, bytes, nvidia::failureBytes, stream)
                            : driver.memcpyDtoHAsync(bytes, record, nvidia::failureBytes, stream);
  return result == cuda::Success ? driver.streamSynchronize(stream) : result;
}

nereid_aot_status takeFailure(const CudaDriver &driver, const Table &table, const Loaded &loaded,
                              cuda::Stream stream, const nereid_aot_options *options) {
  uint8_t bytes[nvidia::failureBytes + 1] = {};
  cuda::Result result = copyRecord(driver, loaded.failure, bytes, /*isBack=*/false, stream);
  int32_t numbers[4]; // whether there is one, and the program
  std::memcpy(numbers, bytes, sizeof numbers);
  if (result == cuda::Success && numbers[0] != 0) {
    Message(options) << "device assertion failed in kernel '" << table.name << "', program ("
                     << int64_t{numbers[1]} << ", " << int64_t{numbers[2]} << ", "
                     << int64_t{numbers[3]}
                     << "): " << reinterpret_cast<const char *>(bytes) + nvidia::failureTextAt;
    std::memset(bytes, 0, sizeof bytes);
    result = copyRecord(driver, loaded.failure, bytes, /*isBack=*/true, stream);
    if (result == cuda::Success) {
      return NEREID_AOT_ERROR_ASSERTION;
    }
  }
  return result == cuda::Success
             ? NEREID_AOT_OK
             : refused(driver, result, table.name, "to read what failed", options);
}

} // namespace
} // namespace nereid::aot

using namespace nereid::aot;

extern "C" {

nereid_aot_status nereid_rt_nvidia_launch_6(const DeviceTable *device, const uint64_t *slots,
                                            const int64_t *givenGrid, void *stream,
                                            const nereid_aot_options *options) {
  const Table &table = *device->table;
  const auto queue = static_cast<cuda::Stream>(stream);
  int64_t specialization = 0, grid[3];
  nereid_aot_status status = selectSpecialization(table, slots, options, specialization);
  if (status == NEREID_AOT_OK) {
    status = findGrid(table, specialization, slots, givenGrid, options, grid);
  }
  if (status != NEREID_AOT_OK || grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
    return status;
  }
  uint64_t own[slotLimit];
  if ((status = takeSlots(table, specialization, slots, options, own))) {
    return status;
  }
  const CudaDriver *driver = findCudaDriver(table.name, options);
  if (!driver) {
    return NEREID_AOT_ERROR_DRIVER;
  }
  const CurrentContext context(*driver, queue, table.name, options);
  if (context.status != NEREID_AOT_OK) {
    return context.status;
  }
  const Loaded *loaded = findLoaded(*driver, *device, context.id, specialization, options, status);
  if (!loaded || (status = checkGrid(table, *loaded, grid, options))) {
    return status;
  }
  return launch(*driver, table, *loaded, grid, own, table.specializations[specialization].slotCount,
                queue, options);
}

nereid_aot_status nereid_rt_nvidia_select_6(const DeviceTable *device, const uint64_t *slots,
                                            const int64_t *givenGrid, void *stream,
                                            const nereid_aot_options *options,
                                            nereid_aot_selection *selection) {
  const Table &table = *device->table;
  int64_t specialization = 0, target = 0, grid[3];
  nereid_aot_status status = selectSpecialization(table, slots, options, specialization);
  if (status == NEREID_AOT_OK) {
    status = findGrid(table, specialization, slots, givenGrid, options, grid);
  }
  if (status != NEREID_AOT_OK) {
    return status;
  }
  const CudaDriver *driver = findCudaDriver(table.name, options);
  if (!driver) {
    return NEREID_AOT_ERROR_DRIVER;
  }
  const CurrentContext context(*driver, static_cast<cuda::Stream>(stream), table.name, options);
  if (context.status != NEREID_AOT_OK) {
    return context.status;
  }
  status = chooseTarget(*driver, table, options, target);
  if (status == NEREID_AOT_OK && selection) {
    selection->specialization = static_cast<int>(specialization);
    selection->signature = table.specializations[specialization].signature;
    selection->target = table.targets[target].name;
    std::memcpy(selection->grid, grid, sizeof grid);
    selection->scratch_bytes = 0;
  }
  return status;
}

nereid_aot_status nereid_rt_nvidia_wait_6(const DeviceTable *device, void *stream,
                                          const nereid_aot_options *options) {
  const Table &table = *device->table;
  const auto queue = static_cast<cuda::Stream>(stream);
  const CudaDriver *driver = findCudaDriver(table.name, options);
  if (!driver) {
    return NEREID_AOT_ERROR_DRIVER;
  }
  const CurrentContext context(*driver, queue, table.name, options);
  if (context.status != NEREID_AOT_OK) {
    return context.status;
  }
  if (const cuda::Result result = driver->streamSynchronize(queue)) {
    return refused(*driver, result, table.name, "the work of its stream", options);
  }
  for (const Loaded *loaded = firstLoaded(*device); loaded; loaded = loaded->next) {
    if (loaded->context == context.id && loaded->failure) {
      if (nereid_aot_status status = takeFailure(*driver, table, *loaded, queue, options)) {
        return status;
      }
    }
  }
  return NEREID_AOT_OK;
}
}
