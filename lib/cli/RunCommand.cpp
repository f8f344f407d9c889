// SPDX-License-Identifier: Apache-2.0
// `nereid run`: one launch of a kernel on made or loaded data.
#include "lib/cli/Command.h"
#include "lib/cli/OptionUse.h"
#include "lib/launch/PreparedCase.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace nereid::cli {

using launch::Execution;
using launch::KernelArguments;
using launch::KernelCase;
using launch::PreparedKernel;

namespace {

struct RunOptions {
  KernelCase given; ///< from the command line, or of cases.toml with what the command line adds
  Execution execution;
  std::vector<std::string> saves;
  std::string caseName;
  bool noCache = false;
};

/// The case of cases.toml that is asked for; what the command line says comes last and wins.
Result<KernelCase> namedCase(const RunOptions &options) {
  auto cases = launch::casesNamedBy(options.given.kernel);
  if (!cases) {
    return cases.error();
  }
  auto chosen = launch::chooseCases(options.given.kernel, *cases, options.caseName);
  if (!chosen) {
    return chosen.error();
  }
  chosen->front().addArguments(options.given.arguments);
  return chosen->front();
}

nlohmann::json describe(const std::string &name, const runtime::Tensor &tensor) {
  nlohmann::json first = nlohmann::json::array();
  for (int64_t i = 0; i < std::min<int64_t>(tensor.elementCount(), 4); ++i) {
    first.push_back(tensor.at(i));
  }
  return {{"name", name},
          {"dtype", torchName(tensor.dtype())},
          {"shape", tensor.shape()},
          {"first", first}};
}

void print(const Session &session, const KernelArguments &arguments, const PreparedKernel &kernel) {
  if (session.json) {
    nlohmann::json result;
    result["kernel"] = kernel.info().name;
    for (const auto &[name, tensor] : arguments.tensors) {
      result["tensors"].push_back(describe(name, tensor));
    }
    fmt::print("{}\n", result.dump(2));
    return;
  }
  for (const auto &[name, tensor] : arguments.tensors) {
    std::string first;
    for (int64_t i = 0; i < std::min<int64_t>(tensor.elementCount(), 4); ++i) {
      double value = tensor.at(i);
      first += i > 0 ? ", " : "";
      first += std::isnan(value) ? "nan" : fmt::format("{:g}", value); // without a sign
    }
    fmt::print("{} {}[{}] = {}{}\n", name, torchName(tensor.dtype()),
               fmt::join(tensor.shape(), ", "), first, tensor.elementCount() > 4 ? ", …" : "");
  }
}

/// Before the launch, so that a misspelt name does not cost its results.
Status checkSaves(const RunOptions &options, const KernelArguments &arguments) {
  for (const auto &assignment : options.saves) {
    size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals + 1 == assignment.size() ||
        !arguments.tensors.contains(assignment.substr(0, equals))) {
      return makeError("E0011", fmt::format("--save '{}' names no tensor argument", assignment))
          .withHelp("write --save name=file.npy with the name of a pointer parameter");
    }
  }
  return Done{};
}

Status save(const RunOptions &options, const KernelArguments &arguments) {
  for (const auto &assignment : options.saves) {
    size_t equals = assignment.find('=');
    const runtime::Tensor &tensor = arguments.tensors.at(assignment.substr(0, equals));
    std::string error = runtime::saveNpy(tensor, assignment.substr(equals + 1));
    if (!error.empty()) {
      return makeError("E0002", error);
    }
  }
  return Done{};
}

void runCommand(RunOptions options, Session &session) {
  if (!options.caseName.empty()) {
    auto one = namedCase(options);
    if (!one) {
      return session.fail(one.error());
    }
    options.given = std::move(*one);
  }
  Diagnostics diags;
  options.execution.useCache = !options.noCache;
  options.execution.importPaths = session.importPaths;
  auto prepared = launch::prepareCase(options.given, options.execution, diags);
  if (!prepared) {
    return session.fail(diags, prepared.error());
  }
  if (auto saves = checkSaves(options, prepared->arguments); !saves) {
    return session.fail(saves.error());
  }
  if (!prepared->launch(diags)) {
    return session.fail(diags);
  }
  printWarnings(diags);
  if (auto saved = save(options, prepared->arguments); !saved) {
    return session.fail(saved.error());
  }
  print(session, prepared->arguments, prepared->kernel);
}

} // namespace

void addRun(CLI::App &app, Session &session) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "launch a kernel once on made or loaded data");
  command
      ->add_option("kernel", options->given.kernel, "FILE.py[:function], or kernels/OP with --case")
      ->required();
  command->add_option("--signature,-s", options->given.signature,
                      "types, e.g. \"*fp32:16, i32, 1024\" or by name");
  command->add_option("--grid,-g", options->given.grid, "e.g. \"cdiv(n, BLOCK), 1, 1\"");
  command->add_option("--arg,-a", options->given.arguments,
                      "name=randn(1024,seed=1), name=x.npy, name=7");
  command->add_option("--save", options->saves, "name=file.npy, after the launch");
  command->add_option("--target", options->execution.target,
                      "cpu, cpu:x86-64-v3, nvidia:0, nvidia:sm_90a and the like");
  command->add_option("--chip", options->execution.chip, chipHelp);
  command->add_option("--runner", options->execution.runner,
                      "run it there: \"ssh board ./nereid-runner\" (nereid explain E0414)");
  command->add_option("--case", options->caseName, "a case of kernels/OP/cases.toml");
  addBlocking(*command);
  addImportPaths(*command, session);
  command->add_flag("--interpret", options->execution.interpret,
                    "use the interpreter instead of compiling");
  command->add_flag("--no-cache", options->noCache, "compile even when a cached kernel exists");
  command->callback([options, command, &session] {
    std::vector<std::string> used = {"--arg", "--save", "--import-path"};
    const bool isCase = !options->caseName.empty();
    if (isCase) {
      used.emplace_back("--case");
    } else {
      used.insert(used.end(), {"--signature", "--grid"});
    }
    if (options->execution.interpret) {
      used.emplace_back("--interpret");
    } else {
      used.insert(used.end(), {"--target", "--chip", "--runner", "--no-cache", "--blocking"});
    }
    const std::string input =
        options->execution.interpret ? "the interpreter" : "a compiled kernel";
    if (auto unused = unusedOption(*command, isCase ? "a case in " + input : input, used)) {
      return session.fail(*unused);
    }
    runCommand(*options, session);
  });
}

} // namespace nereid::cli
