// SPDX-License-Identifier: Apache-2.0
// The oracle's way through the house: source to tile IR, not optimised, then evaluated.
#include "lib/interpreter/Interpreter.h"
#include "lib/pipeline/Phases.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace nereid::pipeline {

bool interpretKernel(const CompileInput &input, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags) {
  return interpretKernel(input, grid, arguments, diags, InterpretOptions{});
}

bool interpretKernel(const CompileInput &input, runtime::Grid grid,
                     std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags,
                     const InterpretOptions &options) {
  Result<std::string> text = sourceText(input);
  if (!text) {
    diags.add(text.error());
    return false;
  }
  Session session(nullptr);
  CompileState state{.input = input, .options = {}, .diags = diags, .target = nullptr};
  state.inputText = std::move(*text);
  state.session = &session;
  DiagnosticCapture capture(session.context(), "E0390", input.path, state.inputText,
                            /*keepsRemarks=*/false, diags);
  bool succeeded = readSource(state) && emitTile(state);
  if (succeeded && options.monitor) { // monitors know addresses
    mlir::PassManager passes(&session.context());
    passes.addPass(tile::createLowerDescriptorsPass());
    succeeded = mlir::succeeded(passes.run(*state.module));
  }
  succeeded = succeeded && interpret(*state.module, grid, arguments, diags, options);
  state.module = {}; // before its context goes to the next user
  return succeeded;
}

} // namespace nereid::pipeline
