// SPDX-License-Identifier: Apache-2.0
// Pieces of scratch memory that no launch uses now, last given back first. There are never more of
// them than tasks have run at the same time.
#include "runtime/aot/Launch.h"

#include <cstdlib>
#include <pthread.h>

namespace nereid::aot {
namespace {

/// In front of the memory, as long as its alignment.
struct alignas(64) Piece {
  Piece *next;
  uint64_t bytes; ///< behind the header
};
static_assert(sizeof(Piece) == 64);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Piece *kept = nullptr;

constexpr uint64_t page = 4096;

/// The child of a fork finds the list as it was, and the lock open.
pthread_once_t forksArranged = PTHREAD_ONCE_INIT;

void arrangeForks() {
  constexpr auto close = [] { pthread_mutex_lock(&lock); };
  constexpr auto open = [] { pthread_mutex_unlock(&lock); };
  pthread_atfork(close, open, open);
}

} // namespace

uint8_t *takeScratch(uint64_t bytes) {
  pthread_once(&forksArranged, arrangeForks);
  pthread_mutex_lock(&lock);
  Piece **link = &kept;
  while (*link && (*link)->bytes < bytes) {
    link = &(*link)->next;
  }
  Piece *piece = *link;
  if (piece) {
    *link = piece->next;
  } else if (kept) { // too small for today's kernels: replaced
    piece = kept;
    kept = piece->next;
    std::free(piece);
    piece = nullptr;
  }
  pthread_mutex_unlock(&lock);
  if (!piece) {
    if (bytes > uint64_t{1} << 40) {
      return nullptr;
    }
    const uint64_t whole = (bytes + sizeof(Piece) + page - 1) / page * page;
    piece = static_cast<Piece *>(std::aligned_alloc(sizeof(Piece), whole));
    if (!piece) {
      return nullptr;
    }
    piece->bytes = whole - sizeof(Piece);
  }
  return reinterpret_cast<uint8_t *>(piece + 1);
}

void giveScratch(uint8_t *memory) {
  Piece *piece = reinterpret_cast<Piece *>(memory) - 1;
  pthread_mutex_lock(&lock);
  piece->next = kept;
  kept = piece;
  pthread_mutex_unlock(&lock);
}

void freeScratch() {
  pthread_mutex_lock(&lock);
  Piece *piece = kept;
  kept = nullptr;
  pthread_mutex_unlock(&lock);
  while (piece) {
    Piece *next = piece->next;
    std::free(piece);
    piece = next;
  }
}

} // namespace nereid::aot
