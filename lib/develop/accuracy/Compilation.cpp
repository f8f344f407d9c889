// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/Compilation.h"

#include "lib/generator/call/CallPlan.h"
#include "lib/support/FirstError.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace nereid::develop {

Result<CompiledCases> compileCases(generator::Generation &generation, const KernelSource &source,
                                   const Machine &chip, const AccuracyOptions &options) {
  CompiledCases result;
  std::set<std::pair<std::string, std::string>> kernels; // function and signature
  for (DType dtype : options.dtypes) {
    for (const definition::GridCase &one :
         definition::accuracyGrid(generation.op(), options.seed, 8, dtype)) {
      if (!one.unmet.empty()) {
        continue;
      }
      auto plan = generator::planCall(generation, generation.scheduleFor(one.binding, dtype, chip),
                                      one.binding, dtype);
      if (!plan) {
        return plan.error();
      }
      ++result.cases;
      for (const generator::LaunchPlan &launch : plan->launches) {
        kernels.emplace(launch.function, launch.signature);
      }
    }
  }
  result.kernels = kernels.size();
  const std::vector<std::pair<std::string, std::string>> list(kernels.begin(), kernels.end());
  std::vector<std::optional<Diagnostic>> errors(list.size());
  bench::forEachAtOnce(list.size(), [&](size_t i) {
    Diagnostics diags;
    pipeline::CompileOptions compile;
    compile.target = source.target;
    compile.chip = source.chip;
    const auto output = pipeline::compile({.path = source.path,
                                           .function = list[i].first,
                                           .signature = list[i].second,
                                           .importPaths = source.importPaths},
                                          compile, diags);
    if (!output) {
      errors[i] = firstError(diags);
    }
    return output.has_value();
  });
  for (auto &error : errors) {
    if (error) {
      return std::move(*error);
    }
  }
  return result;
}

} // namespace nereid::develop
