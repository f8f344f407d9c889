// SPDX-License-Identifier: Apache-2.0
// LLVM IR that its code generator for NVIDIA GPUs ends the process for, or compiles to something
// else without a word, does not reach it; what it compiles does.
#include "lib/targets/nvidia/codegen/PtxGenerator.h"
#include "unittests/target_nvidia/Ptx.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

constexpr const char *head = "target triple = \"nvptx64-nvidia-cuda\"\n";

/// What is refused of a module; else it must become PTX.
std::string refusalOfModule(const std::string &lines, const std::string &architecture) {
  PtxGenerator generator(*parseNvidiaMachine(architecture));
  Diagnostics diags;
  auto code = generator.parse(head + lines, "k.ll", diags);
  EXPECT_TRUE(code) << diags.render();
  if (!code) {
    return {};
  }
  std::string why = generator.refusalOf(*code), ptx;
  if (why.empty()) {
    EXPECT_TRUE(generator.emitPtx(*code, ptx, diags)) << diags.render();
    EXPECT_EQ(complaintOfPtxas(ptx, architecture), "") << lines;
  }
  return why;
}

/// Of a kernel with these lines; `more` stands behind it.
std::string refusalOf(const std::string &lines, const std::string &more = "",
                      const std::string &architecture = "sm_80") {
  return refusalOfModule(
      "define void @k(ptr addrspace(1) %p, i32 %i, float %f, half %h, i128 %w) {\n" + lines +
          "\n  ret void\n}\n" + more + "\n",
      architecture);
}

/// `what` of function 'k', and the words `why` in the reason.
void expectRefused(const std::string &what, const std::string &why, const std::string &lines,
                   const std::string &more = "", const std::string &architecture = "sm_80") {
  const std::string text = refusalOf(lines, more, architecture);
  EXPECT_EQ(
      text.rfind("no code can be made for " + architecture + " of '" + what + "' of function 'k': ",
                 0),
      0U)
      << lines << "\n"
      << text;
  EXPECT_NE(text.find(why), std::string::npos) << lines << "\n" << text;
}

} // namespace

TEST(NvidiaLegalCode, FencesDoNotEndTheProcess) {
  for (const char *order : {"acquire", "release", "acq_rel", "seq_cst"}) {
    expectRefused("fence", "inline assembly", std::string("  fence ") + order);
    expectRefused("fence", "inline assembly", std::string("  fence syncscope(\"block\") ") + order);
  }
  EXPECT_EQ(refusalOf("  call void asm sideeffect \"fence.acq_rel.gpu;\", \"~{memory}\"()"), "");
}

TEST(NvidiaLegalCode, AtomicsDoNotLoseOrderAndScope) {
  const std::string add = "  %a = atomicrmw add ptr addrspace(1) %p, i32 %i ";
  const std::string swap = "  %a = cmpxchg ptr addrspace(1) %p, i32 %i, i32 0 ";
  for (const char *order :
       {"acquire", "release", "acq_rel", "seq_cst", "syncscope(\"device\") acq_rel", "monotonic",
        "syncscope(\"block\") monotonic"}) {
    expectRefused("atomicrmw", "order and scope", add + order);
  }
  expectRefused("cmpxchg", "order and scope", swap + "seq_cst seq_cst");
  expectRefused("cmpxchg", "order and scope", swap + "syncscope(\"device\") monotonic acquire");
  EXPECT_EQ(refusalOf(add + "syncscope(\"device\") monotonic"), "");
  const std::string shared = "@s = external addrspace(3) global [0 x i8], align 16";
  const std::string count = "  %a = atomicrmw add ptr addrspace(3) @s, i32 %i ";
  EXPECT_EQ(refusalOf(count + "monotonic", shared), "");
  expectRefused("atomicrmw", "order and scope", count + "acq_rel", shared);
  EXPECT_EQ(refusalOf(swap + "syncscope(\"device\") monotonic monotonic"), "");
}

TEST(NvidiaLegalCode, LoadsAndStoresWithAnOrderDoNotEndTheProcess) {
  expectRefused("load", "order", "  %a = load atomic i32, ptr addrspace(1) %p acquire, align 4");
  expectRefused("load", "order", "  %a = load atomic i32, ptr addrspace(1) %p seq_cst, align 4");
  expectRefused("store", "order", "  store atomic i32 %i, ptr addrspace(1) %p release, align 4");
  EXPECT_EQ(refusalOf("  %a = load atomic i32, ptr addrspace(1) %p monotonic, align 4\n"
                      "  store atomic i32 %a, ptr addrspace(1) %p monotonic, align 4"),
            "");
}

TEST(NvidiaLegalCode, RemaindersOfFloatsAreNotWrong) {
  expectRefused("frem", "would be wrong", "  %a = frem float %f, 3.0");
  EXPECT_EQ(refusalOf("  %a = srem i32 %i, 3\n  %b = fdiv float %f, 3.0"), "");
}

TEST(NvidiaLegalCode, FunctionsWithoutCodeDoNotEndTheProcess) {
  for (const char *name : {"exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan",
                           "asin", "sinh", "tanh", "canonicalize"}) {
    const std::string function = std::string("llvm.") + name + ".f32";
    expectRefused(function, "no code", "  %a = call float @" + function + "(float %f)",
                  "declare float @" + function + "(float)");
  }
  for (const char *name : {"exp2", "sin", "pow", "canonicalize", "round", "copysign"}) {
    const std::string function = std::string("llvm.") + name + ".f16";
    const bool isOfTwo = std::string(name) == "pow" || std::string(name) == "copysign";
    const std::string more = isOfTwo ? ", half %h" : "", type = isOfTwo ? "half, half" : "half";
    expectRefused(function, "", "  %a = call half @" + function + "(half %h" + more + ")",
                  "declare half @" + function + "(" + type + ")");
  }
  expectRefused("llvm.lrint.i64.f32", "no code", "  %a = call i64 @llvm.lrint.i64.f32(float %f)",
                "declare i64 @llvm.lrint.i64.f32(float)");
  for (const char *name :
       {"floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "sqrt", "fabs"}) {
    const std::string function = std::string("llvm.") + name + ".f32";
    EXPECT_EQ(refusalOf("  %a = call float @" + function +
                            "(float %f)\n  store float %a, ptr addrspace(1) %p",
                        "declare float @" + function + "(float)"),
              "");
  }
}

TEST(NvidiaLegalCode, FunctionsThatNobodyHasAreNotLeftToTheDriver) {
  expectRefused("__nv_expf", "no function of that name", "  %a = call float @__nv_expf(float %f)",
                "declare float @__nv_expf(float)");
  EXPECT_EQ(refusalOf("  %a = call i32 @vprintf(ptr null, ptr null)\n"
                      "  call void @helper()",
                      "declare i32 @vprintf(ptr, ptr)\n"
                      "define internal void @helper() {\n  ret void\n}"),
            "");
}

TEST(NvidiaLegalCode, InstructionsOfNewerArchitecturesDoNotEndTheProcess) {
  const std::string more = "declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)\n"
                           "declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()";
  const std::string registers = "  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 232)";
  expectRefused("llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", "sm_90", registers, more);
  expectRefused("llvm.nvvm.read.ptx.sreg.cluster.ctarank", "sm_90",
                "  %a = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()", more);
  EXPECT_EQ(refusalOf("  %a = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()\n"
                      "  store i32 %a, ptr addrspace(1) %p",
                      more, "sm_90a"),
            "");
}

TEST(NvidiaLegalCode, TypesThatPtxLacksDoNotEndTheProcess) {
  expectRefused("sitofp", "no code", "  %a = sitofp i128 %w to float");
  expectRefused("fptoui", "no code", "  %a = fptoui float %f to i128");
  expectRefused("fpext", "floats of that many bits", "  %a = fpext float %f to fp128");
  expectRefused("addrspacecast", "no code",
                "  %a = addrspacecast ptr addrspace(1) %p to ptr addrspace(101)");
  expectRefused("alloca", "known when it is compiled", "  %a = alloca i8, i32 %i, align 1");
  EXPECT_EQ(refusalOf("  %a = add i128 %w, 3\n  store i128 %a, ptr addrspace(1) %p, align 16"), "");
}

TEST(NvidiaLegalCode, CopiesOfBulksDoNotEndTheProcess) {
  const std::string more = "declare void @llvm.nvvm.cp.async.bulk.commit.group()\n"
                           "declare void @llvm.nvvm.cp.async.bulk.wait.group(i32 immarg)\n"
                           "declare void @llvm.nvvm.cp.async.commit.group()";
  const std::string commit = "  call void @llvm.nvvm.cp.async.bulk.commit.group()";
  const std::string wait = "  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)";
  expectRefused("llvm.nvvm.cp.async.bulk.commit.group", "sm_90", commit, more);
  expectRefused("llvm.nvvm.cp.async.bulk.wait.group", "sm_90", wait, more, "sm_89");
  EXPECT_EQ(refusalOf(commit + "\n" + wait, more, "sm_90a"), "");
  EXPECT_EQ(refusalOf("  call void @llvm.nvvm.cp.async.commit.group()", more), "");
}

TEST(NvidiaLegalCode, ExtremaOfSignsDoNotEndTheProcess) {
  for (const std::string function :
       {"llvm.nvvm.fmax.xorsign.abs.f", "llvm.nvvm.fmin.nan.xorsign.abs.f"}) {
    const std::string more = "declare float @" + function + "(float, float)";
    const std::string call = "  %a = call float @" + function +
                             "(float %f, float 1.0)\n  store float %a, ptr addrspace(1) %p";
    expectRefused(function, "sm_86", call, more);
    EXPECT_EQ(refusalOf(call, more, "sm_86"), "");
    EXPECT_EQ(refusalOf(call, more, "sm_90a"), "");
  }
}

TEST(NvidiaLegalCode, CastsBetweenTwoSpacesDoNotEndTheProcess) {
  expectRefused("addrspacecast", "cast twice",
                "  %a = addrspacecast ptr addrspace(1) %p to ptr addrspace(3)\n"
                "  store i32 1, ptr addrspace(3) %a");
  EXPECT_EQ(refusalOf("  %a = addrspacecast ptr addrspace(1) %p to ptr\n"
                      "  %b = addrspacecast ptr %a to ptr addrspace(3)\n"
                      "  store i32 1, ptr addrspace(3) %b"),
            "");
}

TEST(NvidiaLegalCode, ConstantCastsBetweenTwoSpacesDoNotEndTheProcess) {
  const std::string cast = "addrspacecast (ptr addrspace(1) @g to ptr addrspace(3))";
  const std::string more = "@g = addrspace(1) global i32 0";
  expectRefused("store", "cast twice", "  store i32 0, ptr addrspace(3) " + cast, more);
  const std::string text =
      refusalOf("", more + "\n@h = addrspace(1) global ptr addrspace(3) " + cast);
  EXPECT_NE(text.find("of the variable 'h': "), std::string::npos) << text;
}

TEST(NvidiaLegalCode, AtomicsOfWideIntegersAreNotCallsThatNobodyHas) {
  const std::string why = "more than 64 bits";
  expectRefused("load", why, "  %a = load atomic i128, ptr addrspace(1) %p monotonic, align 16");
  expectRefused("store", why, "  store atomic i128 %w, ptr addrspace(1) %p monotonic, align 16");
  expectRefused(
      "atomicrmw", why,
      "  %a = atomicrmw xchg ptr addrspace(1) %p, i128 %w syncscope(\"device\") monotonic");
  expectRefused("cmpxchg", why,
                "  %a = cmpxchg ptr addrspace(1) %p, i128 %w, i128 0 syncscope(\"device\") "
                "monotonic monotonic");
}

TEST(NvidiaLegalCode, GlobalsThatPtxLacksDoNotEndTheProcess) {
  const std::string store = "  store i32 0, ptr addrspace(1) @g";
  const auto expectGlobal = [&](const std::string &what, const std::string &why,
                                const std::string &lines, const std::string &more) {
    const std::string text = refusalOf(lines, more);
    EXPECT_NE(text.find("of " + what + ": "), std::string::npos) << more << "\n" << text;
    EXPECT_NE(text.find(why), std::string::npos) << more << "\n" << text;
  };
  expectGlobal("the variable 'g'", "alloca", store, "@g = thread_local addrspace(1) global i32 0");
  expectGlobal("the other name 'h'", "name that", store,
               "@g = addrspace(1) global i32 0\n@h = alias i32, ptr addrspace(1) @g");
  expectGlobal("the variable 'llvm.global_ctors'", "in a kernel", "",
               "define internal void @first() {\n  ret void\n}\n"
               "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
               "[{ i32, ptr, ptr } { i32 0, ptr @first, ptr null }]");
  expectGlobal("the variable 'g'", "name itself", store,
               "@g = addrspace(1) global ptr addrspace(1) @g");
  expectGlobal("the variable 'g'", "name itself", store,
               "@g = addrspace(1) global ptr addrspace(1) @h\n"
               "@h = addrspace(1) global { i32, ptr addrspace(1) } { i32 1, ptr addrspace(1) @g }");
  EXPECT_EQ(refusalOf(store, "@g = addrspace(1) global i32 0\n"
                             "@h = addrspace(1) global ptr addrspace(1) @g\n"
                             "@l = addrspace(1) global [2 x ptr addrspace(1)] "
                             "[ptr addrspace(1) @g, ptr addrspace(1) @g]"),
            "");
}

TEST(NvidiaLegalCode, ParametersByValueAreNotCopied) {
  const std::string kernel = "define void @k(ptr byval([128 x i8]) align 64 %map, "
                             "ptr addrspace(1) %p) {\n"
                             "  %a = ptrtoint ptr %map to i64\n"
                             "  store i64 %a, ptr addrspace(1) %p\n"
                             "  ret void\n}\n";
  const std::string text = refusalOfModule(kernel, "sm_90a");
  EXPECT_NE(text.find("of parameter 0 of function 'k': passed by value"), std::string::npos)
      << text;
  EXPECT_EQ(refusalOfModule(kernel + "!nvvm.annotations = !{!0, !1}\n"
                                     "!0 = !{ptr @k, !\"kernel\", i32 1}\n"
                                     "!1 = !{ptr @k, !\"grid_constant\", !2}\n!2 = !{i32 1}\n",
                            "sm_90a"),
            "");
}

TEST(NvidiaLegalCode, SizesOfClustersAreThreeNumbersAndOfArchitecturesThatHaveThem) {
  const auto refusal = [](const std::string &sizes, const char *architecture) {
    return refusalOfModule(
        "define void @k() \"nvvm.cluster_dim\"=\"" + sizes + "\" {\n  ret void\n}\n", architecture);
  };
  EXPECT_EQ(refusal("2,1,1", "sm_90a"), "");
  EXPECT_EQ(refusal("4,2,2", "sm_90a"), "");
  for (const char *sizes :
       {"", "2", "2,1", "2,1,1,1", "0,1,1", "17,1,1", "4,4,2", "two,1,1", "-1,1,1"}) {
    const std::string text = refusal(sizes, "sm_90a");
    EXPECT_NE(text.find("of the size of clusters of function 'k': it is three"), std::string::npos)
        << sizes << ": " << text;
  }
  const std::string text = refusal("2,1,1", "sm_80");
  EXPECT_NE(text.find("clusters exist from sm_90 on"), std::string::npos) << text;
}

TEST(NvidiaLegalCode, SharedMemoryDoesNotLoseItsContents) {
  const std::string lines = "  store i32 0, ptr addrspace(3) @s";
  const std::string text =
      refusalOf(lines, "@s = internal addrspace(3) global i32 zeroinitializer");
  EXPECT_NE(text.find("of the contents of 's'"), std::string::npos) << text;
  EXPECT_EQ(refusalOf(lines, "@s = internal addrspace(3) global i32 undef"), "");
  EXPECT_EQ(refusalOf(lines, "@s = external addrspace(3) global [0 x i8], align 16"), "");
}

TEST(NvidiaLegalCode, NamesStayAsTheyAre) {
  const std::string text = refusalOfModule("define void @\"a.b\"() {\n  ret void\n}\n", "sm_80");
  EXPECT_NE(text.find("of the name of function 'a.b'"), std::string::npos) << text;
  EXPECT_EQ(refusalOfModule("define void @a_b$1() {\n  ret void\n}\n", "sm_80"), "");
}

// What our own phases make of kernels that would meet these traps.

TEST(NvidiaLegalCode, KernelsKeepOrderAndScopeOfTheirAtomics) {
  for (const std::string sem : {"relaxed", "acquire", "release", "acq_rel"}) {
    for (const auto &[scope, text] :
         {std::pair<std::string, std::string>{"cta", "cta"}, {"gpu", "gpu"}, {"sys", "sys"}}) {
      const std::string how = ", sem='" + sem + "', scope='" + scope + "')\n";
      const std::string order = "." + sem + "." + text + ".global.";
      const std::string ptx =
          ptxOfText("\n@triton.jit\ndef k(x, f, b):\n"
                    "    tl.atomic_add(x, 1" +
                        how + "    tl.atomic_add(f, 1.0" + how + "    tl.atomic_max(f + 1, 1.0" +
                        how + "    tl.atomic_xchg(x + 1, 3" + how +
                        "    tl.atomic_cas(x + 2, 3, 4" + how + "    tl.atomic_add(b, 1.0" + how,
                    "x=*i32, f=*fp32, b=*bf16", "nvidia:sm_80");
      for (const char *operation : {"add.u32", "add.f32", "exch.b32", "cas.b32", "cas.b16"}) {
        EXPECT_EQ(countOf(ptx, "atom" + order + operation) > 0, true) << order << operation << "\n"
                                                                      << ptx;
      }
      EXPECT_EQ(countOf(ptx, "atom."), countOf(ptx, "atom" + order)) << ptx;
    }
  }
}

TEST(NvidiaLegalCode, WhatAKernelWritesIsNotReadFromAnotherCache) {
  for (const char *target : {"nvidia:sm_80", "nvidia:sm_90a"}) {
    const std::string ptx = ptxOfText(R"(
@triton.jit
def k(x, y):
    i = tl.arange(0, 1024)
    tl.store(x + i, tl.load(x + i) + tl.load(y + i))
    tl.debug_barrier()
    tl.store(y + i, tl.load(x + (i ^ 512)))
)",
                                      "x=*fp32:16, y=*fp32:16", target);
    EXPECT_EQ(countOf(ptx, "ld.global.nc"), 0) << ptx;
    EXPECT_GT(countOf(ptx, "ld.global"), 0) << ptx;
  }
}

TEST(NvidiaLegalCode, RemaindersOfFloatsInKernelsAreExact) {
  const std::string ptx = ptxOfText(R"(
@triton.jit
def k(x):
    i = tl.arange(0, 128)
    tl.store(x + i, tl.load(x + i) % 3.0)
)",
                                    "x=*fp32");
  // x - trunc(x / y) * y with one rounding, while the quotient is below 2^24; a loop beyond that.
  EXPECT_EQ(countOf(ptx, "cvt.rzi.f32.f32"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "div.rn.f32"), 1) << ptx;
  EXPECT_EQ(countOf(ptx, "0f4B800000"), 1) << "quotients are not compared with 2^24\n" << ptx;
  EXPECT_GE(countOf(ptx, "clz.b64"), 1) << "no integers for large quotients\n" << ptx;
}
