// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Sources.h"

#include "lib/generator/call/CallPlan.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Hash.h"

#include <filesystem>
#include <set>

namespace nereid::develop {

namespace {

/// Of the kernel that the plan launches; which files it imports is known when its calls are.
std::vector<std::string> sourcesOf(const KernelSource &source, const generator::LaunchPlan &plan) {
  Diagnostics diags;
  pipeline::CompileOptions options;
  options.target = source.target;
  options.chip = source.chip;
  options.to = "tile";
  auto tile = pipeline::compile({.path = source.path,
                                 .function = plan.function,
                                 .signature = plan.signature,
                                 .importPaths = source.importPaths},
                                options, diags);
  return tile ? tile->sources : std::vector<std::string>();
}

} // namespace

std::string digestOfSources(const KernelSource &source, generator::Generation generation,
                            const Machine &chip, DType dtype) {
  std::set<std::string> functions, files;
  const definition::Operator &op = generation.op();
  for (const auto *cases : {&op.accuracyCases, &op.performanceCases}) {
    for (const definition::Case &one : *cases) {
      const generator::Schedule schedule = generation.scheduleFor(one.binding, dtype, chip);
      auto plan = generator::planCall(generation, schedule, one.binding, dtype);
      for (const generator::LaunchPlan &launch :
           plan ? plan->launches : std::vector<generator::LaunchPlan>()) {
        if (!functions.insert(launch.function).second) {
          continue;
        }
        for (std::string &file : sourcesOf(source, launch)) {
          files.insert(std::move(file));
        }
      }
    }
  }
  if (files.empty()) {
    files.insert(source.path);
  }
  // Names without folders: a project that is moved keeps its records.
  Sha256 hash;
  for (const std::string &file : files) {
    auto text = readTextFile(file);
    hash.field(std::filesystem::path(file).filename().string()).field(text ? *text : "");
  }
  return toHex(hash.finish());
}

} // namespace nereid::develop
