// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/accuracy/Verification.h"

#include "lib/develop/accuracy/CaseAttempt.h"
#include "lib/develop/accuracy/FormCases.h"
#include "lib/develop/accuracy/SmallCase.h"
#include "lib/support/Interrupt.h"
#include "lib/verify/KeptCase.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace nereid::develop {

using definition::GridCase;
using generator::Generation;

namespace {

/// Several cases at a time: most of one is work of a single thread. After an error or an
/// interruption no case is begun; those have no attempt. Only what may be kept as files has its
/// tensors.
std::vector<std::optional<Result<Attempt>>>
verifyTogether(Generation &generation, VerificationProgress &progress, const Machine &chip,
               const std::vector<GridCase> &grid, DType dtype, const AccuracyOptions &options) {
  std::vector<std::optional<Result<Attempt>>> attempts(grid.size());
  bench::forEachAtOnce(grid.size(), [&](size_t i) {
    auto attempt = verifyCase(generation, progress, chip, grid[i], dtype);
    if (attempt && !options.mayKeep(!attempt->row.failure.empty())) {
      attempt->tensors = {};
      attempt->computed.clear();
    }
    attempts[i] = std::move(attempt);
    return bool(*attempts[i]) && !progress.hasLostDevice();
  });
  return attempts;
}

bool haveSameSizes(const definition::Binding &one, const definition::Binding &other) {
  return one.rest.size() == other.rest.size() &&
         std::equal(one.symbols.begin(), one.symbols.end(), other.symbols.begin(),
                    other.symbols.end(),
                    [](const auto &a, const auto &b) { return a.first == b.first; });
}

/// The cases that were asked for.
Result<std::vector<GridCase>> chosenCases(Generation &generation, const Machine &chip,
                                          const AccuracyOptions &options, DType dtype,
                                          std::set<std::string> &launched) {
  std::vector<GridCase> grid = definition::accuracyGrid(generation.op(), options.seed, 8, dtype);
  addFormCases(grid, generation, chip, dtype, launched);
  if (options.onlyCase.empty()) {
    return grid;
  }
  std::string wanted = options.onlyCase.substr(0, options.onlyCase.find(takenAs));
  const auto small = readSmallName(wanted);
  wanted = small ? small->name : wanted;
  std::vector<std::string> names;
  for (const GridCase &one : grid) {
    names.push_back(one.name);
  }
  std::erase_if(grid, [&](const GridCase &one) { return one.name != wanted; });
  if (grid.empty()) {
    return verify::unknownCase(generation.op().name, wanted, names);
  }
  if (small) {
    if (!haveSameSizes(grid.front().binding, small->sizes)) {
      return makeError("E0016", fmt::format("'{}' does not give the sizes of case '{}'",
                                            options.onlyCase, wanted))
          .withHelp("it has " + smallName("", grid.front().binding));
    }
    grid.front().binding = small->sizes;
    grid.front().name = smallName(wanted, small->sizes);
    if (Status met = checkConstraints(generation.op(), small->sizes, dtype); !met) {
      return met.error();
    }
  }
  return grid;
}

/// A failed case and its attempt with the smallest sizes that fail likewise: by a wrong number, or
/// by something else. Nothing where none are smaller.
std::optional<std::pair<GridCase, Attempt>> madeSmall(Generation &generation,
                                                      VerificationProgress &progress,
                                                      const Machine &chip, const GridCase &grid,
                                                      const Attempt &failed) {
  std::optional<std::pair<GridCase, Attempt>> smallest;
  const auto fails = [&](const definition::Binding &sizes) {
    if (isInterrupted() || progress.hasLostDevice() || progress.gravest().isEndless() ||
        !checkConstraints(generation.op(), sizes, failed.row.dtype)) {
      return false;
    }
    GridCase small = grid;
    small.binding = sizes;
    small.name = smallName(grid.name, sizes);
    auto attempt = verifyCase(generation, progress, chip, small, failed.row.dtype);
    const bool isSame = attempt && !attempt->row.failure.empty() &&
                        attempt->row.comparison.passed() == failed.row.comparison.passed();
    if (isSame) {
      smallest.emplace(std::move(small), std::move(*attempt));
    }
    return isSame;
  };
  (void)smallestFailing(grid.binding, fails);
  return smallest;
}

/// Everything about the attempt as files.
Status keepAttempt(const Generation &generation, const Attempt &attempt, const GridCase &grid,
                   const AccuracyOptions &options) {
  const Generation numbered = withNumbers(generation, grid);
  const AccuracyRow &row = attempt.row;
  verify::KeptCase kept;
  kept.name = row.caseName;
  kept.verdict = !row.failure.empty()   ? "FAILED: " + row.failure
                 : !row.skipped.empty() ? "skipped: " + row.skipped
                                        : "passed";
  kept.command = options.command;
  kept.addCommand(grid.name, options.seed);
  kept.command.insert(kept.command.end(), {"--dtype", std::string(torchName(row.dtype))});
  kept.facts = {{"dtype", std::string(torchName(row.dtype))},
                {"seed", std::to_string(options.seed)},
                {"data", row.data},
                {"layout", row.layout},
                {"schedule", row.schedule}};
  for (const definition::Parameter &parameter : numbered.op().parameters) {
    if (parameter.isScalar) {
      kept.facts.emplace_back(parameter.name, fmt::format("{}", parameter.value));
    }
  }
  std::vector<std::string> outputs;
  size_t input = 0;
  for (const generator::Operand &operand : numbered.called().operands) {
    if (operand.isOutput) {
      outputs.push_back(operand.name);
    } else if (input < attempt.tensors.inputs.size()) {
      kept.addInput(operand.name, attempt.tensors.inputs[input++]);
    }
  }
  for (size_t i = 0; i < attempt.computed.size(); ++i) {
    kept.addOutput(outputs[i], attempt.computed[i]);
  }
  if (!attempt.tensors.outputs.empty()) {
    auto expected = eager::runReference(numbered.op(), attempt.tensors.inputs, row.dtype,
                                        eager::Rounding::OncePerResult, runtime::defaultPool());
    for (size_t i = 0; expected && i < expected->size(); ++i) {
      kept.addExpected(outputs[i], (*expected)[i].values, (*expected)[i].bounds);
    }
  }
  return verify::keepCase(options.keepIn, kept);
}

} // namespace

Result<AccuracyReport> verifyAccuracy(Generation &generation, const KernelSource &source,
                                      const Machine &chip, const AccuracyOptions &options) {
  AccuracyReport report;
  report.seed = options.seed;
  bench::KeptChoice choice(options);
  VerificationProgress progress;
  progress.source = source;
  progress.source.compiled = std::make_shared<CompiledKernels>();
  std::set<std::string> launched; // kernels, of which several types may have one
  for (DType dtype : options.dtypes) {
    auto grid = chosenCases(generation, chip, options, dtype, launched);
    if (!grid) {
      return grid.error();
    }
    options.progress(fmt::format("verify: {}, {} cases", torchName(dtype), grid->size()));
    auto attempts = verifyTogether(generation, progress, chip, *grid, dtype, options);
    for (size_t i = 0; i < attempts.size(); ++i) {
      auto &attempt = attempts[i];
      if (!attempt && isInterrupted()) {
        report.isInterrupted = true;
        return report;
      }
      if (!attempt) {
        continue; // the error that another case met comes
      }
      if (!*attempt) {
        return attempt->error();
      }
      AccuracyRow &row = (*attempt)->row;
      const bool failed = !row.failure.empty();
      if (choice.wants(failed)) {
        auto small = failed && options.onlyCase.empty()
                         ? madeSmall(generation, progress, chip, (*grid)[i], **attempt)
                         : std::nullopt;
        const Attempt &keptOne = small ? small->second : **attempt;
        if (Status kept =
                keepAttempt(generation, keptOne, small ? small->first : (*grid)[i], options);
            !kept) {
          return kept.error();
        }
        choice.choose(fmt::format("{} ({})", keptOne.row.caseName, torchName(dtype)), failed);
        report.kept = choice.name();
      }
      report.rows.push_back(std::move(row));
    }
    if (progress.hasLostDevice()) {
      report.isDeviceLost = true;
      return report;
    }
    const auto mine = report.rows.end() - static_cast<long>(grid->size());
    bool isNothing = std::all_of(mine, report.rows.end(),
                                 [](const AccuracyRow &row) { return !row.skipped.empty(); });
    if (isNothing) {
      report.rows.back().failure =
          "every case was skipped, so nothing is verified; " + report.rows.back().skipped;
    }
  }
  if (options.onlyCase.empty()) {
    report.unlaunched = unlaunchedKernels(generation, report.rows);
  }
  return report;
}

std::vector<std::string> unlaunchedKernels(const Generation &generation,
                                           std::span<const AccuracyRow> rows) {
  std::set<std::string> launched;
  std::set<DType> dtypes;
  for (const AccuracyRow &row : rows) {
    launched.insert(row.kernels.begin(), row.kernels.end());
    dtypes.insert(row.dtype);
  }
  std::vector<std::string> names;
  for (const DType dtype : dtypes) {
    for (const generator::LaunchEntry &entry : generation.program.tables.at(dtype).kernels) {
      if (launched.insert(entry.function).second) { // each is named once
        names.push_back(entry.function);
      }
    }
  }
  return names;
}

} // namespace nereid::develop
