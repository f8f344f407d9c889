// SPDX-License-Identifier: Apache-2.0
// Laws of sectors: what the analysis says of runs is what real addresses with those strides touch.
#include "lib/layout/Sectors.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid::layout;

namespace {

/// Bytes and sectors of a warp's instruction where the element (i, j) is at `at(i, j)`, byte by
/// byte.
template <class Address>
SectorUse touched(const LinearLayout &layout, int64_t registers, int64_t elementBytes, Address at) {
  std::set<int64_t> bytes, sectors;
  for (int64_t lane = 0; lane < 32; ++lane) {
    for (int64_t reg = 0; reg < registers; ++reg) {
      const int64_t element = layout.elementAt(reg, lane, 0);
      const int64_t address = at(element / layout.shape()[1], element % layout.shape()[1]);
      for (int64_t byte = 0; byte < elementBytes; ++byte) {
        bytes.insert(address + byte);
        sectors.insert((address + byte) / 32);
      }
    }
  }
  return {int64_t(bytes.size()), int64_t(sectors.size())};
}

std::vector<LinearLayout> layouts() {
  const LinearLayout::Shape shape = {64, 32};
  const std::vector<int32_t> rows = {1, 0}, columns = {0, 1};
  return {blockedLayout(shape, rows, 1, 32, 4), blockedLayout(shape, rows, 4, 32, 4),
          blockedLayout(shape, columns, 2, 32, 4), squareLayout(shape, 32, 4),
          scanLayout(shape, 0, 32, 4)};
}

void expectSame(const SectorUse &found, const SectorUse &real, const std::string &what) {
  EXPECT_EQ(found.bytes, real.bytes) << what;
  EXPECT_EQ(found.sectors, real.sectors) << what;
}

} // namespace

TEST(Sectors, TheTwoExamples) {
  const LinearLayout layout({32}, {}, {1, 2, 4, 8, 16}, {});
  const std::vector<AddressRun> side = {{32, 1}}, apart = {{1, {}}};
  EXPECT_EQ(sectorUse(layout, 1, side, 4).sectors, 4);
  EXPECT_EQ(sectorUse(layout, 1, side, 4).share(), 1);
  EXPECT_EQ(sectorUse(layout, 1, apart, 4).sectors, 32);
  EXPECT_EQ(sectorUse(layout, 1, apart, 4).share(), 0.125);
}

TEST(Sectors, KnownStridesTouchWhatAddressesTouch) {
  for (const LinearLayout &layout : layouts()) {
    for (int64_t bytes : {1, 2, 4, 8}) {
      for (int64_t down : {0, 1, 2, 32, 40, 64, -32}) {
        for (int64_t across : {1, 2, 3, 0}) {
          const std::vector<AddressRun> runs = {{64, down}, {32, across}};
          const auto registers = std::min<int64_t>(layout.count(Holder::Register), 2);
          expectSame(sectorUse(layout, registers, runs, bytes),
                     touched(layout, registers, bytes,
                             [&](int64_t i, int64_t j) {
                               return (1 << 20) + (i * down + j * across) * bytes;
                             }),
                     layout.text() + ", strides " + std::to_string(down) + " and " +
                         std::to_string(across));
        }
      }
    }
  }
}

TEST(Sectors, RunsOfUnknownDistanceShareNoSector) {
  for (const LinearLayout &layout : layouts()) {
    for (int64_t run : {1, 2, 3, 8, 12, 32}) {
      for (int64_t bytes : {4, 8}) {
        // Runs of the second dimension lie far apart, wherever they lie, and begin with a sector.
        const std::vector<AddressRun> runs = {{1, {}}, {run, 1}};
        const auto at = [&](int64_t i, int64_t j) {
          return (i * 32 + j / run) * 4096 + j % run * bytes;
        };
        expectSame(sectorUse(layout, 1, runs, bytes), touched(layout, 1, bytes, at),
                   layout.text() + ", runs of " + std::to_string(run));
      }
    }
  }
}

TEST(Sectors, RunsWithoutStrideAreNone) {
  const LinearLayout layout({32}, {}, {1, 2, 4, 8, 16}, {});
  const std::vector<AddressRun> runs = {{32, {}}};
  EXPECT_EQ(sectorUse(layout, 1, runs, 4).sectors, 32);
}
