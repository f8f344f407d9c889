// SPDX-License-Identifier: Apache-2.0
// From argument values to a launch: checks them, and packs the slots of KernelEntry.
#include "runtime/Kernel.h"

#include "runtime/Device.h"
#include "runtime/LaunchGrid.h"
#include "runtime/elements/IntegerRange.h"
#include "runtime/tensor/Descriptor.h"

#include <bit>
#include <climits>
#include <cstdio>

namespace nereid::runtime {

size_t KernelInfo::slots() const {
  size_t count = 0;
  for (const ArgumentInfo &argument : arguments) {
    count += argument.slots();
  }
  return count;
}

Device *otherDevice(const Kernel &kernel) {
  Device *device = kernel.code ? &kernel.code->device() : nullptr;
  return device && !device->isHost() ? device : nullptr;
}

namespace {

constexpr int64_t gridLimit = INT32_MAX;

std::string text(int64_t value) { return std::to_string(value); }

LaunchError checkGrid(const Grid &grid) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] < 0 || grid[axis] > gridLimit) {
      return {"E0405", "grid size " + text(axis) + " expects a value from 0 to " + text(gridLimit) +
                           ", but got " + text(grid[axis])};
    }
  }
  if (grid[0] != 0 && grid[1] != 0 && grid[2] != 0 && grid[0] > INT64_MAX / grid[1] / grid[2]) {
    return {"E0405", "grid " + text(grid[0]) + " x " + text(grid[1]) + " x " + text(grid[2]) +
                         " has more programs than can be counted"};
  }
  return {};
}

std::string parameter(const Kernel &kernel, const ArgumentInfo &info) {
  return "parameter '" + info.name + "' of kernel '" + kernel.info.name + "' ";
}

const char *kindName(const ArgumentValue &value) {
  return std::holds_alternative<const Tensor *>(value) ? "a tensor"
         : std::holds_alternative<int64_t>(value)      ? "an integer"
                                                       : "a floating-point number";
}

/// Bool tensors and 8-bit floats are bytes, which .npy files and older DLPack can only call uint8.
bool isSameElement(DType parameter, DType given) {
  return parameter == given ||
         ((parameter == DType::Bool || isFloat8(parameter)) && given == DType::U8);
}

Device &deviceOf(const Kernel &kernel) {
  Device *device = otherDevice(kernel);
  return device ? *device : cpuDevice();
}

bool isOnDeviceOf(const Kernel &kernel, const Tensor &tensor) {
  const Device *device = otherDevice(kernel);
  return device ? &tensor.device() == device : tensor.isOnHost();
}

[[gnu::noinline]] LaunchError refuseDevice(const Kernel &kernel, const ArgumentInfo &info,
                                           const Tensor &tensor) {
  return {"E0416", parameter(kernel, info) + "expects a tensor on '" + deviceOf(kernel).name() +
                       "', as the kernel is, but got one on '" + tensor.device().name() + "'"};
}

LaunchError packPointer(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                        uint64_t &slot) {
  const Tensor *const *given = std::get_if<const Tensor *>(&value);
  if (!given) {
    return {"E0409", parameter(kernel, info) + "expects a tensor of '" +
                         std::string(torchName(info.dtype)) + "', but got " + kindName(value)};
  }
  if (!*given || !(*given)->isValid()) {
    return {"E0408", parameter(kernel, info) + "expects a tensor with memory, but got one without"};
  }
  const Tensor &tensor = **given;
  if (!isSameElement(info.dtype, tensor.dtype())) {
    return {"E0410", parameter(kernel, info) + "expects elements of type '" +
                         std::string(torchName(info.dtype)) + "', but got '" +
                         std::string(torchName(tensor.dtype())) + "'"};
  }
  if (!isOnDeviceOf(kernel, tensor)) {
    return refuseDevice(kernel, info, tensor);
  }
  const uint64_t address = reinterpret_cast<uintptr_t>(tensor.data());
  const uint64_t divisor = static_cast<uint64_t>(info.divisibility);
  if (info.divisibility > 1 && address % divisor != 0) {
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    return {"E0411", parameter(kernel, info) + "expects an address divisible by " +
                         text(info.divisibility) + " as its signature promises, but got " + hex +
                         ", which leaves " + text(static_cast<int64_t>(address % divisor))};
  }
  slot = address;
  return {};
}

LaunchError packInteger(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                        uint64_t &slot) {
  const int64_t *given = std::get_if<int64_t>(&value);
  if (!given) {
    return {"E0409", parameter(kernel, info) + "expects an integer of type '" +
                         std::string(torchName(info.dtype)) + "', but got " + kindName(value)};
  }
  if (!holdsInteger(info.dtype, *given)) {
    return {"E0406", parameter(kernel, info) + "expects a value of type '" +
                         std::string(torchName(info.dtype)) + "', but got " + text(*given)};
  }
  if (info.divisibility > 1 && *given % info.divisibility != 0) {
    return {"E0411", parameter(kernel, info) + "expects a value divisible by " +
                         text(info.divisibility) + " as its signature promises, but got " +
                         text(*given)};
  }
  slot = static_cast<uint64_t>(*given);
  return {};
}

LaunchError packFloat(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                      uint64_t &slot) {
  double given;
  if (const double *exact = std::get_if<double>(&value)) {
    given = *exact;
  } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
    given = static_cast<double>(*integer);
  } else {
    return {"E0409", parameter(kernel, info) + "expects a number of type '" +
                         std::string(torchName(info.dtype)) + "', but got a tensor"};
  }
  if (info.dtype == DType::F64) {
    slot = std::bit_cast<uint64_t>(given);
    return {};
  }
  // A 16-bit parameter has that type's precision, though it travels as float32.
  const float single = info.dtype == DType::F16    ? fromHalf(toHalf(given))
                       : info.dtype == DType::BF16 ? fromBFloat16(toBFloat16(given))
                                                   : static_cast<float>(given);
  slot = std::bit_cast<uint32_t>(single);
  return {};
}

LaunchError packDescriptor(const Kernel &kernel, const ArgumentInfo &info,
                           const ArgumentValue &value, uint64_t *slots) {
  if (LaunchError error = packPointer(kernel, info, value, slots[0])) {
    return error;
  }
  std::vector<int64_t> parts(info.slots() - 1);
  const std::string who = "parameter '" + info.name + "' of kernel '" + kernel.info.name + "'";
  LaunchError error =
      describeTensor(who, info.rank, *std::get<const Tensor *>(value), parts.data());
  for (size_t i = 0; i < parts.size(); ++i) {
    slots[i + 1] = static_cast<uint64_t>(parts[i]);
  }
  return error;
}

LaunchError packOne(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                    uint64_t *slots) {
  switch (info.kind) {
  case ArgumentKind::Pointer:
    return packPointer(kernel, info, value, *slots);
  case ArgumentKind::Integer:
    return packInteger(kernel, info, value, *slots);
  case ArgumentKind::Float:
    return packFloat(kernel, info, value, *slots);
  case ArgumentKind::Descriptor:
    return packDescriptor(kernel, info, value, slots);
  }
  return {};
}

LaunchError pack(const Kernel &kernel, std::span<const ArgumentValue> arguments, uint64_t *slots) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &info = kernel.info.arguments[i];
    if (LaunchError error = packOne(kernel, info, arguments[i], slots)) {
      return error;
    }
    slots += info.slots();
  }
  return {};
}

} // namespace

/// On the stream, or without one on the pool.
static LaunchError launchSlots(const Kernel &kernel, Grid grid, const uint64_t *slots,
                               ThreadPool *pool, Stream *stream, ProgramOrder order) {
  if (LaunchError error = checkGrid(grid)) {
    return error;
  }
  if (!kernel.entry) {
    return {"E0408", "kernel '" + kernel.info.name + "' has no code"};
  }
  if (grid[0] * grid[1] * grid[2] == 0) {
    return {};
  }
  if (stream) {
    return stream->launch(kernel, grid, slots, order);
  }
  return launchGrid(kernel, grid, slots, *pool, order);
}

LaunchError launchPacked(const Kernel &kernel, Grid grid, const uint64_t *slots, ThreadPool &pool,
                         ProgramOrder order) {
  return launchSlots(kernel, grid, slots, &pool, nullptr, order);
}

/// The same with arguments that are not checked yet.
[[gnu::always_inline]] static inline LaunchError
packAndLaunch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
              ThreadPool *pool, Stream *stream, ProgramOrder order) {
  const size_t expected = kernel.info.arguments.size();
  if (arguments.size() != expected) {
    return {"E0401", "kernel '" + kernel.info.name + "' expects " + std::to_string(expected) +
                         " run-time arguments, but got " + std::to_string(arguments.size())};
  }
  const size_t slotCount = kernel.info.slots();
  uint64_t few[32];
  std::vector<uint64_t> many(slotCount > 32 ? slotCount : 0);
  uint64_t *slots = slotCount > 32 ? many.data() : few;
  if (LaunchError error = pack(kernel, arguments, slots)) {
    return error;
  }
  return launchSlots(kernel, grid, slots, pool, stream, order);
}

[[gnu::noinline]] static LaunchError launchAndWait(Device &device, const Kernel &kernel, Grid grid,
                                                   std::span<const ArgumentValue> arguments,
                                                   ProgramOrder order) {
  return device.runAndWait([&](Stream &stream) {
    return packAndLaunch(kernel, grid, arguments, nullptr, &stream, order);
  });
}

LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   ThreadPool &pool, ProgramOrder order) {
  if (Device *device = otherDevice(kernel)) {
    return launchAndWait(*device, kernel, grid, arguments, order);
  }
  return packAndLaunch(kernel, grid, arguments, &pool, nullptr, order);
}

LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   Stream &stream, ProgramOrder order) {
  if (const Device &device = deviceOf(kernel); &device != &stream.device()) {
    return {"E0416", "kernel '" + kernel.info.name + "' expects a stream of '" + device.name() +
                         "', but got one of '" + stream.device().name() + "'"};
  }
  return packAndLaunch(kernel, grid, arguments, nullptr, &stream, order);
}

} // namespace nereid::runtime
