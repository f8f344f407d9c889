// SPDX-License-Identifier: Apache-2.0
// How each phase's output comes in from a file, and the step from source to tile IR.
#include "lib/pipeline/ImportPaths.h"
#include "lib/pipeline/Phases.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/pipeline/kernel/KernelInfo.h"

#include "lib/language/ChooseKernel.h"
#include "lib/language/emit/Emit.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"

namespace nereid::pipeline {
bool readSource(CompileState &state) {
  state.kernel = state.input.kernel;
  if (!state.kernel) {
    CompileInput input = state.input;
    input.source = state.inputText;
    state.kernel = readKernel(input, state.diags);
  }
  if (!state.kernel) {
    return false;
  }
  for (const Diagnostic &remark : state.kernel->remarks.all()) {
    state.diags.add(remark);
  }
  return true;
}

bool emitTile(CompileState &state) {
  language::ModuleLoader loader(allImportPaths(state.input));
  state.module =
      language::emitKernel(state.session->context(), *state.kernel->module, *state.kernel->function,
                           state.kernel->signature, state.diags, &loader);
  state.dependencies = loader.dependencies();
  if (!state.module) {
    return false;
  }
  setSignature(kernelFunctions(*state.module).front(), state.kernel->signature.text());
  return true;
}

bool readMlir(CompileState &state) {
  mlir::MLIRContext &context = state.session->context();
  context.loadAllAvailableDialects();
  state.module = mlir::parseSourceString<mlir::ModuleOp>(
      state.inputText, mlir::ParserConfig(&context), state.input.path);
  if (!state.module) {
    return false;
  }
  std::vector<std::string> names;
  std::vector<mlir::Operation *> kernels = kernelFunctions(*state.module);
  for (mlir::Operation *kernel : kernels) {
    names.push_back(readKernelInfo(kernel).name);
  }
  Result<std::string> name =
      language::chooseKernelName(state.input.path, names, state.input.function);
  if (!name) {
    state.diags.add(name.error());
    return false;
  }
  // The phases that follow work on one kernel.
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (names[i] != *name) {
      kernels[i]->erase();
    }
  }
  return true;
}

bool readTile(CompileState &state) {
  if (!readMlir(state)) {
    return false;
  }
  completeArguments(kernelFunctions(*state.module).front());
  return true;
}

bool keepReadCode(CompileState &state, std::unique_ptr<CodeModule> code) {
  if (!code) {
    return false;
  }
  std::optional<runtime::KernelInfo> info = kernelInfoFromJson(code->kernelInfo());
  if (!info) {
    Diagnostic error =
        makeError("E0391", "the module has no readable metadata '!nereid.kernel', which describes "
                           "the kernel's arguments")
            .withHelp("start from a file that '--to llvm' or '--dump-to' wrote");
    error.file = state.input.path;
    state.diags.add(std::move(error));
    return false;
  }
  state.info = std::move(*info);
  state.code = std::move(code);
  return true;
}

} // namespace nereid::pipeline
