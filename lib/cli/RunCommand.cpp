// SPDX-License-Identifier: Apache-2.0
// `nereid run`: one launch of a kernel on made or loaded data.
#include "lib/cli/Arguments.h"
#include "lib/cli/Command.h"
#include "lib/cli/KernelCases.h"
#include "lib/cli/KernelLauncher.h"
#include "lib/cli/OptionUse.h"
#include "lib/verify/KeptCase.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>

namespace nereid::cli {

namespace {

struct RunOptions {
  std::string kernel, signature, grid = "1";
  Execution execution;
  std::vector<std::string> arguments, saves;
  std::string caseName;
  KernelCase fromCase; ///< empty = all is from the command line
  bool noCache = false;
};

/// Fills kernel, signature, grid and missing arguments from a case of the folder's cases.toml. A
/// file stands for its folder's cases of that file.
Status applyCase(RunOptions &options) {
  std::string path = parseKernelReference(options.kernel).path, file;
  if (std::filesystem::path(path).extension() == ".py") {
    file = std::filesystem::path(path).filename().string();
    path = std::filesystem::path(path).parent_path().string();
  }
  auto cases = loadCases(path.empty() ? "." : path);
  if (!cases) {
    return cases.error();
  }
  std::vector<std::string> names;
  for (const auto &one : *cases) {
    auto itsFile = std::filesystem::path(parseKernelReference(one.kernel).path).filename();
    if (!file.empty() && itsFile != file) {
      continue;
    }
    names.push_back(one.name);
    if (one.name == options.caseName) {
      options.kernel = one.kernel;
      options.signature = one.signature;
      options.grid = one.grid;
      options.fromCase = one;
      // What the command line says comes last and wins.
      for (const std::string &argument : options.arguments) {
        options.fromCase.computed.erase(argument.substr(0, argument.find('=')));
      }
      options.arguments.insert(options.arguments.begin(), one.arguments.begin(),
                               one.arguments.end());
      return Done{};
    }
  }
  return verify::unknownCase(options.kernel, options.caseName, names);
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
    if (auto applied = applyCase(options); !applied) {
      return session.fail(applied.error());
    }
  }
  Diagnostics diags;
  options.execution.useCache = !options.noCache;
  auto kernel = PreparedKernel::prepare(options.kernel, options.signature, session.importPaths,
                                        options.execution, diags);
  if (!kernel) {
    return session.fail(diags);
  }
  auto arguments = makeArguments(kernel->signature(), options.arguments);
  if (!arguments) {
    return session.fail(arguments.error());
  }
  if (auto computed = computeInputs(options.fromCase, *arguments); !computed) {
    return session.fail(computed.error());
  }
  auto grid = evaluateGrid(options.grid, *arguments);
  if (!grid) {
    return session.fail(grid.error());
  }
  if (auto saves = checkSaves(options, *arguments); !saves) {
    return session.fail(saves.error());
  }
  if (!kernel->launch(*grid, *arguments, diags)) {
    return session.fail(diags);
  }
  if (auto saved = save(options, *arguments); !saved) {
    return session.fail(saved.error());
  }
  print(session, *arguments, *kernel);
}

} // namespace

void addRun(CLI::App &app, Session &session) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "launch a kernel once on made or loaded data");
  command->add_option("kernel", options->kernel, "FILE.py[:function], or kernels/OP with --case")
      ->required();
  command->add_option("--signature,-s", options->signature,
                      "types, e.g. \"*fp32:16, i32, 1024\" or by name");
  command->add_option("--grid,-g", options->grid, "e.g. \"cdiv(n, BLOCK), 1, 1\"");
  command->add_option("--arg,-a", options->arguments,
                      "name=randn(1024,seed=1), name=x.npy, name=7");
  command->add_option("--save", options->saves, "name=file.npy, after the launch");
  command->add_option("--target", options->execution.target, "cpu, or cpu:x86-64-v3 and the like");
  command->add_option("--runner", options->execution.runner,
                      "run it there: \"ssh board ./nereid-runner\" (nereid explain E0414)");
  command->add_option("--case", options->caseName, "a case of kernels/OP/cases.toml");
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
      used.insert(used.end(), {"--target", "--runner", "--no-cache"});
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
