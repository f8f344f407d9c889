// SPDX-License-Identifier: Apache-2.0
// SHA-256 after FIPS 180-4: constants in section 4.2.2, the computation in 6.2.
#include "lib/support/Hash.h"

#include <bit>
#include <cstring>

namespace nereid {
namespace {

constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t bigEndian(const uint8_t *bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

} // namespace

Sha256::Sha256()
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const uint8_t *bytes) {
  uint32_t schedule[64];
  for (int t = 0; t < 16; ++t) {
    schedule[t] = bigEndian(bytes + 4 * t);
  }
  for (int t = 16; t < 64; ++t) {
    const uint32_t x = schedule[t - 15], y = schedule[t - 2];
    const uint32_t small0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3;
    const uint32_t small1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10;
    schedule[t] = small1 + schedule[t - 7] + small0 + schedule[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const uint32_t big1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first = h + big1 + ((e & f) ^ (~e & g)) + roundConstants[t] + schedule[t];
    const uint32_t big0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = big0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> change = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) {
    state[i] += change[i];
  }
}

Sha256 &Sha256::add(std::span<const uint8_t> bytes) {
  totalBytes += bytes.size();
  while (!bytes.empty()) {
    if (pendingBytes == 0 && bytes.size() >= 64) {
      block(bytes.data());
      bytes = bytes.subspan(64);
      continue;
    }
    const size_t room = 64 - pendingBytes;
    const size_t taken = bytes.size() < room ? bytes.size() : room;
    std::memcpy(pending.data() + pendingBytes, bytes.data(), taken);
    pendingBytes += taken;
    bytes = bytes.subspan(taken);
    if (pendingBytes == 64) {
      block(pending.data());
      pendingBytes = 0;
    }
  }
  return *this;
}

Sha256 &Sha256::add(std::string_view text) {
  return add(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

Sha256 &Sha256::field(std::string_view text) {
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<uint8_t>(uint64_t{text.size()} >> 8 * i);
  }
  return add(std::span<const uint8_t>(length)).add(text);
}

Digest Sha256::finish() {
  const uint64_t bits = totalBytes * 8;
  const uint8_t end = 0x80, zero = 0;
  add(std::span(&end, 1));
  while (pendingBytes != 56) {
    add(std::span(&zero, 1));
  }
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  }
  add(std::span<const uint8_t>(length));
  Digest digest;
  for (size_t i = 0; i < 32; ++i) {
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Digest sha256(std::span<const uint8_t> bytes) { return Sha256().add(bytes).finish(); }
Digest sha256(std::string_view text) { return Sha256().add(text).finish(); }

std::string toHex(const Digest &digest) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace nereid
