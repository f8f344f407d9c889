// SPDX-License-Identifier: Apache-2.0
// What all parts of the lowering of one kernel share: the analyses, the scratch arena, and how a
// scalar of the source function is called in the output function.
#pragma once

#include "lib/targets/cpu/Places.h"
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/lower/plan/FusionPlan.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nereid::cpu {

/// A tile in scratch memory, row-major, 64-byte aligned.
struct Buffer {
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> shape;
  mlir::Type element; ///< as stored: i8 for i1, i64 for addresses
  int64_t bytes = 0;
  mlir::Location loc;
};

class KernelState {
public:
  KernelState(const Machine &machine, Diagnostics &diags)
      : machine(machine), diags(diags), plan(axes) {}

  // ---- types ----
  static mlir::Type memoryType(mlir::Type element);
  static int64_t byteSize(mlir::Type element);
  /// Type of a scalar of the source program in the output: pointers become !llvm.ptr.
  static mlir::Type scalarType(mlir::Type type);

  // ---- scalars ----
  mlir::Value scalar(mlir::Value source);
  mlir::Value constantInt(mlir::Type type, int64_t value);
  mlir::Value constant(mlir::TypedAttr attr);
  mlir::Value i64(int64_t value);
  mlir::Value zero(mlir::Type type);

  /// A number of the program's, or of the grid.
  mlir::Value loadId(mlir::OpBuilder &at, mlir::Value numbers, int32_t element);
  /// An i1: a program of this launch has left its scratch to this one.
  mlir::Value follows(mlir::OpBuilder &at);

  // ---- scratch ----
  int allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Location loc);
  const Buffer &buffer(int id) const { return bufferTable[id]; }
  /// Address of the buffer's first element.
  mlir::Value bufferAddress(int id);
  int64_t scratchMark() const { return scratchTop; }
  void releaseTo(int64_t mark);
  /// The buffer's memory may serve another one from here on.
  void release(int id);
  int64_t scratchPeak() const { return peak; }
  /// Memory behind all tiles that a program finds as the one before has left it, if `follows`
  /// says so. One piece for each kernel.
  mlir::Value shareBetweenPrograms(int64_t bytes);
  /// Once all tiles have their place.
  void placeShared();
  bool checkScratchLimit();

  // ---- errors ----
  void unsupported(mlir::Operation *op, const std::string &why);
  /// A pass in front of the lowering, or whoever wrote the text, has put together what does not
  /// belong together: E0391.
  void misplaced(mlir::Operation *op, std::string_view why);
  bool failed = false;
  bool exceedsLimit = false; ///< failed because the tiles need more scratch memory than there is

  /// An i1: the arguments that the two pointers are made from are two tensors. Null when they may
  /// be one, as far as the source tells.
  mlir::Value areApart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                       mlir::Value other);

  /// Reads the kernel that is lowered, before any of it is.
  void analyse(mlir::func::FuncOp source);
  /// What is known of the source's integers, taken that none of 32 and more bits wraps around:
  /// see mayWrap. Found when first asked for, as few kernels do.
  const tile::AxisInfos &numbers() const;

  const Machine &machine;
  Diagnostics &diags;
  TileAxes axes;
  FusionPlan plan;
  mlir::func::FuncOp target;
  mlir::Value slotsArgument, idArgument, countArgument, scratchArgument;
  mlir::OpBuilder *entry = nullptr;         ///< inserts into the prologue of the output function
  llvm::DenseMap<mlir::Value, int> buffers; ///< stored tile -> buffer
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Induction tile -> what was added to its initial value so far (a scalar).
  llvm::DenseMap<mlir::Value, mlir::Value> inductionOffsets;
  llvm::DenseMap<mlir::Value, int> inPlace;  ///< materialised tile -> buffer of the row before
  llvm::SmallVector<mlir::Value> splitMasks; ///< of the nest that took a delayed store's first part
  bool storesNonTemporal = false;
  bool isBlocking = false;   ///< some loop may wait for another program
  bool sharesPanels = false; ///< see GemmPanelCache.h
  int stringCount = 0;

private:
  mlir::func::FuncOp source;
  mutable std::unique_ptr<tile::AxisInfos> sourceNumbers;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> constants;
  std::vector<Buffer> bufferTable;
  llvm::DenseMap<int64_t, mlir::Value> addresses; ///< by offset
  int64_t scratchTop = 0, peak = 0;
  size_t peakBuffer = 0; ///< the allocation that made the peak
  int64_t sharedBytes = 0;
  mlir::LLVM::GEPOp sharedAddress;
  struct Hole {
    int64_t offset = 0, bytes = 0;
  };
  llvm::SmallVector<Hole> holes; ///< released memory below scratchTop
};

} // namespace nereid::cpu
