// SPDX-License-Identifier: Apache-2.0
// What `nereid explain-layout` prints: a kernel's tiles line by line, each layout once with words,
// basis vectors and picture, and the accesses to shared memory with their banks.
#pragma once

#include "lib/layout/LayoutPicture.h"
#include "lib/pipeline/kernel/TileLayouts.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace nereid::cli {

/// `line` 0: all lines.
struct LayoutReportOptions {
  int line = 0;
  layout::Corner corner;
};

std::string layoutsText(const pipeline::TileLayouts &all, const LayoutReportOptions &options);
nlohmann::ordered_json layoutsJson(const pipeline::TileLayouts &all, int line);

/// A layout that was written by hand, and how its threads would read or write it in shared memory.
struct HandLayout {
  layout::LinearLayout layout;
  int64_t elementBytes = 4;
  layout::Places places;
};
std::string handText(const HandLayout &hand, const layout::Corner &corner);
nlohmann::ordered_json handJson(const HandLayout &hand);

} // namespace nereid::cli
