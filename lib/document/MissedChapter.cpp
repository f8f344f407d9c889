// SPDX-License-Identifier: Apache-2.0
// Chapter 4: what to do when the target is missed: how to find out why, what would be changed then,
// and what to write down.
#include "lib/document/Chapters.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

namespace nereid::document {
namespace {

std::string diagnosis(const DocumentInput &input) {
  const std::string name = input.op.name;
  report::Table table({"question", "answered by", "then"});
  table.add({"Is it right at all?", code("nereid verify " + name),
             "nothing is timed before it is; `--dump` keeps the first case that fails"});
  table.add({"Which case is slow?", code("nereid bench " + name),
             "the one with the least share of its roofline, not the one with the longest time"});
  table.add({"Does memory wait?", "its share of a copy is below 85 %",
             "longer runs, wider blocks, streaming stores"});
  table.add({"Does the hand-out take time?", "its share of the launch is above 10 %",
             "larger blocks, fewer programs"});
  table.add({"Were processors idle?", "idle share in the table of rounds",
             "smaller blocks, so that the last wave is full"});
  table.add({"Is it at a limit already?", "85 % of a copy or of the arithmetic",
             "no schedule helps: move fewer bytes, or compute less (interface or logic change)"});
  return "### 4.1 Finding out why\n\n" + table.markdown() + "\n";
}

std::string changes(const DocumentInput &input) {
  std::string out = "### 4.2 What to change\n\n";
  if (input.remedies.empty()) {
    out +=
        "The generator has no schedule that the model expects more of than of the present one.\n\n";
  } else {
    out += "What the generator would try first for each finding, had a measurement made it:\n\n";
    report::Table table({"case", "finding", "change", ">expected, at most", "because"});
    for (const Remedy &remedy : input.remedies) {
      table.add({cell(remedy.caseName), cell(remedy.finding), code(remedy.change),
                 report::formatRatio(remedy.expectedGain), cell(remedy.reason)});
    }
    out += table.markdown() + "\n";
  }
  return out + fmt::format(
                   "`nereid optimize {0}` measures, makes one such change a round, verifies every "
                   "case again and keeps what is quicker, {1} times at most. A change of blocks "
                   "touches `{0}_triton.py` alone; one of the signature or of the formula begins "
                   "in `{0}.toml`, and every file follows: `nereid diff {0}` says which it is.\n\n",
                   input.op.name, input.op.maxRounds);
}

std::string record(const DocumentInput &input) {
  std::string shapes;
  for (const auto &one : input.op.performanceCases) {
    shapes += (shapes.empty() ? "" : ", ") + one.name;
  }
  report::Table table({"entry", "what it says"});
  table.add(
      {"version", code(input.op.name + ".N") + ", and the case it was timed on: " + cell(shapes)});
  table.add({"speed-up", fmt::format("over the unfused baseline, before and after; target {:.2f}x",
                                     input.op.targetSpeedup)});
  table.add({"finding", "shares of memory and arithmetic, and what held it back"});
  table.add({"class of the change", "parameter, interface or logic"});
  table.add({"change", "what was there, what is there now, and the reason"});
  table.add({"expected and measured", "both ratios, and whether the difference is certain"});
  table.add({"lesson", "why it worked or did not, and what to try next"});
  return "### 4.3 What to record\n\n`optimization_log.md` has a round for each change; one made by "
         "hand needs the same entries:\n\n" +
         table.markdown();
}

} // namespace

std::string missedChapter(const DocumentInput &input) {
  return "## 4 When the target is missed\n\n" + diagnosis(input) + changes(input) + record(input);
}

} // namespace nereid::document
