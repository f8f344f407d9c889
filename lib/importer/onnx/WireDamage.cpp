// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format: each field has a tag (number and form) and then a number of one to ten
// bytes, 8 or 4 bytes, or a length and so many bytes.
#include "lib/importer/onnx/WireDamage.h"

#include <fmt/format.h>

namespace nereid::importer {
namespace {

constexpr uint64_t graphField =
    7; // of a model; nothing else in it nests deep enough to be worth it

struct Walker {
  std::string_view bytes;
  uint64_t base = 0; ///< of the bytes in the file
  size_t at = 0;

  std::optional<uint64_t> number() {
    uint64_t value = 0;
    for (int i = 0; i < 10 && at < bytes.size(); ++i) {
      const auto byte = static_cast<uint8_t>(bytes[at++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        return value;
      }
    }
    return std::nullopt;
  }

  std::optional<WireDamage> walk(bool isModel) {
    while (at < bytes.size()) {
      const uint64_t start = base + at;
      const auto tag = number();
      if (!tag || *tag >> 3 == 0) {
        return WireDamage{start, "a field without a valid number"};
      }
      const uint64_t form = *tag & 7;
      if (form == 0) {
        if (!number()) {
          return WireDamage{start, "a number that does not end"};
        }
        continue;
      }
      if (form == 1 || form == 5) {
        const size_t width = form == 1 ? 8 : 4;
        if (bytes.size() - at < width) {
          return WireDamage{start, "the file ends within a number"};
        }
        at += width;
        continue;
      }
      if (form != 2) {
        return WireDamage{start, fmt::format("a field of form {}, which models do not have", form)};
      }
      const auto length = number();
      if (!length) {
        return WireDamage{start, "a length that does not end"};
      }
      if (*length > bytes.size() - at) {
        return WireDamage{start, fmt::format("a field of {} bytes where {} are left", *length,
                                             bytes.size() - at)};
      }
      if (isModel && *tag >> 3 == graphField) {
        Walker graph{bytes.substr(at, *length), base + at, 0};
        if (auto damage = graph.walk(false)) {
          return damage;
        }
      }
      at += *length;
    }
    return std::nullopt;
  }
};

} // namespace

std::optional<WireDamage> findDamage(std::string_view bytes) {
  return Walker{bytes, 0, 0}.walk(true);
}

} // namespace nereid::importer
