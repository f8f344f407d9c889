// SPDX-License-Identifier: Apache-2.0
// Content hashes: SHA-256. Cache keys, cache checksums and the manifest's definition hash are made
// with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

using Digest = std::array<uint8_t, 32>;

/// Hashes several texts as one: `Sha256().field(a).field(b).finish()`.
class Sha256 {
public:
  /// With its length in front: ("ab", "c") and ("a", "bc") hash differently.
  Sha256 &field(std::string_view text);
  Digest finish() const;

private:
  std::string pending;
};

Digest sha256(std::span<const uint8_t> bytes);
Digest sha256(std::string_view text);
/// 64 lower-case hexadecimal digits.
std::string toHex(const Digest &digest);

} // namespace nereid
