// SPDX-License-Identifier: Apache-2.0
// Scalars, constants, scratch memory and errors of one kernel's lowering.
#include "lib/targets/cpu/lower/KernelState.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace nereid::cpu {

Type KernelState::memoryType(Type element) {
  if (element.isInteger(1) || tile::isFloat8(element)) {
    return IntegerType::get(element.getContext(), 8);
  }
  if (isa<tile::PtrType, LLVM::LLVMPointerType, IndexType>(element)) {
    return IntegerType::get(element.getContext(), 64);
  }
  return element;
}

int64_t KernelState::byteSize(Type element) {
  Type type = memoryType(element);
  return std::max<int64_t>(1, (type.getIntOrFloatBitWidth() + 7) / 8);
}

Type KernelState::scalarType(Type type) {
  if (isa<tile::PtrType>(type)) {
    return LLVM::LLVMPointerType::get(type.getContext());
  }
  return type;
}

Value KernelState::areApart(OpBuilder &builder, Location loc, Value pointer, Value other) {
  Value a = plan.memory().argumentOf(pointer), b = plan.memory().argumentOf(other);
  if (!a || !b || a == b) {
    return nullptr;
  }
  return builder.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, scalar(a), scalar(b));
}

void KernelState::analyse(func::FuncOp function) {
  source = function;
  axes.analyse(source);
  plan.analyse(source);
}

const tile::AxisInfos &KernelState::numbers() const {
  if (!sourceNumbers) {
    sourceNumbers = std::make_unique<tile::AxisInfos>(source, tile::Overflow::Excluded);
  }
  return *sourceNumbers;
}

Value KernelState::scalar(Value source) {
  auto it = scalars.find(source);
  if (it != scalars.end()) {
    return it->second;
  }
  if (auto constantOp = source.getDefiningOp<arith::ConstantOp>()) {
    return constant(constantOp.getValue());
  }
  return nullptr;
}

Value KernelState::constant(TypedAttr attr) {
  Value &known = constants[{attr, attr.getType()}];
  if (!known) {
    known = entry->create<arith::ConstantOp>(target.getLoc(), attr);
  }
  return known;
}

Value KernelState::constantInt(Type type, int64_t value) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return constant(
        DenseElementsAttr::get(vector, entry->getIntegerAttr(vector.getElementType(), value)));
  }
  return constant(entry->getIntegerAttr(type, value));
}

Value KernelState::i64(int64_t value) { return constantInt(entry->getI64Type(), value); }

Value KernelState::zero(Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) {
    return entry->create<LLVM::ZeroOp>(target.getLoc(), type);
  }
  return constant(entry->getZeroAttr(type));
}

Value KernelState::loadId(OpBuilder &at, Value numbers, int32_t element) {
  Location loc = target.getLoc();
  Value address = at.create<LLVM::GEPOp>(loc, numbers.getType(), at.getI32Type(), numbers,
                                         ArrayRef<LLVM::GEPArg>{element});
  return at.create<LLVM::LoadOp>(loc, at.getI32Type(), address, 4);
}

Value KernelState::follows(OpBuilder &at) {
  constexpr int32_t element = 4; // see runtime/Kernel.h
  return at.create<arith::CmpIOp>(target.getLoc(), arith::CmpIPredicate::ne,
                                  loadId(at, idArgument, element), constantInt(at.getI32Type(), 0));
}

/// Whole vectors may be written at the end of a row-major tile of any size.
static int64_t takenBy(const Buffer &buffer) {
  return static_cast<int64_t>(llvm::alignTo(buffer.bytes, 64));
}

int KernelState::allocate(ArrayRef<int64_t> shape, Type element, Location loc) {
  Buffer buffer{0, {}, memoryType(element), 0, loc};
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.bytes = byteSize(element);
  for (int64_t size : shape) {
    buffer.bytes *= size;
  }
  int64_t bytes = takenBy(buffer);
  auto *hole = llvm::find_if(holes, [&](const Hole &h) { return h.bytes == bytes; });
  if (hole != holes.end()) {
    buffer.offset = hole->offset;
    holes.erase(hole);
  } else {
    buffer.offset = scratchTop;
    scratchTop += bytes;
    if (scratchTop > peak) {
      peak = scratchTop;
      peakBuffer = bufferTable.size();
    }
  }
  bufferTable.push_back(std::move(buffer));
  return static_cast<int>(bufferTable.size()) - 1;
}

void KernelState::release(int id) {
  const Buffer &buffer = bufferTable[id];
  holes.push_back({buffer.offset, takenBy(buffer)});
}

void KernelState::releaseTo(int64_t mark) {
  scratchTop = mark;
  llvm::erase_if(holes, [&](const Hole &hole) { return hole.offset >= mark; });
}

Value KernelState::bufferAddress(int id) {
  int64_t offset = bufferTable[id].offset;
  Value &address = addresses[offset];
  if (!address) {
    address = entry->create<LLVM::GEPOp>(target.getLoc(), scratchArgument.getType(),
                                         entry->getI8Type(), scratchArgument,
                                         ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }
  return address;
}

Value KernelState::shareBetweenPrograms(int64_t bytes) {
  sharedBytes = bytes;
  sharedAddress =
      entry->create<LLVM::GEPOp>(target.getLoc(), scratchArgument.getType(), entry->getI8Type(),
                                 scratchArgument, ArrayRef<LLVM::GEPArg>{0});
  return sharedAddress;
}

void KernelState::placeShared() {
  if (sharedBytes > 0) {
    sharedAddress.setRawConstantIndices({static_cast<int32_t>(peak)});
    peak += sharedBytes;
  }
}

void KernelState::unsupported(Operation *op, const std::string &why) {
  failed = true;
  diags.add(unsupportedError(op, why));
}

void KernelState::misplaced(Operation *op, std::string_view why) {
  failed = true;
  Diagnostic error = makeError("E0391", "the rows of this loop cannot be pipelined as its "
                                        "attributes say: " +
                                            std::string(why));
  setPlace(error, op->getLoc());
  diags.add(std::move(error));
}

bool KernelState::checkScratchLimit() {
  if (static_cast<uint64_t>(peak) <= machine.scratchLimitBytes) {
    return true;
  }
  // What the scratch memory is divided into when most of it is taken: the last buffer at each
  // offset. A released one still takes its place until another fits there.
  std::map<int64_t, const Buffer *> placed;
  for (size_t i = 0; i <= peakBuffer && i < bufferTable.size(); ++i) {
    const Buffer &buffer = bufferTable[i];
    auto first = placed.lower_bound(buffer.offset);
    placed.erase(first, placed.lower_bound(buffer.offset + takenBy(buffer)));
    placed[buffer.offset] = &buffer;
  }
  std::vector<const Buffer *> largest;
  for (const auto &[offset, buffer] : placed) {
    largest.push_back(buffer);
  }
  llvm::stable_sort(largest,
                    [](const Buffer *a, const Buffer *b) { return takenBy(*a) > takenBy(*b); });
  Diagnostic error = makeError("E0501", "the tiles of this kernel need " + std::to_string(peak) +
                                            " bytes of scratch memory, but the limit is " +
                                            std::to_string(machine.scratchLimitBytes));
  if (!largest.empty()) {
    setPlace(error, largest[0]->loc);
  }
  constexpr size_t named = 3;
  int64_t rest = peak;
  for (size_t i = 0; i < largest.size() && i < named; ++i) {
    std::string shape;
    for (int64_t size : largest[i]->shape) {
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    }
    rest -= takenBy(*largest[i]);
    error.note("a tile of " + shape + " elements takes " + std::to_string(takenBy(*largest[i])) +
               " bytes (line " + std::to_string(placeOf(largest[i]->loc).line) + ")");
  }
  if (largest.size() > named) {
    error.note("the other " + std::to_string(largest.size() - named) + " take " +
               std::to_string(rest) + " bytes");
  }
  error.withHelp("choose smaller block sizes");
  diags.add(std::move(error));
  failed = exceedsLimit = true;
  return false;
}

} // namespace nereid::cpu
