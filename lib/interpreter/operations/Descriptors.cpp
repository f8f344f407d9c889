// SPDX-License-Identifier: Apache-2.0
// Descriptors and the accesses through them, element by element: each element of a block has its
// index, is inside of the array or not, and has its address. A descriptor's value is a tile of its
// base, sizes, strides and whether it pads with NaN.
#include "lib/interpreter/operations/MemoryAccess.h"

namespace nereid::interpreter {
namespace {

using tile::DescriptorType;

constexpr ElementType wordType{Kind::Integer, 64};

bool makeDescriptor(Instance &instance, mlir::Operation *op) {
  auto make = mlir::cast<tile::MakeDescriptorOp>(op);
  std::vector<uint64_t> words;
  for (mlir::Value operand : op->getOperands()) {
    words.push_back(instance.get(operand)[0]);
  }
  words.push_back(make.getPadding() == tile::Padding::NaN ? 1 : 0);
  Tile tile = Tile::filled(wordType, {static_cast<int64_t>(words.size())}, 0);
  std::copy(words.begin(), words.end(), tile.words.begin());
  return instance.finish(op, std::move(tile));
}

/// The array that a descriptor describes.
class Array {
public:
  Array(Instance &instance, mlir::TypedValue<DescriptorType> descriptor)
      : words(instance.get(descriptor)), rank(descriptor.getType().getShape().size()),
        type(*elementTypeFor(descriptor.getType().getElement())) {}

  /// Addresses of a tile's elements, and which of them are inside; `indexAt` gives the index along
  /// dimension d of the element with the coordinates.
  template <class IndexAt>
  std::pair<Tile, Tile> access(llvm::ArrayRef<int64_t> shape, IndexAt indexAt) const {
    Shape sizes(shape.begin(), shape.end());
    Tile pointer = Tile::filled({Kind::Pointer, 64}, sizes, 0);
    Tile mask = Tile::filled(boolType, sizes, 0);
    for (size_t i = 0, n = pointer.size(); i < n; ++i) {
      const llvm::SmallVector<int64_t> at = coordinates(shape, static_cast<int64_t>(i));
      uint64_t address = words[0];
      bool isInside = true;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t index = indexAt(at, d);
        isInside = isInside && index >= 0 && index < static_cast<int64_t>(words[1 + d]);
        address += static_cast<uint64_t>(index) * words[1 + rank + d] * type.bytes();
      }
      pointer.at(i) = address;
      mask.at(i) = isInside ? 1 : 0;
    }
    return {std::move(pointer), std::move(mask)};
  }

  /// The block at the offsets.
  std::pair<Tile, Tile> block(Instance &instance, llvm::ArrayRef<int64_t> shape,
                              mlir::OperandRange offsets) const {
    return access(shape, [&](llvm::ArrayRef<int64_t> at, size_t d) {
      return wrapped(instance.get(offsets[d])[0], at[d]);
    });
  }

  std::pair<Tile, Tile> rows(llvm::ArrayRef<int64_t> shape, const Tile &rows,
                             const Tile &column) const {
    return access(shape, [&](llvm::ArrayRef<int64_t> at, size_t d) {
      return d == 0 ? rows.integer(static_cast<size_t>(at[0])) : wrapped(column[0], at[1]);
    });
  }

  /// What is read outside, a tile of the shape.
  Tile padding(llvm::ArrayRef<int64_t> shape) const {
    const bool isNan = words[1 + 2 * rank] != 0;
    return Tile::filled(type, {shape.begin(), shape.end()}, isNan ? undefinedElement(type) : 0);
  }

private:
  /// Indices wrap around like the integers that they are.
  static int64_t wrapped(uint64_t offset, int64_t index) {
    return static_cast<int64_t>(offset + static_cast<uint64_t>(index));
  }

  const Tile &words;
  size_t rank;
  ElementType type;
};

/// The elements at the places of `access`, and the padding where they are outside.
bool readAt(Instance &instance, mlir::Operation *op, const Array &array,
            const std::pair<Tile, Tile> &access) {
  const auto &[pointer, mask] = access;
  const Tile other = array.padding(pointer.shape);
  return readElements(instance, op, pointer, &mask, &other, other.type);
}

bool loadBlock(Instance &instance, mlir::Operation *op) {
  auto load = mlir::cast<tile::DescriptorLoadOp>(op);
  const Array array(instance, load.getDescriptor());
  llvm::ArrayRef<int64_t> shape = load.getResult().getType().getShape();
  return readAt(instance, op, array, array.block(instance, shape, load.getOffsets()));
}

bool storeBlock(Instance &instance, mlir::Operation *op) {
  auto store = mlir::cast<tile::DescriptorStoreOp>(op);
  const Tile &value = instance.get(store.getValue());
  auto [pointer, mask] =
      Array(instance, store.getDescriptor()).block(instance, value.shape, store.getOffsets());
  return writeElements(instance, op, pointer, &mask, value);
}

bool gatherRows(Instance &instance, mlir::Operation *op) {
  auto gather = mlir::cast<tile::DescriptorGatherOp>(op);
  const Array array(instance, gather.getDescriptor());
  llvm::ArrayRef<int64_t> shape = gather.getResult().getType().getShape();
  return readAt(
      instance, op, array,
      array.rows(shape, instance.get(gather.getRows()), instance.get(gather.getColumn())));
}

bool scatterRows(Instance &instance, mlir::Operation *op) {
  auto scatter = mlir::cast<tile::DescriptorScatterOp>(op);
  const Tile &value = instance.get(scatter.getValue());
  auto [pointer, mask] =
      Array(instance, scatter.getDescriptor())
          .rows(value.shape, instance.get(scatter.getRows()), instance.get(scatter.getColumn()));
  return writeElements(instance, op, pointer, &mask, value);
}

bool reduceBlock(Instance &instance, mlir::Operation *op) {
  auto reduce = mlir::cast<tile::DescriptorReduceOp>(op);
  const Tile &value = instance.get(reduce.getValue());
  auto [pointer, mask] =
      Array(instance, reduce.getDescriptor()).block(instance, value.shape, reduce.getOffsets());
  return combineElements(instance, op, reduce.getKind(), pointer, &mask, value).has_value();
}

} // namespace

void addDescriptorHandlers(HandlerTable &table) {
  table.add<tile::MakeDescriptorOp>(makeDescriptor);
  table.add<tile::DescriptorLoadOp>(loadBlock);
  table.add<tile::DescriptorStoreOp>(storeBlock);
  table.add<tile::DescriptorGatherOp>(gatherRows);
  table.add<tile::DescriptorScatterOp>(scatterRows);
  table.add<tile::DescriptorReduceOp>(reduceBlock);
}

} // namespace nereid::interpreter
