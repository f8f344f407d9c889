// SPDX-License-Identifier: Apache-2.0
// Marked branches of a block become one, those that wait for each other do not.
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::lowering {
namespace {

using namespace mlir;
using Names = std::vector<std::string>;

class JoinRareBranches : public testing::Test {
protected:
  JoinRareBranches() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                        math::MathDialect, scf::SCFDialect>();
  }

  /// The operations of the function's own block, of %p, %x, %y, %c and %d, the last one aside.
  Names run(const std::string &body) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(%p: !llvm.ptr, %x: f32, %y: f32, %c: i1, %d: i1) -> f32 {\n" + body + "\n}",
        ParserConfig(&context));
    EXPECT_TRUE(module) << body;
    PassManager passes(&context);
    passes.addPass(createJoinRareBranchesPass());
    EXPECT_TRUE(module && succeeded(passes.run(*module)) && succeeded(verify(*module))) << body;
    Names names;
    for (Operation &op : module->lookupSymbol<func::FuncOp>("f").getBody().front()) {
      names.push_back(op.getName().getStringRef().str());
    }
    module->walk([](Operation *op) { EXPECT_FALSE(op->hasAttr(rareAttribute)); });
    names.pop_back();
    return names;
  }

  /// A marked branch to `text`, which makes %inside, else `usual`.
  static std::string branch(const std::string &name, const std::string &condition,
                            const std::string &text, const std::string &usual) {
    return name + " = scf.if " + condition + " -> (f32) {\n" + text +
           "\nscf.yield %inside : f32\n} else {\nscf.yield " + usual +
           " : f32\n} {lowering.rare}\n";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *logOfX = "%inside = math.log %x : f32";
const char *logOfY = "%inside = math.log %y : f32";

TEST_F(JoinRareBranches, TwoBecomeOneWithBothInside) {
  Names outside = run(branch("%a", "%c", logOfX, "%x") + branch("%b", "%d", logOfY, "%y") +
                      "%s = arith.addf %a, %b : f32\nreturn %s : f32");
  EXPECT_EQ(outside, (Names{"arith.ori", "scf.if", "arith.addf"}));
  auto whole = *module->lookupSymbol<func::FuncOp>("f").getOps<scf::IfOp>().begin();
  EXPECT_EQ(llvm::range_size(whole.thenBlock()->getOps<scf::IfOp>()), 2);
  EXPECT_EQ(whole.elseYield().getOperands()[1], whole->getBlock()->getArgument(2));
}

TEST_F(JoinRareBranches, WhatOneNeedsStandsBehindBoth) {
  Names outside =
      run(branch("%a", "%c", logOfX, "%x") + "%e = math.exp %a : f32\n" +
          "%n = math.sqrt %y : f32\n" + branch("%b", "%d", "%inside = math.log %n : f32", "%y") +
          "%s = arith.addf %e, %b : f32\nreturn %s : f32");
  EXPECT_EQ(outside, (Names{"math.sqrt", "arith.ori", "scf.if", "math.exp", "arith.addf"}));
}

TEST_F(JoinRareBranches, OneThatNeedsTheOtherStaysBehindIt) {
  Names outside = run(branch("%a", "%c", logOfX, "%x") +
                      branch("%b", "%d", "%inside = math.log %a : f32", "%y") + "return %b : f32");
  EXPECT_EQ(outside, (Names{"scf.if", "scf.if"}));
}

TEST_F(JoinRareBranches, AnAccessThatNeedsOneDividesThem) {
  Names outside = run(branch("%a", "%c", logOfX, "%x") +
                      "llvm.store %a, %p : f32, !llvm.ptr\n%v = llvm.load %p : !llvm.ptr -> f32\n" +
                      branch("%b", "%d", "%inside = math.log %v : f32", "%y") + "return %b : f32");
  EXPECT_EQ(outside, (Names{"scf.if", "llvm.store", "llvm.load", "scf.if"}));
}

TEST_F(JoinRareBranches, OneWithAnEffectStays) {
  Names outside =
      run(branch("%a", "%c", "%inside = llvm.load %p : !llvm.ptr -> f32", "%x") +
          branch("%b", "%d", logOfY, "%y") + "%s = arith.addf %a, %b : f32\nreturn %s : f32");
  EXPECT_EQ(outside, (Names{"scf.if", "scf.if", "arith.addf"}));
}

TEST_F(JoinRareBranches, ALoadOfWhatNobodyWritesHasNone) {
  Names outside =
      run(branch("%a", "%c", "%inside = llvm.load %p invariant : !llvm.ptr -> f32", "%x") +
          branch("%b", "%d", logOfY, "%y") + "%s = arith.addf %a, %b : f32\nreturn %s : f32");
  EXPECT_EQ(outside, (Names{"arith.ori", "scf.if", "arith.addf"}));
}

TEST_F(JoinRareBranches, AnInstructionOfFloatsHasNone) {
  Names outside =
      run(branch("%a", "%c",
                 "%inside = llvm.call_intrinsic \"llvm.nvvm.rsqrt.approx.f\"(%x) : "
                 "(f32) -> f32",
                 "%x") +
          branch("%b", "%d", logOfY, "%y") + "%s = arith.addf %a, %b : f32\nreturn %s : f32");
  EXPECT_EQ(outside, (Names{"arith.ori", "scf.if", "arith.addf"}));
}

TEST_F(JoinRareBranches, NoMoreThanEight) {
  std::string text;
  for (int i = 0; i < 9; ++i) {
    text += branch("%a" + std::to_string(i), "%c", logOfX, "%x");
  }
  Names outside = run(text + "return %a8 : f32");
  EXPECT_EQ(outside, (Names{"arith.ori", "arith.ori", "arith.ori", "arith.ori", "arith.ori",
                            "arith.ori", "arith.ori", "scf.if", "scf.if"}));
}

TEST_F(JoinRareBranches, OthersAreLeft) {
  std::string plain = branch("%a", "%c", logOfX, "%x") + branch("%b", "%d", logOfY, "%y");
  for (size_t at; (at = plain.find(" {lowering.rare}")) != std::string::npos;) {
    plain.erase(at, std::string(" {lowering.rare}").size());
  }
  EXPECT_EQ(run(plain + "%s = arith.addf %a, %b : f32\nreturn %s : f32"),
            (Names{"scf.if", "scf.if", "arith.addf"}));
}

} // namespace
} // namespace nereid::lowering
