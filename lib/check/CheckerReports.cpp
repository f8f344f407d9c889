// SPDX-License-Identifier: Apache-2.0
// The wording of what `nereid check` reports: where, both sides of it, the fix.
#include "lib/check/Checker.h"

#include "lib/tile/ir/Promises.h"

#include <algorithm>
#include <cstdio>

namespace nereid::check {

using interpreter::Allocation;
using interpreter::Instance;
using interpreter::Tile;

namespace {

/// "element [3, 5]"
std::string elementName(const Tile &tile, size_t i) {
  return "element " + interpreter::tuple(
                          interpreter::coordinates(tile.shape, static_cast<int64_t>(i)), '[', ']');
}

/// " at element [3, 5] of the tile", or nothing for a scalar.
std::string elementText(const Tile &tile, size_t i) {
  return tile.isTile ? " at " + elementName(tile, i) + " of the tile" : "";
}

std::string valueText(const Tile &tile, size_t i) {
  char text[64];
  if (tile.type.isFloat()) {
    std::snprintf(text, sizeof text, "%g", tile.number(i));
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(tile.integer(i)));
  }
  return text;
}

std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

const char *verbOf(mlir::Operation *op) {
  return mlir::isa<tile::LoadOp>(op)    ? "load reads"
         : mlir::isa<tile::StoreOp>(op) ? "store writes"
                                        : "atomic operation works";
}

/// "file.py:12" of an operation.
std::string placeText(const Instance &instance, mlir::Operation *op) {
  const Diagnostic diagnostic = instance.diagnosticAt(op, "", "");
  return diagnostic.file.empty() ? "'" + op->getName().getStringRef().str() + "'"
                                 : diagnostic.file + ":" + std::to_string(diagnostic.range.line);
}

/// A program's id from its number.
std::string programText(const interpreter::Launch &launch, uint32_t number) {
  const auto x = static_cast<uint64_t>(launch.grid[0]), y = static_cast<uint64_t>(launch.grid[1]);
  return interpreter::tuple({static_cast<int64_t>(number % x), static_cast<int64_t>(number / x % y),
                             static_cast<int64_t>(number / x / y)});
}

} // namespace

void Checker::checkSignature(const interpreter::Launch &launch) {
  mlir::func::FuncOp kernel = launch.kernel;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto promise = kernel.getArgAttrOfType<mlir::IntegerAttr>(i, tile::promise::divisibility);
    const Tile &argument = launch.arguments[i];
    const int64_t divisor = promise ? promise.getInt() : 1;
    if (divisor <= 1 || argument.integer(0) % divisor == 0) {
      continue;
    }
    const bool isPointer = argument.type.kind == interpreter::Kind::Pointer;
    const std::string name = interpreter::argumentName(kernel, i);
    const int64_t rest = argument.integer(0) % divisor;
    Diagnostic diagnostic = interpreter::diagnosticAt(
        kernel.getLoc(), "E0411",
        "the signature promises that '" + name + "' is divisible by " + std::to_string(divisor) +
            ", but got " +
            (isPointer ? "an address that is " + std::to_string(rest) + " modulo it"
                       : std::to_string(argument.integer(0))));
    diagnostic.withHelp("drop ':" + std::to_string(divisor) + "' from the signature, or pass " +
                        (isPointer ? "a tensor that begins at such an address" : "such a number"));
    findings.add(std::move(diagnostic));
  }
}

void Checker::reportOutside(const Element &element) {
  const interpreter::Memory &memory = element.instance.launch.memory;
  const uint64_t address = element.pointer[element.index];
  const Allocation *tensor = memory.owner(address);
  if (Diagnostic *diagnostic = findings.add(element.instance, element.op, "E0801", [&] {
        const std::string whose = tensor != nullptr ? "'" + tensor->name + "'" : "every tensor";
        return verbOf(element.op) + (" outside " + whose) +
               elementText(element.pointer, element.index);
      })) {
    char wild[64];
    std::snprintf(wild, sizeof wild, "the address 0x%llx is that of no tensor",
                  static_cast<unsigned long long>(address));
    diagnostic
        ->note((tensor != nullptr ? describeAddress(memory, address) : std::string(wild)) +
               ", and the element takes " + std::to_string(element.bytes))
        .withHelp("mask the elements that do not exist, for example with "
                  "'mask=offsets < n_elements'");
  }
}

void Checker::reportUninitialised(const Element &element, const Allocation &tensor, uint64_t offset,
                                  unsigned missing) {
  if (Diagnostic *diagnostic = findings.add(element.instance, element.op, "E0802", [&] {
        return std::string(verbOf(element.op)) +
               (mlir::isa<tile::LoadOp>(element.op) ? "" : " on") + " memory of '" + tensor.name +
               "' that holds no value yet" + elementText(element.pointer, element.index);
      })) {
    diagnostic
        ->note(bytesText(missing) + " of the " + std::to_string(element.bytes) + " from byte " +
               std::to_string(offset) + " on were never written; '" + tensor.name + "' has " +
               bytesText(tensor.bytes) + " and came without contents")
        .withHelp("store to the element before, or pass a tensor with contents, such as zeros");
  }
}

void Checker::reportSameElement(const Element &element, const Tile &value, size_t other) {
  const interpreter::Memory &memory = element.instance.launch.memory;
  const uint64_t address = element.pointer[element.index];
  Diagnostic *diagnostic = findings.add(element.instance, element.op, "E0809", [&] {
    return "one store writes different values to one place: " + valueText(value, other) + " as " +
           elementName(element.pointer, other) + " of the tile and " +
           valueText(value, element.index) + " as " + elementName(element.pointer, element.index);
  });
  if (diagnostic != nullptr) {
    diagnostic
        ->note(describeAddress(memory, address) + "; which of the two stays depends on the target")
        .withHelp("let the mask keep one of them, or combine them by tl.atomic_add and the like");
  }
}

void Checker::checkAssumption(Instance &instance, tile::AssumeOp op) {
  const Tile &condition = instance.get(op.getCondition());
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0 || markAt(condition, i) != 0) {
      continue;
    }
    Diagnostic *diagnostic = findings.add(instance, op, "E0804",
                                          [&] { return std::string("'tl.assume' does not hold"); });
    if (diagnostic && condition.isTile) {
      diagnostic->note("first at " + elementName(condition, i));
    }
    if (diagnostic) {
      diagnostic->withHelp("assume what is true of every launch, or drop the assumption");
    }
    return;
  }
}

void Checker::reportRace(Instance &instance, mlir::Operation *op, uint64_t address,
                         const Races::Access &access, const Races::Access &other) {
  const interpreter::Memory &memory = instance.launch.memory;
  const Allocation *tensor = memory.owner(address);
  const uint64_t offset = memory.hostAddress(address) - tensor->host;
  const std::string otherProgram = programText(instance.launch, other.program);
  Diagnostic *diagnostic = findings.add(instance, op, "E0803", [&] {
    return std::string("race: ") + (access.isWrite ? "writes" : "reads") + " byte " +
           std::to_string(offset) + " of '" + tensor->name + "', which program " + otherProgram +
           (other.isWrite ? " writes" : " reads") + " with nothing that orders the two";
  });
  if (diagnostic == nullptr) {
    return;
  }
  mlir::Operation *otherOp = operations[other.operation - 1];
  diagnostic->note("the access of program " + otherProgram + " is at " +
                   placeText(instance, otherOp) + (other.isAtomic ? ", an atomic one" : ""));
  if (auto store = mlir::dyn_cast<tile::StoreOp>(op); store && other.isWrite) {
    // Which element it is does not matter for a note: the first with this address.
    const Tile &pointer = instance.get(store.getPointer()), &value = instance.get(store.getValue());
    for (size_t i = 0; i < pointer.size(); ++i) {
      if (pointer[i] == address) {
        Tile there = Tile::scalar(value.type, memory.read(address, value.type));
        diagnostic->note("it stores " + valueText(value, i) + " where " + valueText(there, 0) +
                         " is");
        break;
      }
    }
  }
  diagnostic->withHelp(
      access.isAtomic || other.isAtomic
          ? "make both accesses atomic, or order them by an atomic that releases after the first "
            "and one that acquires before the second"
          : "let one program own the element, combine by tl.atomic_add and the like, or order the "
            "two by a lock or counter");
}

void Checker::reportOverlap(Instance &instance, mlir::Operation *op, const Overlaps::Access &access,
                            const Overlaps::Access &other) {
  const std::vector<Allocation> &tensors = instance.launch.memory.all();
  const Allocation &own = tensors[access.argument], &others = tensors[other.argument];
  auto bytesOf = [](const Overlaps::Access &which, const Allocation &tensor) {
    const uint64_t first = which.start - tensor.host;
    return (which.bytes == 1 ? "byte " + std::to_string(first)
                             : "bytes " + std::to_string(first) + " to " +
                                   std::to_string(first + which.bytes - 1)) +
           " of '" + tensor.name + "'";
  };
  auto positionOf = [](const Overlaps::Access &which) {
    return which.isTile ? " as element " + std::to_string(which.position) + " of " +
                              std::to_string(which.elements)
                        : std::string();
  };
  const bool isOneProgram = access.when.program == other.when.program;
  Diagnostic *diagnostic = findings.add(instance, op, "E0807", [&] {
    return "'" + own.name + "' and '" + others.name +
           "' overlap: " + (access.isWrite ? "writes " : "reads ") + bytesOf(access, own) +
           positionOf(access) + ", where " +
           (isOneProgram ? "the program"
                         : "program " + programText(instance.launch, other.when.program)) +
           (other.isWrite ? " has written " : " has read ") + bytesOf(other, others) +
           positionOf(other);
  });
  if (diagnostic == nullptr) {
    return;
  }
  const uint64_t begin = std::max(own.host, others.host);
  const uint64_t end = std::min(own.host + own.bytes, others.host + others.bytes);
  auto rangeOf = [&](const Allocation &tensor) {
    return "bytes " + std::to_string(begin - tensor.host) + " to " +
           std::to_string(end - tensor.host - 1) + " of '" + tensor.name + "'";
  };
  auto accessText = [&](const Overlaps::Access &which) {
    mlir::Operation *at = operations[which.operation - 1];
    return std::string(mlir::isa<tile::LoadOp>(at)    ? "load"
                       : mlir::isa<tile::StoreOp>(at) ? "store"
                                                      : "atomic operation") +
           " is at " + placeText(instance, at);
  };
  diagnostic->note("the " + accessText(access) + ", the " + accessText(other))
      .note("in memory " + rangeOf(own) + " are " + rangeOf(others))
      .withHelp("pass tensors that share no bytes, or the same one where each element is stored "
                "by the program that has loaded it, at the same place of its tile");
}

void Checker::reportMark(const Element &element, uint32_t mark, const std::string &use) {
  const Cause &cause = marks.cause(mark);
  Instance &instance = element.instance;
  auto used = [&] {
    return "the result " + use + elementText(element.pointer, element.index) + ", at " +
           placeText(instance, element.op);
  };
  if (cause.kind == Cause::Kind::Overflow) {
    if (use != "is part of an address") {
      return; // numbers that are only stored may wrap
    }
    if (Diagnostic *diagnostic = findings.add(instance, cause.op, "E0805", [&] {
          return "address arithmetic overflows: " + exactText(cause) + ", which does not fit i" +
                 std::to_string(cause.bits);
        })) {
      diagnostic->note(used()).withHelp(
          "compute the offset in 64 bits, for example with 'tl.program_id(0).to(tl.int64)'");
    }
  } else if (cause.kind == Cause::Kind::WrappedIndex) {
    if (Diagnostic *diagnostic = findings.add(instance, cause.op, "E0808", [&] {
          return std::string("indices that a comparison sees wrap around within the tile");
        })) {
      const auto left = interpreter::asSigned(cause.left, cause.bits);
      const auto right = interpreter::asSigned(cause.right, cause.bits);
      diagnostic
          ->note("the element compares " + std::to_string(left) + " with " + std::to_string(right) +
                 ", and without wrapping the outcome is the opposite")
          .note(used())
          .withHelp("compute the index in 64 bits, for example with 'tl.program_id(0).to(tl.int64)'"
                    " or 'tl.arange(0, BLOCK).to(tl.int64)'");
    }
  } else if (cause.kind == Cause::Kind::DivisionByZero) {
    if (Diagnostic *diagnostic = findings.add(
            instance, cause.op, "E0402", [&] { return std::string("integer division by zero"); })) {
      diagnostic
          ->note("the dividend is " + std::to_string(interpreter::asSigned(cause.left, cause.bits)))
          .note(used())
          .withHelp("make sure the divisor is not 0");
    }
  } else if (Diagnostic *diagnostic = findings.add(instance, cause.op, "E0806", [&] {
               return std::string(
                   "an element that the mask keeps from being loaded is used, and the "
                   "load says no 'other'");
             })) {
    diagnostic->note(used()).withHelp("give the load a value for such elements, e.g. 'other=0.0'");
  }
}

} // namespace nereid::check
