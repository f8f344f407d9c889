// SPDX-License-Identifier: Apache-2.0
// Atomic operations. The elements of one operation are combined one after the other, in order; an
// instance is never interrupted within one, so each is a single step for all the others.
#include "lib/interpreter/operations/MemoryAccess.h"

#include <algorithm>
#include <cmath>

namespace nereid::interpreter {
namespace {

using tile::AtomicKind;

/// The number wins over a NaN, and +0 is larger than -0.
uint64_t extremeFloat(uint64_t memory, uint64_t value, ElementType type, bool wantsLarger) {
  const double x = decodeFloat(memory, type), y = decodeFloat(value, type);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(y) ? memory : value;
  }
  const bool isLarger = x == y ? std::signbit(y) && !std::signbit(x) : x > y;
  return isLarger == wantsLarger ? memory : value;
}

uint64_t combined(AtomicKind kind, uint64_t memory, uint64_t value, ElementType type) {
  const int64_t x = asSigned(memory, type.bits), y = asSigned(value, type.bits);
  switch (kind) {
  case AtomicKind::Add:
    return memory + value;
  case AtomicKind::FAdd:
    // In double, which is exact enough for a single rounding of every smaller type.
    return encodeFloat(decodeFloat(memory, type) + decodeFloat(value, type), type);
  case AtomicKind::And:
    return memory & value;
  case AtomicKind::Or:
    return memory | value;
  case AtomicKind::Xor:
    return memory ^ value;
  case AtomicKind::Max:
    return x > y ? memory : value;
  case AtomicKind::Min:
    return x < y ? memory : value;
  case AtomicKind::UMax:
    return std::max(memory, value);
  case AtomicKind::UMin:
    return std::min(memory, value);
  case AtomicKind::FMax:
    return extremeFloat(memory, value, type, true);
  case AtomicKind::FMin:
    return extremeFloat(memory, value, type, false);
  case AtomicKind::Exchange:
    return value;
  }
  return memory;
}

} // namespace

std::optional<Tile> combineElements(Instance &instance, mlir::Operation *op, AtomicKind kind,
                                    const Tile &pointer, const Tile *mask, const Tile &value) {
  Tile admitted;
  if (!mayAccess(instance, op, pointer, mask, admitted, value.type, "atomic operation works")) {
    return std::nullopt;
  }
  const Memory &memory = instance.launch.memory;
  const uint64_t undefined = undefinedElement(value.type);
  Tile result = value.like(value.type);
  for (size_t i = 0, n = value.size(); i < n; ++i) {
    if (mask != nullptr && (*mask)[i] == 0) {
      result.at(i) = undefined;
      continue;
    }
    const uint64_t before = memory.read(pointer[i], value.type);
    const uint64_t after = combined(kind, before, value[i], value.type);
    memory.write(pointer[i], value.type, after & value.type.mask());
    result.at(i) = before;
    if (Monitor *monitor = instance.monitor()) {
      monitor->atomicDone(instance, op, pointer[i], value.type, before != after);
    }
  }
  return result;
}

namespace {

bool readModifyWrite(Instance &instance, mlir::Operation *op) {
  auto atomic = mlir::cast<tile::AtomicRMWOp>(op);
  const Tile &pointer = instance.get(atomic.getPointer());
  const Tile &value = instance.get(atomic.getValue());
  const Tile *mask = atomic.getMask() ? &instance.get(atomic.getMask()) : nullptr;
  std::optional<Tile> before =
      combineElements(instance, op, atomic.getKind(), pointer, mask, value);
  return before && instance.finish(op, std::move(*before));
}

bool compareAndSwap(Instance &instance, mlir::Operation *op) {
  auto atomic = mlir::cast<tile::AtomicCASOp>(op);
  const Tile &pointer = instance.get(atomic.getPointer());
  const Tile &expected = instance.get(atomic.getCompare());
  const Tile &value = instance.get(atomic.getValue());
  const Tile *mask = nullptr;
  Tile admitted;
  if (!mayAccess(instance, op, pointer, mask, admitted, value.type, "atomic operation works")) {
    return false;
  }
  const Memory &memory = instance.launch.memory;
  Tile result = value.like(value.type);
  for (size_t i = 0, n = value.size(); i < n; ++i) {
    if (mask != nullptr && (*mask)[i] == 0) {
      result.at(i) = undefinedElement(value.type);
      continue;
    }
    result.at(i) = memory.read(pointer[i], value.type);
    const bool isEqual = result[i] == expected[i];
    if (isEqual) {
      memory.write(pointer[i], value.type, value[i]);
    }
    if (Monitor *monitor = instance.monitor()) {
      monitor->atomicDone(instance, op, pointer[i], value.type, isEqual);
    }
  }
  return instance.finish(op, std::move(result));
}

} // namespace

void addAtomicHandlers(HandlerTable &table) {
  table.add<tile::AtomicRMWOp>(readModifyWrite);
  table.add<tile::AtomicCASOp>(compareAndSwap);
}

} // namespace nereid::interpreter
