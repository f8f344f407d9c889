// SPDX-License-Identifier: Apache-2.0
// `tile-lower-descriptors`: accesses through descriptors become accesses through addresses.
// Why: most targets have no unit that takes descriptors. Requires: each descriptor is made by the
// tile.make_descriptor that its access names, as the language's front end writes it.
// Guarantees: no operation on descriptors is left; the same elements are read, written and padded.
// The scalar part of every address, base + offset * stride over all dimensions, is added up first,
// so that what varies over the tile is a range times a stride: rows with a stride of 1 are seen to
// be contiguous, and what is uniform leaves the loops.
// Example: descriptor_load %d[%i] of [%n], stride 1, blocks of 4, becomes, with range 0 .. 3,
//   load splat(base + %i) + range mask (range + %i >= 0) & (range + %i < splat(%n)) other 0
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tile {
namespace {

/// Where a block's elements lie along one dimension: at `offset` plus each of the indices.
struct BlockIndices {
  Value offset;  ///< i64; null for none
  Value indices; ///< i64 tile of rank 1
  bool isRange;  ///< the indices are 0, 1, 2, …
};

struct BlockAddress {
  Value pointers, mask;
};

/// Writes the addresses of one access.
class AddressWriter {
public:
  AddressWriter(Operation *access, MakeDescriptorOp descriptor)
      : builder(access), loc(access->getLoc()), descriptor(descriptor) {}

  /// The block at the offsets.
  BlockAddress block(ValueRange offsets) {
    SmallVector<BlockIndices> dimensions;
    for (auto [offset, size] : llvm::zip(offsets, descriptor.getType().getShape())) {
      dimensions.push_back({offset, range(size), true});
    }
    return address(dimensions);
  }

  /// Rows picked by number, from one column on.
  BlockAddress rows(Value numbers, Value column) {
    auto type = cast<RankedTensorType>(numbers.getType());
    unsigned width = type.getElementTypeBitWidth();
    Type wide = type.clone(builder.getI64Type());
    Value indices = width < 64 ? make<arith::ExtSIOp>(wide, numbers) : numbers;
    return address(
        {{Value(), indices, false}, {column, range(descriptor.getType().getShape()[1]), true}});
  }

  /// What is read outside of the array.
  Value padding(ArrayRef<int64_t> shape) {
    Type element = descriptor.getType().getElement();
    auto type = RankedTensorType::get(shape, element);
    TypedAttr number = builder.getZeroAttr(element);
    if (descriptor.getPadding() == Padding::NaN) {
      const llvm::fltSemantics &format = cast<FloatType>(element).getFloatSemantics();
      number = FloatAttr::get(element, llvm::APFloat::getQNaN(format));
    }
    return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, number));
  }

private:
  template <class Op, class... Args> Value make(Args &&...args) {
    return builder.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }

  /// The i64 offsets 0 … size-1.
  Value range(int64_t size) {
    auto narrow = RankedTensorType::get({size}, builder.getI32Type());
    Value counted = make<MakeRangeOp>(narrow, 0, static_cast<uint32_t>(size));
    return make<arith::ExtSIOp>(narrow.clone(builder.getI64Type()), counted);
  }

  Value splat(Value scalar, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, scalar.getType());
    Attribute number;
    if (matchPattern(scalar, m_Constant(&number))) {
      return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, number));
    }
    return make<SplatOp>(type, scalar);
  }

  Value broadcast(Value value, ArrayRef<int64_t> shape) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      return splat(value, shape);
    }
    return type.getShape() == shape ? value : make<BroadcastOp>(type.clone(shape), value);
  }

  /// Both in the shape that they broadcast to; they have one rank, or one is a scalar.
  void broadcastPair(Value &a, Value &b) {
    ArrayRef<int64_t> left = shapeOf(a.getType()), right = shapeOf(b.getType());
    SmallVector<int64_t> shape(left.empty() ? right : left);
    for (size_t i = 0; i < right.size(); ++i) {
      shape[i] = std::max(shape[i], right[i]);
    }
    a = broadcast(a, shape);
    b = broadcast(b, shape);
  }

  /// A tile of rank 1 as one that varies along dimension `at` of `rank` dimensions.
  Value along(Value tile, unsigned at, unsigned rank) {
    for (unsigned d = 0; d < rank; ++d) {
      if (d != at) {
        auto type = cast<RankedTensorType>(tile.getType());
        SmallVector<int64_t> shape(type.getShape());
        shape.insert(shape.begin() + d, 1);
        tile = make<ExpandDimsOp>(type.clone(shape), tile, d);
      }
    }
    return tile;
  }

  /// Where the indices are inside of the dimension.
  Value inside(const BlockIndices &dimension, Value size) {
    ArrayRef<int64_t> shape = shapeOf(dimension.indices.getType());
    std::optional<int64_t> offset = dimension.offset ? getConstantIntValue(dimension.offset) : 0;
    Value index = offset == 0
                      ? dimension.indices
                      : make<arith::AddIOp>(dimension.indices, splat(dimension.offset, shape));
    Value isBelow = make<arith::CmpIOp>(arith::CmpIPredicate::slt, index, splat(size, shape));
    if (dimension.isRange && offset && *offset >= 0) {
      return isBelow;
    }
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(index.getType()));
    Value isFromZero = make<arith::CmpIOp>(arith::CmpIPredicate::sge, index, zero);
    return make<arith::AndIOp>(isFromZero, isBelow);
  }

  BlockAddress address(ArrayRef<BlockIndices> dimensions) {
    unsigned rank = dimensions.size();
    OperandRange sizes = descriptor.getSizes(), strides = descriptor.getStrides();
    Value pointers = descriptor.getBase();
    for (unsigned d = 0; d < rank; ++d) {
      Value offset = dimensions[d].offset;
      if (offset && getConstantIntValue(offset) != 0) {
        pointers = make<AddPtrOp>(pointers, make<arith::MulIOp>(offset, strides[d]));
      }
    }
    Value mask;
    for (unsigned d = 0; d < rank; ++d) {
      Value moved = dimensions[d].indices;
      if (getConstantIntValue(strides[d]) != 1) {
        moved = make<arith::MulIOp>(moved, splat(strides[d], shapeOf(moved.getType())));
      }
      moved = along(moved, d, rank);
      broadcastPair(pointers, moved);
      pointers = make<AddPtrOp>(pointers, moved);
      Value holds = along(inside(dimensions[d], sizes[d]), d, rank);
      if (mask) {
        broadcastPair(mask, holds);
        mask = make<arith::AndIOp>(mask, holds);
      } else {
        mask = holds;
      }
    }
    broadcastPair(pointers, mask);
    return {pointers, mask};
  }

  OpBuilder builder;
  Location loc;
  MakeDescriptorOp descriptor;
};

/// The access through addresses that does what `op` does; null for any other operation.
Operation *accessInstead(OpBuilder &builder, Operation *op, AddressWriter &writer) {
  Location loc = op->getLoc();
  auto load = [&](BlockAddress at) -> Operation * {
    Value other = writer.padding(shapeOf(at.pointers.getType()));
    return builder.create<LoadOp>(loc, op->getResult(0).getType(), at.pointers, at.mask, other);
  };
  auto store = [&](BlockAddress at, Value value) -> Operation * {
    return builder.create<StoreOp>(loc, at.pointers, value, at.mask);
  };
  if (auto block = dyn_cast<DescriptorLoadOp>(op)) {
    return load(writer.block(block.getOffsets()));
  }
  if (auto block = dyn_cast<DescriptorStoreOp>(op)) {
    return store(writer.block(block.getOffsets()), block.getValue());
  }
  if (auto rows = dyn_cast<DescriptorGatherOp>(op)) {
    return load(writer.rows(rows.getRows(), rows.getColumn()));
  }
  if (auto rows = dyn_cast<DescriptorScatterOp>(op)) {
    return store(writer.rows(rows.getRows(), rows.getColumn()), rows.getValue());
  }
  if (auto block = dyn_cast<DescriptorReduceOp>(op)) {
    BlockAddress at = writer.block(block.getOffsets());
    return builder.create<AtomicRMWOp>(loc, block.getValue().getType(), block.getKind(),
                                       at.pointers, block.getValue(), at.mask,
                                       MemorySemantics::Relaxed, MemoryScope::GPU);
  }
  return nullptr;
}

struct LowerDescriptorsPass : PassWrapper<LowerDescriptorsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerDescriptorsPass)

  llvm::StringRef getArgument() const final { return "tile-lower-descriptors"; }
  llvm::StringRef getDescription() const final {
    return "access memory through addresses instead of descriptors";
  }

  void runOnOperation() final {
    SmallVector<Operation *> accesses, descriptors;
    getOperation()->walk([&](Operation *op) {
      if (isa<MakeDescriptorOp>(op)) {
        descriptors.push_back(op);
      } else if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<DescriptorType>)) {
        accesses.push_back(op);
      }
    });
    for (Operation *op : accesses) {
      if (failed(lower(op))) {
        return signalPassFailure();
      }
    }
    for (Operation *op : descriptors) {
      op->erase();
    }
  }

  /// Only accesses take descriptors, as their first operand.
  static LogicalResult lower(Operation *op) {
    auto descriptor = op->getOperand(0).getDefiningOp<MakeDescriptorOp>();
    OpBuilder builder(op);
    Operation *access = nullptr;
    if (descriptor) {
      AddressWriter writer(op, descriptor);
      access = accessInstead(builder, op, writer);
    }
    if (!access) {
      return op->emitError() << "expects to access memory through the 'tile.make_descriptor' that "
                                "made its descriptor";
    }
    access->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (op->getNumResults() == 1) {
      op->replaceAllUsesWith(access->getResults());
    }
    op->erase();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createLowerDescriptorsPass() {
  return std::make_unique<LowerDescriptorsPass>();
}

} // namespace nereid::tile
