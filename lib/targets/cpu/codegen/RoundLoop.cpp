// SPDX-License-Identifier: Apache-2.0
// The loop carries what chains carry as two vectors of each, or, where rounds leave pairs of words,
// every pair as one vector. Its counter leads through a table of keys on the stack, which is filled
// before the loops in which they do not change.
#include "lib/targets/cpu/codegen/RoundLoop.h"

#include "lib/targets/cpu/codegen/PairedWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// The keys of all rounds, round by round, in both halves of 64-bit words. Scalars of all rounds in
/// registers of their own would leave none for the chains.
class KeyTable {
public:
  using Keys = SmallVector<SmallVector<Value>>;

  KeyTable(const Keys &keys, Operation *place) : width(keys.size()) {
    if (keys.empty()) {
      return;
    }
    const size_t rounds = keys.front().size();
    Operation *before = place;
    while (!isa<FunctionOpInterface>(before->getParentOp()) &&
           llvm::none_of(keys, [&](const SmallVector<Value> &key) {
             return llvm::any_of(key,
                                 [&](Value one) { return isInside(one, before->getParentOp()); });
           })) {
      before = before->getParentOp();
    }
    auto function = before->getParentOfType<FunctionOpInterface>();
    OpBuilder entry = OpBuilder::atBlockBegin(&function.getFunctionBody().front());
    Location loc = place->getLoc();
    Type word = entry.getI64Type();
    pointer = LLVM::LLVMPointerType::get(entry.getContext());
    Value one = entry.create<LLVM::ConstantOp>(loc, word, entry.getI64IntegerAttr(1));
    table = entry.create<LLVM::AllocaOp>(
        loc, pointer, LLVM::LLVMArrayType::get(word, rounds * width), one, /*alignment=*/64);
    OpBuilder builder(before);
    for (size_t round = 0; round < rounds; ++round) {
      for (size_t key = 0; key < width; ++key) {
        Value number = scalar(builder, keys[key][round]);
        for (size_t half : {0, 1}) {
          const auto index = static_cast<int32_t>(2 * (round * width + key) + half);
          Value address = builder.create<LLVM::GEPOp>(loc, pointer, builder.getI32Type(), table,
                                                      ArrayRef<LLVM::GEPArg>{index});
          builder.create<LLVM::StoreOp>(loc, number, address, /*alignment=*/4);
        }
      }
    }
  }

  /// The first key of the round that `counter` has.
  Value rowAt(OpBuilder &builder, Location loc, Value counter) const {
    Value columns = builder.create<arith::ConstantIntOp>(loc, static_cast<int64_t>(width), 64);
    Value index = builder.create<arith::MulIOp>(loc, counter, columns);
    return builder.create<LLVM::GEPOp>(loc, pointer, builder.getI64Type(), table,
                                       ArrayRef<LLVM::GEPArg>{index});
  }

  Value load(OpBuilder &builder, Location loc, Value row, size_t key, int64_t lanes) const {
    Type word = builder.getI64Type();
    Value address = builder.create<LLVM::GEPOp>(loc, pointer, word, row,
                                                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(key)});
    Value number = builder.create<LLVM::LoadOp>(loc, word, address, /*alignment=*/8);
    return builder.create<vector::BroadcastOp>(loc, VectorType::get({lanes}, word), number);
  }

private:
  /// The number in every lane; null for a constant.
  static Value scalarOf(Value splat) {
    Operation *op = splat.getDefiningOp();
    return isa<arith::ConstantOp>(op) ? Value() : op->getOperand(0);
  }

  static bool isInside(Value splat, Operation *op) {
    Value number = scalarOf(splat);
    return number && op->isAncestor(number.getParentBlock()->getParentOp());
  }

  static Value scalar(OpBuilder &builder, Value splat) {
    if (Value number = scalarOf(splat)) {
      return number;
    }
    DenseElementsAttr elements;
    matchPattern(splat, m_Constant(&elements));
    return builder.create<arith::ConstantIntOp>(splat.getLoc(),
                                                elements.getSplatValue<APInt>().getSExtValue(), 32);
  }

  size_t width;
  Type pointer;
  Value table;
};

/// What one half of one chain carries, and how a round of it is written.
class RoundBody {
public:
  RoundBody(ArrayRef<ProductChain> chains, ArrayRef<ProductRounds> rounds,
            MutableArrayRef<ChainRewriter> rewriters, OpBuilder &builder, Location loc,
            bool mayPair)
      : chains(chains), rounds(rounds), rewriters(rewriters), loc(loc) {
    if (!mayPair) {
      return;
    }
    pairs = findPairedWords(rounds.front(), chains.front());
    for (size_t chain = 1; chain < chains.size(); ++chain) {
      if (findPairedWords(rounds[chain], chains[chain]) != pairs) {
        pairs.clear();
      }
    }
    if (!pairs.empty()) {
      writer.emplace(builder, loc);
    }
  }

  /// How many vectors.
  size_t width() const { return writer ? pairs.size() : rounds.front().carried.size(); }

  SmallVector<Value> enter(OpBuilder &builder, size_t chain, bool isOdd) {
    SmallVector<Value> words;
    for (const ProductRounds::Carried &one : rounds[chain].carried) {
      const LaneHalves both = rewriters[chain].halvesOf(one.initial);
      words.push_back(isOdd ? both.odd : both.even);
    }
    if (!writer) {
      return words;
    }
    SmallVector<Value> joined;
    for (const PairedWords &pair : pairs) {
      joined.push_back(writer->join(builder, words[pair.low], words[pair.mixed]));
    }
    return joined;
  }

  SmallVector<Value> round(OpBuilder &builder, size_t chain, bool isOdd, ValueRange words,
                           ArrayRef<Value> keys) const {
    if (writer) {
      return writer->round(builder, pairs, words, keys);
    }
    auto half = [&](Value value) { return isOdd ? LaneHalves{{}, value} : LaneHalves{value, {}}; };
    ChainRewriter inside = rewriters[chain].at(builder.saveInsertionPoint());
    for (auto [one, word] : llvm::zip(rounds[chain].carried, words)) {
      inside.setHalves(one.initial, half(word));
    }
    for (auto [key, value] : llvm::zip(rounds[chain].keys, keys)) {
      inside.setHalves(key.front(), half(value));
    }
    for (const ProductRounds::Positions &step : rounds[chain].steps) {
      inside.rewrite(chains[chain][step.front()]);
    }
    SmallVector<Value> next;
    for (const ProductRounds::Carried &one : rounds[chain].carried) {
      const ProductRounds::Positions &step = rounds[chain].steps[one.step];
      const LaneHalves both = inside.halvesOf(chains[chain][step.front()]->getResult(0));
      next.push_back(isOdd ? both.odd : both.even);
    }
    return next;
  }

  void leave(OpBuilder &builder, size_t chain, ValueRange even, ValueRange odd) {
    SmallVector<Value> evenWords(even), oddWords(odd);
    if (writer) {
      evenWords.assign(rounds[chain].carried.size(), {});
      oddWords = evenWords;
      for (auto [pair, first, second] : llvm::zip(pairs, even, odd)) {
        evenWords[pair.low] = first;
        oddWords[pair.low] = second;
        evenWords[pair.mixed] = writer->mixedOf(builder, first);
        oddWords[pair.mixed] = writer->mixedOf(builder, second);
      }
    }
    for (auto [one, first, second] : llvm::zip(rounds[chain].carried, evenWords, oddWords)) {
      if (const int position = rounds[chain].steps[one.step].back(); position >= 0) {
        rewriters[chain].setHalves(chains[chain][position]->getResult(0), {first, second});
      }
    }
  }

private:
  ArrayRef<ProductChain> chains;
  ArrayRef<ProductRounds> rounds;
  MutableArrayRef<ChainRewriter> rewriters;
  Location loc;
  SmallVector<PairedWords> pairs;
  std::optional<PairWriter> writer;
};

} // namespace

void writeRounds(ArrayRef<ProductChain> chains, ArrayRef<ProductRounds> rounds,
                 MutableArrayRef<ChainRewriter> rewriters, Operation *place,
                 const CpuMachine &machine) {
  const ProductRounds &plan = rounds.front();
  auto writeOnce = [&](const ProductRounds::Positions &positions) {
    for (int position : positions) {
      for (size_t chain = 0; chain < chains.size(); ++chain) {
        rewriters[chain].rewrite(chains[chain][position]);
      }
    }
  };
  writeOnce(plan.before);
  const KeyTable table(plan.keys, place);
  OpBuilder builder(place);
  Location loc = place->getLoc();
  auto number = [&](int64_t value) {
    return builder.create<arith::ConstantIntOp>(loc, value, 64).getResult();
  };
  RoundBody body(chains, rounds, rewriters, builder, loc,
                 machine.hasAvx512 && machine.vectorBytes == 64);
  SmallVector<Value> initial = {number(0)};
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    for (bool isOdd : {false, true}) {
      initial.append(body.enter(builder, chain, isOdd));
    }
  }
  // Tested at its end: where it is left and where it goes on both begin with the same products,
  // which LLVM would compute for all chains at once and keep in memory.
  const Value one = number(1), end = number(plan.rounds());
  const SmallVector<Type> types(ValueRange(initial).getTypes());
  const SmallVector<Location> places(types.size(), loc);
  auto loop = builder.create<scf::WhileOp>(loc, types, initial);
  Block *block = builder.createBlock(&loop.getBefore(), {}, types, places);
  const Value counter = block->getArgument(0);
  SmallVector<Value> keys;
  if (!plan.keys.empty()) {
    Value row = table.rowAt(builder, loc, counter);
    const int64_t lanes = cast<VectorType>(types.back()).getNumElements();
    for (size_t key = 0; key < plan.keys.size(); ++key) {
      keys.push_back(table.load(builder, loc, row, key, lanes));
    }
  }
  SmallVector<Value> next = {builder.create<arith::AddIOp>(loc, counter, one)};
  ValueRange words = ValueRange(block->getArguments()).drop_front();
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    // One half of one chain after the other: few values live at a time, and the processor looks
    // far ahead.
    for (bool isOdd : {false, true}) {
      next.append(body.round(builder, chain, isOdd, words.take_front(body.width()), keys));
      builder.setInsertionPointToEnd(block);
      words = words.drop_front(body.width());
    }
  }
  Value goesOn = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next.front(), end);
  builder.create<scf::ConditionOp>(loc, goesOn, next);
  Block *again = builder.createBlock(&loop.getAfter(), {}, types, places);
  builder.create<scf::YieldOp>(loc, again->getArguments());
  builder.setInsertionPoint(place);
  ValueRange left = ValueRange(loop.getResults()).drop_front();
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    const size_t width = body.width();
    body.leave(builder, chain, left.take_front(width), left.slice(width, width));
    left = left.drop_front(2 * width);
  }
  writeOnce(plan.after);
}

} // namespace nereid::cpu
