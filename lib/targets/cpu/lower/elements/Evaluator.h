// SPDX-License-Identifier: Apache-2.0
// Computes the elements of fused producers inside a loop nest, on demand and once each: at scalar
// coordinates, or for a vector of neighbouring coordinates along one dimension (the lanes). Code
// goes to the outermost loop whose coordinates it needs, so what does not change in a loop is
// outside of it.
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

namespace nereid::cpu {

/// Identifies a tile at coordinates, and for lane-dependent ones the unrolled copy.
struct ElementKey {
  mlir::Value tile;
  uint64_t dims = 0;
  bool operator==(const ElementKey &other) const = default;
};

/// Addresses of a vector of elements: base plus offsets counted in pointees. The base is one
/// pointer, or a vector of pointers; offsets are absent or a vector of integers.
struct LaneAddresses {
  mlir::Value base;
  mlir::Value offsets;
};

/// Which lanes take part: all, none, all or none by a scalar, or each by a vector of i1.
struct LaneMask {
  enum class Kind : uint8_t { All, None, Scalar, Vector };
  Kind kind = Kind::All;
  mlir::Value value;
};

/// A mask along the lane dimension as bounds: true exactly from lower to upper (i64; null = the
/// tile's end) where all of `rest` is true too.
struct MaskBounds {
  mlir::Value lower, upper;
  mlir::Value holds; ///< a part that is the same for all lanes; null = none
  llvm::SmallVector<std::pair<mlir::Value, Dims>, 2> rest;
};

/// The lane loop is peeled into parts by what is known about masks in them.
/// Plain: nothing. Main: every bounded mask is true. Boundary: the mask's bounds are compared lane
/// by lane. Outside: every bounded mask is false.
enum class PeeledPart : uint8_t { Plain, Main, Boundary, Outside };

} // namespace nereid::cpu

namespace llvm {
template <> struct DenseMapInfo<nereid::cpu::ElementKey> {
  using Key = nereid::cpu::ElementKey;
  using ValueInfo = DenseMapInfo<mlir::Value>;
  static Key getEmptyKey() { return {ValueInfo::getEmptyKey(), 0}; }
  static Key getTombstoneKey() { return {ValueInfo::getTombstoneKey(), 0}; }
  static unsigned getHashValue(const Key &key) {
    return static_cast<unsigned>(hash_combine(ValueInfo::getHashValue(key.tile), key.dims));
  }
  static bool isEqual(const Key &a, const Key &b) { return a == b; }
};
} // namespace llvm

namespace nereid::cpu {

/// One loop level: where its code goes and what was computed there already.
struct Scope {
  explicit Scope(mlir::OpBuilder builder, const Scope *parent = nullptr)
      : builder(builder), parent(parent) {}
  /// Here or in a scope around; null when it was not computed yet.
  mlir::Value find(const ElementKey &key) const {
    mlir::Value known = values.lookup(key);
    return known || !parent ? known : parent->find(key);
  }
  mlir::OpBuilder builder;
  llvm::DenseMap<ElementKey, mlir::Value> values;
  llvm::DenseMap<ElementKey, LaneAddresses> addresses;
  const Scope *parent; ///< scope of the enclosing source block; its values are visible
};

/// While it lives, what the scopes emit into the block of `op` goes in front of it: code of the
/// levels around, while the inside of a loop or a choice is built. Levels whose body runs once
/// share their block.
class InFrontOf {
public:
  InFrontOf(llvm::ArrayRef<Scope *> scopes, mlir::Operation *op);
  ~InFrontOf();
  InFrontOf(const InFrontOf &) = delete;
  InFrontOf &operator=(const InFrontOf &) = delete;

private:
  llvm::SmallVector<std::pair<Scope *, mlir::OpBuilder::InsertPoint>> moved;
};

class Evaluator {
public:
  explicit Evaluator(KernelState &kernel) : kernel(kernel) {}

  // ---- the loops around ----
  llvm::SmallVector<Scope *, 4> scopes;       ///< by level; 0 is the source block
  llvm::SmallVector<int, 4> dimLevel;         ///< loop dimension -> level
  llvm::SmallVector<mlir::Value, 4> dimIndex; ///< loop dimension -> i64 coordinate (not the lane's)
  /// Offsets of pointers that grow evenly along this dimension are the first one and a number of
  /// steps, for an innermost loop over rows.
  int8_t steppedDim = zeroDim;
  int8_t laneDim = zeroDim;
  unsigned width = 1;                         ///< lanes in a vector; 1 = scalars
  llvm::SmallVector<mlir::Value, 4> laneBase; ///< coordinate of lane 0 by unrolled copy
  PeeledPart part = PeeledPart::Plain;
  llvm::DenseMap<ElementKey, MaskBounds> masks;

  // ---- values ----
  /// The element at scalar coordinates, or a vector of lanes. May give a scalar where all lanes
  /// are equal.
  mlir::Value evaluate(mlir::Value tile, const Dims &dims, unsigned copy);
  /// The same, always as a vector when width > 1.
  mlir::Value evaluateLanes(mlir::Value tile, const Dims &dims, unsigned copy);
  /// Addresses as integers, for materialising a pointer tile.
  mlir::Value evaluateAddressBits(mlir::Value tile, const Dims &dims, unsigned copy);
  LaneMask evaluateMask(mlir::Value mask, const Dims &dims, unsigned copy);
  /// The part of a bounded mask that is the same for all lanes; null = there is none, or it holds.
  mlir::Value conditionOfLanes(mlir::Value mask, const Dims &dims) const;
  /// A mask that no lane fulfils behind one that does not.
  bool masksLastLanes(mlir::Value mask, const Dims &dims) const;
  /// Element step along dimension `dim` of a Linear tile, as an i64.
  mlir::Value strideOf(mlir::Value tile, unsigned dim, const Dims &dims);

  // ---- memory ----
  void store(tile::StoreOp op, unsigned copy, mlir::Value lanes, bool nonTemporal);
  /// All copies of the unrolled body past the cache, as many joined as fill one vector register: a
  /// narrowing conversion would otherwise swallow its store and with it the hint.
  void storeNonTemporal(tile::StoreOp op, llvm::ArrayRef<mlir::Value> copies);
  void storeToBuffer(int buffer, mlir::Value lanes, const Dims &dims, unsigned copy,
                     mlir::Location loc);
  mlir::Value loadFromBuffer(int buffer, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                             const Dims &dims, unsigned copy, mlir::Location loc);

  // ---- pieces used by the nests ----
  mlir::OpBuilder &builderFor(const Dims &dims) { return scopes[levelOf(dims)]->builder; }
  int levelOf(const Dims &dims) const;
  mlir::Value coordinate(int8_t dim, unsigned copy);
  mlir::Value broadcast(mlir::OpBuilder &builder, mlir::Value value, mlir::Type element);
  /// The results of `op` applied to scalars or vectors of `lanes` elements.
  mlir::ResultRange applyElementwise(mlir::OpBuilder &builder, mlir::Operation *op,
                                     llvm::ArrayRef<mlir::Value> operands, unsigned lanes);
  /// Position of the lane dimension in dims, or -1.
  int lanePosition(const Dims &dims) const;
  static ElementKey keyOf(mlir::Value tile, const Dims &dims, unsigned copy = 0);
  AxisView addressView() const {
    return part == PeeledPart::Main ? AxisView::Assumed : AxisView::Address;
  }
  // ---- pieces used by loads and gathers ----
  /// The address, or one that exists where the mask leaves out all lanes.
  mlir::Value readableAddress(tile::LoadOp op, const Dims &dims, mlir::Value address,
                              mlir::OpBuilder &builder);
  /// Addresses in an address vector of their own.
  mlir::Value vectorOfAddresses(mlir::OpBuilder &builder, mlir::Location loc,
                                const LaneAddresses &addresses, mlir::Type pointee);
  KernelState &kernel;

private:
  mlir::Value compute(mlir::Value tile, const Dims &dims, unsigned copy, mlir::OpBuilder &builder);
  mlir::Value computeLinear(mlir::Value tile, const Dims &dims, unsigned copy, int lane,
                            mlir::OpBuilder &builder);
  mlir::Value computeSelect(mlir::arith::SelectOp op, const Dims &dims, unsigned copy,
                            mlir::OpBuilder &builder);
  mlir::Value computeLoad(tile::LoadOp op, const Dims &dims, unsigned copy,
                          mlir::OpBuilder &builder);
  mlir::Value computeConstant(mlir::arith::ConstantOp op, const Dims &dims, unsigned copy,
                              mlir::OpBuilder &builder);
  /// A pointer plus an offset that grows evenly along `steppedDim`; null when it does not.
  mlir::Value steppedAddress(mlir::Value pointer, mlir::Value offset, const Dims &dims,
                             mlir::Type pointee, mlir::OpBuilder &builder);
  LaneAddresses laneAddresses(mlir::Value tile, const Dims &dims, unsigned copy);
  LaneAddresses computeAddresses(mlir::Value tile, const Dims &dims, unsigned copy,
                                 mlir::OpBuilder &builder);
  /// The pointer of lane 0 of a Linear or Uniform pointer tile (see addressView).
  mlir::Value firstAddress(mlir::Value tile, const Dims &dims, int lane, unsigned copy,
                           mlir::OpBuilder &builder);
  /// Addresses of all lanes, for gathers and scatters.
  mlir::Value gatherAddresses(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                              const Dims &dims, unsigned copy, mlir::Type pointee);
  mlir::Value boundsMask(mlir::OpBuilder &builder, const MaskBounds &bounds, unsigned copy,
                         mlir::Location loc);
  mlir::Value bufferElement(int buffer, llvm::ArrayRef<int64_t> shape, const Dims &dims,
                            mlir::Location loc, unsigned copy);
  bool isUnitStride(mlir::Value pointer, unsigned dim) const;
};

/// A copy that only the code behind it uses: the loops that follow keep it in a register, where the
/// value itself, used far away too, would be read from the stack in each iteration.
mlir::Value keepInRegister(mlir::OpBuilder &builder, mlir::Value value);
/// 0, step, 2·step, … as a constant vector.
mlir::Value iota(KernelState &kernel, mlir::Type element, unsigned width, int64_t step,
                 int64_t start = 0);
/// A vector type, or the scalar type itself for one lane.
mlir::Type lanesOf(mlir::Type element, unsigned width);
mlir::Type addressVectorType(mlir::MLIRContext *context, unsigned width);
/// A value as its buffer or the memory holds it, and back: bools take a byte, dot operands may be
/// held in a wider type.
mlir::Value convertElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            mlir::Type element);

} // namespace nereid::cpu
