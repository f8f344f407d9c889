// SPDX-License-Identifier: Apache-2.0
// Fragments of matrix instructions, read from shared memory by `ldmatrix`: eight rows of 16 bytes
// at a time, transposed where memory runs along the other dimension.
#pragma once

#include "lib/targets/nvidia/layouts/SharedTile.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"

#include <map>

namespace nereid::nvidia {

/// The addresses with which a warp reads a fragment, as a layout of the tile's elements: the lane
/// gives the row, registers are instructions.
struct MatrixRows {
  layout::LinearLayout starts;
  int64_t words = 4; ///< 32-bit words that a thread gets of one instruction: 1, 2 or 4
  bool isTransposed = false;
};
/// Nothing where `ldmatrix` does not give this layout of a tile of 16-bit elements.
std::optional<MatrixRows> matrixRowsOf(const layout::LinearLayout &fragment, int64_t fastest);

/// When a thread computes addresses of a loop that copies ahead: those that every turn needs often
/// stay in registers, others take none from the sums of the loop.
enum class When { Once, InEachTurn };

/// Byte addresses in a tile: the thread's part is computed once, and what registers add to it is
/// added or combined by exclusive or.
class SharedPlaces {
public:
  /// `base`: the tile's byte in shared memory, a multiple of its swizzle, i32.
  SharedPlaces(ThreadCode &code, const layout::LinearLayout &places, mlir::Value base,
               When when = When::Once);
  /// The address for a register, i32, and what is to be added to it.
  std::pair<mlir::Value, int64_t> at(int64_t reg);

private:
  ThreadCode &code;
  layout::LinearLayout places;
  mlir::Value base, ofThread;
  int64_t threadBits = 0;
  std::map<int64_t, mlir::Value> made;
};

/// The first byte of a slot, i32; slots of the tile begin at byte `place`.
mlir::Value slotAddress(ThreadCode &code, mlir::Value slot, uint64_t place, const SharedTile &tile);

/// Reads words of a fragment when they are asked for, each once.
class MatrixReader {
public:
  MatrixReader(ThreadCode &code, const layout::LinearLayout &fragment, const SharedTile &tile,
               int64_t fastest, mlir::Value base, When when = When::Once);
  /// The 32-bit word with the registers 2 * number and 2 * number + 1.
  mlir::Value word(int64_t number);

private:
  ThreadCode &code;
  MatrixRows rows;
  SharedPlaces places;
  std::map<int64_t, llvm::SmallVector<mlir::Value, 4>> groups;
};

} // namespace nereid::nvidia
