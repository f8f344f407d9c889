// SPDX-License-Identifier: Apache-2.0
// cpu-pack-scalars: compute four math functions of float32 scalars of one block as one of a vector.
//
// Why: programs that run in turns (tile-coarsen-programs) each have their logarithm, some forty
// instructions that take as long for four numbers as for one.
// Requires: none of the four is used in front of the last one. Guarantees: the same numbers.
// Example: `%a = math.log %x`, … `%d = math.log %w` become `math.log` of `vector<4xf32>` between
// four vector.insert and four vector.extract.
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace nereid::cpu {

namespace {

constexpr size_t packed = 4; // 16 bytes, which every machine with vectors has

using Key = std::pair<OperationName, Attribute>;

bool isPackable(Operation &op) {
  auto isScalar = [](Type type) { return type.isF32(); };
  return isa<math::MathDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         llvm::all_of(op.getOperandTypes(), isScalar) && isScalar(op.getResult(0).getType());
}

/// The vector is computed where the last one was.
bool areUsedBehind(Operation *last, ArrayRef<Operation *> group) {
  return llvm::all_of(group, [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *here = last->getBlock()->findAncestorOpInBlock(*user);
      return here && last->isBeforeInBlock(here);
    });
  });
}

void pack(ArrayRef<Operation *> group) {
  Operation *last = group.back();
  OpBuilder builder(last);
  Location loc = last->getLoc();
  auto type = VectorType::get({static_cast<int64_t>(packed)}, builder.getF32Type());
  SmallVector<Value, 2> operands;
  for (unsigned number = 0; number < last->getNumOperands(); ++number) {
    Value vector = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
    for (size_t lane = 0; lane < packed; ++lane) {
      vector = builder.create<vector::InsertOp>(loc, group[lane]->getOperand(number), vector,
                                                static_cast<int64_t>(lane));
    }
    operands.push_back(vector);
  }
  Operation *all = builder.insert(Operation::create(loc, last->getName(), type, operands,
                                                    last->getDiscardableAttrDictionary(),
                                                    last->getPropertiesStorage(), BlockRange(), 0));
  for (size_t lane = 0; lane < packed; ++lane) {
    Value result =
        builder.create<vector::ExtractOp>(loc, all->getResult(0), static_cast<int64_t>(lane));
    group[lane]->getResult(0).replaceAllUsesWith(result);
    group[lane]->erase();
  }
}

void packIn(Block &block) {
  llvm::MapVector<Key, SmallVector<Operation *>> groups;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isPackable(op)) {
      continue;
    }
    SmallVector<Operation *> &group = groups[{op.getName(), op.getAttrDictionary()}];
    if (!areUsedBehind(&op, group)) {
      group.clear();
    }
    group.push_back(&op);
    if (group.size() == packed) {
      pack(group);
      group.clear();
    }
  }
}

class PackScalarsPass : public PassWrapper<PackScalarsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackScalarsPass)

  StringRef getArgument() const override { return "cpu-pack-scalars"; }
  StringRef getDescription() const override {
    return "compute four math functions of scalars as one of a vector";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      packIn(*block);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createPackScalarsPass() { return std::make_unique<PackScalarsPass>(); }

} // namespace nereid::cpu
