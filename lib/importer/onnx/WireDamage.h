// SPDX-License-Identifier: Apache-2.0
// Where a file ceases to be protobuf, for messages: the parser says only that it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::importer {

struct WireDamage {
  uint64_t offset = 0; ///< of the field that cannot be read, in bytes
  std::string reason;
};
/// The first field, of the model or of its graph, that does not fit the bytes around it.
std::optional<WireDamage> findDamage(std::string_view bytes);

} // namespace nereid::importer
