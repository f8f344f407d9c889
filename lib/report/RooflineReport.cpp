// SPDX-License-Identifier: Apache-2.0
#include "lib/report/RooflineReport.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

namespace nereid::report {

std::string impossibleText(double seconds, const measure::Roofline &floor) {
  return fmt::format("{} is below the roofline's floor of {}: rejected as impossible",
                     formatSeconds(seconds), formatSeconds(floor.floorSeconds()));
}

} // namespace nereid::report
