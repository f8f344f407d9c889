// SPDX-License-Identifier: Apache-2.0
// Puts the steps of generation together, see Generator.h.
#include "lib/generator/Generator.h"

#include "lib/generator/ScheduleRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nereid::generator {

Schedule Generation::scheduleFor(const definition::Binding &binding, DType dtype,
                                 const Machine &chip, const Patterns *patterns) {
  CaseClass caseClass = classify(fused, binding, dtype, chip);
  CaseSizes sizes = sizesOf(fused, binding, dtype);
  const ScheduleTable::Entry *entry = table.find(caseClass);
  if (entry && isValid(entry->schedule, fused, sizes)) {
    return entry->schedule;
  }
  const FirstChoice choice =
      start == Start::Naive
          ? FirstChoice{naiveSchedule(fused), "naive", "as --start naive asks for"}
          : firstSchedule(fused, sizes, dtype, chip, patterns);
  table.set(caseClass, choice.schedule, choice.origin);
  remarks.push_back(fmt::format("{}: {} by {}, {}", caseClass.text(), choice.schedule.text(),
                                choice.origin, choice.reason));
  return choice.schedule;
}

Result<Generation> generate(const definition::Operator &op, const Machine &chip,
                            const Patterns *patterns, Start start) {
  auto fused = fuse(op);
  if (!fused) {
    return fused.error();
  }
  Generation generation;
  generation.start = start;
  generation.fused = std::move(*fused);
  generation.table.cacheBytes = chip.lastCacheBytes();
  generation.table.widestRowTile = widestRowTile(chip);
  // Performance cases first: their class decides for small cases that share it.
  for (const std::vector<definition::Case> *cases : {&op.performanceCases, &op.accuracyCases}) {
    for (const definition::Case &one : *cases) {
      for (DType dtype : op.dtypes) {
        generation.scheduleFor(one.binding, dtype, chip, patterns);
      }
    }
  }
  return generation;
}

std::vector<GeneratedFile> writeFiles(const Generation &generation) {
  std::vector<GeneratedFile> files = {
      {generation.fused.op.name + "_triton.py", writeTriton(generation)}};
  auto append = [&](std::vector<GeneratedFile> more) {
    std::move(more.begin(), more.end(), std::back_inserter(files));
  };
  if (hasCpp(generation.language)) {
    append(writeCompanions(generation));
  }
  if (hasPython(generation.language)) {
    append(writePythonCompanions(generation));
  }
  return files;
}

} // namespace nereid::generator
