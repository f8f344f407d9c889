// SPDX-License-Identifier: Apache-2.0
// How each phase's output comes in from a file, and the step from source to tile IR.
#include "lib/pipeline/ImportPaths.h"
#include "lib/pipeline/KernelFunction.h"
#include "lib/pipeline/KernelInfo.h"
#include "lib/pipeline/Phases.h"

#include "lib/language/KernelDecorators.h"
#include "lib/language/emit/Emit.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace nereid::pipeline {
namespace {

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text;
}

/// The name to use among `names`; E0205 when the choice is not one.
std::optional<std::string> chooseKernel(CompileState &state,
                                        const std::vector<std::string> &names) {
  const std::string &wanted = state.input.function;
  auto report = [&](std::string message, std::string help) {
    Diagnostic error = makeError("E0205", std::move(message)).withHelp(std::move(help));
    error.file = state.input.path;
    state.diags.add(std::move(error));
    return std::nullopt;
  };
  if (names.empty()) {
    return report("the file has no kernel", "decorate the function with '@triton.jit'");
  }
  if (wanted.empty()) {
    if (names.size() == 1) {
      return names.front();
    }
    return report("the file has " + std::to_string(names.size()) + " kernels and none is named",
                  "append ':' and one of " + joined(names));
  }
  if (std::find(names.begin(), names.end(), wanted) != names.end()) {
    return wanted;
  }
  return report("no kernel '" + wanted + "' in the file",
                "the nearest are " + joined(nearestNames(wanted, names).empty()
                                                ? names
                                                : nearestNames(wanted, names)));
}

} // namespace

bool readSource(CompileState &state) {
  state.source = language::parseModule(state.input.path, state.inputText, state.diags);
  if (!state.source) {
    return false;
  }
  std::optional<std::string> name = chooseKernel(state, state.source->jitFunctions());
  if (!name) {
    return false;
  }
  state.function = language::kernelNamed(*state.source, *name, state.diags);
  language::KernelDecorators decorators = language::readDecorators(*state.source, *state.function);
  for (const Diagnostic &remark : decorators.remarks.all()) {
    state.diags.add(remark);
  }
  Result<language::Specialization> special =
      language::specialize(state.input.signature, *state.source, *state.function, decorators);
  if (!special) {
    Diagnostic error = special.error();
    if (error.file.empty()) {
      error.file = state.input.path;
    }
    state.diags.add(std::move(error));
    return false;
  }
  if (std::optional<Diagnostic> error = language::refuseRanges(special->signature)) {
    state.diags.add(std::move(*error));
    return false;
  }
  state.signature = special->signature;
  state.specialization = special->text(*name);
  return true;
}

bool emitTile(CompileState &state) {
  language::ModuleLoader loader(allImportPaths(state.input));
  state.module = language::emitKernel(state.session->context(), *state.source, *state.function,
                                      state.signature, state.diags, &loader);
  state.dependencies = loader.dependencies();
  if (!state.module) {
    return false;
  }
  if (state.options.verifyEach && failed(mlir::verify(*state.module))) {
    return false;
  }
  setSignature(kernelFunctions(*state.module).front(), state.signature.text());
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
  std::optional<std::string> name = chooseKernel(state, names);
  if (!name) {
    return false;
  }
  // The phases that follow work on one kernel.
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (names[i] != *name) {
      kernels[i]->erase();
    } else {
      completeArguments(kernels[i]);
    }
  }
  return true;
}

bool readLlvm(CompileState &state) {
  state.code = state.target->parse(state.inputText, state.input.path, state.diags);
  if (!state.code) {
    return false;
  }
  std::optional<runtime::KernelInfo> info = kernelInfoFromJson(state.code->kernelInfo());
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
  return true;
}

} // namespace nereid::pipeline
