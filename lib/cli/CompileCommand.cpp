// SPDX-License-Identifier: Apache-2.0
// `nereid compile`: any phase's output of a kernel, as a file or on standard output.
#include "lib/cli/Command.h"
#include "lib/pipeline/Compiler.h"
#include "lib/support/AtomicFile.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nereid::cli {

namespace {

struct Options {
  std::string kernel, signature, emit, output;
  pipeline::CompileOptions compile;
  bool times = false, noCache = false, specialization = false;
};

/// What the user calls an output, and the phase that makes it.
const std::vector<std::pair<std::string, std::string>> emitNames = {{"tile", "tile-opt"},
                                                                    {"loops", "loops"},
                                                                    {"llvm", "llvm"},
                                                                    {"asm", "asm"},
                                                                    {"object", "object"}};

void compileCommand(Options options, Session &session) {
  KernelReference file = parseKernelReference(options.kernel);
  for (const auto &[name, phase] : emitNames) {
    if (name == options.emit) {
      options.compile.to = phase;
    }
  }
  options.compile.useCache =
      !options.noCache && !options.specialization && options.compile.dumpTo.empty();
  Diagnostics diags;
  pipeline::CompileInput input{.path = file.path,
                               .function = file.function,
                               .signature = options.signature,
                               .importPaths = session.importPaths};
  auto output = pipeline::compile(input, options.compile, diags);
  if (!output) {
    return session.fail(diags);
  }
  bool isObject = !output->object.empty() && output->text.empty();
  if (options.output.empty() && isObject) {
    options.output = output->info.name + ".o";
  }
  if (options.output.empty() || options.output == "-") {
    fmt::print("{}", output->text);
  } else {
    std::string bytes =
        isObject ? std::string(output->object.begin(), output->object.end()) : output->text;
    if (auto written = writeFileAtomically(options.output, bytes); !written) {
      return session.fail(written.error());
    }
    fmt::print(stderr, "wrote {}\n", options.output);
  }
  if (options.specialization) { // with the remarks on decorators
    fmt::print(stderr, "{}", diags.render());
    fmt::print(stderr, "{}", output->specialization);
  }
  if (options.times) {
    for (const auto &phase : output->times) {
      fmt::print(stderr, "{:<10} {:8.3f} ms\n", phase.phase, phase.millis);
    }
  }
}

} // namespace

void addCompile(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("compile", "compile a kernel and keep any phase's output");
  command->add_option("kernel", options->kernel, "FILE.py[:function], or a file that --from names")
      ->required();
  command->add_option("--signature,-s", options->signature, "types, e.g. \"*fp32:16, i32, 1024\"");
  command->add_option("--target", options->compile.target, "cpu, or cpu:x86-64-v3 and the like");
  std::vector<std::string> names;
  for (const auto &[name, phase] : emitNames) {
    names.push_back(name);
  }
  auto *emit =
      command->add_option("--emit", options->emit, "what to keep")->check(CLI::IsMember(names));
  const auto &phases = pipeline::phaseNames();
  command->add_option("--to", options->compile.to, "last phase to run")
      ->check(CLI::IsMember(phases))
      ->excludes(emit);
  command->add_option("--from", options->compile.from, "phase whose output the file is")
      ->check(CLI::IsMember(phases));
  command->add_option("--dump-to", options->compile.dumpTo, "folder for every phase's output");
  command->add_option("-o,--output", options->output, "file; - for standard output");
  addImportPaths(*command, session);
  command->add_flag("--verify-each", options->compile.verifyEach, "verify the IR after each phase");
  command->add_flag("--times", options->times, "print how long each phase took");
  command->add_flag("--specialization", options->specialization,
                    "print what each parameter stands for, and where a constant came from");
  command->add_flag("--no-cache", options->noCache, "compile even when a cached kernel exists");
  command->callback([options, &session] { compileCommand(*options, session); });
}

} // namespace nereid::cli
