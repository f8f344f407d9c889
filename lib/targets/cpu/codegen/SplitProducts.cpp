// SPDX-License-Identifier: Apache-2.0
// cpu-split-products: compute chains of 32-bit products in their even and odd lanes.
//
// Why: x86 multiplies 32-bit lanes to 64 bits only in every second one. Two products of such
// vectors hold both halves of all lanes, so that a chain that stays in this form needs no shuffle
// and no third multiplication for the lower halves; the upper 32 bits of each lane mean nothing.
// Chains of an unrolled body are written side by side, as one alone waits for its own results.
// Requires: cpu-expand-math has run (no new products come later).
// Guarantees: results are the same bits.
// Example: `%h = trunci(shrui(muli(extui %x, extui %y), 32)) : vector<16xi32>` becomes two products
// on vector<8xi64>, of `%x` and of `%x >> 32`.
#include "lib/targets/cpu/codegen/SplitProducts.h"
#include "lib/targets/cpu/codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

constexpr uint64_t lowWord = 0xFFFFFFFF;

/// Lanes 0, 2, … and 1, 3, … in the low halves of 64-bit lanes.
struct Halves {
  Value even, odd;
};

class Rewriter {
public:
  explicit Rewriter(Operation *place) : builder(place), loc(place->getLoc()) {}

  void rewrite(Operation *op) {
    loc = op->getLoc();
    HighProduct product;
    if (matchHighProduct(op, product)) {
      Halves both = multiply(product);
      halves[op->getResult(0)] = apply(both, splat(both.even, 32), [&](Value value, Value count) {
        return builder.create<arith::ShRUIOp>(loc, value, count);
      });
    } else if (matchLowProduct(op, product)) {
      halves[op->getResult(0)] = multiply(product);
    } else {
      Halves a = halvesOf(op->getOperand(0)), b = halvesOf(op->getOperand(1));
      halves[op->getResult(0)] = {same(op, a.even, b.even), same(op, a.odd, b.odd)};
    }
  }

  /// For uses outside of the chain.
  Value join(Value value) {
    Halves both = halves.lookup(value);
    loc = value.getLoc();
    Value even = builder.create<vector::BitCastOp>(loc, value.getType(), both.even);
    Value odd = builder.create<vector::BitCastOp>(loc, value.getType(), both.odd);
    const int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      order.push_back(lane % 2 == 0 ? lane : lanes + lane - 1);
    }
    return builder.create<vector::ShuffleOp>(loc, even, odd, order);
  }

private:
  template <class Make> static Halves apply(Halves a, Value b, Make make) {
    return {make(a.even, b), make(a.odd, b)};
  }

  Value splat(Value like, uint64_t number) {
    auto type = cast<VectorType>(like.getType());
    return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, APInt(64, number)));
  }

  Value same(Operation *op, Value a, Value b) {
    OperationState state(loc, op->getName());
    state.addOperands({a, b});
    state.addTypes(a.getType());
    return builder.create(state)->getResult(0);
  }

  Halves multiply(const HighProduct &product) {
    const auto key = std::make_pair(product.a, std::make_pair(product.b, product.constant));
    if (auto known = products.find(key); known != products.end()) {
      return known->second;
    }
    Halves a = lowWords(halvesOf(product.a));
    Halves b;
    if (product.b) {
      b = lowWords(halvesOf(product.b));
    } else {
      b.even = b.odd = splat(a.even, product.constant);
    }
    Halves result{builder.create<arith::MulIOp>(loc, a.even, b.even),
                  builder.create<arith::MulIOp>(loc, a.odd, b.odd)};
    return products[key] = result;
  }

  /// The multiplication ignores the upper words; the mask is how LLVM sees it, and goes away.
  Halves lowWords(Halves value) {
    return apply(value, splat(value.even, lowWord), [&](Value lanes, Value mask) {
      return builder.create<arith::AndIOp>(loc, lanes, mask);
    });
  }

  Halves halvesOf(Value value) {
    if (auto known = halves.find(value); known != halves.end()) {
      return known->second;
    }
    auto type = cast<VectorType>(value.getType());
    auto wide = VectorType::get({type.getNumElements() / 2}, builder.getI64Type());
    Value even = builder.create<vector::BitCastOp>(loc, wide, value);
    Value odd = even;
    if (!isSplat(value)) {
      odd = builder.create<arith::ShRUIOp>(loc, even, splat(even, 32));
    }
    return halves[value] = {even, odd};
  }

  OpBuilder builder;
  Location loc;
  DenseMap<Value, Halves> halves;
  DenseMap<std::pair<Value, std::pair<Value, uint32_t>>, Halves> products;
};

bool isSameShape(const ProductChain &a, const ProductChain &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x->getName() == y->getName() && x->getResultTypes() == y->getResultTypes();
         });
}

/// Moves what chains are computed from before `place`, so that they can be written side by side.
class Hoister {
public:
  Hoister(Operation *place, ArrayRef<ProductChain> chains) : place(place) {
    for (const ProductChain &chain : chains) {
      members.insert(chain.begin(), chain.end());
    }
  }

  /// False when something cannot move; nothing has moved then.
  bool hoist(ArrayRef<ProductChain> chains) {
    for (const ProductChain &chain : chains) {
      for (Operation *op : chain) {
        HighProduct product;
        const bool isHigh = matchHighProduct(op, product);
        SmallVector<Value> sources =
            isHigh ? SmallVector<Value>{product.a} : SmallVector<Value>(op->getOperands());
        if (isHigh && product.b) {
          sources.push_back(product.b);
        }
        if (!llvm::all_of(sources, [&](Value source) {
              Operation *from = source.getDefiningOp();
              return !from || members.count(from) || plan(from);
            })) {
          return false;
        }
      }
    }
    for (Operation *op : order) {
      op->moveBefore(place);
    }
    return true;
  }

private:
  bool plan(Operation *op) {
    if (op->getBlock() != place->getBlock() || op->isBeforeInBlock(place) || planned.count(op)) {
      return true;
    }
    if (members.count(op) || op->getNumRegions() != 0 || !isPure(op)) {
      return false;
    }
    for (Value operand : op->getOperands()) {
      if (Operation *from = operand.getDefiningOp(); from && !plan(from)) {
        return false;
      }
    }
    planned.insert(op);
    order.push_back(op);
    return true;
  }

  Operation *place;
  DenseSet<Operation *> members, planned;
  SmallVector<Operation *> order;
};

/// Operations that serve nothing but the chains once their results come from elsewhere, last first.
SmallVector<Operation *> onlyForChains(ArrayRef<ProductChain> chains, DenseSet<Operation *> &dead) {
  SmallVector<Operation *> candidates;
  DenseSet<Operation *> listed;
  auto list = [&](Operation *op) {
    if (op && listed.insert(op).second) {
      candidates.push_back(op);
    }
  };
  for (const ProductChain &chain : chains) {
    for (Operation *op : chain) {
      dead.insert(op);
      list(op);
      HighProduct product;
      if (matchHighProduct(op, product)) {
        Operation *shift = op->getOperand(0).getDefiningOp();
        Operation *multiply = shift->getOperand(0).getDefiningOp();
        list(shift);
        list(multiply);
        for (Value factor : multiply->getOperands()) {
          list(isa<arith::ExtUIOp>(factor.getDefiningOp()) ? factor.getDefiningOp() : nullptr);
        }
      }
    }
  }
  llvm::sort(candidates, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() ? b->isBeforeInBlock(a) : a > b;
  });
  for (Operation *op : candidates) {
    if (llvm::all_of(op->getUsers(), [&](Operation *user) { return dead.count(user); })) {
      dead.insert(op);
    }
  }
  llvm::erase_if(candidates, [&](Operation *op) { return !dead.count(op); });
  return candidates;
}

/// Writes them before `place`, one operation of each in turn.
void rewriteChains(ArrayRef<ProductChain> chains, Operation *place) {
  SmallVector<Rewriter> rewriters(chains.size(), Rewriter(place));
  for (size_t i = 0; i < chains.front().size(); ++i) {
    for (size_t chain = 0; chain < chains.size(); ++chain) {
      rewriters[chain].rewrite(chains[chain][i]);
    }
  }
  DenseSet<Operation *> dead;
  const SmallVector<Operation *> lastFirst = onlyForChains(chains, dead);
  auto isOutside = [&](OpOperand &use) { return !dead.count(use.getOwner()); };
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    for (Operation *op : chains[chain]) {
      Value result = op->getResult(0);
      if (llvm::any_of(result.getUses(), isOutside)) {
        result.replaceUsesWithIf(rewriters[chain].join(result), isOutside);
      }
    }
  }
  for (Operation *op : lastFirst) {
    op->erase();
  }
}

class SplitProductsPass : public PassWrapper<SplitProductsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitProductsPass)

  explicit SplitProductsPass(const CpuMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-split-products"; }
  StringRef getDescription() const override {
    return "compute chains of 32-bit products in their even and odd lanes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (machine.architecture != Architecture::X86) { // others have products of neighbours
      return;
    }
    getOperation()->walk([&](Block *block) {
      SmallVector<ProductChain> chains =
          findProductChains(*block, static_cast<unsigned>(machine.vectorBytes));
      for (size_t first = 0; first < chains.size();) {
        size_t end = first + 1;
        // Two of them keep 16 values and as many keys.
        while (machine.vectorRegisters >= 32 && end < chains.size() &&
               isSameShape(chains[first], chains[end])) {
          ++end;
        }
        ArrayRef<ProductChain> alike = ArrayRef(chains).slice(first, end - first);
        if (!Hoister(alike.front().front(), alike).hoist(alike)) {
          alike = alike.take_front();
          if (!Hoister(alike.front().front(), alike).hoist(alike)) {
            ++first;
            continue;
          }
        }
        first += alike.size();
        rewriteChains(alike, alike.front().front());
      }
    });
  }

private:
  CpuMachine machine;
};

} // namespace

std::unique_ptr<Pass> createSplitProductsPass(const CpuMachine &machine) {
  return std::make_unique<SplitProductsPass>(machine);
}

} // namespace nereid::cpu
