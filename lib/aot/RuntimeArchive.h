// SPDX-License-Identifier: Apache-2.0
// The runtime part for this machine's architecture and its header, embedded, so that one program is
// enough to make libraries that are complete.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::aot {

/// libnereid_aot.a
std::span<const uint8_t> runtimeArchive();
/// include/nereid/aot.h
std::string_view runtimeHeader();

} // namespace nereid::aot
