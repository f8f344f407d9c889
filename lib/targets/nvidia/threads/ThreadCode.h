// SPDX-License-Identifier: Apache-2.0
// The code of one thread while it is written: which scalars stand for the elements that the thread
// holds of each tile, and the small things that every operation needs (who am I, shared memory,
// barriers, bits of values).
#pragma once

#include "lib/layout/LinearLayout.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <functional>
#include <string>

namespace nereid::nvidia {

/// Address spaces of NVPTX.
enum class Space : unsigned { Global = 1, Shared = 3, Constant = 4 };

/// In memory: one byte for a truth value, 64 bits for an address.
unsigned memoryBits(mlir::Type element);
/// The type that a scalar has in a thread's code: addresses are pointers to global memory.
mlir::Type threadType(mlir::Type scalar);

class ThreadCode {
public:
  using Held = llvm::SmallVector<mlir::Value, 8>;

  /// Writes at `builder`'s place. `sharedName` is the symbol of the program's shared memory, of
  /// which `copyBytes` belong to copies (nvidia.async_copy) while these are under way, and
  /// `heldBytes` to loads that are held.
  ThreadCode(mlir::OpBuilder builder, mlir::Location loc, Threads threads, std::string sharedName,
             int64_t copyBytes, int64_t heldBytes = 0);

  // ---- values ----

  /// What the thread holds of a tile, by register; of anything else, its one value.
  const Held &held(mlir::Value value) const { return values.find(value)->second; }
  mlir::Value scalar(mlir::Value value) const { return held(value).front(); }
  void hold(mlir::Value value, Held registers) { values[value] = std::move(registers); }
  void hold(mlir::Value value, mlir::Value scalar) { values[value] = Held{scalar}; }

  // ---- arithmetic of places, in i32 ----

  mlir::Value constant(int64_t number, unsigned bits = 32);
  mlir::Value add(mlir::Value left, int64_t right);
  /// What the thread's own number contributes to its elements' row-major numbers.
  mlir::Value threadPart(const layout::LinearLayout &layout);
  /// The number of the element in each register.
  Held elements(const layout::LinearLayout &layout);
  /// The same number. What is computed from it is computed in each turn of a loop that copies
  /// ahead: in front of the loop it would take registers in all turns, which sums need there.
  mlir::Value inThisTurn(mlir::Value number);
  /// True in one thread of those that hold replicas of an element; null where there are none.
  mlir::Value isFirstReplica(const layout::LinearLayout &layout);
  /// Whether another register of the same thread, before this one, holds the same element.
  static bool isRepeatedRegister(const layout::LinearLayout &layout, int64_t reg) {
    return (reg & layout.replicaBits(layout::Holder::Register)) != 0;
  }
  mlir::Value laneNumber() const { return lane; }
  mlir::Value warpNumber() const { return warp; }
  mlir::Value isFirstThread();

  // ---- the program among others, i32 ----

  mlir::Value programId(unsigned axis);
  mlir::Value programCount(unsigned axis);

  // ---- bits ----

  /// The value as an integer of as many bits as it has in memory, and back.
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);

  // ---- between threads ----

  /// Address of a byte of the program's shared memory that operations stage tiles in: behind the
  /// slots while copies are under way, else from the start. Of a program of several blocks it is
  /// the first block's, which all of them reach.
  mlir::Value shared(mlir::Value offset);
  /// The same as a number, i32, which instructions in assembly take.
  mlir::Value sharedAddress(mlir::Value offset);
  /// Of a byte of the slots, which begin at a multiple of slotAlignment.
  mlir::Value copyAddress(mlir::Value offset);
  /// Where the thread's own vectors of 16 bytes of a held load begin, which is at byte `place`; the
  /// next one of them is stepOfHeld bytes behind.
  mlir::Value heldAddress(int64_t place);
  int64_t stepOfHeld() const;
  /// Until then the thread's held loads are under way.
  void awaitHeld();
  void expectHeld() { areLoadsUnderWay = true; }
  void beginCopies() { areCopiesUnderWay = true; }
  void endCopies() { areCopiesUnderWay = false; }
  void reserveShared(int64_t bytes);
  /// Where so many bytes begin that no thread may still read: beside what has been read since the
  /// last barrier if there is room, else behind a barrier. They are reserved.
  int64_t beginStaging(int64_t bytes);
  int64_t reservedShared() const { return heldBytes + sharedBytes; }
  /// Bytes that one operation may stage: slots that are not in use cost nothing.
  int64_t mostStaged() const;
  /// Of the operation that needs as much.
  mlir::Location largestPlace() const { return ofLargest; }
  /// Elements of an array of the value's type, which begins so many bytes behind the start.
  void storeShared(mlir::Value value, mlir::Value element, int64_t begin = 0);
  mlir::Value loadShared(mlir::Type type, mlir::Value element, int64_t begin = 0);
  /// Likewise into the shared memory of every block, and from that of the thread's own block, which
  /// is quicker to read: for what all blocks want.
  void storeInBlocks(mlir::Value value, mlir::Value element, int64_t begin);
  mlir::Value loadInBlock(mlir::Type type, mlir::Value element, int64_t begin);
  /// Adds to an i32 of the program's shared memory, atomically.
  void addShared(mlir::Value value, mlir::Value element);
  /// Stores up to four words of 32 bits, or one of 16 or 8, to neighbouring places. Those of 8 bits
  /// come in registers of 16.
  void storeWords(mlir::Value address, int64_t offset, mlir::ValueRange words, unsigned bits);
  /// Loads one, two or four words of 32 bits, or one of 16, from neighbouring places.
  Held loadWords(mlir::Value address, int64_t offset, int64_t count, unsigned bits = 32);
  /// Likewise from the thread's own block, where its held loads lie.
  Held loadOwnWords(mlir::Value address, int64_t offset, int64_t count);
  /// All threads of the program wait for each other, and see what the others wrote.
  void barrier();
  /// Whether a condition, i1, holds in any thread of the program; all of them wait for each other.
  mlir::Value isTrueInAny(mlir::Value condition);
  /// What has to be behind all operations: a block whose shared memory others read stays for them.
  void endProgram();
  /// Bytes that threads stage in, from the first of them on.
  struct Range {
    int64_t begin = 0, end = 0;
  };
  /// Those that threads may have used since the last barrier. Where ways meet it is what holds on
  /// each of them.
  Range usedShared() const { return used; }
  void setUsedShared(Range range) { used = range; }
  /// Whatever there is: where a turn of a loop begins, and behind operations that say nothing.
  static constexpr Range anyShared{0, INT64_MAX};
  static Range join(Range left, Range right);
  /// The value of the lane whose number differs in the bits of `mask`.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// That of the lane `distance` before this one, or its own where there is none.
  mlir::Value shuffleUp(mlir::Value value, int64_t distance);
  /// Likewise the lane behind this one.
  mlir::Value shuffleDown(mlir::Value value, int64_t distance);
  /// That of the lane with this number.
  mlir::Value shuffleFrom(mlir::Value value, mlir::Value number);

  /// An intrinsic of LLVM by its name, "llvm.nvvm.barrier0"; no result where type is null.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type, mlir::ValueRange operands);
  /// Inline assembly with side effects on memory; several results as a structure.
  mlir::Value assembly(llvm::StringRef text, llvm::StringRef constraints, mlir::Type type,
                       mlir::ValueRange operands);

  // ---- symbols of the module, made at their first use ----

  /// Address of a text with a zero behind it, generic.
  mlir::Value text(const std::string &content);
  /// Address of so many bytes of global memory, zeros at first, which the host finds by their name.
  mlir::Value global(llvm::StringRef name, int64_t bytes);
  /// Calls a function that the driver provides.
  void callExternal(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands);
  /// Address of memory of this thread alone, generic.
  mlir::Value local(mlir::Type type);

  /// Writes what the operations of a block do, without its terminator.
  std::function<mlir::LogicalResult(mlir::Block &)> lowerBlock;

  mlir::OpBuilder builder;
  mlir::Location loc;
  const Threads threads;

private:
  Held loadWordsFrom(const std::string &space, mlir::Value address, int64_t offset, int64_t count,
                     unsigned bits);
  void cluster(llvm::StringRef what);
  void dropArrival();
  /// In front of the first bytes that a program of several blocks stages: all blocks have begun.
  void awaitBegin();
  /// Bytes from the start of an array that begins at `begin` to one of its elements.
  mlir::Value offsetOf(mlir::Type type, mlir::Value element, int64_t begin);
  mlir::Value loadFrom(mlir::Type type, mlir::Value address);
  mlir::Value sharedBase();
  mlir::Value sharedInBlock(mlir::Value offset);
  /// The same place of another block's shared memory, generic.
  mlir::Value inOtherBlock(mlir::Value address, mlir::Value block);
  /// Bytes in front of those that operations stage in.
  int64_t slotBytes() const { return areCopiesUnderWay ? copyBytes : 0; }
  mlir::Value shuffle(llvm::StringRef kind, mlir::Value value, mlir::Value operand, int64_t clamp);

  llvm::DenseMap<mlir::Value, Held> values;
  mlir::Value lane, warp;
  std::string sharedName;
  int64_t copyBytes, heldBytes, sharedBytes;
  Range used;
  bool areCopiesUnderWay = false, areLoadsUnderWay = false;
  bool readsOtherBlocks = false; ///< shared memory of the first one
  /// Tells the program's other blocks that this one has begun; null where nobody asks, or all have
  /// waited for each other since.
  mlir::Operation *arrival = nullptr;
  mlir::Location ofLargest;
};

} // namespace nereid::nvidia
