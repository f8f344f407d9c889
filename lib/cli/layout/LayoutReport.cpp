// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/layout/LayoutReport.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace nereid::cli {
namespace {

using Json = nlohmann::ordered_json;
using layout::Holder;
using layout::LinearLayout;
using pipeline::SharedAccess;
using pipeline::SourcePlace;
using pipeline::TileValue;

std::string sizesOf(const LinearLayout::Shape &shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

/// Every line of `text` with so many spaces in front.
std::string indented(const std::string &text, size_t spaces) {
  std::string result;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    result += std::string(spaces, ' ') + text.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return result;
}

/// Layouts by their numbers, in the order in which they are met.
class Layouts {
public:
  size_t numberOf(const LinearLayout &layout) {
    auto found = std::find(list.begin(), list.end(), layout);
    if (found == list.end()) {
      list.push_back(layout);
      return list.size();
    }
    return static_cast<size_t>(found - list.begin()) + 1;
  }
  const std::vector<LinearLayout> &all() const { return list; }

private:
  std::vector<LinearLayout> list;
};

bool isWanted(const SourcePlace &place, int line) { return line == 0 || place.line == line; }

/// "softmax.py:14" and the line itself.
std::string headOf(const SourcePlace &place) {
  const size_t first = std::min(place.text.find_first_not_of(" \t"), place.text.size());
  return place.line == 0
             ? "no line\n"
             : fmt::format("{}:{}: {}\n", place.file, place.line, place.text.substr(first));
}

/// Tiles of one line that have one type and one layout.
struct Row {
  std::string type;
  size_t layout = 0;
  std::vector<std::string> operations;
};

std::string valuesText(const std::vector<TileValue> &values, int line, Layouts &layouts) {
  // In the order of the source, in which a reader looks for them.
  std::map<std::pair<std::string, int>, std::pair<SourcePlace, std::vector<Row>>> lines;
  for (const TileValue &value : values) {
    if (!isWanted(value.place, line)) {
      continue;
    }
    auto &[place, rows] = lines[{value.place.file, value.place.line}];
    place = value.place;
    const std::string type = sizesOf(value.layout.shape()) + " " + value.element;
    const size_t number = layouts.numberOf(value.layout);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row &other) {
      return other.type == type && other.layout == number;
    });
    if (row == rows.end()) {
      rows.push_back({type, number, {}});
      row = rows.end() - 1;
    }
    if (std::find(row->operations.begin(), row->operations.end(), value.operation) ==
        row->operations.end()) {
      row->operations.push_back(value.operation);
    }
  }
  std::string text;
  for (const auto &[key, one] : lines) {
    text += headOf(one.first);
    for (const Row &row : one.second) {
      text += fmt::format("  {:<20} layout {:<3} {}\n", row.type, row.layout,
                          fmt::join(row.operations, ", "));
    }
  }
  return text;
}

std::string layoutText(const LinearLayout &layout, const layout::Corner &corner) {
  std::string text = layout.text() + "\n" + layout::inWords(layout);
  text += "each bit of a number adds\n" + indented(layout::basisVectors(layout), 2);
  text += "warp:lane.register of an element\n";
  return text + indented(layout::pictureOfHolders(layout, corner), 2);
}

std::string turnsText(int64_t turns) {
  return turns == 1   ? "no bank conflict"
         : turns == 8 ? "an 8-way bank conflict"
                      : fmt::format("a {}-way bank conflict", turns);
}

std::string accessText(const SharedAccess &access) {
  return fmt::format("{} {} {} by {}, {} bytes a thread, {} lanes at a time: {}\n",
                     sizesOf(access.shape), access.element, access.verb, access.operation,
                     access.bytes, layout::lanesOfTransaction(access.bytes),
                     turnsText(access.turns()));
}

std::string sharedText(const std::vector<SharedAccess> &accesses,
                       const LayoutReportOptions &options) {
  std::string text;
  std::vector<const SharedAccess *> shown; // whose banks were drawn
  int last = -1;
  for (const SharedAccess &access : accesses) {
    if (!isWanted(access.place, options.line)) {
      continue;
    }
    if (access.place.line != last) {
      text += headOf(access.place);
      last = access.place.line;
    }
    text += "  " + accessText(access);
    const bool isShown = std::any_of(shown.begin(), shown.end(), [&](const SharedAccess *other) {
      return other->shape == access.shape && other->tilePlaces == access.tilePlaces;
    });
    if (!isShown) {
      text += "  banks of its elements\n";
      text += indented(layout::pictureOfBanks(access.shape, access.tilePlaces, options.corner), 4);
      shown.push_back(&access);
    }
  }
  return text;
}

Json jsonOf(const LinearLayout &layout) {
  return {{"shape", layout.shape()},
          {"registers", layout.bases(Holder::Register)},
          {"lanes", layout.bases(Holder::Lane)},
          {"warps", layout.bases(Holder::Warp)}};
}

} // namespace

std::string layoutsText(const pipeline::TileLayouts &all, const LayoutReportOptions &options) {
  Layouts layouts;
  std::string text = valuesText(all.values, options.line, layouts);
  for (size_t i = 0; i < layouts.all().size(); ++i) {
    const LinearLayout &layout = layouts.all()[i];
    text += fmt::format("\nlayout {} of {}\n", i + 1, sizesOf(layout.shape()));
    text += indented(layoutText(layout, options.corner), 2);
  }
  if (text.empty()) {
    text = fmt::format("'{}' has no tiles: all its values are scalars\n", all.kernel);
  }
  const std::string shared = sharedText(all.accesses, options);
  return text + (shared.empty() ? "" : "\nshared memory\n" + shared);
}

Json layoutsJson(const pipeline::TileLayouts &all, int line) {
  Layouts layouts;
  Json values = Json::array(), list = Json::array(), accesses = Json::array();
  for (const TileValue &value : all.values) {
    if (isWanted(value.place, line)) {
      values.push_back({{"file", value.place.file},
                        {"line", value.place.line},
                        {"operation", value.operation},
                        {"element", value.element},
                        {"layout", layouts.numberOf(value.layout)}});
    }
  }
  for (const LinearLayout &layout : layouts.all()) {
    list.push_back(jsonOf(layout));
  }
  for (const SharedAccess &access : all.accesses) {
    if (isWanted(access.place, line)) {
      accesses.push_back({{"file", access.place.file},
                          {"line", access.place.line},
                          {"operation", access.operation},
                          {"verb", access.verb},
                          {"element", access.element},
                          {"shape", access.shape},
                          {"places", access.tilePlaces},
                          {"bytes", access.bytes},
                          {"lanes_at_a_time", layout::lanesOfTransaction(access.bytes)},
                          {"turns", access.turns()}});
    }
  }
  return {{"schema", 1},
          {"kernel", all.kernel},
          {"values", std::move(values)},
          {"layouts", std::move(list)},
          {"shared_accesses", std::move(accesses)}};
}

namespace {

/// How threads would access what they hold, with as many neighbours as one instruction takes.
struct HandAccess {
  int64_t bytes = 0, turns = 1;

  explicit HandAccess(const HandLayout &hand) {
    const LinearLayout places = layout::placesOf(hand.layout, hand.places);
    bytes = hand.elementBytes *
            std::min(layout::neighboursIn(places, hand.elementBytes), 16 / hand.elementBytes);
    turns = layout::bankTurns(places, bytes);
  }
};

} // namespace

std::string handText(const HandLayout &hand, const layout::Corner &corner) {
  std::string text = layoutText(hand.layout, corner);
  if (!hand.layout.isComplete()) {
    text += "some elements are held by nobody\n";
  }
  const HandAccess access(hand);
  text += fmt::format("in shared memory, {} bytes an element\n"
                      "  {} bytes a thread, {} lanes at a time: {}\n  banks of the elements\n",
                      hand.elementBytes, access.bytes, layout::lanesOfTransaction(access.bytes),
                      turnsText(access.turns));
  return text + indented(layout::pictureOfBanks(hand.layout.shape(), hand.places, corner), 4);
}

Json handJson(const HandLayout &hand) {
  const HandAccess access(hand);
  Json json = {{"schema", 1}, {"layout", jsonOf(hand.layout)}};
  json["is_complete"] = hand.layout.isComplete();
  json["places"] = hand.places;
  json["bytes"] = access.bytes;
  json["lanes_at_a_time"] = layout::lanesOfTransaction(access.bytes);
  json["turns"] = access.turns;
  return json;
}

} // namespace nereid::cli
