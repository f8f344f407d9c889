// SPDX-License-Identifier: Apache-2.0
// Blocks of powers of two, each thread's own.
#include "lib/interpreter/Words.h"

#include <array>
#include <bit>
#include <new>

namespace nereid::interpreter {

class WordsPool {
public:
  ~WordsPool() {
    for (Words::Block *&first : kept) {
      while (first != nullptr) {
        ::operator delete(std::exchange(first, first->next));
      }
    }
  }

  Words::Block *take(size_t count) {
    const auto sizeClass = static_cast<uint32_t>(std::bit_width(count > 0 ? count - 1 : 0));
    Words::Block *block = sizeClass < kept.size() ? kept[sizeClass] : nullptr;
    if (block != nullptr) {
      kept[sizeClass] = block->next;
      keptWords -= size_t(1) << sizeClass;
    } else {
      void *memory =
          ::operator new(sizeof(Words::Block) + sizeof(uint64_t) * (size_t(1) << sizeClass));
      block = new (memory) Words::Block();
    }
    block->count = count;
    block->copies = 1;
    block->sizeClass = sizeClass;
    return block;
  }

  void give(Words::Block *block) {
    const size_t words = size_t(1) << block->sizeClass;
    if (block->sizeClass >= kept.size() || keptWords + words > mostKept) {
      ::operator delete(block);
      return;
    }
    block->next = kept[block->sizeClass];
    kept[block->sizeClass] = block;
    keptWords += words;
  }

private:
  /// 32 MiB for each thread.
  static constexpr size_t mostKept = size_t(1) << 22;

  std::array<Words::Block *, 21> kept = {};
  size_t keptWords = 0;
};

static WordsPool &pool() {
  static thread_local WordsPool own;
  return own;
}

Words::Words(size_t count) : block(pool().take(count)) {}

void Words::release() { pool().give(block); }

} // namespace nereid::interpreter
