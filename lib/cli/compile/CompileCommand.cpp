// SPDX-License-Identifier: Apache-2.0
// `nereid compile`: any phase's output of a kernel, as a file or on standard output; and kernels
// as libraries for C, which CompileLibrary.cpp makes.
#include "lib/aot/Library.h"
#include "lib/cli/Command.h"
#include "lib/cli/compile/CompileLibrary.h"
#include "lib/cli/compile/Depfile.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/launch/KernelReference.h"
#include "lib/pipeline/Compiler.h"
#include "lib/pipeline/Target.h"
#include "lib/support/AtomicFile.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace nereid::cli {

using launch::KernelReference;

namespace {

struct Options {
  std::string kernel, emit, output, grid, name, runtime, depfile, architecture;
  std::vector<std::string> signatures, targets, gridArguments, chosen;
  pipeline::CompileOptions compile;
  bool times = false, noCache = false, specialization = false;
};

/// Libraries for C; what else --emit takes is a phase with a text.
const std::vector<std::string> libraryForms = {"object", "header", "static", "shared"};

/// The phase that --emit means; E0013 when the target has none of this name.
Result<std::string> emittedPhase(const std::string &emit, const std::string &target) {
  auto phases = pipeline::phaseNames(target);
  if (!phases) {
    return phases.error();
  }
  const std::string name = emit == "tile" ? "tile-opt" : emit;
  std::string known;
  for (const pipeline::PhaseName &phase : *phases) {
    if (phase.name == name) {
      return name;
    }
    const bool isForm =
        std::find(libraryForms.begin(), libraryForms.end(), phase.name) != libraryForms.end();
    known += isForm ? "" : phase.name + ", ";
  }
  return makeError("E0013", fmt::format("--emit: '{}' is no phase of '{}' and no form of a library",
                                        emit, target))
      .withHelp(fmt::format("it takes {}{}", known, fmt::join(libraryForms, ", ")));
}

/// Of a file with the output of the phase that `options` end with.
std::string extensionOf(const pipeline::CompileOptions &options) {
  const auto phases = pipeline::phaseNames(options.target);
  for (size_t i = 0; phases && i < phases->size(); ++i) {
    const pipeline::PhaseName &phase = (*phases)[i];
    if (phase.name == options.to || (options.to.empty() && i + 1 == phases->size())) {
      return phase.extension;
    }
  }
  return "";
}

/// The end of the command's help: the phases of every target.
std::string phasesHelp() {
  std::string text = "PHASES:\n";
  for (const std::string &vendor : pipeline::targetVendors()) {
    auto phases = pipeline::phaseNames(vendor);
    if (!phases) { // a target of another machine alone
      continue;
    }
    text += fmt::format("  of {}:\n", vendor);
    for (const pipeline::PhaseName &phase : *phases) {
      text += fmt::format("    {:<11} {:<6} {}{}\n", phase.name, phase.extension, phase.summary,
                          phase.isSideExit ? "; only when asked for" : "");
    }
  }
  return text;
}

/// What only libraries take, and what only single phases take.
std::optional<Diagnostic> misusedOption(const Options &options, bool isLibrary) {
  const bool isPrinted = options.output == "-" || (options.output.empty() && !isLibrary);
  if (!options.depfile.empty() && isPrinted) {
    return makeError("E0013", "--depfile says what a file is made from, and none is written")
        .withHelp("name the file with -o");
  }
  if (isLibrary) {
    const char *misused = !options.compile.dumpTo.empty()           ? "--dump-to"
                          : options.compile.verifyEach              ? "--verify-each"
                          : options.compile.remarks                 ? "--remarks"
                          : options.compile.from != "source"        ? "--from"
                          : options.specialization || options.times ? "--specialization and --times"
                                                                    : nullptr;
    if (misused) {
      return makeError("E0013", fmt::format("{} goes with one phase's output, not with --emit {}",
                                            misused, options.emit))
          .withHelp("--emit with a phase, or --to, give one phase's output");
    }
    if (options.grid.empty() && !options.gridArguments.empty()) {
      return makeError("E0013", "--grid-argument gives --grid a number, and there is no --grid");
    }
    return std::nullopt;
  }
  const char *misused = options.signatures.size() > 1    ? "a second --signature"
                        : options.targets.size() > 1     ? "a second --target"
                        : !options.grid.empty()          ? "--grid"
                        : !options.gridArguments.empty() ? "--grid-argument"
                        : !options.chosen.empty()        ? "--choose"
                        : !options.name.empty()          ? "--name"
                        : !options.runtime.empty()       ? "--runtime"
                        : !options.architecture.empty()  ? "--architecture"
                                                         : nullptr;
  if (misused) {
    return makeError("E0013",
                     fmt::format("{} goes with --emit {}", misused, fmt::join(libraryForms, ", ")));
  }
  return std::nullopt;
}

/// Those that --remarks asks for: R03 to R05.
void printRemarks(const Diagnostics &diags, bool json) {
  Diagnostics remarks;
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.severity == Severity::Remark && diagnostic.code >= "R03") {
      remarks.add(diagnostic);
    }
  }
  printError(json ? remarks.renderJson() + "\n" : remarks.render());
}

void compileCommand(Options options, Session &session) {
  options.targets = splitTargets(options.targets);
  const bool isLibrary =
      std::find(libraryForms.begin(), libraryForms.end(), options.emit) != libraryForms.end();
  if (auto misused = misusedOption(options, isLibrary)) {
    return session.fail(*misused);
  }
  if (isLibrary) {
    return compileLibrary({.kernel = options.kernel,
                           .form = options.emit,
                           .signatures = options.signatures,
                           .targets = options.targets,
                           .gridArguments = options.gridArguments,
                           .chosen = options.chosen,
                           .grid = options.grid,
                           .name = options.name,
                           .output = options.output,
                           .runtime = options.runtime,
                           .depfile = options.depfile,
                           .architecture = options.architecture,
                           .chip = options.compile.chip,
                           .useCache = !options.noCache},
                          session);
  }
  if (!options.targets.empty()) {
    options.compile.target = options.targets.front();
  }
  KernelReference file = launch::parseKernelReference(options.kernel);
  if (!options.emit.empty()) {
    Result<std::string> phase = emittedPhase(options.emit, options.compile.target);
    if (!phase) {
      return session.fail(phase.error());
    }
    options.compile.to = *phase;
  }
  options.compile.useCache =
      !options.noCache && !options.specialization && options.compile.dumpTo.empty();
  Diagnostics diags;
  pipeline::CompileInput input{.path = file.path,
                               .function = file.function,
                               .signature =
                                   options.signatures.empty() ? "" : options.signatures.front(),
                               .importPaths = session.importPaths};
  auto output = pipeline::compile(input, options.compile, diags);
  if (!output) {
    return session.fail(diags);
  }
  printError(pipeline::staticOutput(diags));
  printWarnings(diags);
  if (options.compile.remarks) {
    printRemarks(diags, session.json);
  }
  bool isObject = !output->object.empty() && output->text.empty();
  if (options.output.empty() && isObject) {
    options.output = output->info.name + extensionOf(options.compile);
  }
  if (options.output.empty() || options.output == "-") {
    fmt::print("{}", output->text);
  } else {
    std::string bytes =
        isObject ? std::string(output->object.begin(), output->object.end()) : output->text;
    if (auto written = writeFileAtomically(options.output, bytes); !written) {
      return session.fail(written.error());
    }
    printError(fmt::format("wrote {}\n", options.output));
  }
  if (!options.depfile.empty()) {
    const std::string text = depfileText(options.output, output->sources);
    if (auto written = writeFileAtomically(options.depfile, text); !written) {
      return session.fail(written.error());
    }
  }
  if (options.specialization) { // with the remarks on decorators
    printError(diags.render());
    printError(output->specialization);
  }
  if (options.times) {
    for (const auto &phase : output->times) {
      printError(fmt::format("{:<10} {:8.3f} ms\n", phase.phase, phase.millis));
    }
  }
}

} // namespace

void addCompile(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("compile", "compile a kernel and keep any phase's output, or "
                                    "a library for C: object, header, static, shared");
  command->add_option("kernel", options->kernel, "FILE.py[:function], or a file that --from names")
      ->required();
  command
      ->add_option("--signature,-s", options->signatures,
                   "types, e.g. \"*fp32:16, i32, 1024\"; of a library one for each specialization")
      ->allow_extra_args(false);
  command
      ->add_option("--target", options->targets,
                   "cpu, cpu:x86-64-v3, nvidia:sm_90a and the like; of a library several, the "
                   "machine's own levels if none is given")
      ->allow_extra_args(false);
  command->add_option("--chip", options->compile.chip, chipHelp);
  command
      ->add_option("--architecture", options->architecture,
                   "of a library: its processor, if not this machine's; without --target its "
                   "levels")
      ->check(CLI::IsMember(aot::architectures()));
  command->add_option("--grid", options->grid,
                      "of a library: the grid from the arguments, e.g. \"cdiv(n, BLOCK)\"");
  command
      ->add_option("--grid-argument", options->gridArguments,
                   "of a library: a further integer of the launcher, for --grid; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--choose", options->chosen,
                   "of a library: a constant that the launcher takes from the specialization that "
                   "fits, instead of asking for it; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--name", options->name, "of a library: the C function, if not the kernel's");
  command->add_option("--runtime", options->runtime,
                      "of a library for another architecture: its libnereid_aot.a");
  auto *emit = command->add_option("--emit", options->emit,
                                   fmt::format("what to keep: a phase's output, or a library: {}",
                                               fmt::join(libraryForms, ", ")));
  command->add_option("--to", options->compile.to, "last phase to run; PHASES are listed below")
      ->type_name("PHASE")
      ->excludes(emit);
  command->add_option("--from", options->compile.from, "phase whose output the file is")
      ->type_name("PHASE");
  command->add_option("--dump-to", options->compile.dumpTo, "folder for every phase's output");
  command->add_option("-o,--output", options->output, "file; - for standard output");
  command->add_option("--depfile", options->depfile,
                      "file that gets a rule for make: the output and every source it depends on");
  addImportPaths(*command, session);
  command->add_flag("--verify-each", options->compile.verifyEach, "verify the IR after each phase");
  command->add_flag("--remarks", options->compile.remarks,
                    "say at the kernel's lines what is slow there and why: moves between threads, "
                    "bank conflicts, accesses, loops, spills");
  command->add_flag("--times", options->times, "print how long each phase took");
  command->add_flag("--specialization", options->specialization,
                    "print what each parameter stands for, and where a constant came from");
  command->add_flag("--no-cache", options->noCache, "compile even when a cached kernel exists");
  command->footer(phasesHelp); // made only when help is asked for
  command->callback([options, &session] { compileCommand(*options, session); });
}

} // namespace nereid::cli
