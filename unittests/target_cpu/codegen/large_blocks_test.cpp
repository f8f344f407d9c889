// SPDX-License-Identifier: Apache-2.0
// Which functions leave splats where they are, seen by what is asked of the code generator, and
// that it understands it: a sum with a splat takes the number from a scalar register, or does not.
#include "lib/targets/cpu/codegen/Codegen.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::cpu {
namespace {

/// A loop that adds a splat made in front of it, `additions` times.
std::string loopOf(int additions) {
  std::string text = R"(target triple = "riscv64-unknown-linux-gnu"
define void @kernel(ptr %p, i32 %x, i32 %n) {
entry:
  %first = insertelement <4 x i32> poison, i32 %x, i64 0
  %splat = shufflevector <4 x i32> %first, <4 x i32> poison, <4 x i32> zeroinitializer
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s0 = load <4 x i32>, ptr %p
)";
  for (int i = 1; i <= additions; ++i) {
    text +=
        "  %s" + std::to_string(i) + " = add <4 x i32> %s" + std::to_string(i - 1) + ", %splat\n";
  }
  return text + "  store <4 x i32> %s" + std::to_string(additions) + R"(, ptr %p
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
)";
}

std::string assemblyOf(int additions) {
  CodeGenerator generator(*parseMachine("rv64gcv"));
  Diagnostics diags;
  std::string text;
  auto code = generator.parse(loopOf(additions), "loop.ll", diags);
  EXPECT_TRUE(code && generator.emitAssembly(*code, text, diags)) << diags.render();
  return text;
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

TEST(LargeBlocks, SplatsGoToTheirUsersInSmallOnes) {
  const std::string text = assemblyOf(4);
  EXPECT_TRUE(contains(text, "vadd.vx")) << text;
  EXPECT_FALSE(contains(text, "vadd.vv")) << text;
}

TEST(LargeBlocks, SplatsStayInFrontOfLargeOnes) {
  const std::string text = assemblyOf(2000);
  EXPECT_TRUE(contains(text, "vadd.vv"));
  EXPECT_FALSE(contains(text, "vadd.vx"));
}

} // namespace
} // namespace nereid::cpu
