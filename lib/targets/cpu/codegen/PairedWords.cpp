// SPDX-License-Identifier: Apache-2.0
// A round is a shuffle that exchanges both words of a lane, a product of the exchanged words and
// one masked instruction that mixes three numbers into the upper words alone.
#include "lib/targets/cpu/codegen/PairedWords.h"

#include "lib/targets/cpu/codegen/ChainRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <tuple>

using namespace mlir;

namespace nereid::cpu {
namespace {

constexpr int64_t words = 16;

/// The two operands of an exclusive or; null for other operations.
std::pair<Value, Value> mixedBy(Value value) {
  auto mix = value.getDefiningOp<arith::XOrIOp>();
  return mix ? std::make_pair(mix.getLhs(), mix.getRhs()) : std::pair<Value, Value>();
}

class PairFinder {
public:
  PairFinder(const ProductRounds &rounds, const ProductChain &chain)
      : rounds(rounds), chain(chain) {}

  SmallVector<PairedWords> find() {
    SmallVector<PairedWords> pairs;
    SmallVector<Value> factors;
    unsigned explained = 0;
    for (unsigned low = 0; low < rounds.carried.size(); ++low) {
      HighProduct product;
      if (!matchLowProduct(first(rounds.carried[low].step), product) || product.b) {
        continue;
      }
      for (unsigned mixed = 0; mixed < rounds.carried.size(); ++mixed) {
        PairedWords pair{low, mixed, 0, product.constant, -1};
        if (unsigned operations = match(pair, product)) {
          explained += operations;
          pairs.push_back(pair);
          factors.push_back(product.a);
        }
      }
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      auto factor = llvm::find_if(pairs, [&](const PairedWords &other) {
        return rounds.carried[other.mixed].initial == factors[i];
      });
      if (factor == pairs.end()) {
        return {};
      }
      pairs[i].factor = static_cast<unsigned>(factor - pairs.begin());
    }
    const bool isAll =
        explained == rounds.steps.size() && 2 * pairs.size() == rounds.carried.size();
    return isAll ? pairs : SmallVector<PairedWords>();
  }

private:
  Operation *first(unsigned step) const { return chain[rounds.steps[step].front()]; }

  /// How many operations the pair is computed by; 0 where it is none.
  unsigned match(PairedWords &pair, const HighProduct &product) const {
    const Value before = rounds.carried[pair.low].initial;
    auto [a, b] = mixedBy(first(rounds.carried[pair.mixed].step)->getResult(0));
    unsigned operations = 3;
    for (unsigned key = 0; a && key < rounds.keys.size(); ++key) {
      if (b == rounds.keys[key].front() || a == rounds.keys[key].front()) {
        pair.key = static_cast<int>(key);
        std::tie(a, b) = mixedBy(b == rounds.keys[key].front() ? a : b);
        ++operations;
        break;
      }
    }
    if (a == before) {
      std::swap(a, b);
    }
    HighProduct high;
    const bool isPair = a && b == before && a.getDefiningOp() &&
                        matchHighProduct(a.getDefiningOp(), high) && high.a == product.a &&
                        !high.b && high.constant == product.constant;
    return isPair ? operations : 0;
  }

  const ProductRounds &rounds;
  const ProductChain &chain;
};

} // namespace

SmallVector<PairedWords> findPairedWords(const ProductRounds &rounds, const ProductChain &chain) {
  return PairFinder(rounds, chain).find();
}

PairWriter::PairWriter(OpBuilder &builder, Location loc) : loc(loc) {
  // Of a mask that it knows LLVM would make a choice between two vectors, one more instruction.
  auto type = VectorType::get({words}, builder.getI1Type());
  SmallVector<bool> everySecond;
  for (int64_t word = 0; word < words; ++word) {
    everySecond.push_back(word % 2 == 1);
  }
  Value known =
      builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, ArrayRef(everySecond)));
  Value none = builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, false));
  mixedWords =
      builder
          .create<LLVM::CallIntrinsicOp>(loc, type, builder.getStringAttr("llvm.x86.avx512.kadd.w"),
                                         ValueRange{known, none},
                                         LLVM::FastmathFlagsAttr::get(builder.getContext(), {}))
          .getResult(0);
}

Value PairWriter::join(OpBuilder &builder, Value low, Value mixed) const {
  auto narrow = VectorType::get({words}, builder.getI32Type());
  Value a = builder.create<vector::BitCastOp>(loc, narrow, low);
  Value b = builder.create<vector::BitCastOp>(loc, narrow, mixed);
  SmallVector<int64_t> order;
  for (int64_t word = 0; word < words; word += 2) {
    order.append({word, words + word});
  }
  Value both = builder.create<vector::ShuffleOp>(loc, a, b, order);
  return builder.create<vector::BitCastOp>(loc, low.getType(), both);
}

Value PairWriter::mixedOf(OpBuilder &builder, Value pair) const {
  Value count = builder.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(cast<VectorType>(pair.getType()), APInt(64, 32)));
  return builder.create<arith::ShRUIOp>(loc, pair, count);
}

SmallVector<Value> PairWriter::round(OpBuilder &builder, ArrayRef<PairedWords> pairs,
                                     ValueRange before, ArrayRef<Value> keys) const {
  auto wide = VectorType::get({words / 2}, builder.getI64Type());
  auto narrow = VectorType::get({words}, builder.getI32Type());
  auto splat = [&](uint64_t number) {
    return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(wide, APInt(64, number)));
  };
  SmallVector<int64_t> exchange;
  for (int64_t word = 0; word < words; ++word) {
    exchange.push_back(word ^ 1);
  }
  SmallVector<Value> exchanged, after;
  for (Value pair : before) {
    Value bits = builder.create<vector::BitCastOp>(loc, narrow, pair);
    exchanged.push_back(builder.create<vector::ShuffleOp>(loc, bits, bits, exchange));
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    Value factor = builder.create<vector::BitCastOp>(loc, wide, exchanged[pairs[i].factor]);
    factor = builder.create<arith::AndIOp>(loc, factor, splat(0xFFFFFFFF));
    Value product = builder.create<arith::MulIOp>(loc, factor, splat(pairs[i].constant));
    Value bits = builder.create<vector::BitCastOp>(loc, narrow, product);
    Value mixed;
    if (pairs[i].key < 0) {
      mixed = builder.create<arith::XOrIOp>(loc, bits, exchanged[i]);
    } else {
      Value key = builder.create<vector::BitCastOp>(loc, narrow, keys[pairs[i].key]);
      mixed = exclusiveOrOfThree(builder, loc, bits, exchanged[i], key);
    }
    mixed = builder.create<arith::SelectOp>(loc, mixedWords, mixed, bits);
    after.push_back(builder.create<vector::BitCastOp>(loc, wide, mixed));
  }
  return after;
}

} // namespace nereid::cpu
