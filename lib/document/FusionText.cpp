// SPDX-License-Identifier: Apache-2.0
// What kernels compute of the body and what they move, and why two are not one; see Document.h.
#include "lib/document/Chapters.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::document {

std::string fusionText(const definition::Operator &op, const std::vector<CallOutline> &calls) {
  std::string out =
      "What a kernel computes of the body stays on chip within it. "
      "\"Moves\" is what it reads and writes of tensors and of memory between kernels, "
      "each once, also where it walks over one several times, "
      "beside what its operations would move one by one, those of which a function such as softmax "
      "consists.\n\n";
  std::vector<std::string> known;
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallOutline &call = calls[i];
    std::string kernels;
    for (const CallOutline::Launch &launch : call.launches) {
      kernels += launch.kernel + "\n";
    }
    if (std::find(known.begin(), known.end(), kernels) != known.end()) {
      continue;
    }
    known.push_back(kernels);
    bool isOnline = false;
    report::Table computed({"kernel", "computes", ">moves", ">operation by operation"});
    for (const CallOutline::Launch &launch : call.launches) {
      const std::string computes = launch.computes.empty() ? "-" : launch.computes;
      computed.add({code(launch.kernel), cell(computes + (launch.isOnline ? "; online" : "")),
                    report::formatBytes(launch.bytes), report::formatBytes(launch.unfusedBytes)});
      isOnline = isOnline || launch.isOnline;
    }
    out += fmt::format("Case {}:\n\n{}\n", cell(op.performanceCases[i].name), computed.markdown());
    if (isOnline) {
      out +=
          "Online: a reduction that needs another one (a sum of exponentials the largest element, "
          "a variance the mean) is made in the walk over the row that makes that one.\n\n";
    }
    if (call.boundaries.empty()) {
      out += call.launches.size() < 2 ? "Everything is one kernel.\n\n"
                                      : "No kernel reads what another one leaves.\n\n";
      continue;
    }
    report::Table between({"memory", "from", "to", ">bytes", "not one kernel because"});
    for (const CallOutline::Boundary &each : call.boundaries) {
      between.add({code(each.memory), code(each.from), code(each.to),
                   report::formatBytes(each.bytes), cell(each.why)});
    }
    out += between.markdown() + "\n";
  }
  return out;
}

} // namespace nereid::document
