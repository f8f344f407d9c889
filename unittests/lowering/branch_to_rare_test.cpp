// SPDX-License-Identifier: Apache-2.0
// What a marked choice alone needs stands behind its branch, and nothing else does.
#include "lib/lowering/Passes.h"

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

#include <algorithm>

#include <string>
#include <vector>

namespace nereid::lowering {
namespace {

using namespace mlir;

class BranchToRare : public testing::Test {
protected:
  BranchToRare() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                        math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  /// The operations inside of branches, in order, and those outside, of a function of %p, %x and
  /// %c.
  void run(const std::string &type, const std::string &condition, const std::string &body) {
    inside.clear();
    outside.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "func.func @f(%p: !llvm.ptr, %x: " + type + ", %c: " + condition + ") -> " + type + " {\n" +
            body + "\n}",
        ParserConfig(&context));
    ASSERT_TRUE(module) << body;
    PassManager passes(&context);
    passes.addPass(createBranchToRarePass());
    ASSERT_TRUE(succeeded(passes.run(*module)) && succeeded(verify(*module))) << body;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      EXPECT_EQ(op->hasAttr(rareAttribute), isa<scf::IfOp>(op));
      const bool isInside = op->getParentOfType<scf::IfOp>() != nullptr;
      (isInside ? inside : outside).push_back(op->getName().getStringRef().str());
    });
  }

  MLIRContext context;
  std::vector<std::string> inside, outside;
};

using Names = std::vector<std::string>;

TEST_F(BranchToRare, WhatIsNeededOnceMovesInItsOrder) {
  run("f32", "i1",
      "%a = math.log %x : f32\n%b = math.exp %a : f32\n"
      "%s = arith.select %c, %b, %x {lowering.rare} : f32\nreturn %s : f32");
  EXPECT_EQ(inside, (Names{"math.log", "math.exp", "scf.yield", "scf.yield"}));
}

TEST_F(BranchToRare, WhatTheOtherValueNeedsStays) {
  run("f32", "i1",
      "%a = math.log %x : f32\n%b = math.exp %a : f32\n%d = math.sqrt %a : f32\n"
      "%s = arith.select %c, %b, %d {lowering.rare} : f32\nreturn %s : f32");
  EXPECT_EQ(inside, (Names{"math.exp", "scf.yield", "scf.yield"}));
}

TEST_F(BranchToRare, WhatIsBothValuesStays) {
  run("f32", "i1",
      "%a = math.log %x : f32\n%s = arith.select %c, %a, %a {lowering.rare} : f32\nreturn %s : "
      "f32");
  EXPECT_TRUE(inside.empty());
}

TEST_F(BranchToRare, WhatNobodyNeedsDoesNotHoldItBack) {
  run("f32", "i1",
      "%a = math.log %x : f32\n%dead = math.exp %a : f32\n"
      "%s = arith.select %c, %a, %x {lowering.rare} : f32\nreturn %s : f32");
  EXPECT_EQ(inside.front(), "math.log");
}

TEST_F(BranchToRare, AnAccessStays) {
  run("f32", "i1",
      "%a = llvm.load %p : !llvm.ptr -> f32\n%b = math.exp %a : f32\n"
      "%s = arith.select %c, %b, %x {lowering.rare} : f32\nreturn %s : f32");
  EXPECT_EQ(inside, (Names{"math.exp", "scf.yield", "scf.yield"}));
}

TEST_F(BranchToRare, LanesChooseInsideTheBranchOfAllOfThem) {
  run("vector<4xf32>", "vector<4xi1>",
      "%a = math.log %x : vector<4xf32>\n"
      "%s = arith.select %c, %a, %x {lowering.rare} : vector<4xi1>, vector<4xf32>\n"
      "return %s : vector<4xf32>");
  EXPECT_EQ(inside, (Names{"math.log", "arith.select", "scf.yield", "scf.yield"}));
  EXPECT_EQ(std::count(outside.begin(), outside.end(), "vector.reduction"), 1);
}

TEST_F(BranchToRare, ARareOneInsideOfARareOneHasItsOwnBranch) {
  run("f32", "i1",
      "%a = math.log %x : f32\n%b = arith.select %c, %a, %x {lowering.rare} : f32\n"
      "%d = math.exp %b : f32\n"
      "%s = arith.select %c, %d, %x {lowering.rare} : f32\nreturn %s : f32");
  EXPECT_EQ(std::count(inside.begin(), inside.end(), "scf.if"), 1);
  EXPECT_EQ(std::count(outside.begin(), outside.end(), "scf.if"), 1);
}

TEST_F(BranchToRare, OtherChoicesAreLeft) {
  run("f32", "i1", "%a = math.log %x : f32\n%s = arith.select %c, %a, %x : f32\nreturn %s : f32");
  EXPECT_TRUE(inside.empty());
}

} // namespace
} // namespace nereid::lowering
