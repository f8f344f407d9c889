// SPDX-License-Identifier: Apache-2.0
// What is checked when; the wording of the reports is in CheckerReports.cpp.
#include "lib/check/Checker.h"

#include "lib/check/SameElement.h"

namespace arith = mlir::arith;

namespace nereid::check {

using interpreter::Allocation;
using interpreter::Instance;
using interpreter::Tile;

void Checker::launchBegins(const interpreter::Launch &launch) {
  mlir::Operation *module = mlir::func::FuncOp(launch.kernel)->getParentOp();
  arithmetic.find(module);
  hints.find(module);
  const std::vector<Allocation> &tensors = launch.memory.all();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (emptyTensors.count(tensors[i].name) != 0) {
      initialised.beginEmpty(static_cast<uint32_t>(i), tensors[i].bytes);
    }
  }
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const Allocation &tensor : tensors) {
    places.push_back({tensor.host, tensor.bytes});
  }
  overlaps.begin(places);
  checkSignature(launch);
}

uint32_t Checker::productLoopOf(mlir::Operation *op) {
  const auto [place, isNew] = productLoops.try_emplace(op, 0);
  if (isNew) {
    auto loop = op->getParentOfType<mlir::scf::ForOp>();
    const bool hasProduct = loop && !loop.getBody()->getOps<tile::DotOp>().empty();
    place->second = hasProduct ? numberOf(loop) : 0;
  }
  return place->second;
}

uint32_t Checker::numberOf(mlir::Operation *op) {
  uint32_t &number = numbers[op];
  if (number == 0) {
    operations.push_back(op);
    number = static_cast<uint32_t>(operations.size());
  }
  return number;
}

/// The values an access uses besides addresses and mask.
static llvm::SmallVector<mlir::Value, 2> valuesOf(mlir::Operation *op) {
  if (auto store = mlir::dyn_cast<tile::StoreOp>(op)) {
    return {store.getValue()};
  }
  if (auto atomic = mlir::dyn_cast<tile::AtomicRMWOp>(op)) {
    return {atomic.getValue()};
  }
  if (auto atomic = mlir::dyn_cast<tile::AtomicCASOp>(op)) {
    return {atomic.getCompare(), atomic.getValue()};
  }
  return {};
}

/// A load that polls what other programs write by atomics: it sees what they released.
static bool isPolling(mlir::Operation *op) {
  auto load = mlir::dyn_cast<tile::LoadOp>(op);
  return load && (load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV);
}

/// The element's mask is true only because its address has wrapped, which is reported as well.
bool Checker::isSaidOfAddress(const Element &element, const Tile &mask) const {
  const uint32_t address = markAt(element.pointer, element.index);
  return marks.cause(markAt(mask, element.index)).kind == Cause::Kind::WrappedIndex &&
         mask[element.index] != 0 && address != 0 &&
         marks.cause(address).kind == Cause::Kind::Overflow;
}

Tile Checker::admit(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                    interpreter::ElementType type) {
  Tile admitted = pointer.like(interpreter::boolType);
  const llvm::SmallVector<mlir::Value, 2> values = valuesOf(op);
  const Use use{mlir::isa<tile::LoadOp>(op), mlir::isa<tile::StoreOp>(op), isPolling(op),
                static_cast<uint32_t>(programNumber(instance)), numberOf(op)};
  for (size_t i = 0, n = pointer.size(); i < n; ++i) {
    const Element element{instance, op, pointer, i, type.bytes()};
    if (mask != nullptr && markAt(*mask, i) != 0 && !isSaidOfAddress(element, *mask)) {
      reportMark(element, markAt(*mask, i), "masks an access");
    }
    if (mask != nullptr && (*mask)[i] == 0) {
      continue;
    }
    for (mlir::Value value : values) {
      if (const uint32_t mark = markAt(instance.get(value), i)) {
        reportMark(element, mark, "is stored");
      }
    }
    admitted.at(i) = admitElement(element, use) ? 1 : 0;
  }
  if (auto store = mlir::dyn_cast<tile::StoreOp>(op); store && pointer.isTile) {
    const Tile &value = instance.get(store.getValue());
    if (auto elements = differingStores(pointer, value, admitted)) {
      reportSameElement({instance, op, pointer, elements->second, type.bytes()}, value,
                        elements->first);
    }
  }
  return admitted;
}

bool Checker::admitElement(const Element &element, const Use &use) {
  const interpreter::Memory &memory = element.instance.launch.memory;
  const uint64_t address = element.pointer[element.index];
  const uint32_t mark = markAt(element.pointer, element.index);
  if (mark != 0) {
    reportMark(element, mark, "is part of an address");
  }
  const Allocation *tensor = memory.owner(address);
  const uint64_t offset = tensor != nullptr ? memory.hostAddress(address) - tensor->host : 0;
  if (tensor == nullptr || element.bytes > tensor->bytes ||
      offset > tensor->bytes - element.bytes || tensor->meetsGap(offset, element.bytes)) {
    if (mark == 0) { // otherwise the cause has been reported
      reportOutside(element);
    }
    return false;
  }
  const auto number = static_cast<uint32_t>(tensor - memory.all().data());
  const unsigned missing = use.isStore ? 0 : initialised.missing(number, offset, element.bytes);
  if (missing != 0) {
    reportUninitialised(element, *tensor, offset, missing);
  }
  if (!use.isLoad) {
    initialised.write(number, offset, element.bytes);
  }
  if (!use.isLoad && !use.isStore) {
    return true; // atomicDone() goes on
  }
  if (use.polls) {
    races.acquire(use.program, memory.hostAddress(address));
  }
  const Races::Access access{use.program, use.operation, use.isStore, use.polls};
  if (auto other = races.record(number, offset, element.bytes, access)) {
    reportRace(element.instance, element.op, address, access, *other);
  }
  if (!overlaps.isEmpty()) {
    recordOverlap(element.instance, element.op,
                  {.argument = number,
                   .operation = access.operation,
                   .when = races.now(use.program),
                   .start = memory.hostAddress(address),
                   .bytes = element.bytes,
                   .isWrite = use.isStore,
                   .isAtomic = use.polls,
                   .isTile = element.pointer.isTile,
                   .position = element.index,
                   .elements = element.pointer.size(),
                   .phase = phases.lookup(use.program),
                   .barriers = barriers.lookup(use.program),
                   .productLoop = productLoopOf(element.op)});
  }
  return true;
}

void Checker::recordOverlap(Instance &instance, mlir::Operation *op, Overlaps::Access access) {
  if (auto other = overlaps.record(access, races)) {
    reportOverlap(instance, op, access, *other);
  }
}

void Checker::atomicDone(Instance &instance, mlir::Operation *op, uint64_t address,
                         interpreter::ElementType type, bool hasChanged) {
  auto semantics = tile::MemorySemantics::AcquireRelease;
  auto scope = tile::MemoryScope::GPU;
  if (auto atomic = mlir::dyn_cast<tile::AtomicRMWOp>(op)) {
    semantics = atomic.getSem();
    scope = atomic.getScope();
  } else if (auto atomic = mlir::dyn_cast<tile::AtomicCASOp>(op)) {
    semantics = atomic.getSem();
    scope = atomic.getScope();
  }
  const auto program = static_cast<uint32_t>(programNumber(instance));
  const interpreter::Memory &memory = instance.launch.memory;
  const Allocation *tensor = memory.owner(address);
  const uint64_t host = memory.hostAddress(address);
  // Within one program instance there is nobody to order.
  const bool orders = scope != tile::MemoryScope::CTA;
  if (orders && (semantics == tile::MemorySemantics::Acquire ||
                 semantics == tile::MemorySemantics::AcquireRelease)) {
    races.acquire(program, host);
  }
  const Races::Access access{program, numberOf(op), hasChanged, true};
  if (auto other = races.record(static_cast<uint32_t>(tensor - memory.all().data()),
                                host - tensor->host, type.bytes(), access)) {
    reportRace(instance, op, address, access, *other);
  }
  if (!overlaps.isEmpty()) {
    recordOverlap(instance, op,
                  {.argument = static_cast<uint32_t>(tensor - memory.all().data()),
                   .operation = access.operation,
                   .when = races.now(program),
                   .start = host,
                   .bytes = type.bytes(),
                   .isWrite = hasChanged,
                   .isAtomic = true});
  }
  if (orders && (semantics == tile::MemorySemantics::Release ||
                 semantics == tile::MemorySemantics::AcquireRelease)) {
    races.release(program, host);
  }
}

void Checker::after(Instance &instance, mlir::Operation *op) {
  if (auto load = mlir::dyn_cast<tile::LoadOp>(op)) {
    return markMaskedOff(instance, load);
  }
  if (!marks.isEmpty()) {
    marks.carry(instance, op);
  }
  if (!overlaps.isEmpty() && mlir::isa<tile::ReduceOp, tile::ScanOp>(op)) {
    ++phases[static_cast<uint32_t>(programNumber(instance))];
  }
  if (mlir::isa<tile::BarrierOp>(op)) {
    ++barriers[static_cast<uint32_t>(programNumber(instance))];
  }
  arithmetic.markOverflows(instance, op, marks);
  comparisons.markWrapped(instance, op, marks);
  markDivisions(instance, op);
  if (auto assumption = mlir::dyn_cast<tile::AssumeOp>(op)) {
    return checkAssumption(instance, assumption);
  }
  if (std::optional<Hints::Broken> broken = hints.check(instance, op)) {
    if (Diagnostic *diagnostic = findings.add(
            instance, op, "E0804", [&] { return "'" + broken->hint + "' does not hold"; })) {
      diagnostic->note(broken->where)
          .withHelp("pass what is true of every value, or drop the hint");
    }
  }
}

void Checker::markMaskedOff(Instance &instance, tile::LoadOp op) {
  if (!op.getMask()) {
    return;
  }
  const Tile &mask = instance.get(op.getMask()), *other = nullptr;
  if (op.getOther()) {
    other = &instance.get(op.getOther());
    if (!other->marks) {
      return;
    }
  }
  std::vector<uint32_t> found;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) {
      found.resize(mask.size(), 0);
      found[i] =
          other != nullptr ? markAt(*other, i) : marks.add({Cause::Kind::MaskedOff, op, 0, 0, 0});
    }
  }
  if (!found.empty()) {
    Tile result = instance.get(op.getResult());
    result.marks = std::make_shared<std::vector<uint32_t>>(std::move(found));
    instance.set(op.getResult(), std::move(result));
  }
}

void Checker::markDivisions(Instance &instance, mlir::Operation *op) {
  if (!mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                 arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    return;
  }
  const Tile &dividend = instance.operand(op, 0), &divisor = instance.operand(op, 1);
  std::vector<uint32_t> found;
  const size_t count = instance.get(op->getResult(0)).size();
  for (size_t i = 0; i < count; ++i) {
    if (divisor.element(i) == 0 && markAt(divisor, i) == 0) {
      found.resize(count, 0);
      found[i] =
          marks.add({Cause::Kind::DivisionByZero, op, dividend.element(i), 0, dividend.type.bits});
    }
  }
  if (!found.empty()) {
    Tile result = instance.get(op->getResult(0));
    for (size_t i = 0; i < count; ++i) {
      found[i] = found[i] != 0 ? found[i] : markAt(result, i);
    }
    result.marks = std::make_shared<std::vector<uint32_t>>(std::move(found));
    instance.set(op->getResult(0), std::move(result));
  }
}

} // namespace nereid::check
