// SPDX-License-Identifier: Apache-2.0
// The elements of tiles: shared between copies, and kept for later ones of about as many, as an
// interpreted kernel makes a tile for each operation. All copies belong to the thread that made
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nereid::interpreter {

class Words {
public:
  Words() = default;
  /// They hold anything.
  explicit Words(size_t count);
  Words(const Words &other) : block(other.block) {
    if (block != nullptr) {
      ++block->copies;
    }
  }
  Words(Words &&other) noexcept : block(std::exchange(other.block, nullptr)) {}
  Words &operator=(Words other) noexcept {
    std::swap(block, other.block);
    return *this;
  }
  ~Words() {
    if (block != nullptr && --block->copies == 0) {
      release();
    }
  }

  size_t size() const { return block == nullptr ? 0 : block->count; }
  uint64_t *begin() const { return reinterpret_cast<uint64_t *>(block + 1); }
  uint64_t *end() const { return begin() + size(); }
  uint64_t &operator[](size_t i) const { return begin()[i]; }

private:
  friend class WordsPool;
  struct Block {
    size_t count = 0;
    uint32_t copies = 1, sizeClass = 0;
    Block *next = nullptr; ///< of those that are kept
  };
  static_assert(sizeof(Block) % alignof(uint64_t) == 0);

  void release();

  Block *block = nullptr;
};

} // namespace nereid::interpreter
