// SPDX-License-Identifier: Apache-2.0
// Address arithmetic, loads and stores. Every active element is checked against the tensors of the
// launch before anything of the access happens.
#include "lib/interpreter/operations/MemoryAccess.h"

namespace nereid::interpreter {

ElementType pointeeOf(mlir::Type type) {
  auto pointer = mlir::cast<tile::PtrType>(tile::elementTypeOf(type));
  return elementTypeFor(pointer.getPointee()).value_or(ElementType{Kind::Integer, 8});
}

bool checkBounds(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                 ElementType type, const char *verb) {
  const Memory &memory = instance.launch.memory;
  size_t outside = 0, first = 0;
  for (size_t i = 0, n = pointer.size(); i < n; ++i) {
    if ((mask == nullptr || (*mask)[i] != 0) && !memory.contains(pointer[i], type.bytes())) {
      first = outside == 0 ? i : first;
      ++outside;
    }
  }
  if (outside == 0) {
    return true;
  }
  std::string message = std::string(verb) + " outside every tensor";
  if (pointer.isTile) {
    message += " at element " +
               tuple(coordinates(pointer.shape, static_cast<int64_t>(first)), '[', ']') +
               " of the tile";
  }
  Diagnostic &diagnostic = instance.report(op, "E0403", message);
  diagnostic.note(describeAddress(memory, pointer[first]) + ", and the element takes " +
                  std::to_string(type.bytes()));
  if (pointer.isTile) {
    diagnostic.note(std::to_string(outside) + " of " + std::to_string(pointer.size()) +
                    " elements of this access lie outside");
  }
  diagnostic.withHelp("mask the elements that do not exist, for example with "
                      "'mask=offsets < n_elements'");
  return false;
}

bool mayAccess(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *&mask,
               Tile &admitted, ElementType type, const char *verb) {
  Monitor *monitor = instance.monitor();
  if (monitor == nullptr) {
    return checkBounds(instance, op, pointer, mask, type, verb);
  }
  admitted = monitor->admit(instance, op, pointer, mask, type);
  mask = &admitted;
  return true;
}

bool readElements(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                  const Tile *other, ElementType type) {
  Tile admitted;
  if (!mayAccess(instance, op, pointer, mask, admitted, type, "load reads")) {
    return false;
  }
  const uint64_t undefined = undefinedElement(type);
  Tile result = pointer.like(type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    if (mask == nullptr || (*mask)[i] != 0) {
      result.at(i) = instance.launch.memory.read(pointer[i], type);
    } else {
      result.at(i) = other != nullptr ? (*other)[i] : undefined;
    }
  }
  return instance.finish(op, std::move(result));
}

bool writeElements(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                   const Tile &value) {
  Tile admitted;
  if (!mayAccess(instance, op, pointer, mask, admitted, value.type, "store writes")) {
    return false;
  }
  for (size_t i = 0, n = value.size(); i < n; ++i) {
    if (mask == nullptr || (*mask)[i] != 0) {
      instance.launch.memory.write(pointer[i], value.type, value[i]);
    }
  }
  return true;
}

namespace {

bool addPointer(Instance &instance, mlir::Operation *op) {
  const Tile &pointer = instance.operand(op, 0), &offset = instance.operand(op, 1);
  if (!elementTypeFor(mlir::cast<tile::PtrType>(tile::elementTypeOf(op->getOperand(0).getType()))
                          .getPointee())) {
    return instance.unsupported(op, "the pointee type");
  }
  const uint64_t step = pointeeOf(op->getOperand(0).getType()).bytes();
  return instance.finish(op, zipWords(pointer, offset, pointer.type, [&](uint64_t p, uint64_t o) {
                           return p + static_cast<uint64_t>(asSigned(o, offset.type.bits)) * step;
                         }));
}

bool load(Instance &instance, mlir::Operation *op) {
  auto load = mlir::cast<tile::LoadOp>(op);
  const Tile &pointer = instance.get(load.getPointer());
  const Tile *mask = load.getMask() ? &instance.get(load.getMask()) : nullptr;
  const Tile *other = load.getOther() ? &instance.get(load.getOther()) : nullptr;
  return readElements(instance, op, pointer, mask, other, pointeeOf(load.getPointer().getType()));
}

bool store(Instance &instance, mlir::Operation *op) {
  auto store = mlir::cast<tile::StoreOp>(op);
  const Tile &pointer = instance.get(store.getPointer());
  const Tile &value = instance.get(store.getValue());
  const Tile *mask = store.getMask() ? &instance.get(store.getMask()) : nullptr;
  return writeElements(instance, op, pointer, mask, value);
}

/// Operations run one after the other here.
bool barrier(Instance &instance, mlir::Operation *op) {
  if (Monitor *monitor = instance.monitor()) {
    monitor->after(instance, op);
  }
  return true;
}

template <Kind kind> bool reinterpretAddress(Instance &instance, mlir::Operation *op) {
  Tile result = instance.operand(op, 0);
  result.type = {kind, 64};
  return instance.finish(op, std::move(result));
}

} // namespace

void addMemoryHandlers(HandlerTable &table) {
  table.add<tile::AddPtrOp>(addPointer);
  table.add<tile::LoadOp>(load);
  table.add<tile::StoreOp>(store);
  table.add<tile::BarrierOp>(barrier);
  table.add<tile::PtrToIntOp>(reinterpretAddress<Kind::Integer>);
  table.add<tile::IntToPtrOp>(reinterpretAddress<Kind::Pointer>);
  table.add<tile::PtrCastOp>(reinterpretAddress<Kind::Pointer>);
}

} // namespace nereid::interpreter
