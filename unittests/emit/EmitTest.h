// SPDX-License-Identifier: Apache-2.0
// Emits kernels from text for the tests, and runs them in the interpreter on small arrays.
#pragma once

#include "lib/interpreter/Interpreter.h"
#include "lib/language/emit/Emit.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace nereid::language {

struct Emitted {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Diagnostics diags;
  std::string text; ///< printed IR, empty after errors

  bool has(const std::string &part) const { return text.find(part) != std::string::npos; }
  bool hasCode(const std::string &code) const {
    for (const Diagnostic &diagnostic : diags.all()) {
      if (diagnostic.code == code) {
        return true;
      }
    }
    return false;
  }
};

/// Emits the last jit function of `source` (a whole file).
inline Emitted emitSource(const std::string &source, const std::string &signature,
                          bool withLocations = false) {
  Emitted result;
  result.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  std::optional<SourceModule> file = parseModule("kernel.py", source, result.diags);
  if (!file || file->jitFunctions().empty()) {
    ADD_FAILURE() << result.diags.render();
    return result;
  }
  const FunctionDef *kernel = file->find(file->jitFunctions().back());
  Result<Signature> parsed = parseSignature(signature, *kernel);
  if (!parsed) {
    ADD_FAILURE() << render(parsed.error());
    return result;
  }
  result.module = emitKernel(*result.context, *file, *kernel, *parsed, result.diags);
  EXPECT_EQ(!result.module, result.diags.hasErrors()) << result.diags.render();
  if (result.module) {
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*result.module)));
    llvm::raw_string_ostream stream(result.text);
    mlir::OpPrintingFlags flags;
    result.module->print(stream, withLocations ? flags.enableDebugInfo() : flags);
  }
  return result;
}

/// A file with one kernel of these parameters and this body (indented by four blanks).
inline std::string kernelFile(const std::string &params, const std::string &body) {
  std::string indented;
  size_t start = 0;
  while (start < body.size()) {
    size_t end = std::min(body.find('\n', start), body.size());
    indented += "    " + body.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return "import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(" + params +
         "):\n" + indented;
}

inline Emitted emitBody(const std::string &params, const std::string &body,
                        const std::string &signature) {
  Emitted result = emitSource(kernelFile(params, body), signature);
  EXPECT_FALSE(result.diags.hasErrors()) << result.diags.render() << body;
  return result;
}

/// Expects the body to be refused with the code and returns the rendered errors.
inline std::string refuseBody(const std::string &params, const std::string &body,
                              const std::string &signature, const std::string &code) {
  Emitted result = emitSource(kernelFile(params, body), signature);
  EXPECT_TRUE(result.hasCode(code)) << "expects " << code << ", but got\n"
                                    << result.diags.render() << result.text << body;
  EXPECT_FALSE(explainCode(code).title.empty()) << code;
  return result.diags.render();
}

/// Runs an emitted kernel over `programs` programs; false when the interpreter refuses.
inline bool runKernel(Emitted &kernel, const std::vector<runtime::ArgumentValue> &arguments,
                      int64_t programs = 1) {
  if (!kernel.module) {
    return false;
  }
  Diagnostics diags;
  bool isDone = interpret(*kernel.module, {programs, 1, 1}, arguments, diags);
  EXPECT_TRUE(isDone) << diags.render() << kernel.text;
  return isDone;
}

template <class T> runtime::Tensor tensorOf(std::vector<T> &data, DType type) {
  return runtime::Tensor::borrow(data.data(), {static_cast<int64_t>(data.size())}, type);
}

} // namespace nereid::language
