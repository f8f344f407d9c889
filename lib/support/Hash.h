// SPDX-License-Identifier: Apache-2.0
// Content hashes: SHA-256 as published in FIPS 180-4. Cache keys, cache checksums and the
// manifest's definition hash are made with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

using Digest = std::array<uint8_t, 32>;

/// Hashes in pieces: `Sha256().add(a).add(b).finish()`.
class Sha256 {
public:
  Sha256();
  Sha256 &add(std::span<const uint8_t> bytes);
  Sha256 &add(std::string_view text);
  /// A length-prefixed field: ("ab", "c") and ("a", "bc") hash differently.
  Sha256 &field(std::string_view text);
  /// The digest; the object must not be used afterwards.
  Digest finish();

private:
  void block(const uint8_t *bytes);
  std::array<uint32_t, 8> state;
  std::array<uint8_t, 64> pending{};
  size_t pendingBytes = 0;
  uint64_t totalBytes = 0;
};

Digest sha256(std::span<const uint8_t> bytes);
Digest sha256(std::string_view text);
/// 64 lower-case hexadecimal digits.
std::string toHex(const Digest &digest);

} // namespace nereid
