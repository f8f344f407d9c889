// SPDX-License-Identifier: Apache-2.0
// The facts of AxisInfo against the values that the interpreter computes: of random programs, every
// value of every operation and every round of every loop has to agree with what is claimed of it.
#include "RandomProgram.h"

#include "lib/interpreter/Instance.h"
#include "lib/tile/analysis/axis/AxisInfo.h"
#include "runtime/tensor/Tensor.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace nereid::test {
namespace {

using interpreter::Instance;
using tile::AxisInfo;
using tile::AxisInfos;
using tile::AxisRun;

bool isMultiple(uint64_t word, unsigned twos) {
  return twos >= 64 ? word == 0 : word % (uint64_t(1) << twos) == 0;
}

/// What contradicts the facts, or nothing.
class Contradiction {
public:
  Contradiction(const interpreter::Tile &tile, const AxisInfo &info) : tile(tile), info(info) {}

  std::string find() {
    for (size_t i = 0; i < tile.size(); ++i) {
      const llvm::APInt number(info.width, tile[i]);
      expect(isMultiple(tile[i], info.twos), "multiple", i);
      if (info.range) {
        expect(info.range->smin().sle(number) && number.sle(info.range->smax()), "range", i);
        expect(info.range->umin().ule(number) && number.ule(info.range->umax()), "unsigned", i);
      }
    }
    size_t inner = tile.size();
    for (const AxisRun &run : info.axes) {
      inner /= static_cast<size_t>(run.size);
      checkRuns(run, inner);
    }
    return text;
  }

private:
  void expect(bool holds, const std::string &fact, size_t i) {
    if (!holds && text.empty()) {
      text = fact + " of element " + std::to_string(i) + ", " + std::to_string(tile.integer(i));
    }
  }
  uint64_t difference(size_t i, size_t j) const { return (tile[i] - tile[j]) & tile.type.mask(); }

  void checkRuns(const AxisRun &run, size_t inner) {
    expect(run.length >= 1 && run.length <= run.size, "length", 0);
    for (size_t i = 0; i < tile.size(); ++i) {
      const auto k = static_cast<int64_t>(i / inner) % run.size;
      const int64_t inRun = k % run.length;
      expect(k != 0 || isMultiple(tile[i], run.firstTwos), "first", i);
      expect(inRun != 0 || isMultiple(tile[i], run.startTwos), "divisibility", i);
      if (inRun != 0 && run.stride) {
        const uint64_t step = static_cast<uint64_t>(*run.stride) * static_cast<uint64_t>(info.unit);
        expect(difference(i, i - inner) == (step & tile.type.mask()), "stride", i);
      } else if (inRun > 1) {
        expect(difference(i, i - inner) == difference(i - inner, i - 2 * inner), "one stride", i);
      }
    }
  }

  const interpreter::Tile &tile;
  const AxisInfo &info;
  std::string text;
};

/// A sum of 32 and more bits that left its type.
bool hasWrapped(Instance &instance, mlir::Operation *op) {
  namespace arith = mlir::arith;
  const bool isSum = mlir::isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp,
                               arith::TruncIOp, tile::AddPtrOp>(op);
  if (!isSum) {
    return false;
  }
  const interpreter::Tile &result = instance.get(op->getResult(0));
  for (size_t i = 0; i < result.size(); ++i) {
    const __int128 a = instance.operand(op, 0).integer(i);
    const bool isBinary = op->getNumOperands() == 2;
    const __int128 b = isBinary ? instance.operand(op, 1).integer(i) : 0;
    const __int128 unit =
        mlir::isa<tile::AddPtrOp>(op) ? AxisInfo(op->getResult(0).getType()).unit : 1;
    const bool isOutside = mlir::isa<arith::ShLIOp>(op) && (b < 0 || b >= result.type.bits);
    const __int128 exact = isOutside                        ? __int128(0)
                           : mlir::isa<arith::TruncIOp>(op) ? a
                           : mlir::isa<arith::ShLIOp>(op)   ? a * (__int128(1) << b)
                           : mlir::isa<arith::MulIOp>(op)   ? a * b
                           : mlir::isa<arith::SubIOp>(op)   ? a - b
                                                            : a + b * unit;
    if (result.type.bits >= 32 && exact != result.integer(i)) {
      return true;
    }
  }
  return false;
}

class FactChecker : public interpreter::Monitor {
public:
  explicit FactChecker(mlir::Operation *module)
      : always(module), withoutWrapping(module, tile::Overflow::Excluded) {}

  void launchBegins(const interpreter::Launch &) override { wrapped = false; }
  interpreter::Tile admit(Instance &, mlir::Operation *, const interpreter::Tile &pointer,
                          const interpreter::Tile *, interpreter::ElementType) override {
    return pointer; // nothing is accessed
  }
  void atomicDone(Instance &, mlir::Operation *, uint64_t, interpreter::ElementType,
                  bool) override {}

  void after(Instance &instance, mlir::Operation *op) override {
    wrapped |= hasWrapped(instance, op);
    if (op == &op->getBlock()->front()) {
      for (mlir::Value argument : op->getBlock()->getArguments()) {
        check(instance, argument);
      }
    }
    for (mlir::Value result : op->getResults()) {
      check(instance, result);
    }
  }

  std::string contradictions;
  int64_t runs = 0, checkedWithoutWrapping = 0; ///< how much was claimed

private:
  void check(Instance &instance, mlir::Value value) {
    const interpreter::Tile &tile = instance.get(value);
    const AxisInfo info = always.of(value);
    report(value, tile, info, "");
    for (const AxisRun &run : info.axes) {
      runs += run.length > 1 ? 1 : 0;
    }
    if (!wrapped) {
      report(value, tile, withoutWrapping.of(value), " without wrapping");
      ++checkedWithoutWrapping;
    }
  }

  void report(mlir::Value value, const interpreter::Tile &tile, const AxisInfo &info,
              const char *variant) {
    const std::string found = Contradiction(tile, info).find();
    if (found.empty() || contradictions.size() > 500) {
      return;
    }
    llvm::raw_string_ostream out(contradictions);
    out << "\n" << found << variant << " contradicts\n  ";
    info.print(out);
    out << "\n  of ";
    value.print(out, mlir::OpPrintingFlags().skipRegions());
  }

  AxisInfos always, withoutWrapping;
  bool wrapped = false;
};

struct Arguments {
  int64_t a, b, c;
};

const Arguments launches[] = {
    {0, 0, 0},
    {7, 48, 100},
    {-5, -16, -3},
    {INT32_MAX, INT32_MAX - 15, INT64_MAX},
    {INT32_MIN, INT32_MIN, INT64_MIN},
    {INT32_MAX - 40, -32, 0xFFFFFFF0},
};

TEST(AxisInfo, HoldsForRandomPrograms) {
  int64_t runs = 0, withoutWrapping = 0;
  const char *seeds = std::getenv("NEREID_AXIS_INFO_PROGRAMS");
  const uint64_t programs = seeds ? std::stoull(seeds) : 250;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    const std::string text = RandomProgram(seed).text();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    tile::loadDialects(context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    FactChecker checker(*module);
    auto memory = runtime::Tensor::empty({64}, DType::I32);
    for (const Arguments &launch : launches) {
      const std::vector<runtime::ArgumentValue> arguments = {&memory, launch.a, launch.b, launch.c};
      InterpretOptions options;
      options.monitor = &checker;
      Diagnostics diags;
      ASSERT_TRUE(interpret(*module, {2, 1, 1}, arguments, diags, options))
          << diags.render() << text;
    }
    EXPECT_EQ(checker.contradictions, "") << "seed " << seed << "\n" << text;
    runs += checker.runs;
    withoutWrapping += checker.checkedWithoutWrapping;
  }
  // The comparison is worth something only where something is claimed.
  EXPECT_GT(runs, static_cast<int64_t>(programs) * 100);
  EXPECT_GT(withoutWrapping, static_cast<int64_t>(programs) * 100);
}

} // namespace
} // namespace nereid::test
