// SPDX-License-Identifier: Apache-2.0
// cpu-widen-pairs: widen neighbouring vectors of bfloat16 by their even and odd lanes where the
// order of lanes does not matter.
//
// Why: sixteen numbers in order take a shuffle and a shift; of thirty-two loaded at once the
// odd ones are a mask away and the even ones a shift.
// Requires: loops that only combine lanes, in any order, carry `cpu.any_lane_order`.
// Guarantees: the same numbers, each once, in the accumulators of the same two vectors.
// Example: `%a = extf (load x[i : i+16])`, `%b = extf (load x[i+16 : i+32])` become
// `%w = load x[i : i+32]` as 16 words, `%a = %w << 16`, `%b = %w & 0xffff0000`.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// A vector of bfloat16 that is only widened: which elements behind the induction variable it has.
struct Narrow {
  LLVM::LoadOp load;
  Operation *wide = nullptr;
  Value base;
  int64_t offset = 0;
  int64_t lanes = 0;
};

struct Pair {
  Narrow even, odd; ///< in memory: the lower and the upper half
};

class Pairs {
public:
  explicit Pairs(scf::ForOp loop) : loop(loop) {}

  void widen() {
    if (find() && staysApart()) {
      llvm::for_each(pairs, [](const Pair &pair) { rewrite(pair); });
    }
  }

private:
  /// Whether all that is loaded as bfloat16 comes in pairs.
  bool find() {
    SmallVector<Narrow> narrows;
    for (auto load : loop.getBody()->getOps<LLVM::LoadOp>()) {
      auto type = dyn_cast<VectorType>(load.getType());
      if (type && type.getElementType().isBF16()) {
        std::optional<Narrow> narrow = classify(load, type.getNumElements());
        if (!narrow) {
          return false;
        }
        narrows.push_back(*narrow);
      }
    }
    llvm::sort(narrows, [](const Narrow &a, const Narrow &b) { return a.offset < b.offset; });
    while (!narrows.empty()) {
      Narrow even = narrows.front();
      auto odd = llvm::find_if(narrows, [&](const Narrow &other) {
        return other.base == even.base && other.lanes == even.lanes &&
               other.offset == even.offset + even.lanes;
      });
      if (odd == narrows.end() || writesBetween(even.load, odd->load)) {
        return false;
      }
      pairs.push_back({even, *odd});
      narrows.erase(odd);
      narrows.erase(narrows.begin());
    }
    return !pairs.empty();
  }

  std::optional<Narrow> classify(LLVM::LoadOp load, int64_t lanes) {
    auto address = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    if (load.getVolatile_() || !load->hasOneUse() || !address ||
        address.getDynamicIndices().size() != 1 || address->getNumOperands() != 2 ||
        !address.getElemType().isBF16()) {
      return std::nullopt;
    }
    auto wide = dyn_cast<arith::ExtFOp>(*load->user_begin());
    std::optional<int64_t> offset = offsetOf(address.getDynamicIndices()[0]);
    if (!wide || wide->getBlock() != loop.getBody() || !offset ||
        !getElementTypeOrSelf(wide.getType()).isF32()) {
      return std::nullopt;
    }
    return Narrow{load, wide, address.getBase(), *offset, lanes};
  }

  std::optional<int64_t> offsetOf(Value index) {
    if (index == loop.getInductionVar()) {
      return 0;
    }
    IntegerAttr offset;
    auto sum = index.getDefiningOp<arith::AddIOp>();
    if (!sum || sum.getLhs() != loop.getInductionVar() ||
        !matchPattern(sum.getRhs(), m_Constant(&offset))) {
      return std::nullopt;
    }
    return offset.getInt();
  }

  static bool writesBetween(Operation *a, Operation *b) {
    if (b->isBeforeInBlock(a)) {
      std::swap(a, b);
    }
    for (Operation *op = a; op != b; op = op->getNextNode()) {
      if (!isa<LLVM::LoadOp, LLVM::Prefetch>(op) && !isMemoryEffectFree(op)) {
        return true;
      }
    }
    return false;
  }

  /// Follows the numbers to the accumulators: on the way each may only meet what has the same lanes
  /// or one value in all of them, and both vectors of a pair must have the same done to them.
  bool staysApart() {
    for (const Pair &pair : pairs) {
      Value even = pair.even.wide->getResult(0), odd = pair.odd.wide->getResult(0);
      lanesOf[even] = 2 * pair.even.offset;
      lanesOf[odd] = 2 * pair.even.offset + 1;
      twinOf[even] = odd;
    }
    size_t evens = 0, odds = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      std::optional<int64_t> lanes;
      if (!follow(op, lanes)) {
        return false;
      }
      if (lanes && *lanes % 2 == 0) {
        ++evens;
      } else if (lanes) {
        ++odds;
      }
    }
    return evens == odds && findTwins();
  }

  bool follow(Operation &op, std::optional<int64_t> &lanes) {
    bool meets = false; // some other lanes than these
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        auto known = lanesOf.find(operand);
        if (known != lanesOf.end()) {
          meets |= lanes.value_or(known->second) != known->second;
          lanes = known->second;
        }
      }
    });
    if (!lanes) {
      return true;
    }
    bool isElementwise = isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
                         op.getNumResults() == 1 && op.getNumRegions() == 0;
    if (meets || !isElementwise || !isa<VectorType>(op.getResult(0).getType())) {
      return false;
    }
    for (Value operand : op.getOperands()) {
      if (!lanesOf.count(operand) && !isAccumulator(operand) && !isUniform(operand)) {
        return false;
      }
    }
    lanesOf[op.getResult(0)] = *lanes;
    followed.push_back({&op, *lanes});
    return true;
  }

  /// For each operation on even lanes one on the odd ones.
  bool findTwins() {
    llvm::DenseSet<Operation *> taken;
    for (auto [even, lanes] : followed) {
      if (lanes % 2 != 0) {
        continue;
      }
      auto odd = llvm::find_if(followed, [&, op = even, wanted = lanes + 1](auto &other) {
        return other.second == wanted && !taken.count(other.first) && areTwins(op, other.first);
      });
      if (odd == followed.end()) {
        return false;
      }
      taken.insert(odd->first);
      twinOf[even->getResult(0)] = odd->first->getResult(0);
    }
    return true;
  }

  bool areTwins(Operation *even, Operation *odd) {
    if (even->getName() != odd->getName() || even->getAttrs() != odd->getAttrs() ||
        even->getResultTypes() != odd->getResultTypes()) {
      return false;
    }
    return llvm::all_of(llvm::zip(even->getOperands(), odd->getOperands()), [&](auto operands) {
      auto [a, b] = operands;
      auto twin = twinOf.find(a);
      return twin != twinOf.end() ? twin->second == b
                                  : (isAccumulator(a) && isAccumulator(b)) || isSame(a, b);
    });
  }

  /// The same value in all lanes of both.
  static bool isSame(Value a, Value b) {
    Attribute left, right;
    auto broadcastLeft = a.getDefiningOp<vector::BroadcastOp>();
    auto broadcastRight = b.getDefiningOp<vector::BroadcastOp>();
    return a == b ||
           (matchPattern(a, m_Constant(&left)) && matchPattern(b, m_Constant(&right)) &&
            left == right) ||
           (broadcastLeft && broadcastRight &&
            isSame(broadcastLeft.getSource(), broadcastRight.getSource()));
  }

  bool isAccumulator(Value value) { return llvm::is_contained(loop.getRegionIterArgs(), value); }

  static bool isUniform(Value value) {
    DenseElementsAttr constant;
    return !isa<VectorType>(value.getType()) || value.getDefiningOp<vector::BroadcastOp>() ||
           value.getDefiningOp<vector::SplatOp>() ||
           (matchPattern(value, m_Constant(&constant)) && constant.isSplat());
  }

  static void rewrite(const Pair &pair) {
    LLVM::LoadOp first = pair.even.load, second = pair.odd.load;
    Operation *at = first->isBeforeInBlock(second) ? first : second;
    OpBuilder builder(at);
    Location loc = first.getLoc();
    auto words = VectorType::get(pair.even.lanes, builder.getI32Type());
    auto constant = [&](int64_t value) -> Value {
      return builder.create<arith::ConstantOp>(
          loc, DenseElementsAttr::get(words, builder.getI32IntegerAttr(value)));
    };
    Value address = builder.create<LLVM::GEPOp>(
        loc, first.getAddr().getType(), builder.getBF16Type(), pair.even.base,
        first.getAddr().getDefiningOp<LLVM::GEPOp>().getDynamicIndices());
    Value loaded =
        builder.create<LLVM::LoadOp>(loc, words, address, first.getAlignment().value_or(2));
    Value even = builder.create<arith::ShLIOp>(loc, loaded, constant(16));
    Value odd = builder.create<arith::AndIOp>(loc, loaded, constant(-65536));
    for (auto [narrow, bits] : {std::pair(pair.even, even), std::pair(pair.odd, odd)}) {
      Type type = narrow.wide->getResult(0).getType();
      Value number = builder.create<arith::BitcastOp>(loc, type, bits);
      narrow.wide->replaceAllUsesWith(ValueRange{number});
      narrow.wide->erase();
    }
    first.erase();
    second.erase();
  }

  scf::ForOp loop;
  SmallVector<Pair> pairs;
  llvm::DenseMap<Value, int64_t> lanesOf; ///< twice the pair's offset, one more for odd elements
  llvm::DenseMap<Value, Value> twinOf;    ///< of even lanes
  SmallVector<std::pair<Operation *, int64_t>> followed; ///< in order, with their operands' lanes
};

class WidenPairsPass : public PassWrapper<WidenPairsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WidenPairsPass)

  StringRef getArgument() const override { return "cpu-widen-pairs"; }
  StringRef getDescription() const override {
    return "widen neighbouring vectors of bfloat16 by their even and odd lanes where the order of "
           "lanes does not matter";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      if (loop->hasAttr(attribute::anyLaneOrder)) {
        Pairs(loop).widen();
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createWidenPairsPass() { return std::make_unique<WidenPairsPass>(); }

} // namespace nereid::cpu
