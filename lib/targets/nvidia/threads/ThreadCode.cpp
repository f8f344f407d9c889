// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/ThreadCode.h"

#include "lib/targets/nvidia/threads/Staging.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

unsigned memoryBits(Type element) {
  return isa<tile::PtrType, LLVM::LLVMPointerType>(element)
             ? 64
             : std::max(8U, element.getIntOrFloatBitWidth());
}

Type threadType(Type scalar) {
  return isa<tile::PtrType>(scalar)
             ? LLVM::LLVMPointerType::get(scalar.getContext(), unsigned(Space::Global))
             : scalar;
}

ThreadCode::ThreadCode(OpBuilder builder, Location loc, Threads threads, std::string sharedName,
                       int64_t copyBytes, int64_t heldBytes)
    : builder(builder), loc(loc), threads(threads), sharedName(std::move(sharedName)),
      copyBytes(copyBytes == 0 ? 0 : copyBytes + slotAlignment), heldBytes(heldBytes),
      sharedBytes(this->copyBytes), ofLargest(loc) {
  Type i32 = this->builder.getI32Type();
  Value thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32, {});
  OpBuilder &b = this->builder;
  if (threads.blocks > 1) {
    Value block = intrinsic("llvm.nvvm.read.ptx.sreg.cluster.ctarank", i32, {});
    Value before = b.create<arith::MulIOp>(loc, block, constant(threads.ofBlock()));
    thread = b.create<arith::AddIOp>(loc, before, thread);
    cluster("arrive.relaxed");
    arrival = b.getInsertionBlock()->empty() ? nullptr : &b.getInsertionBlock()->back();
    used = anyShared;
  }
  lane = b.create<arith::AndIOp>(loc, thread, constant(Threads::lanes - 1));
  warp = threads.warps == 1 ? constant(0) : b.create<arith::ShRUIOp>(loc, thread, constant(5));
}

Value ThreadCode::constant(int64_t number, unsigned bits) {
  return builder.create<arith::ConstantIntOp>(loc, number, bits);
}

Value ThreadCode::add(Value left, int64_t right) {
  return right == 0 ? left : builder.create<arith::AddIOp>(loc, left, constant(right));
}

Value ThreadCode::threadPart(const LinearLayout &layout) {
  Value sum;
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    Value number = holder == Holder::Lane ? lane : warp;
    const LinearLayout::Bases &bases = layout.bases(holder);
    // Neighbouring bits with neighbouring steps move together.
    for (size_t bit = 0; bit < bases.size();) {
      size_t end = bit + 1;
      const bool isPower = (bases[bit] & (bases[bit] - 1)) == 0;
      while (end < bases.size() && isPower && bases[end] == bases[end - 1] * 2) {
        ++end;
      }
      if (bases[bit] != 0) {
        const int64_t mask = ((int64_t{1} << (end - bit)) - 1) << bit;
        Value part = builder.create<arith::AndIOp>(loc, number, constant(mask));
        part = builder.create<arith::ShRUIOp>(loc, part, constant(static_cast<int64_t>(bit)));
        part = builder.create<arith::MulIOp>(loc, part, constant(bases[bit]));
        sum = !sum ? part : builder.create<arith::XOrIOp>(loc, sum, part).getResult();
      }
      bit = end;
    }
  }
  return sum ? sum : constant(0);
}

ThreadCode::Held ThreadCode::elements(const LinearLayout &layout) {
  Value base = threadPart(layout);
  const bool isSum = layout.isPermutation();
  Held result;
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    const int64_t part = layout.contribution(Holder::Register, reg);
    result.push_back(isSum || part == 0
                         ? add(base, part)
                         : builder.create<arith::XOrIOp>(loc, base, constant(part)).getResult());
  }
  return result;
}

Value ThreadCode::inThisTurn(Value number) {
  return areCopiesUnderWay ? assembly("mov.b32 $0, $1;", "=r,r", builder.getI32Type(), number)
                           : number;
}

Value ThreadCode::isFirstReplica(const LinearLayout &layout) {
  Value condition;
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    const int64_t mask = layout.replicaBits(holder);
    if (mask == 0) {
      continue;
    }
    Value bits =
        builder.create<arith::AndIOp>(loc, holder == Holder::Lane ? lane : warp, constant(mask));
    Value is = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, bits, constant(0));
    condition = condition ? builder.create<arith::AndIOp>(loc, condition, is).getResult() : is;
  }
  return condition;
}

Value ThreadCode::isFirstThread() {
  Value thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", builder.getI32Type(), {});
  if (threads.blocks > 1) {
    Value block = intrinsic("llvm.nvvm.read.ptx.sreg.cluster.ctarank", builder.getI32Type(), {});
    thread = builder.create<arith::OrIOp>(loc, thread, block);
  }
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, thread, constant(0));
}

/// The blocks of a program are neighbours along axis 0.
static std::string placeRegister(const char *name, const Threads &threads, unsigned axis) {
  const bool isCluster = threads.blocks > 1 && axis == 0;
  const std::string of = isCluster ? "clusterid." : "ctaid.";
  return "llvm.nvvm.read.ptx.sreg." + (name + of) + "xyz"[axis];
}

Value ThreadCode::programId(unsigned axis) {
  return intrinsic(placeRegister("", threads, axis), builder.getI32Type(), {});
}

Value ThreadCode::programCount(unsigned axis) {
  return intrinsic(placeRegister("n", threads, axis), builder.getI32Type(), {});
}

Value ThreadCode::toBits(Value value) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) {
    return builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), value);
  }
  const unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    value = builder.create<arith::BitcastOp>(loc, builder.getIntegerType(bits), value);
  }
  return bits == memoryBits(type)
             ? value
             : builder.create<arith::ExtUIOp>(loc, builder.getIntegerType(memoryBits(type)), value);
}

Value ThreadCode::fromBits(Value bits, Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) {
    return builder.create<LLVM::IntToPtrOp>(loc, type, bits);
  }
  if (type.isInteger(1)) {
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bits, constant(0, 8));
  }
  const unsigned wanted = type.getIntOrFloatBitWidth();
  if (bits.getType().getIntOrFloatBitWidth() > wanted) {
    bits = builder.create<arith::TruncIOp>(loc, builder.getIntegerType(wanted), bits);
  }
  return isa<FloatType>(type) ? builder.create<arith::BitcastOp>(loc, type, bits).getResult()
                              : bits;
}

void ThreadCode::reserveShared(int64_t bytes) {
  if (slotBytes() + bytes > sharedBytes) {
    sharedBytes = slotBytes() + bytes;
    ofLargest = loc;
  }
}

ThreadCode::Range ThreadCode::join(Range left, Range right) {
  if (left.begin == left.end || right.begin == right.end) {
    return left.begin == left.end ? right : left;
  }
  return {std::min(left.begin, right.begin), std::max(left.end, right.end)};
}

int64_t ThreadCode::beginStaging(int64_t bytes) {
  constexpr int64_t mostBeside = 1024, alignment = 16;
  int64_t begin = 0;
  awaitBegin();
  if (used.begin != used.end && bytes > used.begin) {
    begin = llvm::alignTo(std::min(used.end, mostBeside), alignment);
    if (copyBytes != 0 || begin + bytes > mostBeside) { // slots leave no room to spare
      barrier();
      begin = 0;
    }
  }
  reserveShared(begin + bytes);
  return begin;
}

int64_t ThreadCode::mostStaged() const {
  return areCopiesUnderWay ? mostStagedBytes : std::max(mostStagedBytes, copyBytes);
}

Value ThreadCode::sharedBase() {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(Space::Shared));
  Value start = builder.create<LLVM::AddressOfOp>(loc, pointer, sharedName);
  return heldBytes == 0
             ? start
             : builder.create<LLVM::GEPOp>(loc, pointer, builder.getI8Type(), start,
                                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(heldBytes)});
}

Value ThreadCode::inOtherBlock(Value address, Value block) {
  Type generic = LLVM::LLVMPointerType::get(builder.getContext());
  Value own = builder.create<LLVM::AddrSpaceCastOp>(loc, generic, address);
  return intrinsic("llvm.nvvm.mapa", generic, {own, block});
}

Value ThreadCode::shared(Value offset) {
  Value own = sharedInBlock(offset);
  if (threads.blocks == 1) {
    return own;
  }
  readsOtherBlocks = true;
  return inOtherBlock(own, constant(0));
}

Value ThreadCode::sharedInBlock(Value offset) {
  used = anyShared;
  Value base = sharedBase();
  if (slotBytes() != 0) {
    base = builder.create<LLVM::GEPOp>(loc, base.getType(), builder.getI8Type(), base,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slotBytes())});
  }
  return builder.create<LLVM::GEPOp>(loc, base.getType(), builder.getI8Type(), base,
                                     ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadCode::sharedAddress(Value offset) {
  Type i32 = builder.getI32Type();
  Value own = builder.create<LLVM::PtrToIntOp>(loc, i32, sharedInBlock(offset));
  if (threads.blocks == 1) {
    return own;
  }
  readsOtherBlocks = true;
  return assembly("mapa.shared::cluster.u32 $0, $1, 0;", "=r,r", i32, own);
}

static const char *sharedSpace(const Threads &threads) {
  return threads.blocks == 1 ? "shared" : "shared::cluster";
}

int64_t ThreadCode::stepOfHeld() const { return threads.ofBlock() * 16; }

Value ThreadCode::heldAddress(int64_t place) {
  Type i32 = builder.getI32Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(Space::Shared));
  Value start = builder.create<LLVM::AddressOfOp>(loc, pointer, sharedName);
  Value base = add(builder.create<LLVM::PtrToIntOp>(loc, i32, start), place);
  Value thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32, {});
  return builder.create<arith::AddIOp>(
      loc, base, builder.create<arith::MulIOp>(loc, thread, constant(16)).getResult());
}

void ThreadCode::awaitHeld() {
  if (areLoadsUnderWay) {
    assembly("cp.async.wait_all;", "~{memory}", nullptr, {});
    areLoadsUnderWay = false;
  }
}

Value ThreadCode::copyAddress(Value offset) {
  Value base = builder.create<LLVM::PtrToIntOp>(loc, builder.getI32Type(), sharedBase());
  Value aligned =
      builder.create<arith::AndIOp>(loc, add(base, slotAlignment - 1), constant(-slotAlignment));
  return builder.create<arith::AddIOp>(loc, aligned, offset);
}

void ThreadCode::storeWords(Value address, int64_t offset, ValueRange words, unsigned bits) {
  SmallVector<Value> operands{address};
  std::string list, constraints = "r", space = sharedSpace(threads);
  for (auto [i, word] : llvm::enumerate(words)) {
    list += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
    constraints += bits == 32 ? ",r" : ",h";
    operands.push_back(word);
  }
  const std::string vector = words.size() == 1 ? "" : ".v" + std::to_string(words.size());
  assembly("st." + space + vector + ".b" + std::to_string(bits) + " [$0 + " +
               std::to_string(offset) + "], " + (words.size() == 1 ? list : "{" + list + "}") + ";",
           constraints + ",~{memory}", nullptr, operands);
}

ThreadCode::Held ThreadCode::loadWords(Value address, int64_t offset, int64_t count,
                                       unsigned bits) {
  return loadWordsFrom(sharedSpace(threads), address, offset, count, bits);
}

ThreadCode::Held ThreadCode::loadOwnWords(Value address, int64_t offset, int64_t count) {
  return loadWordsFrom("shared", address, offset, count, 32);
}

ThreadCode::Held ThreadCode::loadWordsFrom(const std::string &space, Value address, int64_t offset,
                                           int64_t count, unsigned bits) {
  std::string list, constraints;
  for (int64_t i = 0; i < count; ++i) {
    list += (i == 0 ? "$" : ", $") + std::to_string(i);
    constraints += bits == 32 ? "=r," : "=h,";
  }
  const std::string place = ", [$" + std::to_string(count) + " + " + std::to_string(offset) + "];";
  Type word = builder.getIntegerType(bits);
  constraints += "r,~{memory}";
  if (count == 1) {
    return {assembly("ld." + space + ".b" + std::to_string(bits) + " " + list + place, constraints,
                     word, address)};
  }
  Type all = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                              SmallVector<Type>(static_cast<size_t>(count), word));
  Value read =
      assembly("ld." + space + ".v" + std::to_string(count) + ".b32 {" + list + "}" + place,
               constraints, all, address);
  Held words;
  for (int64_t i = 0; i < count; ++i) {
    words.push_back(builder.create<LLVM::ExtractValueOp>(loc, read, ArrayRef<int64_t>{i}));
  }
  return words;
}

Value ThreadCode::offsetOf(Type type, Value element, int64_t begin) {
  return add(builder.create<arith::MulIOp>(loc, element, constant(memoryBits(type) / 8)), begin);
}

Value ThreadCode::loadFrom(Type type, Value address) {
  const unsigned bits = memoryBits(type);
  return fromBits(
      builder.create<LLVM::LoadOp>(loc, builder.getIntegerType(bits), address, bits / 8), type);
}

void ThreadCode::storeShared(Value value, Value element, int64_t begin) {
  Value bits = toBits(value);
  builder.create<LLVM::StoreOp>(loc, bits, shared(offsetOf(value.getType(), element, begin)),
                                memoryBits(value.getType()) / 8);
}

Value ThreadCode::loadShared(Type type, Value element, int64_t begin) {
  return loadFrom(type, shared(offsetOf(type, element, begin)));
}

void ThreadCode::storeInBlocks(Value value, Value element, int64_t begin) {
  if (threads.blocks == 1) {
    storeShared(value, element, begin);
    return;
  }
  Value bits = toBits(value);
  Value own = sharedInBlock(offsetOf(value.getType(), element, begin));
  for (int64_t block = 0; block < threads.blocks; ++block) {
    builder.create<LLVM::StoreOp>(loc, bits, inOtherBlock(own, constant(block)),
                                  memoryBits(value.getType()) / 8);
  }
}

Value ThreadCode::loadInBlock(Type type, Value element, int64_t begin) {
  return loadFrom(type, sharedInBlock(offsetOf(type, element, begin)));
}

void ThreadCode::addShared(Value value, Value element) {
  Value address = sharedAddress(builder.create<arith::MulIOp>(loc, element, constant(4)));
  const std::string space = sharedSpace(threads);
  assembly("red." + space + ".add.u32 [$0], $1;", "r,r,~{memory}", nullptr, {address, value});
}

void ThreadCode::barrier() {
  if (threads.blocks == 1) {
    intrinsic("llvm.nvvm.barrier0", nullptr, {});
  } else {
    dropArrival();
    cluster("arrive");
    cluster("wait");
  }
  used = {};
}

void ThreadCode::cluster(StringRef what) {
  intrinsic(("llvm.nvvm.barrier.cluster." + what + ".aligned").str(), nullptr, {});
}

void ThreadCode::awaitBegin() {
  // Behind a branch some ways would wait, and others would not.
  if (arrival && arrival->getBlock() == builder.getInsertionBlock()) {
    arrival = nullptr;
    cluster("wait");
    used = {};
  }
}

void ThreadCode::dropArrival() {
  if (arrival) {
    arrival->erase();
    arrival = nullptr;
  }
}

Value ThreadCode::isTrueInAny(Value condition) {
  Type i32 = builder.getI32Type();
  Value number = builder.create<arith::ExtUIOp>(loc, i32, condition);
  if (threads.blocks == 1) {
    Value any = intrinsic("llvm.nvvm.barrier0.or", i32, number);
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, any, constant(0));
  }
  reserveShared(4);
  barrier();
  storeShared(constant(0), constant(0)); // by all threads: the same
  barrier();
  addShared(number, constant(0));
  barrier();
  Value any = loadShared(i32, constant(0));
  barrier(); // no block ends before all have read it
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, any, constant(0));
}

void ThreadCode::endProgram() {
  dropArrival();
  if (readsOtherBlocks) {
    barrier();
  }
}

Value ThreadCode::shuffle(StringRef kind, Value value, Value operand, int64_t clamp) {
  Value bits = toBits(value);
  Type i32 = builder.getI32Type();
  const unsigned width = bits.getType().getIntOrFloatBitWidth();
  const std::string name = ("llvm.nvvm.shfl.sync." + kind + ".i32").str();
  auto move = [&](Value word) {
    return intrinsic(name, i32, {constant(-1), word, operand, constant(clamp)});
  };
  if (width < 32) {
    Value moved = move(builder.create<arith::ExtUIOp>(loc, i32, bits));
    return fromBits(builder.create<arith::TruncIOp>(loc, bits.getType(), moved), value.getType());
  }
  if (width == 32) {
    return fromBits(move(bits), value.getType());
  }
  Type i64 = builder.getI64Type();
  Value low = builder.create<arith::TruncIOp>(loc, i32, bits);
  Value high = builder.create<arith::TruncIOp>(
      loc, i32, builder.create<arith::ShRUIOp>(loc, bits, constant(32, 64)).getResult());
  Value wideLow = builder.create<arith::ExtUIOp>(loc, i64, move(low));
  Value wideHigh = builder.create<arith::ShLIOp>(
      loc, builder.create<arith::ExtUIOp>(loc, i64, move(high)).getResult(), constant(32, 64));
  return fromBits(builder.create<arith::OrIOp>(loc, wideLow, wideHigh), value.getType());
}

Value ThreadCode::shuffleXor(Value value, int64_t mask) {
  return shuffle("bfly", value, constant(mask), 31);
}

Value ThreadCode::shuffleUp(Value value, int64_t distance) {
  return shuffle("up", value, constant(distance), 0);
}

Value ThreadCode::shuffleDown(Value value, int64_t distance) {
  return shuffle("down", value, constant(distance), 31);
}

Value ThreadCode::shuffleFrom(Value value, Value number) {
  return shuffle("idx", value, number, 31);
}

Value ThreadCode::intrinsic(StringRef name, Type type, ValueRange operands) {
  auto call = builder.create<LLVM::CallIntrinsicOp>(loc, type ? TypeRange(type) : TypeRange(),
                                                    builder.getStringAttr(name), operands,
                                                    LLVM::FastmathFlagsAttr());
  return type ? call.getResults() : Value();
}

Value ThreadCode::assembly(StringRef text, StringRef constraints, Type type, ValueRange operands) {
  auto made = builder.create<LLVM::InlineAsmOp>(
      loc, type ? TypeRange(type) : TypeRange(), operands, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  return type ? made.getRes() : Value();
}

} // namespace nereid::nvidia
