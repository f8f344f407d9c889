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
    return compileFrom("llvm", "target triple = \"x86_64-unknown-linux-gnu\"\n" + definition +
                                   "\n!nereid.kernel = !{!0}\n!0 = !{!\"{\\22name\\22:\\22k\\22,"
                                   "\\22arguments\\22:[],\\22scratch_bytes\\22:0,\\22can_wait\\22:"
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
