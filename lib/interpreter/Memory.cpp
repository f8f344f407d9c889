// SPDX-License-Identifier: Apache-2.0
// Bounds-checked access to the tensors of one launch.
#include "lib/interpreter/Memory.h"

#include "runtime/elements/ElementBlocks.h"

#include <algorithm>
#include <cstring>

namespace nereid::interpreter {

/// Each tensor's own addresses when they are separate.
static constexpr unsigned regionBits = 48;

bool Allocation::meetsGap(uint64_t offset, unsigned count) const {
  if (isElement.empty()) {
    return false;
  }
  const auto first = isElement.begin() + static_cast<std::ptrdiff_t>(offset);
  return std::find(first, first + count, false) != first + count;
}

/// For `Allocation::isElement`; `low` bytes lie in front of the first element.
static std::vector<bool> elementBytes(const runtime::Tensor &tensor, int64_t low, uint64_t bytes) {
  const auto element = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  std::vector<bool> isElement;
  if (static_cast<uint64_t>(tensor.elementCount() * element) == bytes) {
    return isElement;
  }
  isElement.resize(bytes);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    const int64_t offset = runtime::elementAddress(tensor, i) - tensor.as<uint8_t>() - low;
    std::fill_n(isElement.begin() + offset, element, true);
  }
  return isElement;
}

uint64_t Memory::add(const runtime::Tensor &tensor, std::string name) {
  const int64_t element = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  int64_t low = 0, high = element;
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    if (tensor.shape()[i] == 0) {
      low = high = 0;
      break;
    }
    const int64_t reach = (tensor.shape()[i] - 1) * tensor.strides()[i] * element;
    (reach < 0 ? low : high) += reach;
  }
  const auto first = reinterpret_cast<uint64_t>(tensor.data());
  uint64_t address = first;
  if (isSeparate) {
    address = (uint64_t(allocations.size()) + 1) << regionBits | uint64_t(1) << (regionBits - 1) |
              (first & 0xFFFF);
  }
  allocations.push_back({address + static_cast<uint64_t>(low),
                         static_cast<uint64_t>(high - low),
                         std::move(name),
                         first + static_cast<uint64_t>(low),
                         {}});
  if (isSeparate) {
    allocations.back().isElement = elementBytes(tensor, low, allocations.back().bytes);
  }
  return address;
}

const Allocation *Memory::owner(uint64_t address) const {
  const uint64_t region = address >> regionBits;
  if (region != 0) {
    return region <= allocations.size() ? &allocations[region - 1] : nullptr;
  }
  for (const Allocation &a : allocations) {
    if (address >= a.host && address - a.host < a.bytes) {
      return &a;
    }
  }
  return nullptr;
}

uint64_t Memory::hostAddress(uint64_t address) const {
  if (!isSeparate || address >> regionBits == 0) {
    return address;
  }
  const Allocation &a = allocations[(address >> regionBits) - 1];
  return a.host + (address - a.base);
}

bool Memory::contains(uint64_t address, unsigned bytes) const {
  return std::any_of(allocations.begin(), allocations.end(), [&](const Allocation &a) {
    return address >= a.base && bytes <= a.bytes && address - a.base <= a.bytes - bytes;
  });
}

uint64_t Memory::read(uint64_t address, ElementType type) const {
  // Little-endian, like every machine the project runs on; addresses may be unaligned.
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void *>(hostAddress(address)), type.bytes());
  return type == boolType ? (word != 0 ? 1 : 0) : word & type.mask();
}

void Memory::write(uint64_t address, ElementType type, uint64_t word) const {
  auto *place = reinterpret_cast<void *>(hostAddress(address));
  if (std::memcmp(place, &word, type.bytes()) != 0) {
    std::memcpy(place, &word, type.bytes());
    ++changeCount;
  }
}

static uint64_t distance(const Allocation &allocation, uint64_t address) {
  const uint64_t end = allocation.base + allocation.bytes;
  if (address < allocation.base) {
    return allocation.base - address;
  }
  return address < end ? 0 : address - end;
}

const Allocation *Memory::nearest(uint64_t address) const {
  auto closest = std::min_element(allocations.begin(), allocations.end(),
                                  [&](const Allocation &a, const Allocation &b) {
                                    return distance(a, address) < distance(b, address);
                                  });
  return closest == allocations.end() ? nullptr : &*closest;
}

std::string describeAddress(const Memory &memory, uint64_t address) {
  const Allocation *allocation = memory.nearest(address);
  if (allocation == nullptr) {
    return "the kernel was given no tensor at all";
  }
  const std::string whole =
      "'" + allocation->name + "', which has " + std::to_string(allocation->bytes) + " bytes";
  if (address < allocation->base) {
    return "the address is " + std::to_string(allocation->base - address) +
           " bytes before the start of " + whole;
  }
  const uint64_t offset = address - allocation->base;
  const bool isGap = offset < allocation->bytes && allocation->meetsGap(offset, 1);
  return "the address is at byte " + std::to_string(offset) + " of " + whole +
         (isGap ? " with the gaps between its rows, and in one of them" : "");
}

} // namespace nereid::interpreter
