// SPDX-License-Identifier: Apache-2.0
// Shadow memory of accesses and the order that atomic operations make; see the header.
#include "lib/check/Races.h"

namespace nereid::check {

Races::Cell &Races::Shadow::at(uint64_t cell) {
  const uint64_t page = cell / cellsPerPage;
  if (page >= pages.size()) {
    pages.resize(page + 1);
  }
  if (!pages[page]) {
    pages[page] = std::make_unique<Cell[]>(cellsPerPage);
  }
  return pages[page][cell % cellsPerPage];
}

void Races::Shadow::split() {
  Shadow fine;
  fine.bytesPerCell = 1;
  for (uint64_t page = 0; page < pages.size(); ++page) {
    for (uint64_t i = 0; pages[page] && i < cellsPerPage; ++i) {
      for (unsigned byte = 0; byte < bytesPerCell; ++byte) {
        fine.at((page * cellsPerPage + i) * bytesPerCell + byte) = pages[page][i];
      }
    }
  }
  *this = std::move(fine);
}

const Races::Program &Races::find(uint32_t program) const {
  static const Program stranger;
  auto known = programs.find(program);
  return known == programs.end() ? stranger : known->second;
}

Races::Moment Races::now(uint32_t program) const { return {program, find(program).time}; }

bool Races::hasSeen(uint32_t program, Moment moment) const {
  return program == moment.program || find(program).seen.of(moment.program) >= moment.time;
}

std::optional<Races::Access> Races::recordCell(Cell &cell, const Access &access,
                                               const Program &program) const {
  auto isSeen = [&](const Epoch &epoch) {
    return epoch.operation == 0 || epoch.program == access.program ||
           program.seen.of(epoch.program) >= epoch.time;
  };
  auto isRace = [&](const Epoch &epoch) {
    return !(access.isAtomic && epoch.isAtomic) && !isSeen(epoch);
  };
  std::optional<Access> race;
  auto compare = [&](const Epoch &epoch, bool isWrite) {
    if (!race && isRace(epoch)) {
      race = Access{epoch.program, epoch.operation, isWrite, epoch.isAtomic};
    }
  };
  const Epoch now{access.program, program.time, access.operation, access.isAtomic};
  compare(cell.write, true);
  if (access.isWrite) {
    compare(cell.read, false);
    compare(cell.otherRead, false);
    cell = {now, {}, {}};
    return race;
  }
  // An atomic read says less than a plain one of the same program, and must not replace it.
  auto mayReplace = [&](const Epoch &epoch) {
    return isSeen(epoch) && !(access.isAtomic && epoch.operation != 0 && !epoch.isAtomic);
  };
  if (mayReplace(cell.read)) {
    cell.read = now;
  } else if (mayReplace(cell.otherRead)) {
    cell.otherRead = now;
  }
  return race;
}

std::optional<Races::Access> Races::record(uint32_t tensor, uint64_t offset, unsigned bytes,
                                           Access access) {
  if (tensor >= shadows.size()) {
    shadows.resize(tensor + 1);
  }
  Shadow &shadow = shadows[tensor];
  if (shadow.bytesPerCell == 0) {
    shadow.bytesPerCell = offset % bytes == 0 ? bytes : 1;
  } else if (offset % shadow.bytesPerCell != 0 || bytes % shadow.bytesPerCell != 0) {
    shadow.split();
  }
  const Program &program = find(access.program);
  std::optional<Access> race;
  for (unsigned done = 0; done < bytes; done += shadow.bytesPerCell) {
    Cell &cell = shadow.at((offset + done) / shadow.bytesPerCell);
    std::optional<Access> found = recordCell(cell, access, program);
    race = race ? race : found;
  }
  return race;
}

void Races::acquire(uint32_t program, uint64_t address) {
  auto clock = released.find(address);
  if (clock != released.end()) {
    programs[program].seen.join(clock->second);
  }
}

void Races::release(uint32_t program, uint64_t address) {
  Program &own = programs[program];
  own.seen.set(program, own.time);
  Clock &left = released[address];
  // After an acquire of the same address the program's clock covers what is there.
  Clock both = own.seen;
  both.join(left);
  left = both;
  ++own.time; // what the program does from now on is not part of this release
}

} // namespace nereid::check
