// SPDX-License-Identifier: Apache-2.0
#include "unittests/target_nvidia/Ptx.h"

#include "lib/pipeline/Compiler.h"
#include "lib/targets/nvidia/NvidiaTarget.h"
#include "lib/targets/nvidia/assembler/Ptxas.h"
#include "lib/targets/nvidia/assembler/PtxasLog.h"

#include <gtest/gtest.h>

namespace nereid::nvidia {

static std::optional<std::string> compile(const pipeline::CompileInput &input,
                                          const std::string &target, Diagnostics &diags,
                                          const std::string &from = "source") {
  registerNvidiaTarget();
  pipeline::CompileOptions options;
  options.from = from;
  options.target = target;
  options.useCache = false;
  options.verifyEach = true;
  auto output = pipeline::compile(input, options, diags);
  if (!output) {
    return std::nullopt;
  }
  return std::string(output->object.begin(), output->object.end() - 1);
}

std::optional<std::string> tryPtxOfKernel(const std::string &kernel, const std::string &signature,
                                          Diagnostics &diags, const std::string &target) {
  pipeline::CompileInput input;
  const size_t colon = kernel.find(':');
  input.path = std::string(NEREID_SOURCE_DIR) + "/kernels/" + kernel.substr(0, colon);
  input.function = colon == std::string::npos ? "" : kernel.substr(colon + 1);
  input.signature = signature;
  return compile(input, target, diags);
}

std::string ptxOf(const std::string &kernel, const std::string &signature,
                  const std::string &target) {
  Diagnostics diags;
  auto ptx = tryPtxOfKernel(kernel, signature, diags, target);
  EXPECT_TRUE(ptx) << diags.render();
  return ptx.value_or("");
}

std::optional<std::string> tryPtxOfText(const std::string &lines, const std::string &signature,
                                        Diagnostics &diags, const std::string &target) {
  pipeline::CompileInput input;
  input.path = "k.py";
  input.function = "k";
  input.signature = signature;
  input.source = "import triton\nimport triton.language as tl\n" + lines;
  return compile(input, target, diags);
}

std::optional<std::string> tryPtxOfTiles(const std::string &module, Diagnostics &diags) {
  pipeline::CompileInput input;
  input.path = "k.mlir";
  input.source = module;
  return compile(input, "nvidia:sm_90a", diags, "tile-opt");
}

std::string ptxOfText(const std::string &lines, const std::string &signature,
                      const std::string &target) {
  Diagnostics diags;
  auto ptx = tryPtxOfText(lines, signature, diags, target);
  EXPECT_TRUE(ptx) << diags.render();
  if (ptx) {
    EXPECT_EQ(complaintOfPtxas(*ptx, target.substr(target.find(':') + 1)), "") << *ptx;
  }
  return ptx.value_or("");
}

std::string lossOf(const std::string &log) {
  for (const std::string &warning : readPtxasLog(log).warnings) {
    for (const char *code : {"(C7508)", "(C7510)", "(C7511)", "(C7518)", "(C7602)"}) {
      if (warning.find(code) != std::string::npos) {
        return warning;
      }
    }
  }
  return "";
}

std::string complaintOfPtxas(const std::string &ptx, const std::string &architecture) {
  const auto ptxas = findPtxas();
  if (ptxas && !*ptxas) {
    return "";
  }
  const auto made = assemble(ptx, architecture);
  return made ? lossOf(made->log) : render(made.error());
}

int countOf(const std::string &text, const std::string &what) {
  int count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

} // namespace nereid::nvidia
