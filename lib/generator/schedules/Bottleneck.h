// SPDX-License-Identifier: Apache-2.0
// What a measurement says that keeps a kernel from being quicker, as one of a few classes, and the
// figures that show it. Rounds ask for changes by the class.
#pragma once

#include "lib/generator/Schedule.h"

namespace nereid::generator {

/// By what was measured first, then by what the schedule's tiles say.
Bottleneck bottleneckOf(const Diagnosis &diagnosis);

std::string_view bottleneckName(Bottleneck bottleneck); ///< "tail-wave"
std::optional<Bottleneck> parseBottleneck(std::string_view name);
/// "the last wave of programs: 20 programs on 16 processors, which have none 37 % of the time".
std::string bottleneckText(Bottleneck bottleneck, const Diagnosis &diagnosis);

} // namespace nereid::generator
