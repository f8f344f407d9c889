// SPDX-License-Identifier: Apache-2.0
// A value during interpretation: a scalar or a tile. Every element takes one 64-bit word that holds
// its bits in the element's own type (integers zero-extended), so no element ever carries more
// precision than its type has.
#pragma once

#include "lib/interpreter/FloatFormat.h"
#include "lib/interpreter/Words.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nereid::interpreter {

enum class Kind : uint8_t {
  Integer,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  Pointer
};

struct ElementType {
  Kind kind = Kind::Integer;
  unsigned bits = 32;

  bool isFloat() const { return kind != Kind::Integer && kind != Kind::Pointer; }
  /// Bytes in memory; i1 takes one.
  unsigned bytes() const { return (bits + 7) / 8; }
  uint64_t mask() const { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
  uint64_t signBit() const { return uint64_t(1) << (bits - 1); }
  bool operator==(const ElementType &) const = default;
};

inline constexpr ElementType boolType{Kind::Integer, 1};

inline int64_t asSigned(uint64_t word, unsigned bits) {
  return static_cast<int64_t>(word << (64 - bits)) >> (64 - bits);
}

/// Formats of floats other than F64, which the interpreter computes in.
inline FloatFormat formatOf(Kind kind) {
  switch (kind) {
  case Kind::F16:
    return half;
  case Kind::BF16:
    return brain;
  case Kind::F8E4M3FN:
    return e4m3fn;
  case Kind::F8E5M2:
    return e5m2;
  case Kind::F8E4M3FNUZ:
    return e4m3fnuz;
  case Kind::F8E5M2FNUZ:
    return e5m2fnuz;
  default:
    return single;
  }
}

inline double decodeFloat(uint64_t word, ElementType type) {
  switch (type.kind) {
  case Kind::F64:
    return std::bit_cast<double>(word);
  case Kind::F32:
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  default:
    return expandFromFormat(word, formatOf(type.kind));
  }
}

/// Rounds once, to nearest even.
inline uint64_t encodeFloat(double value, ElementType type) {
  switch (type.kind) {
  case Kind::F64:
    return std::bit_cast<uint64_t>(value);
  case Kind::F32:
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  default:
    return roundToFormat(value, formatOf(type.kind));
  }
}

/// What an element holds that nobody defined: NaN, or bytes 0xCD. Code that depends on it shows.
inline uint64_t undefinedElement(ElementType type) {
  if (type.isFloat()) {
    return encodeFloat(std::bit_cast<double>(uint64_t(0x7ff8000000000000)), type);
  }
  return uint64_t(0xCDCDCDCDCDCDCDCD) & type.mask();
}

using Shape = llvm::SmallVector<int64_t, 4>;

/// Elements in row-major order, shared between copies. A scalar is a tile of rank 0 with
/// isTile = false.
struct Tile {
  ElementType type;
  bool isTile = false;
  Shape shape;
  Words words;
  /// What the launch's monitor noted about each element, 0 for nothing; null when it noted nothing.
  /// Copies of a tile keep it, computed tiles do not.
  std::shared_ptr<std::vector<uint32_t>> marks = nullptr;

  static Tile scalar(ElementType type, uint64_t word) {
    Tile tile{type, false, {}, Words(1)};
    tile.words[0] = word;
    return tile;
  }
  static Tile filled(ElementType type, Shape shape, uint64_t word) {
    Tile tile = unset(type, std::move(shape));
    std::fill(tile.words.begin(), tile.words.end(), word);
    return tile;
  }
  /// Its elements hold anything.
  static Tile unset(ElementType type, Shape shape) {
    size_t count = 1;
    for (int64_t size : shape) {
      count *= static_cast<size_t>(size);
    }
    return {type, true, std::move(shape), Words(count)};
  }
  /// The same shape, or scalar, with other elements, all 0.
  Tile like(ElementType other) const {
    Tile tile = unsetLike(other);
    std::fill(tile.words.begin(), tile.words.end(), 0);
    return tile;
  }
  /// The same, with elements that hold anything.
  Tile unsetLike(ElementType other) const { return {other, isTile, shape, Words(size())}; }

  size_t size() const { return words.size(); }
  uint64_t operator[](size_t i) const { return words[i]; }
  uint64_t &at(size_t i) { return words[i]; }
  /// Scalars stand for a tile of any shape: the region of a reduction mixes them with tiles.
  uint64_t element(size_t i) const { return words[isTile ? i : 0]; }
  double number(size_t i) const { return decodeFloat(element(i), type); }
  int64_t integer(size_t i) const { return asSigned(element(i), type.bits); }
};

} // namespace nereid::interpreter
