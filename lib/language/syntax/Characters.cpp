// SPDX-License-Identifier: Apache-2.0
// UTF-8 decoding and the letters of names. The lexer rejects invalid UTF-8 before it cuts tokens.
#include "lib/language/syntax/Characters.h"

#include <algorithm>
#include <iterator>

namespace nereid::language {

CodePoint decodeUtf8(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  uint32_t lead = byte(at);
  if (lead < 0x80) {
    return {lead, 1};
  }
  size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || at + bytes > text.size()) {
    return {};
  }
  uint32_t value = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      return {};
    }
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[bytes] || value > 0x10FFFF || isSurrogate) {
    return {};
  }
  return {value, bytes};
}

void appendUtf8(std::string &out, uint32_t value) {
  if (value < 0x80) {
    out += static_cast<char>(value);
    return;
  }
  if (value < 0x800) {
    out += static_cast<char>(0xC0 | value >> 6);
  } else {
    if (value < 0x10000) {
      out += static_cast<char>(0xE0 | value >> 12);
    } else {
      out += static_cast<char>(0xF0 | value >> 18);
      out += static_cast<char>(0x80 | (value >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (value >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (value & 0x3F));
}

bool isUnicodeLetter(uint32_t value) {
  if (value < 0xC0) {
    return value == 0xAA || value == 0xB5 || value == 0xBA;
  }
  struct Block {
    uint32_t first, last;
  };
  static constexpr Block symbols[] = {
      {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2000, 0x206F},  {0x20A0, 0x20CF}, {0x2190, 0x2BFF},
      {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020},  {0xE000, 0xF8FF}, {0xFE10, 0xFE1F},
      {0xFE30, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},  {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40},
      {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}};
  return std::none_of(std::begin(symbols), std::end(symbols), [&](const Block &block) {
    return value >= block.first && value <= block.last;
  });
}

size_t nameLength(std::string_view text, size_t at) {
  size_t i = at;
  while (i < text.size()) {
    char c = text[i];
    if (isAsciiLetter(c) || (i > at && isDigit(c))) {
      ++i;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      CodePoint point = decodeUtf8(text, i);
      if (point.bytes == 0 || !isUnicodeLetter(point.value)) {
        break;
      }
      i += point.bytes;
    } else {
      break;
    }
  }
  return i - at;
}

} // namespace nereid::language
