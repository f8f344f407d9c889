// SPDX-License-Identifier: Apache-2.0
// Configs, heuristics and options read from the source, and the signatures they complete.
#include "lib/language/host/KernelDecorators.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

namespace nereid::language {
namespace {

struct File {
  explicit File(const std::string &text) {
    Diagnostics diags;
    module =
        parseModule("kernel.py", "import triton\nimport triton.language as tl\n" + text, diags);
    EXPECT_TRUE(module) << diags.render();
    decorators = readDecorators(*module, kernel());
  }
  const FunctionDef &kernel() const { return *module->find("k"); }
  /// The completed signature, or the error's code.
  std::string complete(const std::string &signature) const {
    Result<Specialization> special = specialize(signature, *module, kernel(), decorators);
    return special ? special->signature.text() : special.error().code;
  }
  std::optional<SourceModule> module;
  KernelDecorators decorators;
};

const std::string body = "@triton.jit\ndef k(x, n, BLOCK: tl.constexpr, FLAG: tl.constexpr):\n"
                         "    tl.store(x, n)\n";

TEST(Decorators, configsOfAList) {
  File file("@triton.autotune(configs=[triton.Config({'BLOCK': 128}, num_warps=8),\n"
            "    triton.Config({'BLOCK': 256, 'FLAG': True}, num_stages=2, pre_hook=zero)],\n"
            "    key=['n'], reset_to_zero=['x'], restore_value=['x', 'n'])\n" +
            body);
  ASSERT_EQ(file.decorators.configs.size(), 2u);
  EXPECT_EQ(file.decorators.configs[0].text(), "BLOCK=128,num_warps=8,num_stages=3");
  EXPECT_EQ(file.decorators.configs[1].text(), "BLOCK=256,FLAG=True,num_warps=4,num_stages=2");
  EXPECT_TRUE(file.decorators.configs[1].hasPreHook);
  EXPECT_EQ(file.decorators.key, std::vector<std::string>{"n"});
  EXPECT_EQ(file.decorators.resetToZero, std::vector<std::string>{"x"});
  EXPECT_EQ(file.decorators.restoreValue, (std::vector<std::string>{"x", "n"}));
  EXPECT_EQ(file.complete("x=*fp32, n=i32, FLAG=False"),
            "x=*fp32,n=i32,BLOCK=128,FLAG=False,num_warps=8");
  EXPECT_EQ(file.complete("*fp32, i32, 64, True"), "x=*fp32,n=i32,BLOCK=64,FLAG=True,num_warps=8");
  EXPECT_EQ(file.complete("x=*fp32, n=i32"), "E0206");
}

TEST(Decorators, configsOfAComprehensionAndOfAFunction) {
  File comprehension("SIZES = [32, 64]\n"
                     "@triton.autotune([triton.Config({'BLOCK': b * 2}, num_warps=w)\n"
                     "    for b in SIZES for w in (1, 2) if b * w < 128], key=[])\n" +
                     body);
  ASSERT_EQ(comprehension.decorators.configs.size(), 3u);
  EXPECT_EQ(comprehension.decorators.configs[2].text(), "BLOCK=128,num_warps=1,num_stages=3");
  File function("def configs():\n    found = []\n    size = 16\n    while size <= 64:\n"
                "        if size != 32:\n            found.append(triton.Config({'BLOCK': size}))\n"
                "        size *= 2\n    return found\n"
                "@triton.autotune(configs=configs(), key=['n'])\n" +
                body);
  ASSERT_EQ(function.decorators.configs.size(), 2u);
  EXPECT_EQ(function.decorators.configs[1].text(), "BLOCK=64,num_warps=4,num_stages=3");
}

TEST(Decorators, heuristicsSeeTheSignature) {
  File file("@triton.heuristics({'FLAG': lambda args: args['x'] is not None,\n"
            "    'BLOCK': lambda args: triton.next_power_of_2(100)})\n" +
            body);
  EXPECT_EQ(file.complete("x=*fp32, n=i32"), "x=*fp32,n=i32,BLOCK=128,FLAG=True");
  EXPECT_EQ(file.complete("x=None, n=i32"), "x=None,n=i32,BLOCK=128,FLAG=False");
  EXPECT_EQ(file.complete("x=None, n=i32, FLAG=True"), "x=None,n=i32,BLOCK=128,FLAG=True");
}

TEST(Decorators, aHeuristicOfRunTimeValuesIsMissed) {
  File file("@triton.heuristics({'BLOCK': lambda args: triton.next_power_of_2(args['n'])})\n" +
            body);
  EXPECT_EQ(file.complete("x=*fp32, n=i32, FLAG=True"), "E0206");
}

TEST(Decorators, unknownOnesAreRemarked) {
  File file("@libentry()\n@triton.autotune(configs=elsewhere('k'), key=[])\n"
            "@triton.jit(do_not_specialize=['n'], noinline=True, shiny=1)\n" +
            body.substr(body.find("def")));
  std::vector<std::string> codes;
  for (const Diagnostic &remark : file.decorators.remarks.all()) {
    EXPECT_EQ(remark.severity, Severity::Remark);
    codes.push_back(remark.code);
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"R0202", "R0203", "R0202"}));
  EXPECT_EQ(file.decorators.doNotSpecialize, std::vector<std::string>{"n"});
  EXPECT_TRUE(file.decorators.isNoinline);
}

TEST(Decorators, theSpecializationInForce) {
  File file("@triton.autotune([triton.Config({'BLOCK': 128})], key=[])\n" + body);
  Result<Specialization> special =
      specialize("x=*fp32, n=i32, FLAG=True", *file.module, file.kernel(), file.decorators);
  ASSERT_TRUE(special);
  EXPECT_EQ(special->text("k"), "specialization of 'k': x=*fp32,n=i32,BLOCK=128,FLAG=True\n"
                                "  BLOCK = 128: the one config of triton.autotune\n"
                                "  config BLOCK=128,num_warps=4,num_stages=3\n");
}

TEST(Decorators, optionsOfTheConfigAreTakenUnlessGiven) {
  File file("@triton.autotune([triton.Config({'BLOCK': 128}, num_warps=8, num_stages=3,\n"
            "    num_ctas=2, maxnreg=64)], key=[])\n" +
            body);
  EXPECT_EQ(file.complete("x=*fp32, n=i32, FLAG=True"),
            "x=*fp32,n=i32,BLOCK=128,FLAG=True,num_warps=8,num_ctas=2,maxnreg=64");
  EXPECT_EQ(file.complete("x=*fp32, n=i32, FLAG=True, num_warps=4, maxnreg=255"),
            "x=*fp32,n=i32,BLOCK=128,FLAG=True,num_warps=4,num_ctas=2,maxnreg=255");
  EXPECT_EQ(file.decorators.configs[0].text(),
            "BLOCK=128,num_warps=8,num_stages=3,num_ctas=2,maxnreg=64");
  File unset("@triton.autotune([triton.Config({'BLOCK': 128}, maxnreg=None)], key=[])\n" + body);
  EXPECT_EQ(unset.complete("x=*fp32, n=i32, FLAG=True"), "x=*fp32,n=i32,BLOCK=128,FLAG=True");
}

TEST(Decorators, aParameterWithTheNameOfAnOptionTakesTheConfigs) {
  File file("@triton.autotune([triton.Config({}, num_warps=8)], key=[])\n"
            "@triton.jit\ndef k(x, num_warps: tl.constexpr, num_stages: tl.constexpr):\n"
            "    tl.store(x, num_warps)\n");
  EXPECT_EQ(file.complete("*fp32"), "x=*fp32,num_warps=8,num_stages=3");
  EXPECT_EQ(file.complete("*fp32, 2"), "x=*fp32,num_warps=2,num_stages=3");
}

TEST(Decorators, heuristicsComeAfterTheConfig) {
  File file("@triton.autotune([triton.Config({'BLOCK': 128}, num_warps=8, num_stages=5)], key=[])\n"
            "@triton.heuristics({'num_warps': lambda args: 4 if args['BLOCK'] == 128 else 1})\n" +
            body);
  EXPECT_EQ(file.complete("*fp32, i32, FLAG=True"),
            "x=*fp32,n=i32,BLOCK=128,FLAG=True,num_stages=5");
  EXPECT_EQ(file.complete("*fp32, i32, 64, True"),
            "x=*fp32,n=i32,BLOCK=64,FLAG=True,num_warps=1,num_stages=5");
  File wrong("@triton.heuristics({'num_warps': lambda args: 5})\n" + body);
  EXPECT_EQ(wrong.complete("*fp32, i32, 64, True"), "E0235");
}

TEST(Decorators, aConfigThatCannotBeIsAnErrorWhereItIsUsed) {
  File file("@triton.autotune([triton.Config({'BLOCK': 128}, num_warps=6),\n"
            "    triton.Config({'BLOCK': 64}, num_warps=4)], key=[])\n" +
            body);
  Result<Specialization> special =
      specialize("x=*fp32, n=i32, FLAG=True", *file.module, file.kernel(), file.decorators);
  ASSERT_FALSE(special);
  EXPECT_EQ(special.error().code, "E0235");
  EXPECT_EQ(special.error().file, "kernel.py");
  EXPECT_EQ(special.error().range.line, 3);
  EXPECT_EQ(special.error().range.column, 19);
  File second("@triton.autotune([triton.Config({'BLOCK': 64}),\n"
              "    triton.Config({'BLOCK': 128}, num_warps=6)], key=[])\n" +
              body);
  EXPECT_EQ(second.complete("x=*fp32, n=i32, FLAG=True"), "x=*fp32,n=i32,BLOCK=64,FLAG=True");
}

TEST(Decorators, optionsThatNothingKnowsAreRemarkedOnce) {
  File file("@triton.autotune([triton.Config({'BLOCK': b, 'waves_per_eu': 2}, num_buffers=3)\n"
            "    for b in (64, 128)], key=[])\n" +
            body);
  std::vector<std::string> messages;
  for (const Diagnostic &remark : file.decorators.remarks.all()) {
    EXPECT_EQ(remark.code, "R0202");
    EXPECT_EQ(remark.range.line, 3);
    messages.push_back(remark.message);
  }
  EXPECT_EQ(messages,
            (std::vector<std::string>{
                "the option 'num_buffers' of triton.Config is not known and has no effect",
                "the option 'waves_per_eu' of triton.Config is not known and has no effect"}));
}

TEST(Decorators, aLoopWithoutEndIsGivenUp) {
  File file("def forever():\n    x = 1\n    while True:\n        x += 1\n    return [x]\n"
            "@triton.autotune(configs=forever(), key=[])\n" +
            body);
  EXPECT_TRUE(file.decorators.configs.empty());
}

TEST(Decorators, tuplesAndNamesInSignatures) {
  File file(body);
  EXPECT_EQ(file.complete("*fp32, i32, (4, (2, 1.5), 'a'), tl.maximum"),
            "x=*fp32,n=i32,BLOCK=(4, (2, 1.5), 'a'),FLAG=tl.maximum");
  EXPECT_EQ(file.complete("*fp32, i32, (4,), 1"), "x=*fp32,n=i32,BLOCK=(4,),FLAG=1");
  EXPECT_EQ(file.complete("*fp32, i32, (4, 1"), "E0207");
  EXPECT_EQ(file.complete("*fp32, i32, (4,,), 1"), "E0207");
}

TEST(Decorators, aKernelOfBothBranchesIsTheOneThatTheConditionChooses) {
  auto chosen = [](const std::string &condition) {
    Diagnostics diags, remarks;
    std::optional<SourceModule> module =
        parseModule("kernel.py",
                    "import sys\nimport torch\nimport triton\nif " + condition +
                        ":\n    @triton.jit\n    def k(first):\n        pass\n"
                        "else:\n    @triton.jit\n    def k(other):\n        pass\n",
                    diags);
    EXPECT_TRUE(module) << diags.render();
    const FunctionDef *kernel = kernelNamed(*module, "k", remarks);
    return kernel->params[0].name + (remarks.all().empty() ? "" : " " + remarks.all()[0].code);
  };
  EXPECT_EQ(chosen("sys.platform == 'linux'"), "first");
  EXPECT_EQ(chosen("sys.platform == 'win32'"), "other");
  EXPECT_EQ(chosen("torch.cuda.device_count() > 3"), "first R0204");
  EXPECT_EQ(chosen("some_function()"), "first R0204");
}

TEST(Decorators, aPlainFunctionYieldsToAKernel) {
  Diagnostics diags, remarks;
  std::optional<SourceModule> module =
      parseModule("kernel.py",
                  "import triton\nif unknown():\n    def k(plain):\n        pass\n"
                  "else:\n    @triton.jit\n    def k(kernel):\n        pass\n"
                  "try:\n    @triton.jit\n    def t(body):\n        pass\n"
                  "except Exception:\n    @triton.jit\n    def t(handler):\n        pass\n"
                  "if False:\n    @triton.jit\n    def g(gpu):\n        pass\n",
                  diags);
  ASSERT_TRUE(module) << diags.render();
  EXPECT_EQ(kernelNamed(*module, "k", remarks)->params[0].name, "kernel");
  EXPECT_EQ(kernelNamed(*module, "t", remarks)->params[0].name, "body");
  EXPECT_EQ(kernelNamed(*module, "g", remarks)->params[0].name, "gpu");
  EXPECT_EQ(kernelNamed(*module, "nothing", remarks), nullptr);
}

TEST(Decorators, configsBehindAnOpenConditionAreRemarked) {
  const std::string configs = "    configs = [triton.Config({'BLOCK': 64})]\nelse:\n"
                              "    configs = [triton.Config({'BLOCK': 32})]\n"
                              "@triton.autotune(configs=configs, key=['n'])\n";
  File open("if is_large_chip():\n" + configs + body);
  ASSERT_EQ(open.decorators.configs.size(), 1u);
  EXPECT_EQ(open.decorators.configs[0].text(), "BLOCK=64,num_warps=4,num_stages=3");
  ASSERT_EQ(open.decorators.remarks.all().size(), 1u) << open.decorators.remarks.render();
  EXPECT_EQ(open.decorators.remarks.all()[0].code, "R0204");
  EXPECT_EQ(open.decorators.remarks.all()[0].range.line, 3);
  File decided("if 1 > 2:\n" + configs + body);
  EXPECT_EQ(decided.decorators.configs[0].text(), "BLOCK=32,num_warps=4,num_stages=3");
  EXPECT_TRUE(decided.decorators.remarks.all().empty());
  File only("configs = []\nif is_large_chip():\n    configs = [triton.Config({'BLOCK': 64})]\n"
            "@triton.autotune(configs=configs, key=['n'])\n" +
            body);
  EXPECT_EQ(only.decorators.configs.size(), 1u);
}

TEST(Decorators, aConstexprIsAlwaysSpecializedFor) {
  auto complete = [](const std::string &listed, const std::string &option = "") {
    return File("@triton.jit(do_not_specialize" + option + "=[" + listed +
                "])\ndef k(x, n, BLOCK: tl.constexpr):\n    pass\n")
        .complete("*fp32,i32,8");
  };
  EXPECT_EQ(complete("'n', 'x'"), "x=*fp32,n=i32,BLOCK=8");
  EXPECT_EQ(complete("0, 1"), "x=*fp32,n=i32,BLOCK=8");
  EXPECT_EQ(complete("'n', 'BLOCK'"), "E0234");
  EXPECT_EQ(complete("2"), "E0234");
  EXPECT_EQ(complete("1", "_on_alignment"), "x=*fp32,n=i32,BLOCK=8");
  EXPECT_EQ(complete("'BLOCK'", "_on_alignment"), "E0234");
}

TEST(Decorators, mustUseResultIsKnown) {
  File file("@triton.must_use_result('why')\n" + body);
  EXPECT_TRUE(file.decorators.remarks.all().empty()) << file.decorators.remarks.render();
}

} // namespace
} // namespace nereid::language
