// SPDX-License-Identifier: Apache-2.0
// The expansions for a processor with no instruction beyond the common ones: what is left asks for
// nothing that a target might lack. Their numbers are tested where they can run
// (unittests/target_cpu).
#include "lib/lowering/Passes.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/LaneInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace nereid::lowering {
namespace {

using namespace mlir;

/// A processor with a table look-up and nothing else, which counts what it is asked for.
class Counting final : public LaneInstructions {
public:
  mutable int scaled = 0, bounded = 0, extrema = 0, lookedUp = 0, rounded = 0;

  Lanes scaleByFloor(Lanes x, Lanes) const override { return ++scaled, x; }
  Lanes boundMagnitude(Lanes x, double) const override { return ++bounded, x; }
  Lanes largerNumber(Lanes a, Lanes) const override { return ++extrema, a; }
  Lanes smallerNumber(Lanes, Lanes b) const override { return ++extrema, b; }
  Lanes lookUp(std::span<const float>, Lanes, Lanes like) const override {
    return ++lookedUp, like;
  }
  std::optional<Lanes> bf16FromSingle(Lanes) const override { return ++rounded, std::nullopt; }
};

/// One that approximates functions of f32, and counts likewise.
class Approximating final : public ApproximateUnit {
public:
  mutable int powers = 0, normalPowers = 0, reciprocals = 0, quotients = 0, roots = 0,
              normalRoots = 0, logarithms = 0;

  Lanes powerOfTwo(Lanes x) const override { return ++powers, x; }
  Lanes powerOfTwoOfNormal(Lanes x) const override { return ++normalPowers, x; }
  Lanes mulAddInUnitInterval(Lanes x, float, float) const override { return x; }
  Lanes mulAddDownwards(Lanes x, float, float) const override { return x; }
  Lanes reciprocalOfNormal(Lanes x) const override { return ++reciprocals, x; }
  Lanes quotient(Lanes a, Lanes) const override { return ++quotients, a; }
  Lanes reciprocalSquareRoot(Lanes x) const override { return ++roots, x; }
  Lanes reciprocalSquareRootOfNormal(Lanes x) const override { return ++normalRoots, x; }
  Lanes logarithmOfNormal(Lanes x) const override { return ++logarithms, x; }
};

class Expand : public testing::Test {
protected:
  Expand() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                        math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  /// How often each operation is left of `text`, by its name; empty when it became invalid.
  std::map<std::string, int> expand(const std::string &text, const FloatUnit &machine) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    PassManager passes(&context);
    passes.addPass(createExpandHalfPass(machine));
    passes.addPass(createExpandMathPass(machine));
    std::map<std::string, int> counts;
    if (!module || failed(passes.run(*module)) || failed(verify(*module))) {
      return counts;
    }
    module->walk([&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
    return counts;
  }

  /// The same of one operation on %x and %y of `type`.
  std::map<std::string, int> expandOne(const std::string &operation, const std::string &type,
                                       const FloatUnit &machine) {
    return expand("func.func @f(%p: !llvm.ptr) {\n  %x = llvm.load %p : !llvm.ptr -> " + type +
                      "\n  %y = llvm.load %p : !llvm.ptr -> " + type + "\n  %z = " + operation +
                      " : " + type + "\n  llvm.store %z, %p : " + type + ", !llvm.ptr\n  return\n}",
                  machine);
  }

  MLIRContext context;
};

const char *const functions[] = {
    "exp", "exp2", "expm1", "log",  "log2", "log10", "log1p", "cbrt",  "rsqrt", "sin",   "cos",
    "tan", "asin", "acos",  "atan", "tanh", "sinh",  "cosh",  "asinh", "acosh", "atanh", "erf"};

TEST_F(Expand, EveryFunctionNeedsOnlyWhatEveryProcessorHas) {
  for (const char *function : functions) {
    for (const char *type : {"f32", "f64", "vector<16xf32>", "vector<4xf64>"}) {
      const auto left = expandOne("math." + std::string(function) + " %x", type, {});
      ASSERT_FALSE(left.empty()) << function << " of " << type;
      for (const auto &[name, count] : left) {
        const bool isInstruction = name == "math.absf" || name == "math.copysign" ||
                                   name == "math.sqrt" || name == "math.roundeven";
        EXPECT_TRUE(name.rfind("math.", 0) != 0 || isInstruction) << function << " leaves " << name;
        EXPECT_NE(name, "llvm.call_intrinsic") << function << " of " << type;
      }
    }
  }
}

TEST_F(Expand, AFusedProductIsOneOperationWhereThereIsOne) {
  EXPECT_EQ(expandOne("math.fma %x, %y, %x", "f64", {})["math.fma"], 0);
  EXPECT_EQ(expandOne("math.fma %x, %y, %x", "f64", {.hasFma = true})["math.fma"], 1);
}

TEST_F(Expand, HalvesAreConvertedByTheMachineWhereItCan) {
  EXPECT_EQ(expandOne("arith.addf %x, %y", "vector<8xf16>", {})["arith.extf"], 0);
  EXPECT_EQ(
      expandOne("arith.addf %x, %y", "vector<8xf16>", {.hasHalfConversions = true})["arith.extf"],
      2);
}

TEST_F(Expand, ATargetsInstructionsAreTakenOnFullRegistersAlone) {
  const Counting chip;
  const FloatUnit machine{.hasFma = true, .instructions = &chip};
  expandOne("math.exp %x", "vector<8xf32>", machine);
  EXPECT_EQ(chip.scaled + chip.bounded + chip.lookedUp, 0);
  expandOne("math.exp %x", "vector<16xf32>", machine);
  EXPECT_EQ(chip.scaled, 1);
  EXPECT_EQ(chip.bounded, 1);
  EXPECT_EQ(chip.lookedUp, 1);
  expandOne("math.exp %x", "f32", machine); // computed as a register of sixteen
  EXPECT_EQ(chip.scaled, 2);
  expandOne("arith.maxnumf %x, %y", "vector<8xf64>", machine);
  expandOne("arith.minnumf %x, %y", "vector<4xf64>", machine);
  EXPECT_EQ(chip.extrema, 1);
  expandOne("arith.addf %x, %y", "vector<16xbf16>", machine);
  EXPECT_EQ(chip.rounded, 1);
}

TEST_F(Expand, AnApproximateUnitIsAskedForSinglesAlone) {
  const Approximating unit;
  const FloatUnit machine{.hasFma = true, .approximate = &unit};
  for (const char *function : {"exp", "exp2", "tanh", "erf", "rsqrt", "sin", "cos"}) {
    expandOne("math." + std::string(function) + " %x", "f64", machine);
  }
  EXPECT_EQ(unit.powers + unit.normalPowers + unit.reciprocals + unit.roots, 0);
  expandOne("math.exp2 %x", "f32", machine);
  EXPECT_EQ(unit.powers, 1);
  for (const char *function : {"exp", "erf", "tanh"}) {
    expandOne("math." + std::string(function) + " %x", "f32", machine);
  }
  EXPECT_EQ(unit.normalPowers, 3);
  EXPECT_EQ(unit.reciprocals, 1);
  expandOne("math.rsqrt %x", "f32", machine);
  EXPECT_EQ(unit.roots, 1);
}

TEST_F(Expand, AQuotientByAConstantIsASumWhereDivisionsAreMany) {
  auto divided = [&](const std::string &divisor, const FloatUnit &machine) {
    return expand("func.func @f(%p: !llvm.ptr) {\n"
                  "  %x = llvm.load %p : !llvm.ptr -> f32\n  %c = arith.constant " +
                      divisor +
                      " : f32\n  %z = arith.divf %x, %c : f32\n"
                      "  llvm.store %z, %p : f32, !llvm.ptr\n  return\n}",
                  machine);
  };
  const FloatUnit slow{.hasFma = true, .hasHalfConversions = true, .dividesAtOnce = false};
  auto left = divided("6.0", slow);
  EXPECT_EQ(left["math.fma"], 1);
  EXPECT_EQ(left["arith.mulf"], 1);
  EXPECT_EQ(left["scf.if"], 1) << "tiny numbers";
  EXPECT_EQ(left["arith.divf"], 1) << "of those alone";
  EXPECT_EQ(divided("6.0", {.hasFma = true})["math.fma"], 0) << "a division is one instruction";
  EXPECT_EQ(divided("6.0", {.dividesAtOnce = false})["math.fma"], 0) << "no fused product";
  EXPECT_EQ(divided("0.7", slow)["math.fma"], 0) << "no such sum";
  left = expand("func.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {\n"
                "  %h = llvm.load %p : !llvm.ptr -> f16\n  %x = arith.extf %h : f16 to f32\n"
                "  %c = arith.constant 6.0 : f32\n  %z = arith.divf %x, %c : f32\n"
                "  llvm.store %z, %q : f32, !llvm.ptr\n  return\n}",
                slow);
  EXPECT_EQ(left["math.fma"], 1);
  EXPECT_EQ(left["arith.divf"], 0) << "no float16 is tiny";
  const Approximating unit;
  left = expand("func.func @f(%p: !llvm.ptr) {\n  %x = llvm.load %p : !llvm.ptr -> f32\n"
                "  %c = arith.constant 0.7 : f32\n"
                "  %z = arith.divf %x, %c {lowering.approximate} : f32\n"
                "  llvm.store %z, %p : f32, !llvm.ptr\n  return\n}",
                {.hasFma = true, .approximate = &unit});
  EXPECT_EQ(unit.quotients, 0);
  EXPECT_EQ(left["arith.mulf"], 1) << "by the reciprocal";
}

/// One root and one quotient, and a branch to what is beside the largest numbers' logarithm.
TEST_F(Expand, InverseHyperbolicFunctionsOfSinglesTakeOneRootAndOneReciprocal) {
  for (const char *function : {"math.asinh %x", "math.acosh %x"}) {
    const Approximating unit;
    auto left = expandOne(function, "f32", {.hasFma = true, .approximate = &unit});
    EXPECT_EQ(unit.normalRoots, 1) << function;
    EXPECT_EQ(unit.roots, 0) << function;
    EXPECT_EQ(unit.reciprocals, 1 + 1) << function; // the logarithm's, behind the branch
    EXPECT_EQ(left["scf.if"], 1) << function;
    left = expandOne(function, "vector<8xf32>", {.hasFma = true});
    EXPECT_EQ(left["math.sqrt"], 1) << function;
    EXPECT_EQ(left["arith.divf"], 2 + 1) << function;
  }
}

/// The table's digits are as constant as the code, so that branches to them can be joined.
TEST_F(Expand, AnglesOfTheTangentAreReducedBehindOneRareBranch) {
  auto left = expandOne("math.tan %x", "f32", {.hasFma = true});
  EXPECT_EQ(left["scf.if"], 2); // huge ones behind one of their own
  EXPECT_EQ(left["arith.divf"], 1);
}

TEST_F(Expand, HugeAnglesAloneAreReducedInDouble) {
  for (const char *type : {"f32", "vector<8xf32>"}) {
    for (const char *function : {"math.sin %x", "math.cos %x"}) {
      auto near = expandOne(function, type, {.hasFma = true}), all = expandOne(function, type, {});
      EXPECT_EQ(near["scf.if"], all["scf.if"] + 1) << type << " " << function;
    }
  }
}

TEST_F(Expand, AnglesThatCannotBeHugeNeedNoBranch) {
  struct Row {
    const char *angle;
    int branches;
  };
  const Row rows[] = {
      {"%r = math.roundeven %x : f32\n%a = arith.subf %x, %r : f32", 0},
      {"%r = math.floor %x : f32\n%d = arith.subf %x, %r : f32\n"
       "%c = arith.constant 6.25 : f32\n%a = arith.mulf %c, %d : f32",
       0},
      {"%r = math.roundeven %x : f32\n%a = arith.subf %y, %r : f32", 1},
      {"%r = math.roundeven %x : f32\n%d = arith.subf %x, %r : f32\n%a = arith.mulf %y, %d : f32",
       1},
      {"%r = math.roundeven %x : f32\n%d = arith.subf %x, %r : f32\n"
       "%c = arith.constant 200000.0 : f32\n%a = arith.mulf %c, %d : f32",
       1},
      {"%r = math.roundeven %x : f32\n%d = arith.subf %x, %r : f32\n"
       "%i = arith.cmpf olt, %x, %y : f32\n%a = arith.select %i, %d, %x : f32",
       1},
  };
  for (const Row &row : rows) {
    for (const char *function : {"math.sin", "math.cos"}) {
      const std::string lines = std::string(row.angle) + "\n%z = " + function + " %a : f32";
      const std::string text = "func.func @f(%p: !llvm.ptr) {\n"
                               "  %x = llvm.load %p : !llvm.ptr -> f32\n"
                               "  %y = llvm.load %p : !llvm.ptr -> f32\n" +
                               lines + "\n  llvm.store %z, %p : f32, !llvm.ptr\n  return\n}";
      EXPECT_EQ(expand(text, {.hasFma = true})["scf.if"] > 0, row.branches > 0) << lines;
    }
  }
}

/// A function of f32 values %x and %y, in which `lines` make %z.
std::string functionOf(const std::string &lines) {
  return "func.func @f(%p: !llvm.ptr, %n: index) {\n  %x = llvm.load %p : !llvm.ptr -> f32\n"
         "  %y = llvm.load %p : !llvm.ptr -> f32\n" +
         lines + "\n  llvm.store %z, %p : f32, !llvm.ptr\n  return\n}";
}

TEST_F(Expand, OnlyQuotientsOfApproximatedNumbersAreApproximated) {
  struct Row {
    const char *lines;
    int quotients;
  };
  const Row rows[] = {
      {"%z = arith.divf %x, %y : f32", 0},
      {"%e = math.exp %x : f32\n%z = arith.divf %e, %y : f32", 1},
      {"%e = math.exp %x : f32\n%z = arith.divf %e, %y {lowering.rounded} : f32", 0},
      {"%e = math.exp %x : f32\n%s = arith.addf %e, %x : f32\n%z = arith.divf %y, %s : f32", 1},
      {"%e = math.exp %x : f32\n%i = arith.bitcast %e : f32 to i32\n"
       "%c = arith.sitofp %i : i32 to f32\n%z = arith.divf %y, %c : f32",
       0},
      {"%l = arith.constant 0 : index\n%s = arith.constant 1 : index\n"
       "%t = scf.for %i = %l to %n step %s iter_args(%a = %x) -> f32 {\n"
       "  %e = math.exp %y : f32\n  %b = arith.addf %a, %e : f32\n  scf.yield %b : f32\n}\n"
       "%z = arith.divf %x, %t : f32",
       1},
      {"%l = arith.constant 0 : index\n%s = arith.constant 1 : index\n"
       "%t = scf.for %i = %l to %n step %s iter_args(%a = %x) -> f32 {\n"
       "  %b = arith.addf %a, %y : f32\n  scf.yield %b : f32\n}\n"
       "%z = arith.divf %x, %t : f32",
       1},
      {"%l = arith.constant 0 : index\n%s = arith.constant 1 : index\n"
       "%t = scf.for %i = %l to %n step %s iter_args(%a = %x) -> f32 {\n"
       "  %b = arith.maximumf %a, %y : f32\n  scf.yield %b : f32\n}\n"
       "%z = arith.divf %x, %t : f32",
       0},
  };
  for (const Row &row : rows) {
    const Approximating unit;
    EXPECT_FALSE(expand(functionOf(row.lines), {.hasFma = true, .approximate = &unit}).empty());
    EXPECT_EQ(unit.quotients, row.quotients) << row.lines;
  }
}

TEST_F(Expand, QuotientsOfNormalNumbersThatMayBeOffAreProductsWithReciprocals) {
  struct Row {
    const char *lines;
    int reciprocals, products;
  };
  const Row rows[] = {
      {"%z = arith.divf %x, %y {lowering.nearby} : f32", 1, 1},
      {"%o = arith.constant 1.0 : f32\n%z = arith.divf %o, %y {lowering.nearby} : f32", 1, 0},
      {"%z = arith.divf %x, %y : f32", 0, 0},
  };
  for (const Row &row : rows) {
    const Approximating unit;
    auto left = expand(functionOf(row.lines), {.hasFma = true, .approximate = &unit});
    EXPECT_EQ(unit.reciprocals, row.reciprocals) << row.lines;
    EXPECT_EQ(left["arith.mulf"], row.products) << row.lines;
    EXPECT_EQ(expand(functionOf(row.lines), {.hasFma = true})["arith.divf"], 1) << row.lines;
  }
}

TEST_F(Expand, LogarithmsBesideOneOfApproximatedNumbersAreNoPairs) {
  const Approximating unit;
  const FloatUnit approximating{.hasFma = true, .approximate = &unit};
  auto operations = [&](const std::string &lines, const FloatUnit &machine) {
    int total = 0;
    for (const auto &[name, count] : expand(functionOf(lines), machine)) {
      total += count;
    }
    return total;
  };
  const std::string exact = "%z = math.log1p %x : f32",
                    power = "%e = math.exp2 %x : f32\n%z = arith.addf %e, %y : f32",
                    ofPower = "%e = math.exp2 %x : f32\n%a = arith.addf %e, %y : f32\n"
                              "%z = math.log1p %a : f32";
  const int added = operations(ofPower, approximating) - operations(power, approximating);
  auto alone = [&](const FloatUnit &machine) {
    return operations(exact, machine) - operations("%z = arith.addf %x, %y : f32", machine);
  };
  EXPECT_LT(added, alone(approximating) * 3 / 4);
  const FloatUnit plain{.hasFma = true};
  EXPECT_EQ(operations(ofPower, plain) - operations(power, plain), alone(plain) + 1);
}

/// Zero, negative numbers, infinity and NaN are one choice, where the unit's logarithm has them.
TEST_F(Expand, LogarithmsOfSpecialNumbersAreApproximated) {
  for (const char *name : {"log", "log2", "log10", "log1p", "atanh"}) {
    const Approximating unit;
    const std::string line = std::string("%z = math.") + name + " %x : f32";
    auto left = expand(functionOf(line), {.hasFma = true, .approximate = &unit});
    EXPECT_EQ(unit.logarithms, 1) << line;
    const int choices = expand(functionOf(line), {.hasFma = true})["arith.select"];
    EXPECT_LT(left["arith.select"], choices) << line;
  }
}

TEST_F(Expand, SmallPowersAreProductsWhereFunctionsAreApproximated) {
  const Approximating unit;
  const FloatUnit machine{.hasFma = true, .approximate = &unit};
  auto cube =
      expand(functionOf("%c = arith.constant 3.0 : f32\n%z = math.powf %x, %c : f32"), machine);
  EXPECT_EQ(cube["arith.mulf"], 2);
  EXPECT_EQ(cube["arith.extf"], 0);
  auto other =
      expand(functionOf("%c = arith.constant 2.5 : f32\n%z = math.powf %x, %c : f32"), machine);
  EXPECT_EQ(unit.powers, 1);
  EXPECT_EQ(other["arith.extf"], 0);
}

TEST_F(Expand, PowersOfAQuarterAreRootsWhereFunctionsAreApproximated) {
  auto rootsOf = [&](const std::string &power, const std::string &type = "f32") {
    const Approximating unit;
    const FloatUnit machine{.hasFma = true, .approximate = &unit};
    expand(functionOf("%c = arith.constant " + power + " : " + type +
                      "\n%z = math.powf %x, %c : " + type),
           machine);
    return unit.powers > 0 ? -1 : unit.roots;
  };
  EXPECT_EQ(rootsOf("0.5"), 1);
  EXPECT_EQ(rootsOf("0.75"), 2);
  EXPECT_EQ(rootsOf("1.5"), 1);
  EXPECT_EQ(rootsOf("0.7"), -1) << "by the logarithm";
  EXPECT_EQ(rootsOf("-0.5"), -1);
  EXPECT_EQ(rootsOf("2.25"), -1);
}

} // namespace
} // namespace nereid::lowering
