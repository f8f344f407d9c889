// SPDX-License-Identifier: Apache-2.0
// Chapter 3: how the operator is cut up, under six headings, and what each choice should gain: the
// cost model's time of the launch without it, by that of the launch with it.
#include "lib/definition/Cost.h"
#include "lib/document/Chapters.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

namespace nereid::document {
namespace {

using definition::Work;

/// One case with all that the headings ask about.
struct Planned {
  const DocumentInput &input;
  const definition::Case &one;
  const CasePlan &plan;
  Work work, unfused;

  double seconds(const LaunchOutline &launch) const {
    return modelTime(input.chip, work, launch, input.dtype).seconds();
  }
  double seconds() const { return seconds(plan.chosen); }
};

class Strategy {
public:
  explicit Strategy(const DocumentInput &input) : input(input), chip(input.chip) {
    for (size_t i = 0; i < input.plans.size(); ++i) {
      const auto &one = input.op.performanceCases[i];
      cases.push_back({input, one, input.plans[i],
                       definition::countWork(input.op, one.binding, input.dtype),
                       definition::countUnfusedWork(input.op, one.binding, input.dtype)});
    }
  }

  std::string run() const {
    std::string out = "## 3 Strategy\n\n";
    out +=
        hasModel(chip)
            ? fmt::format("Figures are for {}. A gain is the time without the choice by the time "
                          "with it, from the model of 2.5: a choice of 1.00x costs nothing and "
                          "gains nothing there.\n\n",
                          torchName(input.dtype))
            : "The chip's descriptor has no rates, so that the model has no gains to tell.\n\n";
    return out + grid() + blocks() + warps() + memory() + reuse() + sizes();
  }

private:
  using Gain = std::function<double(const Planned &)>;

  std::string gainText(double gain) const {
    return hasModel(chip) && gain > 0 && std::isfinite(gain) ? report::formatRatio(gain) : "-";
  }

  /// Geometric mean over the cases, in a sentence.
  std::string expected(const std::string &against, const Gain &gain) const {
    if (!hasModel(chip) || cases.empty()) {
      return "";
    }
    double logs = 0;
    for (const Planned &one : cases) {
      const double each = gain(one);
      if (each <= 0 || !std::isfinite(each)) {
        return "";
      }
      logs += std::log(each);
    }
    const double mean = std::exp(logs / static_cast<double>(cases.size()));
    return fmt::format("Expected gain over {}: **{}** in the mean of all cases.\n\n", against,
                       report::formatRatio(mean));
  }

  std::string grid() const {
    report::Table table(
        {"case", "kernel", "grid", ">programs", ">waves", ">last wave", ">over one processor"});
    const auto one = oneProcessor(chip);
    Gain gain = [&](const Planned &planned) {
      return one ? modelTime(*one, planned.work, planned.plan.chosen, input.dtype).seconds() /
                       planned.seconds()
                 : 0;
    };
    for (const Planned &planned : cases) {
      const LaunchOutline &launch = planned.plan.chosen;
      const Waves waves = wavesOf(launch.programs(), chip.cores);
      table.add({cell(planned.one.name), code(launch.kernel),
                 fmt::format("{} × {} × {}", launch.grid[0], launch.grid[1], launch.grid[2]),
                 std::to_string(launch.programs()), std::to_string(waves.count),
                 report::formatPercent(waves.lastShare), gainText(one ? gain(planned) : 0)});
    }
    return fmt::format(
               "### 3.1 Grid\n\nPrograms are independent and go to {} processor{} in waves; "
               "a last wave that is not full leaves some without work.\n\n",
               chip.cores, chip.cores == 1 ? "" : "s") +
           table.markdown() + "\n" +
           (one ? expected("a grid of one processor's programs", gain) : "");
  }

  std::string blocks() const {
    report::Table table({"case", "blocks", ">elements at a time", ">behind an end", "first draft",
                         ">behind an end", ">over the draft"});
    Gain gain = [&](const Planned &planned) {
      LaunchOutline draft = planned.plan.draft;
      draft.isStreaming = planned.plan.chosen.isStreaming; // 3.4 counts that
      return planned.seconds(draft) / planned.seconds();
    };
    for (const Planned &planned : cases) {
      const LaunchOutline &launch = planned.plan.chosen, &draft = planned.plan.draft;
      table.add({cell(planned.one.name), code(launch.schedule), std::to_string(launch.tile),
                 report::formatPercent(launch.maskedShare()), code(draft.schedule),
                 report::formatPercent(draft.maskedShare()), gainText(gain(planned))});
    }
    return "### 3.2 Blocks\n\nA block is as large as the hand-out of a program asks for and as "
           "small "
           "as leaves each processor several; what lies behind the end of a row is computed and "
           "thrown away. The first draft is what `--start naive` begins with.\n\n" +
           table.markdown() + "\n" + expected("the first draft's grid and blocks", gain);
  }

  std::string warps() const {
    report::Table table(
        {"case", ">warps", ">elements for each thread", ">stages", ">of copying ahead, at most"});
    // What waits for memory can at best be hidden behind arithmetic, and the other way round.
    Gain gain = [&](const Planned &planned) {
      const ModelTime time = modelTime(chip, planned.work, planned.plan.chosen, input.dtype);
      const double longer = std::max(time.memory, time.arithmetic);
      return longer > 0 ? (time.memory + time.arithmetic) / longer : 1;
    };
    for (const Planned &planned : cases) {
      const LaunchOutline &launch = planned.plan.chosen;
      table.add({cell(planned.one.name), launch.warps > 0 ? std::to_string(launch.warps) : "-",
                 launch.warps > 0
                     ? fmt::format("{:.4g}", static_cast<double>(launch.tile) /
                                                 static_cast<double>(32 * launch.warps))
                     : std::to_string(launch.tile),
                 launch.stages > 0 ? std::to_string(launch.stages) : "-", gainText(gain(planned))});
    }
    return std::string("### 3.3 Warps and stages\n\n") +
           (chip.isDevice
                ? "A program has as many warps as give each thread some elements. "
                : "A program is one thread here, so that `num_warps` and `num_stages` change "
                  "nothing: the processor itself overlaps loads with arithmetic. ") +
           "Overlapping both gains at most (memory + arithmetic) / the longer of them.\n\n" +
           table.markdown() + "\n" + expected("loads that arithmetic waits for", gain);
  }

  std::string memory() const {
    report::Table table({"case", ">contiguous run", ">of its cache lines used", ">written",
                         "stores", ">of streaming stores"});
    Gain gain = [&](const Planned &planned) {
      LaunchOutline ordinary = planned.plan.chosen;
      LaunchOutline streaming = ordinary;
      ordinary.isStreaming = false;
      streaming.isStreaming = true;
      return planned.plan.chosen.isStreaming
                 ? planned.seconds(ordinary) / planned.seconds(streaming)
                 : 1;
    };
    for (const Planned &planned : cases) {
      const double run = runBytes(planned);
      const double line = 64, lines = std::ceil(run / line);
      table.add({cell(planned.one.name), report::formatBytes(run),
                 report::formatPercent(lines > 0 ? run / (lines * line) : 0),
                 report::formatBytes(planned.work.bytesWritten),
                 planned.plan.chosen.isStreaming ? "past the caches" : "ordinary",
                 gainText(gain(planned))});
    }
    return "### 3.4 Memory access\n\nNeighbouring columns are neighbouring addresses, so that a "
           "block "
           "reads runs as long as its row. A result that does not fit the last cache " +
           std::string(chip.lastCacheBytes() > 0
                           ? "(" + report::formatBytes(static_cast<double>(chip.lastCacheBytes())) +
                                 ") "
                           : "") +
           "is written past it, which saves reading what is overwritten.\n\n" + table.markdown() +
           "\n" + expected("ordinary stores everywhere", gain);
  }

  /// Bytes of one row of the first result, in memory one behind the other.
  double runBytes(const Planned &planned) const {
    const auto output = static_cast<size_t>(input.op.outputs[0]);
    const auto sizes = definition::bind(input.op.nodes[output].shape, planned.one.binding);
    const double columns = sizes && !sizes->empty() ? static_cast<double>(sizes->back()) : 1;
    return columns *
           static_cast<double>(sizeInBytes(definition::nodeDtypes(input.op, input.dtype)[output]));
  }

  /// Bytes when each reader fetched each element as often as it needs it.
  double bytesWithoutReuse(const Planned &planned) const {
    const auto types = definition::nodeDtypes(input.op, input.dtype);
    double bytes = planned.work.bytesWritten;
    for (const auto &reader : input.op.nodes) {
      const auto terms = definition::flopTerms(input.op, reader);
      for (int from : reader.inputs) {
        const auto i = static_cast<size_t>(from);
        if (input.op.nodes[i].op != "input") {
          continue;
        }
        const auto &shape = terms.empty() ? reader.shape : terms[0].elements;
        bytes += SizeSum().add(1, shape).evaluate(planned.one.binding) *
                 static_cast<double>(sizeInBytes(types[i]));
      }
    }
    return bytes;
  }

  std::string reuse() const {
    report::Table table(
        {"case", ">moves", ">unfused", ">of fusion", ">without reuse", ">of reuse"});
    auto ofBytes = [&](const Planned &planned, double bytes) {
      Work work = planned.work;
      work.bytesRead = bytes - work.bytesWritten;
      return modelTime(chip, work, planned.plan.chosen, input.dtype).seconds() / planned.seconds();
    };
    Gain fusion = [&](const Planned &planned) {
      return ofBytes(planned, std::max(planned.unfused.bytes(), planned.work.bytes()));
    };
    Gain keeping = [&](const Planned &planned) {
      return ofBytes(planned, std::max(bytesWithoutReuse(planned), planned.work.bytes()));
    };
    for (const Planned &planned : cases) {
      table.add({cell(planned.one.name), report::formatBytes(planned.work.bytes()),
                 report::formatBytes(planned.unfused.bytes()), gainText(fusion(planned)),
                 report::formatBytes(bytesWithoutReuse(planned)), gainText(keeping(planned))});
    }
    return "### 3.5 Reuse\n\nOne kernel keeps intermediate values on chip instead of writing and "
           "reading them (fusion), and what several elements need is fetched once for a block "
           "instead of once for each of them (reuse).\n\n" +
           table.markdown() + "\n" + expected("operation by operation", fusion) +
           expected("fetching an operand for each use", keeping);
  }

  std::string sizes() const {
    report::Table table(
        {"case", "its own blocks", "those of the first case", ">over those of the first case"});
    Gain gain = [&](const Planned &planned) {
      return planned.seconds(planned.plan.shared) / planned.seconds();
    };
    for (const Planned &planned : cases) {
      table.add({cell(planned.one.name), code(planned.plan.chosen.schedule),
                 code(planned.plan.shared.schedule), gainText(gain(planned))});
    }
    return "### 3.6 Changing sizes\n\nSizes are arguments of the launch. Blocks and forms follow "
           "from the sizes by rule, or are what optimisation rounds kept for a class of them. "
           "Nothing is compiled for a size that was never seen but the blocks that no size before "
           "it had.\n\n" +
           table.markdown() + "\n" + expected("one choice for all cases", gain);
  }

  const DocumentInput &input;
  const Machine &chip;
  std::vector<Planned> cases;
};

/// What kernels leave in memory is written once, and read by each kernel that needs it.
double bytesBetween(const CallOutline &call) {
  std::set<std::string> written;
  double bytes = 0;
  for (const CallOutline::Boundary &each : call.boundaries) {
    bytes += each.bytes + (written.insert(each.memory).second ? each.bytes : 0);
  }
  return bytes;
}

/// What is launched, and what it moves beside the single operations.
std::string launchSections(const DocumentInput &input) {
  report::Table launches({"case", "kernel", "blocks", ">programs"});
  report::Table bytes(
      {"case", ">of all tensors", ">between kernels", ">operation by operation", ">as many over"});
  for (size_t i = 0; i < input.calls.size(); ++i) {
    const auto &one = input.op.performanceCases[i];
    const CallOutline &call = input.calls[i];
    for (const CallOutline::Launch &launch : call.launches) {
      launches.add({cell(one.name), code(launch.kernel), code(launch.blocks),
                    std::to_string(launch.programs)});
    }
    const double tensors = definition::countWork(input.op, one.binding, input.dtype).bytes();
    const double between = bytesBetween(call);
    const double unfused = definition::countUnfusedWork(input.op, one.binding, input.dtype).bytes();
    bytes.add({cell(one.name), report::formatBytes(tensors), report::formatBytes(between),
               report::formatBytes(unfused),
               tensors > 0 ? report::formatRatio(unfused / (tensors + between)) : "-"});
  }
  const std::string account = "### 3.9 Fusion\n\n" + fusionText(input.op, input.calls);
  return "### 3.7 Launches\n\nThe kernels are made of an index-space program, in which a view is "
         "arithmetic on indices and moves nothing. A call launches them one after another.\n\n" +
         launches.markdown() + "\n### 3.8 Bytes moved\n\n" + bytes.markdown() + "\n" + account;
}

} // namespace

std::string strategyChapter(const DocumentInput &input) {
  return input.plans.empty()
             ? "## 3 Strategy\n\nNo launch was planned.\n\n"
             : Strategy(input).run() + (input.calls.empty() ? "" : launchSections(input));
}

} // namespace nereid::document
