// SPDX-License-Identifier: Apache-2.0
// 2.4 and 2.5: what the chip allows, and what will hold the operator back.
#include "lib/document/Chapters.h"
#include "lib/document/RooflinePicture.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::document {
namespace {

using definition::Work;

std::string roofline(const DocumentInput &input) {
  std::string out = "### 2.4 Roofline\n\n";
  const Machine &chip = input.chip;
  if (!hasModel(chip)) {
    return out +
           "The chip's descriptor has no rates of memory and arithmetic, so that there are no "
           "ceilings: `nereid calibrate` measures them, `--chip` names another descriptor.\n\n";
  }
  const DType type = arithmeticType(input.dtype);
  const double peak = chip.peakFor(type), rate = chip.copyBandwidth, ridge = peak / rate;
  out +=
      fmt::format("{}On {}: arithmetic ends at {} ({}), memory at {}; both meet at the ridge, "
                  "{:.3g} FLOP/B. What an operator reaches is at most min({}, {} × intensity).\n\n",
                  rooflinePicture(input) ? "![roofline](" + pictureName(input.op) + ")\n\n" : "",
                  chip.name, report::formatFlops(peak), torchName(type), report::formatRate(rate),
                  ridge, report::formatFlops(peak), report::formatRate(rate));
  report::Table table({"case", ">FLOP/B", ">ceiling of memory", ">ceiling of arithmetic",
                       ">reachable", "bound by", ">least time"});
  for (const auto &one : input.op.performanceCases) {
    const Work work = definition::countWork(input.op, one.binding, input.dtype);
    const double memory = rate * work.intensity();
    const double seconds = std::max(work.bytes() / rate, work.flops / peak);
    table.add({cell(one.name), fmt::format("{:.3g}", work.intensity()), report::formatFlops(memory),
               report::formatFlops(peak), report::formatFlops(std::min(memory, peak)),
               memory < peak ? "memory" : "arithmetic", report::formatSeconds(seconds)});
  }
  return out + table.markdown() +
         "\nBytes are from memory here. What caches keep of a case from one call to the next comes "
         "quicker than these ceilings say; 2.5 counts it so.\n\n";
}

/// The greatest of the parts, and what it is of the whole.
std::string bottleneckOf(const ModelTime &time, const Machine &chip, const Work &work) {
  const double longer = std::max(time.memory, time.arithmetic);
  const double idle = longer * (time.tail - 1);
  if (time.handOut >= longer && time.handOut >= idle) {
    return "handing out programs";
  }
  if (idle > longer) {
    return "processors without work";
  }
  if (time.memory < time.arithmetic) {
    return "arithmetic";
  }
  return isBeyondCache(chip, work.bytes()) ? "memory" : "the cache";
}

std::string bottleneck(const DocumentInput &input) {
  std::string out = "### 2.5 Bottleneck\n\n";
  if (!hasModel(input.chip) || input.plans.empty()) {
    return out + "Not known without the rates of a chip and a plan of the launches.\n\n";
  }
  report::Table table({"case", ">memory", ">arithmetic", ">handing out", ">last wave", ">together",
                       "held back by", ">bandwidth used well, unfused", ">and as one kernel"});
  for (size_t i = 0; i < input.plans.size(); ++i) {
    const auto &one = input.op.performanceCases[i];
    const Work work = definition::countWork(input.op, one.binding, input.dtype);
    const Work unfused = definition::countUnfusedWork(input.op, one.binding, input.dtype);
    const ModelTime time = modelTime(input.chip, work, input.plans[i].chosen, input.dtype);
    const double whole = time.seconds();
    const double longer = std::max(time.memory, time.arithmetic);
    const double useful = whole > 0 ? work.bytes() / whole / input.chip.copyBandwidth : 0;
    table.add({cell(one.name), report::formatSeconds(time.memory),
               report::formatSeconds(time.arithmetic), report::formatSeconds(time.handOut),
               report::formatSeconds(longer * (time.tail - 1)), report::formatSeconds(whole),
               bottleneckOf(time, input.chip, work),
               report::formatPercent(unfused.bytes() > 0 ? work.bytes() / unfused.bytes() : 0),
               report::formatPercent(useful)});
  }
  return out + table.markdown() +
         "\nBandwidth counts as used well for bytes that must move; the share is of a copy, and "
         "more than 100 % where the caches keep what a case needs. Each figure is the cost "
         "model's, "
         "none is measured.\n\n";
}

} // namespace

std::string boundSections(const DocumentInput &input) {
  return roofline(input) + bottleneck(input);
}

} // namespace nereid::document
