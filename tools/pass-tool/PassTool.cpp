// SPDX-License-Identifier: Apache-2.0
#include "tools/pass-tool/PassTool.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace nereid::tools {
namespace {

struct Options {
  std::string input = "-";
  bool splitsInput = false;
  bool verifiesDiagnostics = false;
  llvm::SmallVector<const NamedPass *> passes;
};

void printUsage(const PassTool &tool, llvm::raw_ostream &out) {
  out << "usage: " << tool.name << " " << tool.usage
      << "[--split-input-file] [--verify-diagnostics] [--PASS ...] [FILE]\n"
         "passes, run in the order given:\n";
  for (const NamedPass &pass : tool.passes) {
    out << "  --" << pass.flag;
    out.indent(40 - pass.flag.size()) << pass.summary << "\n";
  }
}

/// False after a message on standard error.
bool parseCommandLine(const PassTool &tool, int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    llvm::StringRef flag = argument;
    if (!flag.consume_front("--")) {
      options.input = argument.str();
      continue;
    }
    const auto *pass =
        llvm::find_if(tool.passes, [&](const NamedPass &p) { return p.flag == flag; });
    if (flag == "split-input-file") {
      options.splitsInput = true;
    } else if (flag == "verify-diagnostics") {
      options.verifiesDiagnostics = true;
    } else if (pass != tool.passes.end()) {
      options.passes.push_back(pass);
    } else if (!tool.takesOption(flag)) {
      llvm::errs() << tool.name << ": unknown option '" << argument << "'\n";
      printUsage(tool, llvm::errs());
      return false;
    }
  }
  return true;
}

mlir::LogicalResult process(const Options &options, llvm::SourceMgr &sources,
                            mlir::MLIRContext &context, llvm::raw_ostream &out) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module) {
    return mlir::failure();
  }
  mlir::PassManager manager(&context);
  for (const NamedPass *pass : options.passes) {
    pass->add(manager);
  }
  if (mlir::failed(manager.run(*module))) {
    return mlir::failure();
  }
  module->print(out);
  out << "\n";
  return mlir::success();
}

mlir::LogicalResult processBuffer(const PassTool &tool, const Options &options,
                                  std::unique_ptr<llvm::MemoryBuffer> buffer,
                                  llvm::raw_ostream &out) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tool.loadDialects(context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (options.verifiesDiagnostics) {
    context.printOpOnDiagnostic(false);
    mlir::SourceMgrDiagnosticVerifierHandler verifier(sources, &context);
    // Errors are wanted here; only the comparison with the expectations decides.
    (void)process(options, sources, context, out);
    return verifier.verify();
  }
  mlir::SourceMgrDiagnosticHandler printer(sources, &context);
  return process(options, sources, context, out);
}

} // namespace

int runPassTool(const PassTool &tool, int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--help") {
    printUsage(tool, llvm::outs());
    return 0;
  }
  Options options;
  if (!parseCommandLine(tool, argc, argv, options)) {
    return 2;
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(options.input, &message);
  if (!input) {
    llvm::errs() << tool.name << ": " << message << "\n";
    return 2;
  }
  mlir::LogicalResult result = mlir::splitAndProcessBuffer(
      std::move(input),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, llvm::raw_ostream &out) {
        return processBuffer(tool, options, std::move(chunk), out);
      },
      llvm::outs(), options.splitsInput ? mlir::kDefaultSplitMarker : "",
      options.splitsInput ? mlir::kDefaultSplitMarker : "");
  return mlir::succeeded(result) ? 0 : 1;
}

} // namespace nereid::tools
