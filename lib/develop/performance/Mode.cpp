// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Mode.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::develop {

const std::vector<std::string> &modeNames() {
  static const std::vector<std::string> names = {"default", "reduce-overhead", "max-autotune",
                                                 "max-autotune-no-graphs"};
  return names;
}

std::string_view modeName(Mode mode) { return modeNames()[static_cast<size_t>(mode)]; }

Result<Mode> parseMode(std::string_view name) {
  const auto &names = modeNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    auto error = makeError("E0013", fmt::format("unknown mode '{}'", name));
    if (const auto near = nearestNames(std::string(name), names); !near.empty()) {
      error.note(fmt::format("nearest mode: '{}'", near.front()));
    }
    return error.withHelp(fmt::format("--mode takes {}", fmt::join(names, ", ")));
  }
  return static_cast<Mode>(found - names.begin());
}

bool Choice::isGraph() const {
  if (!graph) {
    return false;
  }
  return mode == Mode::ReduceOverhead || graph->summary.median < launchSeconds;
}

double Choice::compiledSeconds() const { return isGraph() ? graph->summary.median : launchSeconds; }

double Choice::speedup() const {
  const double compiled = compiledSeconds();
  return compiled > 0 && eagerSeconds > 0 ? eagerSeconds / compiled : 0;
}

generator::Form Choice::form() const {
  return !failure.empty() ? generator::Form::Unasked
         : !isCompiled()  ? generator::Form::Eager
         : isGraph()      ? generator::Form::Graph
                          : generator::Form::Launches;
}

std::string Choice::text() const {
  if (!failure.empty()) {
    return "none: " + failure;
  }
  const char *form = isGraph() ? "compiled, replayed as a graph" : "compiled";
  std::string text =
      isCompiled() ? fmt::format("{}: {} the eager form", form, report::formatRatio(speedup()))
                   : fmt::format("eager: {} is {} of it, {} are asked", form,
                                 report::formatRatio(speedup()), report::formatRatio(leastSpeedup));
  if (graph) {
    text += fmt::format("; a launch takes {}, a replay {}", report::formatSeconds(launchSeconds),
                        report::formatSeconds(graph->summary.median));
  }
  return text + (isNoisy ? ", noisy" : "");
}

} // namespace nereid::develop
