// SPDX-License-Identifier: Apache-2.0
// Decorators applied by a call give the kernels that the decorator syntax gives.
#include "lib/language/host/KernelDecorators.h"
#include "unittests/language/Dump.h"

#include <gtest/gtest.h>

namespace nereid::language {
namespace {

const char *const body = "def f(x, n, BLOCK: tl.constexpr):\n    tl.store(x + n, BLOCK)\n";

SourceModule parsed(const std::string &text) {
  Diagnostics diags;
  std::optional<SourceModule> module = parseModule("k.py", text, diags);
  EXPECT_TRUE(module) << diags.render();
  return std::move(*module);
}

TEST(WrappedKernels, JitByAssignment) {
  SourceModule module = parsed(std::string(body) + "kernel = triton.jit(f)\n");
  EXPECT_EQ(module.jitFunctions(), std::vector<std::string>{"kernel"});
  const FunctionDef *kernel = module.find("kernel");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->params.size(), 3u);
  EXPECT_EQ(dump(kernel->body), dump(module.find("f")->body));
  EXPECT_FALSE(module.find("f")->isJit());
}

TEST(WrappedKernels, UnderItsOwnNameInSteps) {
  SourceModule module = parsed(std::string(body) +
                               "f = triton.jit(f)\n"
                               "f = triton.heuristics({'BLOCK': lambda args: args['n'] * 2})(f)\n");
  const FunctionDef *kernel = module.find("f");
  ASSERT_TRUE(kernel && kernel->isJit());
  KernelDecorators decorators = readDecorators(module, *kernel);
  ASSERT_EQ(decorators.heuristics.size(), 1u);
  EXPECT_EQ(decorators.heuristics[0].first, "BLOCK");
}

TEST(WrappedKernels, EachWrapHasItsOwnConfigs) {
  SourceModule module = parsed(
      "@triton.jit\n" + std::string(body) +
      "small = triton.autotune(configs=[triton.Config({'BLOCK': 16})], key=['n'])(f)\n"
      "large = triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=['n'])(f)\n"
      "both = triton.autotune(configs=[triton.Config({'BLOCK': 32})], key=[])(triton.jit(f))\n");
  EXPECT_EQ(module.jitFunctions(), (std::vector<std::string>{"f", "small", "large", "both"}));
  for (auto [name, config] : {std::pair("small", "BLOCK=16,num_warps=4,num_stages=3"),
                              std::pair("large", "BLOCK=64,num_warps=4,num_stages=3"),
                              std::pair("both", "BLOCK=32,num_warps=4,num_stages=3")}) {
    KernelDecorators decorators = readDecorators(module, *module.find(name));
    ASSERT_EQ(decorators.configs.size(), 1u) << name;
    EXPECT_EQ(decorators.configs[0].text(), config);
  }
  EXPECT_TRUE(readDecorators(module, *module.find("f")).configs.empty());
}

TEST(WrappedKernels, OptionsAndBranches) {
  SourceModule module = parsed(std::string(body) + "if X:\n    a = triton.jit(f, noinline=True)\n"
                                                   "try:\n    b = jit(f)\nexcept E:\n    pass\n");
  EXPECT_EQ(module.jitFunctions(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(readDecorators(module, *module.find("a")).isNoinline);
  EXPECT_FALSE(readDecorators(module, *module.find("b")).isNoinline);
}

TEST(WrappedKernels, OtherCallsStayAssignments) {
  for (const char *text : {"kernel = numba.jit(f)\n", "kernel = triton.jit(g)\n",
                           "kernel = wrap(f)\n", "kernel = triton.jit(f, g)\n",
                           "kernel = triton.autotune(configs=[])(f)\n", "kernel = f\n"}) {
    SourceModule module = parsed(std::string(body) + text);
    EXPECT_TRUE(module.jitFunctions().empty()) << text;
    EXPECT_FALSE(module.find("kernel")) << text;
  }
}

} // namespace
} // namespace nereid::language
