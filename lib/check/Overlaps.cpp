// SPDX-License-Identifier: Apache-2.0
// Shadow memory of the bytes that several arguments share; see the header.
#include "lib/check/Overlaps.h"

#include <algorithm>

namespace nereid::check {

void Overlaps::begin(const std::vector<std::pair<uint64_t, uint64_t>> &tensors) {
  std::vector<std::pair<uint64_t, int>> ends;
  for (auto [start, bytes] : tensors) {
    if (bytes != 0) {
      ends.push_back({start, 1});
      ends.push_back({start + bytes, -1});
    }
  }
  std::sort(ends.begin(), ends.end()); // at one address a tensor ends before the next one begins
  int tensorsHere = 0;
  for (auto [address, change] : ends) {
    const bool wasShared = tensorsHere > 1;
    tensorsHere += change;
    if (wasShared == (tensorsHere > 1)) {
      continue;
    }
    if (wasShared) {
      shared.back().second = address;
    } else {
      shared.push_back({address, address});
    }
  }
}

bool Overlaps::isShared(uint64_t address) const {
  auto behind =
      std::upper_bound(shared.begin(), shared.end(), address,
                       [](uint64_t value, const auto &range) { return value < range.first; });
  return behind != shared.begin() && address < std::prev(behind)->second;
}

namespace {
using Access = Overlaps::Access;

bool isSamePlace(const Access &a, const Access &b) {
  return a.position == b.position && a.elements == b.elements && a.start == b.start &&
         a.bytes == b.bytes;
}

/// Whether `later` may be made in front of `earlier`, in an earlier turn of their loop.
bool mayRunAhead(const Access &earlier, const Access &later) {
  return earlier.isWrite && !later.isWrite && later.isTile && later.productLoop != 0 &&
         earlier.productLoop == later.productLoop;
}

/// `later` comes after `earlier` in the order of the run.
bool disagree(const Access &earlier, const Access &later, const Races &races) {
  if (earlier.operation == 0 || earlier.argument == later.argument ||
      !(earlier.isWrite || later.isWrite) || (earlier.isAtomic && later.isAtomic)) {
    return false;
  }
  if (earlier.when.program != later.when.program) {
    return !races.hasSeen(later.when.program, earlier.when);
  }
  return earlier.barriers == later.barriers &&
         (mayRunAhead(earlier, later) ||
          (earlier.isTile && later.isTile && !isSamePlace(earlier, later)));
}
} // namespace

std::optional<Access> Overlaps::recordByte(Cell &cell, const Access &access,
                                           const Races &races) const {
  std::optional<Access> found;
  auto compare = [&](const Access &earlier) {
    if (!found && disagree(earlier, access, races)) {
      found = earlier;
    }
  };
  compare(cell.write);
  if (access.isWrite) {
    std::for_each(cell.loads.begin(), cell.loads.end(), compare);
    cell = {access, {}};
    return found;
  }
  // What this load makes forgotten.
  for (Access &load : cell.loads) {
    const bool isOwn = load.operation != 0 && load.argument == access.argument &&
                       load.when.program == access.when.program;
    if (isOwn && (load.phase < access.phase || isSamePlace(load, access))) {
      load = {};
    }
  }
  for (Access &load : cell.loads) {
    if (load.operation == 0) {
      load = access;
      break;
    }
  }
  return found;
}

std::optional<Access> Overlaps::record(const Access &access, const Races &races) {
  std::optional<Access> found;
  for (uint64_t address = access.start; address < access.start + access.bytes; ++address) {
    if (!isShared(address)) {
      continue;
    }
    std::unique_ptr<Page> &page = pages[address / cellsPerPage];
    page = page ? std::move(page) : std::make_unique<Page>();
    std::optional<Access> here = recordByte((*page)[address % cellsPerPage], access, races);
    found = found ? found : here;
  }
  return found;
}

} // namespace nereid::check
