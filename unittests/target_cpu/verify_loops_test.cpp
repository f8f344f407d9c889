// SPDX-License-Identifier: Apache-2.0
// What is refused of texts that are fed in as the phase `loops` or `tile-opt`: each would make code
// that reads what is not there, or end the process.
#include "lib/pipeline/Compiler.h"
#include "lib/targets/cpu/CpuTarget.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::cpu {
namespace {

const std::string attributes =
    "attributes {nereid.arguments = [], nereid.scratch_bytes = 0 : i64, tile.kernel}";
const std::string entry =
    "(%slots: !llvm.ptr, %id: !llvm.ptr, %count: !llvm.ptr, %scratch: !llvm.ptr)";

/// The errors' codes and messages, "" when it compiles to the end.
std::string compileFrom(const std::string &phase, const std::string &text) {
  registerCpuTarget();
  pipeline::CompileInput input;
  input.path = "fed.mlir";
  input.source = text;
  pipeline::CompileOptions options;
  options.target = "cpu:x86-64-v3";
  options.from = phase;
  options.useCache = false;
  Diagnostics diags;
  std::string errors;
  if (!pipeline::compile(input, options, diags)) {
    for (const Diagnostic &diagnostic : diags.all()) {
      errors += diagnostic.code + " " + diagnostic.message + "\n";
    }
  }
  return errors;
}

std::string fromLoops(const std::string &text) { return compileFrom("loops", text); }

TEST(VerifyLoops, TakesWhatLoopsAre) {
  EXPECT_EQ(fromLoops("func.func @k" + entry + " " + attributes + " { return }"), "");
}

TEST(VerifyLoops, NoOperationOfTileIrIsLeft) {
  const std::string errors = fromLoops("func.func @k" + entry + " " + attributes + R"( {
    %pid = tile.program_id 0
    return
  })");
  EXPECT_EQ(errors, "E0391 'tile.program_id' is an operation of tile IR, and none is left after "
                    "phase 'loops'\n");
}

TEST(VerifyLoops, NoValueIsATile) {
  const std::string errors = fromLoops("func.func @k" + entry + " " + attributes + R"( {
    %tile = arith.constant dense<1.0> : tensor<8xf32>
    return
  })");
  EXPECT_EQ(errors, "E0391 'arith.constant' has a value of type 'tensor<8xf32>', and only scalars, "
                    "vectors and addresses are left after phase 'loops'\n");
}

TEST(VerifyLoops, NoFloatIsTooWide) {
  const std::string errors = fromLoops("func.func @k" + entry + " " + attributes + R"( {
    %x = llvm.load %slots : !llvm.ptr -> f128
    return
  })");
  EXPECT_EQ(errors.find("E0391 'llvm.load' has a value of type 'f128'"), 0u) << errors;
}

TEST(VerifyLoops, NoBlockTakesATile) {
  const std::string errors =
      fromLoops("func.func private @helper(%t: tensor<8xf32>) { return }\nfunc.func @k" + entry +
                " " + attributes + " { return }");
  EXPECT_EQ(errors.find("E0391 'func.func' has a value of type 'tensor<8xf32>'"), 0u) << errors;
}

TEST(VerifyLoops, TheKernelHasTheEntry) {
  for (const std::string wrong :
       {"(%slots: !llvm.ptr)", "(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr, %d: i64)"}) {
    const std::string errors = fromLoops("func.func @k" + wrong + " " + attributes + " { return }");
    EXPECT_EQ(errors.find("E0391 after phase 'loops' a kernel has a body, no results and four"), 0u)
        << errors;
  }
  EXPECT_NE(
      fromLoops("func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) " + attributes),
      "");
}

TEST(VerifyLoops, ScratchMemoryIsSuchAsThereCanBe) {
  for (const std::string wrong : {"-1 : i64", "1099511627777 : i64", "64 : i32"}) {
    const std::string errors =
        fromLoops("func.func @k" + entry + " attributes {nereid.arguments = [], tile.kernel, " +
                  "nereid.scratch_bytes = " + wrong + "} { return }");
    EXPECT_EQ(errors, "E0391 after phase 'loops' the attribute 'nereid.scratch_bytes' expects 0 to "
                      "1099511627776 bytes of type i64, but got " +
                          wrong + "\n");
  }
}

TEST(VerifyLoops, NoFunctionIsLeftBehindLoopsOpt) {
  for (const char *type : {"f32", "f64", "vector<8xf32>"}) {
    for (const char *call :
         {"math.exp %x", "math.tan %x", "math.powf %x, %x", "math.rsqrt %x", "math.erf %x"}) {
      const std::string body = std::string("{\n%x = llvm.load %slots : !llvm.ptr -> ") + type +
                               "\n%y = " + call + " : " + type +
                               "\nllvm.store %y, %slots : " + type + ", !llvm.ptr\nreturn\n}";
      const std::string text = "func.func @k" + entry + " " + attributes + " " + body;
      const std::string errors = compileFrom("loops-opt", text);
      EXPECT_EQ(errors.find("E0391 'math."), 0u) << errors;
      EXPECT_NE(errors.find("is a function, and none is left after phase 'loops-opt'"),
                std::string::npos)
          << errors;
      EXPECT_EQ(fromLoops(text), "");
    }
  }
}

TEST(VerifyLoops, NothingComputesWithNarrowFloatsBehindLoopsOpt) {
  for (const char *type : {"f16", "bf16", "vector<8xbf16>"}) {
    const std::string text = "func.func @k" + entry + " " + attributes +
                             " {\n%x = llvm.load %slots : !llvm.ptr -> " + type +
                             "\n%y = arith.addf %x, %x : " + type +
                             "\nllvm.store %y, %slots : " + type + ", !llvm.ptr\nreturn\n}";
    EXPECT_EQ(compileFrom("loops-opt", text),
              "E0391 'arith.addf' computes with floats of less than 32 bits, and phase 'loops-opt' "
              "leaves no such arithmetic: start from phase 'loops'\n");
    EXPECT_EQ(fromLoops(text), "");
  }
}

/// What is an instruction, or several, stays.
TEST(VerifyLoops, InstructionsAreTakenBehindLoopsOpt) {
  for (const char *call : {"math.floor %x", "math.sqrt %x", "math.fma %x, %x, %x", "math.absf %x",
                           "math.roundeven %x", "math.copysign %x, %x"}) {
    EXPECT_EQ(
        compileFrom("loops-opt", "func.func @k" + entry + " " + attributes +
                                     " {\n%x = llvm.load %slots : !llvm.ptr -> f32\n%y = " + call +
                                     " : f32\nllvm.store %y, %slots : f32, !llvm.ptr"
                                     "\nreturn\n}"),
        "")
        << call;
  }
}

TEST(VerifyLoops, TheKernelDescribesItself) {
  for (const std::string missing :
       {"nereid.arguments = [], ", "nereid.scratch_bytes = 0 : i64, "}) {
    std::string text = "func.func @k" + entry + " " + attributes + " { return }";
    text.erase(text.find(missing), missing.size());
    EXPECT_EQ(fromLoops(text), "E0391 after phase 'loops' a kernel has the attributes "
                               "'nereid.arguments' and 'nereid.scratch_bytes', which say how it is "
                               "launched\n");
  }
}

TEST(VerifyLoops, AKernelIsAFunction) {
  const std::string errors = fromLoops("llvm.func @k(!llvm.ptr) attributes {tile.kernel}");
  EXPECT_EQ(errors, "E0391 after phase 'loops' a kernel is a 'func.func'\n");
}

TEST(VerifyLlvm, TheModuleDefinesTheEntry) {
  auto fromLlvm = [](const std::string &definition) {
    return compileFrom("llvm",
                       "target triple = \"x86_64-unknown-linux-gnu\"\n" + definition +
                           "\n!nereid.kernel = !{!0}\n!0 = !{!\"{\\22name\\22:\\22k\\22,"
                           "\\22arguments\\22:[],\\22scratch_bytes\\22:0,\\22is_blocking\\22:"
                           "false,\\22takes_ranges\\22:false,\\22adds_floats\\22:false,"
                           "\\22features\\22:\\22\\22,\\22signature\\22:\\22\\22}\"}\n");
  };
  EXPECT_EQ(fromLlvm("define void @k(ptr %a, ptr %b, ptr %c, ptr %d) {\n ret void\n}"), "");
  EXPECT_EQ(fromLlvm("define void @other() {\n ret void\n}"),
            "E0391 the module does not define the function 'k', which its metadata "
            "'!nereid.kernel' describes\n");
  for (const char *wrong :
       {"define i32 @k(ptr %a, ptr %b, ptr %c, ptr %d) {\n ret i32 0\n}",
        "define void @k(ptr %a) {\n ret void\n}",
        "define void @k(ptr %a, ptr %b, ptr %c, i64 %d) {\n ret void\n}",
        "define void @k(ptr %a, ptr %b, ptr %c, ptr %d, ...) {\n ret void\n}"}) {
    EXPECT_EQ(fromLlvm(wrong).find("E0391 the function 'k' is no entry of a kernel"), 0u) << wrong;
  }
}

} // namespace
} // namespace nereid::cpu
