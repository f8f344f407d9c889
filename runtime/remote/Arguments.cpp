// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/Arguments.h"

#include "runtime/tensor/Extent.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace nereid::runtime::remote {
namespace {

constexpr uint64_t pageBytes = 4096;

enum class Kind : uint64_t { Tensor, Integer, Float };

bool allocateLike(Region &region, uint64_t misalignment, uint64_t bytes) {
  const uint64_t reserved =
      (misalignment + bytes + pageBytes - 1 + (bytes == 0)) / pageBytes * pageBytes;
  void *memory = std::aligned_alloc(pageBytes, std::max(reserved, pageBytes));
  region.owner = std::shared_ptr<void>(memory, &std::free);
  region.data = memory ? static_cast<uint8_t *>(memory) + misalignment : nullptr;
  region.bytes = bytes;
  return memory != nullptr;
}

void writeNumbers(MessageWriter &message, const std::vector<int64_t> &numbers) {
  message.number(numbers.size());
  for (int64_t number : numbers) {
    message.number(static_cast<uint64_t>(number));
  }
}

std::vector<int64_t> readNumbers(MessageReader &message) {
  std::vector<int64_t> numbers(message.count());
  for (int64_t &number : numbers) {
    number = static_cast<int64_t>(message.number());
  }
  return numbers;
}

void writeTensor(MessageWriter &message, std::span<const Region> regions, const Tensor &tensor) {
  const auto address = reinterpret_cast<uintptr_t>(tensor.data());
  uint64_t region = 0, offset = 0;
  const Extent extent = extentOf(tensor).value_or(Extent{});
  if (extent.end == 0) {
    region = regions.size(); // without memory
  }
  for (; region < regions.size(); ++region) {
    const auto begin = reinterpret_cast<uintptr_t>(regions[region].data);
    if (extent.begin >= begin && extent.end <= begin + regions[region].bytes) {
      offset = address - begin;
      break;
    }
  }
  message.number(static_cast<uint64_t>(tensor.dtype()));
  message.number(region);
  message.number(offset);
  writeNumbers(message, tensor.shape());
  writeNumbers(message, tensor.strides());
}

bool readTensor(MessageReader &message, ReceivedArguments &arguments) {
  const auto dtype = static_cast<DType>(message.number() % dtypeCount);
  const uint64_t region = message.number(), offset = message.number();
  std::vector<int64_t> shape = readNumbers(message), strides = readNumbers(message);
  if (message.failed() || region > arguments.regions.size()) {
    return false;
  }
  const bool hasMemory = region < arguments.regions.size();
  const Region memory = hasMemory ? arguments.regions[region] : Region{};
  if (offset > memory.bytes) {
    return false;
  }
  uint8_t *data = hasMemory ? memory.data + offset : nullptr;
  Tensor tensor = Tensor::borrow(data, std::move(shape), dtype, std::move(strides));
  if (hasMemory) {
    const std::optional<Extent> extent = extentOf(tensor);
    const auto begin = reinterpret_cast<uintptr_t>(memory.data);
    if (!tensor.isValid() || !extent ||
        (extent->end != 0 && (extent->begin < begin || extent->end > begin + memory.bytes))) {
      return false;
    }
  }
  arguments.tensors.push_back(std::make_unique<Tensor>(std::move(tensor)));
  arguments.values.emplace_back(arguments.tensors.back().get());
  return true;
}

} // namespace

std::vector<Region> regionsOf(std::span<const ArgumentValue> arguments) {
  std::vector<Extent> extents;
  for (const ArgumentValue &value : arguments) {
    const Tensor *const *tensor = std::get_if<const Tensor *>(&value);
    const Extent extent = tensor && *tensor ? extentOf(**tensor).value_or(Extent{}) : Extent{};
    if (extent.end > extent.begin) {
      extents.push_back(extent);
    }
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  std::vector<Region> regions;
  for (const Extent &extent : extents) {
    if (!regions.empty()) {
      Region &last = regions.back();
      const uint64_t begin = reinterpret_cast<uintptr_t>(last.data), end = begin + last.bytes;
      if (extent.begin < end) {
        last.bytes = std::max(end, extent.end) - begin;
        continue;
      }
    }
    regions.push_back({reinterpret_cast<uint8_t *>(extent.begin), extent.end - extent.begin, {}});
  }
  return regions;
}

void writeArguments(MessageWriter &message, std::span<const Region> regions,
                    std::span<const ArgumentValue> arguments) {
  message.number(regions.size());
  for (const Region &region : regions) {
    message.number(reinterpret_cast<uintptr_t>(region.data) % pageBytes);
    message.bytes({region.data, region.bytes});
  }
  message.number(arguments.size());
  for (const ArgumentValue &value : arguments) {
    if (const int64_t *integer = std::get_if<int64_t>(&value)) {
      message.number(static_cast<uint64_t>(Kind::Integer));
      message.number(static_cast<uint64_t>(*integer));
    } else if (const double *number = std::get_if<double>(&value)) {
      message.number(static_cast<uint64_t>(Kind::Float));
      message.number(std::bit_cast<uint64_t>(*number));
    } else {
      const Tensor *tensor = std::get<const Tensor *>(value);
      message.number(static_cast<uint64_t>(Kind::Tensor));
      writeTensor(message, regions, tensor ? *tensor : Tensor());
    }
  }
}

std::string readArguments(MessageReader &message, ReceivedArguments &arguments) {
  const std::string damaged = "the message with the launch's arguments is damaged";
  for (uint64_t left = message.count(); left > 0 && !message.failed(); --left) {
    const uint64_t misalignment = message.number() % pageBytes;
    const std::span<const uint8_t> content = message.bytes();
    Region region;
    if (!allocateLike(region, misalignment, content.size())) {
      return "no memory for " + std::to_string(content.size()) + " bytes of tensors";
    }
    std::memcpy(region.data, content.data(), content.size());
    arguments.regions.push_back(std::move(region));
  }
  for (uint64_t left = message.count(); left > 0 && !message.failed(); --left) {
    const auto kind = static_cast<Kind>(message.number());
    if (kind == Kind::Tensor) {
      if (!readTensor(message, arguments)) {
        return damaged;
      }
      continue;
    }
    const uint64_t bits = message.number();
    if (kind == Kind::Integer) {
      arguments.values.emplace_back(static_cast<int64_t>(bits));
    } else {
      arguments.values.emplace_back(std::bit_cast<double>(bits));
    }
  }
  return message.failed() ? damaged : "";
}

} // namespace nereid::runtime::remote
