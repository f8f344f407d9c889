// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/loops/SplitProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// Fewer are not worth taking lanes apart and putting them together again.
constexpr unsigned fewestHighProducts = 6;

bool isLanes(Value value, unsigned width) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type && type.getRank() == 1 && type.getElementType().isInteger(width);
}

/// The one number in all lanes of a constant, if it has 32 bits.
bool matchWord(Value value, uint32_t &word) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat()) {
    return false;
  }
  const APInt number = elements.getSplatValue<APInt>();
  word = static_cast<uint32_t>(number.getZExtValue());
  return number.getActiveBits() <= 32;
}

/// Operations whose low 32 bits depend on the low 32 bits of their operands alone.
bool keepsLowWords(Operation *op) {
  return isa<arith::XOrIOp, arith::AndIOp, arith::OrIOp, arith::AddIOp, arith::SubIOp>(op) &&
         isLanes(op->getResult(0), 32);
}

class Finder {
public:
  explicit Finder(Block &block, unsigned vectorBytes) : block(block), vectorBytes(vectorBytes) {}

  SmallVector<ProductChain> find() {
    unsigned found = 0;
    for (Operation &op : block) {
      HighProduct product;
      found += matchHighProduct(&op, product) && fills(&op);
    }
    if (found < fewestHighProducts) {
      return {};
    }
    reach();
    prune();
    return split();
  }

private:
  bool fills(Operation *op) const {
    auto type = cast<VectorType>(op->getResult(0).getType());
    return type.getNumElements() * 4 == vectorBytes && vectorBytes >= 16;
  }

  bool isProduct(Operation *op) const {
    HighProduct product;
    return matchHighProduct(op, product) || matchLowProduct(op, product);
  }

  /// Everything that starts at the upper half of a product.
  void reach() {
    DenseSet<Value> factors; // of high products: their lower halves come for nothing
    for (Operation &op : block) {
      HighProduct product;
      if (matchHighProduct(&op, product)) {
        factors.insert(product.a);
      }
    }
    for (Operation &op : block) {
      HighProduct product;
      const bool isHigh = matchHighProduct(&op, product);
      const bool isLow = !isHigh && matchLowProduct(&op, product);
      if (!isHigh && !isLow && !keepsLowWords(&op)) {
        continue;
      }
      const bool follows = llvm::any_of(
          op.getOperands(), [&](Value operand) { return members.count(operand.getDefiningOp()); });
      if (fills(&op) && (isHigh || follows || (isLow && factors.count(product.a)))) {
        members.insert(&op);
      }
    }
  }

  /// What only leads out of the chain stays as it is.
  void prune() {
    for (Operation &op : llvm::reverse(block)) {
      if (!members.count(&op) || isProduct(&op)) {
        continue;
      }
      const bool isFed = llvm::all_of(op.getOperands(), [&](Value operand) {
        return isSplat(operand) || members.count(operand.getDefiningOp());
      });
      const bool feeds = llvm::any_of(op.getUsers(), [&](Operation *user) {
        return members.count(user) || isa<arith::ExtUIOp>(user);
      });
      const bool isOfOne = llvm::any_of(
          op.getOperands(), [](Value operand) { return matchPattern(operand, m_Constant()); });
      if ((!isFed || isOfOne) && !feeds) {
        members.erase(&op);
      }
    }
  }

  SmallVector<ProductChain> split() {
    llvm::EquivalenceClasses<Operation *> classes;
    DenseMap<Operation *, unsigned> highs;
    for (Operation &op : block) {
      if (!members.count(&op)) {
        continue;
      }
      classes.insert(&op);
      HighProduct product;
      SmallVector<Value> sources(op.getOperands());
      if (matchHighProduct(&op, product)) {
        sources = {product.a};
        if (product.b) {
          sources.push_back(product.b);
        }
      }
      for (Value source : sources) {
        if (Operation *from = source.getDefiningOp(); from && members.count(from)) {
          classes.unionSets(from, &op);
        }
      }
    }
    llvm::MapVector<Operation *, ProductChain> chains;
    for (Operation &op : block) {
      if (members.count(&op)) {
        Operation *leader = classes.getLeaderValue(&op);
        chains[leader].push_back(&op);
        HighProduct product;
        highs[leader] += matchHighProduct(&op, product);
      }
    }
    SmallVector<ProductChain> result;
    for (auto &[leader, chain] : chains) {
      if (highs[leader] >= fewestHighProducts) {
        result.push_back(std::move(chain));
      }
    }
    return result;
  }

  Block &block;
  unsigned vectorBytes;
  DenseSet<Operation *> members;
};

} // namespace

bool isSplat(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements))) {
    return elements.isSplat();
  }
  Operation *op = value.getDefiningOp();
  return op && (isa<vector::SplatOp>(op) ||
                (isa<vector::BroadcastOp>(op) && !isa<VectorType>(op->getOperand(0).getType())));
}

bool matchHighProduct(Operation *op, HighProduct &product) {
  auto narrow = dyn_cast<arith::TruncIOp>(op);
  if (!narrow || !isLanes(narrow.getResult(), 32) || !isLanes(narrow.getIn(), 64)) {
    return false;
  }
  auto shift = narrow.getIn().getDefiningOp<arith::ShRUIOp>();
  uint32_t count = 0;
  if (!shift || !matchWord(shift.getRhs(), count) || count != 32) {
    return false;
  }
  auto multiply = shift.getLhs().getDefiningOp<arith::MulIOp>();
  if (!multiply) {
    return false;
  }
  product = {};
  for (Value factor : multiply->getOperands()) {
    uint32_t word = 0;
    auto wide = factor.getDefiningOp<arith::ExtUIOp>();
    if (wide && isLanes(wide.getIn(), 32)) {
      (product.a ? product.b : product.a) = wide.getIn();
    } else if (matchWord(factor, word)) {
      product.constant = word;
    } else {
      return false;
    }
  }
  return product.a != nullptr;
}

bool matchLowProduct(Operation *op, HighProduct &product) {
  auto multiply = dyn_cast<arith::MulIOp>(op);
  if (!multiply || !isLanes(multiply.getResult(), 32)) {
    return false;
  }
  product = {};
  for (Value factor : multiply->getOperands()) {
    uint32_t word = 0;
    if (matchWord(factor, word)) {
      product.constant = word;
    } else {
      (product.a ? product.b : product.a) = factor;
    }
  }
  return product.a != nullptr;
}

SmallVector<ProductChain> findProductChains(Block &block, unsigned vectorBytes) {
  return Finder(block, vectorBytes).find();
}

} // namespace nereid::cpu
