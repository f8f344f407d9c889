// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/ladder/LadderReport.h"

#include "lib/bench/KernelReport.h"
#include "lib/measure/statistics/Statistics.h"
#include "lib/report/SvgText.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A column of the table, which is left out where no rung has anything for it.
struct Column {
  const char *title;
  std::string (*text)(const Ladder &ladder, size_t rung);
};

/// What each launch says, "a + b"; the text once where all say the same.
template <class Text> std::string joined(const Rung &rung, Text text) {
  std::vector<std::string> all;
  for (const RungLaunch &launch : rung.launches) {
    all.push_back(text(launch));
  }
  const bool isOne = std::all_of(all.begin(), all.end(),
                                 [&](const std::string &one) { return one == all.front(); });
  return isOne ? all.front() : fmt::format("{}", fmt::join(all, " + "));
}

template <class Text> std::string ofCode(const Rung &rung, Text text) {
  return joined(rung, [&](const RungLaunch &launch) {
    return launch.code ? text(*launch.code) : std::string();
  });
}

std::string kernelsText(const Ladder &ladder, size_t at) {
  std::vector<std::string> names;
  for (const RungLaunch &launch : ladder.rungs[at].launches) {
    names.push_back(launch.file.substr(launch.file.find(':') + 1));
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

std::string timeText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  return rung.isTimed() ? report::formatSeconds(rung.median()) : "";
}

std::string gainText(const Ladder &ladder, size_t at) {
  const double gain = ladder.gainOverLast(at);
  return gain > 0 ? report::formatRatio(gain) : "";
}

std::string ofFirstText(const Ladder &ladder, size_t at) {
  const double gain = at > 0 ? ladder.gain(0, at) : 0;
  return gain > 0 ? report::formatRatio(gain) : "";
}

std::string flopsText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  return rung.isTimed() && rung.flops() > 0 ? report::formatFlops(rung.flops() / rung.median())
                                            : "";
}

std::string rateText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  return rung.isTimed() && rung.bytes() > 0 ? report::formatRate(rung.bytes() / rung.median()) : "";
}

std::string bytesText(const Ladder &ladder, size_t at) {
  const double bytes = ladder.rungs[at].bytes();
  return bytes > 0 ? report::formatBytes(bytes) : "";
}

/// Of a rung of one launch.
std::string rooflineText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  const bool isTold = rung.launches.size() == 1 && rung.isTimed() &&
                      rung.launches[0].row->hasWork() &&
                      rung.launches[0].row->rooflineFault().empty();
  return isTold ? report::formatPercent(rung.launches[0].row->rooflineShare()) : "";
}

std::string peerText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  if (rung.launches.size() != 1 || !rung.isTimed() || !rung.launches[0].row->hasPeer()) {
    return "";
  }
  const KernelRow &row = *rung.launches[0].row;
  return fmt::format(
      "{} of {}", report::formatRatio(measure::medianRatio(row.peer.samples, row.kernel.samples)),
      row.peer.name);
}

std::string registersText(const Ladder &ladder, size_t at) {
  return ofCode(ladder.rungs[at],
                [](const CodeTaken &code) { return fmt::format("{}", code.resources.registers); });
}

std::string spillsText(const Ladder &ladder, size_t at) {
  return ofCode(ladder.rungs[at], [](const CodeTaken &code) {
    return report::formatBytes(static_cast<double>(code.resources.localBytes));
  });
}

std::string sharedText(const Ladder &ladder, size_t at) {
  return ofCode(ladder.rungs[at], [](const CodeTaken &code) {
    return report::formatBytes(static_cast<double>(code.sharedBytes));
  });
}

std::string occupancyText(const Ladder &ladder, size_t at) {
  return ofCode(ladder.rungs[at], [](const CodeTaken &code) {
    return fmt::format("{} ({})", report::formatPercent(code.occupation.share),
                       code.occupation.limitedBy());
  });
}

std::string configText(const Ladder &ladder, size_t at) {
  return joined(ladder.rungs[at], [](const RungLaunch &launch) {
    return launch.row ? launch.row->config : std::string();
  });
}

std::string stateText(const Ladder &ladder, size_t at) {
  const Rung &rung = ladder.rungs[at];
  if (const std::string wrong = rung.failure(); !wrong.empty()) {
    return "FAILED: " + wrong;
  }
  const auto any = [&](auto is) {
    return std::any_of(rung.launches.begin(), rung.launches.end(),
                       [&](const RungLaunch &launch) { return launch.row && is(*launch.row); });
  };
  const bool isOpen = any([](const KernelRow &row) { return !row.isVerified; });
  std::string text = rung.isTimed() ? (isOpen ? "not verified" : "verified") : "";
  if (any([](const KernelRow &row) { return row.kernel.isNoisy; })) {
    text += ", noisy";
  }
  return text;
}

constexpr Column columns[] = {
    {"rung", [](const Ladder &ladder, size_t at) { return ladder.rungs[at].name; }},
    {"kernels", kernelsText},
    {">median", timeText},
    {">gain", gainText},
    {">of the first", ofFirstText},
    {">rate", flopsText},
    {">bytes", bytesText},
    {">bandwidth", rateText},
    {">of roofline", rooflineText},
    {">beside the library", peerText},
    {">registers", registersText},
    {">local memory", spillsText},
    {">shared memory", sharedText},
    {">occupancy (limit)", occupancyText},
    {"config", configText},
    {"state", stateText},
};

report::Table tableOf(const Ladder &ladder) {
  std::vector<const Column *> shown;
  std::vector<std::string> titles;
  for (const Column &column : columns) {
    bool isTold = false;
    for (size_t rung = 0; rung < ladder.rungs.size(); ++rung) {
      isTold = isTold || !column.text(ladder, rung).empty();
    }
    if (isTold) {
      shown.push_back(&column);
      titles.emplace_back(column.title);
    }
  }
  report::Table table(titles);
  for (size_t rung = 0; rung < ladder.rungs.size(); ++rung) {
    std::vector<std::string> cells;
    for (const Column *column : shown) {
      const std::string text = column->text(ladder, rung);
      cells.push_back(text.empty() ? "-" : text);
    }
    table.add(cells);
  }
  return table;
}

Json codeJson(const CodeTaken &code) {
  Json json = {{"registers", code.resources.registers},
               {"local_bytes", code.resources.localBytes},
               {"shared_bytes", code.sharedBytes}};
  if (code.resources.spillStoreBytes && code.resources.spillLoadBytes) {
    json["spill_store_bytes"] = *code.resources.spillStoreBytes;
    json["spill_load_bytes"] = *code.resources.spillLoadBytes;
  }
  json["occupancy"] = {{"share", code.occupation.share},
                       {"programs", code.occupation.programs},
                       {"limited_by", code.occupation.limitedBy()}};
  return json;
}

Json launchJson(const RungLaunch &launch) {
  Json json = launch.row ? kernelJson(*launch.row)
                         : Json{{"case", launch.caseName}, {"kernel", launch.file}};
  if (!launch.failure.empty()) {
    json["failure"] = launch.failure;
  }
  if (launch.code) {
    json["code"] = codeJson(*launch.code);
  }
  return json;
}

} // namespace

std::string ladderText(const Ladder &ladder) {
  return fmt::format("ladder {}\n{}", ladder.name, tableOf(ladder).text());
}

std::string ladderMarkdown(const Ladder &ladder) {
  return fmt::format("## {}\n\n{}", ladder.name, tableOf(ladder).markdown());
}

Json ladderJson(const Ladder &ladder) {
  Json json = {{"ladder", ladder.name}, {"rungs", Json::array()}};
  for (size_t i = 0; i < ladder.rungs.size(); ++i) {
    const Rung &rung = ladder.rungs[i];
    Json one = {{"rung", rung.name}};
    if (rung.isTimed()) {
      one["median"] = rung.median();
      if (const double gain = ladder.gainOverLast(i); gain > 0) {
        one["gain"] = gain;
      }
      if (const double gain = i > 0 ? ladder.gain(0, i) : 0; gain > 0) {
        one["gain_over_first"] = gain;
      }
      one["bytes"] = rung.bytes();
      one["flops"] = rung.flops();
    }
    if (const std::string wrong = rung.failure(); !wrong.empty()) {
      one["failure"] = wrong;
    }
    one["launches"] = Json::array();
    for (const RungLaunch &launch : rung.launches) {
      one["launches"].push_back(launchJson(launch));
    }
    json["rungs"].push_back(std::move(one));
  }
  return json;
}

std::string ladderPicture(const Ladder &ladder) {
  constexpr double width = 640, top = 40, step = 30, left = 150, right = 150, bar = 16;
  double most = 0;
  for (size_t i = 0; i < ladder.rungs.size(); ++i) {
    most = std::max(most, ladder.gain(0, i));
  }
  if (most <= 0) {
    return "";
  }
  const double height = top + step * static_cast<double>(ladder.rungs.size()) + 16;
  std::string out =
      report::svgBegin(width, height) +
      report::svgLabel(width / 2, 20, "middle", ladder.name + ": times as fast as the first rung");
  for (size_t i = 0; i < ladder.rungs.size(); ++i) {
    const double y = top + step * static_cast<double>(i), gain = ladder.gain(0, i);
    const double length = (width - left - right) * gain / most;
    out += report::svgLabel(left - 8, y + 12, "end", ladder.rungs[i].name);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                       "fill=\"#1f5fa8\"/>\n",
                       left, y, length, bar);
    out += report::svgLabel(left + length + 6, y + 12, "start",
                            gain > 0 ? fmt::format("{}, {}", report::formatRatio(gain),
                                                   report::formatSeconds(ladder.rungs[i].median()))
                                     : "no time");
  }
  return out + "</svg>\n";
}

} // namespace nereid::bench
