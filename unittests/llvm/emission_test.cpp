// SPDX-License-Identifier: Apache-2.0
// What one target leaves out of LLVM's code generator, others in the same process still have.
#include "lib/targets/cpu/codegen/Codegen.h"
#include "unittests/llvm/Machines.h"

#include "llvm/Support/CommandLine.h"

#include <gtest/gtest.h>

namespace nereid::codegen::test {
namespace {

/// Multiplies in a loop, which loop strength reduction turns into an addition.
const char *const stridedLoop = R"(
define void @strided(ptr %p, i64 %stride, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul i64 %i, %stride
  %at = getelementptr i8, ptr %p, i64 %offset
  store i8 1, ptr %at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
)";

bool multiplies(const std::string &assembly) { return assembly.find("imul") != std::string::npos; }

TEST(Emission, LeavesOutWhatItIsTold) {
  static constexpr const char *disabledPasses[] = {"loop-reduce", "no-such-pass"};
  EXPECT_FALSE(multiplies(x86Assembly(stridedLoop)));
  EXPECT_TRUE(multiplies(x86Assembly(stridedLoop, {disabledPasses, {}})));
  EXPECT_FALSE(multiplies(x86Assembly(stridedLoop)));
}

/// What the CPU target makes of the loop.
std::string cpuAssembly() {
  cpu::CodeGenerator generator(*cpu::parseMachine("x86-64-v4"));
  Diagnostics diags;
  std::string text;
  auto code = generator.parse(
      std::string("target triple = \"x86_64-unknown-linux-gnu\"\n") + stridedLoop, "loop", diags);
  EXPECT_TRUE(code && generator.emitAssembly(*code, text, diags)) << diags.render();
  return text;
}

TEST(Emission, ASecondMachineSeesTheDefaultsBesideTheCpuTarget) {
  const std::string before = x86Assembly(stridedLoop);
  EXPECT_TRUE(multiplies(cpuAssembly())) << "the CPU target reduces addresses itself";
  EXPECT_EQ(x86Assembly(stridedLoop), before);
  auto &options = llvm::cl::getRegisteredOptions();
  for (const char *name : {"disable-lsr", "disable-post-ra", "disable-x86-domain-reassignment"}) {
    EXPECT_FALSE(static_cast<llvm::cl::opt<bool> *>(options.lookup(name))->getValue()) << name;
  }
  EXPECT_EQ(options.lookup("enable-misched")->getNumOccurrences(), 0);
  EXPECT_EQ(optionValue("grow-region-complexity-budget"), 10000u);
  EXPECT_EQ(optionValue("cgpp-huge-func"), 10000u);
}

} // namespace
} // namespace nereid::codegen::test
