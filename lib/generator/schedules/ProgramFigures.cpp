// SPDX-License-Identifier: Apache-2.0
// Figures of tiles, see ProgramFigures.h.
#include "lib/generator/schedules/ProgramFigures.h"

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

/// Bytes that could be moved while a program, a turn of a loop and a run of elements begin. On
/// processors a run takes what 56 elements do (its addresses, its broken vector); on devices a
/// sector is moved whatever is asked for of it.
constexpr double hostProgram = 4096, hostTurn = 256, hostRun = 224;
constexpr double deviceProgram = 2048, deviceTurn = 1024, deviceRun = 32;
/// What moving a byte again costs, that caches have by then.
constexpr double againInCache = 0.3;
/// Bytes of registers that threads of a warp have before a program slows its neighbours, ...
constexpr double registersOfThread = 512, threadsOfWarp = 32;
/// ... and warps on a processor that hide each other's waiting.
constexpr double busyWarps = 8;

double asDouble(int64_t value) { return static_cast<double>(value); }

class Figuring {
public:
  Figuring(const LaunchEntry &entry, const BoundLaunch &bound, const std::vector<int64_t> &extents,
           const LaunchSite &site)
      : entry(entry), extents(extents), site(site) {
    for (const LaunchDim &dim : entry.dims) {
      int64_t block = 1;
      for (const auto &[name, value] : bound.constants) {
        block = name == dim.block ? value : block;
        group = !dim.group.empty() && name == dim.group ? value : group;
      }
      blocks.push_back(std::max<int64_t>(block, 1));
    }
    figures.role = entry.role;
    figures.programs = bound.programs;
    tiles = asDouble(entry.tiles.empty() ? bound.programs : bound.tiles);
    for (const auto &[name, value] : bound.constants) {
      figures.warps = name == "num_warps" ? value : figures.warps;
      figures.stages = name == "num_stages" ? value : figures.stages;
    }
  }

  LaunchFigures run() {
    figures.turns = tiles;
    figures.sums = figures.tile = figures.elements = 1;
    bool hasLoop = false;
    double all = 1; // tiles
    for (size_t dim = 0; dim < blocks.size(); ++dim) {
      figures.tile *= asDouble(blocks[dim]);
      figures.elements *= asDouble(extents[dim]);
      if (entry.dims[dim].form == DimForm::Looped) {
        figures.turns *= countOf(dim);
        hasLoop = true;
      } else {
        figures.sums *= asDouble(blocks[dim]);
        all *= countOf(dim);
      }
    }
    figures.sums = hasLoop ? figures.sums : 0;
    figures.pieces = entry.share == TileShare::Dealt ? figures.turns : tiles;
    for (const TileAccess &access : entry.accesses) {
      add(access);
    }
    if (!entry.tiles.empty()) {
      takeShare(tiles / all);
    }
    figures.tiledElements = figures.turns * figures.tile;
    figures.fetchedBytes = std::max(figures.ownBytes, fetched());
    return figures;
  }

private:
  /// Of what all tiles would be; and what programs leave of some to others, a tile of sums for each
  /// of the tiles and each program that begins within one.
  void takeShare(double part) {
    for (double *each :
         {&figures.elements, &figures.ownBytes, &figures.movedBytes, &figures.runs}) {
      *each *= part;
    }
    if (entry.share == TileShare::Dealt || entry.share == TileShare::Joined) {
      constexpr double bytesOfSum = 4;
      const double left = tiles + asDouble(figures.programs);
      figures.turns = entry.share == TileShare::Joined ? left : figures.turns;
      figures.leftBytes = left * figures.sums * bytesOfSum;
      figures.ownBytes += figures.leftBytes;
      figures.movedBytes += figures.leftBytes;
      figures.runs += left;
    }
  }

  double countOf(size_t dim) const {
    return std::ceil(asDouble(extents[dim]) / asDouble(blocks[dim]));
  }
  double insideOf(size_t dim) const { return asDouble(std::min(blocks[dim], extents[dim])); }

  bool isLooped(const TileAccess &access) const {
    return std::any_of(access.dims.begin(), access.dims.end(),
                       [&](size_t dim) { return entry.dims[dim].form == DimForm::Looped; });
  }

  /// Of the last two dimensions that the grid divides, how many blocks of each a wave has.
  double fetched() const {
    std::vector<size_t> grid;
    for (size_t dim = 0; dim < blocks.size(); ++dim) {
      if (entry.dims[dim].form == DimForm::Grid) {
        grid.push_back(dim);
      }
    }
    if (grid.size() < 2) {
      return figures.ownBytes;
    }
    const size_t m = grid[grid.size() - 2], n = grid.back();
    const double wave = std::min(asDouble(site.processors), tiles);
    const double rows = std::clamp(std::max(asDouble(group), std::ceil(wave / countOf(n))), 1.0,
                                   std::max(1.0, std::min(countOf(m), wave)));
    const double columns = std::ceil(wave / rows);
    double bytes = 0;
    for (const TileAccess &access : entry.accesses) {
      double each = asDouble(access.bytes);
      for (size_t dim : access.dims) {
        const bool isOfGrid = entry.dims[dim].form == DimForm::Grid;
        each *= isOfGrid                                 ? insideOf(dim)
                : entry.dims[dim].form == DimForm::Point ? 1
                                                         : asDouble(extents[dim]);
      }
      bytes +=
          each * (access.dims.contains(m) ? rows : 1) * (access.dims.contains(n) ? columns : 1);
    }
    return bytes * std::ceil(tiles / std::max(wave, 1.0));
  }

  void add(const TileAccess &access) {
    if (access.dims.empty()) {
      return; // one element
    }
    double own = asDouble(access.bytes), tile = own, moved = own, elements = 1;
    for (size_t dim = 0; dim < blocks.size(); ++dim) {
      const bool isOf = access.dims.contains(dim);
      own *= isOf ? asDouble(extents[dim]) : 1;
      tile *= isOf ? asDouble(blocks[dim]) : 1;
      moved *= isOf ? asDouble(extents[dim])
               : entry.dims[dim].form == DimForm::Grid || entry.dims[dim].form == DimForm::Point
                   ? countOf(dim)
                   : 1;
      elements = moved / asDouble(access.bytes);
    }
    moved *= isLooped(access) ? asDouble(access.walks) : 1;
    figures.ownBytes += own;
    figures.movedBytes += moved;
    figures.tileBytes += tile;
    figures.runs +=
        elements / (access.contiguous ? std::max(1.0, insideOf(*access.contiguous)) : 1);
  }

  const LaunchEntry &entry;
  const std::vector<int64_t> &extents;
  const LaunchSite &site;
  int64_t group = 1;
  double tiles = 0;
  std::vector<int64_t> blocks;
  LaunchFigures figures;
};

} // namespace

Result<std::vector<LaunchFigures>> figuresOf(const LaunchTable &table,
                                             const std::map<std::string, int64_t> &symbols,
                                             const LaunchSite &site, const ChosenValues &chosen) {
  auto launches = bindLaunch(table, symbols, site, chosen);
  if (!launches) {
    return launches.error();
  }
  auto extents = bindExtents(table, symbols, site);
  if (!extents) {
    return extents.error();
  }
  return figuresOf(table, *launches, *extents, site);
}

std::vector<LaunchFigures> figuresOf(const LaunchTable &table,
                                     const std::vector<BoundLaunch> &launches,
                                     const std::vector<std::vector<int64_t>> &extents,
                                     const LaunchSite &site) {
  std::vector<LaunchFigures> figures;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].programs > 0) {
      figures.push_back(Figuring(table.kernels[i], launches[i], extents[i], site).run());
    }
  }
  return figures;
}

double waveFraction(const LaunchFigures &figures, const Machine &chip) {
  const double places = asDouble(std::max(chip.cores, 1));
  const double programs = asDouble(std::max<int64_t>(figures.programs, 1));
  const double pieces = std::max(figures.pieces, 1.0);
  return pieces / std::ceil(pieces / programs) / (std::ceil(programs / places) * places);
}

double pressureOf(const LaunchFigures &figures, const Machine &chip) {
  constexpr double bytesOfSum = 4;
  if (chip.isDevice) {
    const double threads = threadsOfWarp * asDouble(figures.warps > 0 ? figures.warps : 4);
    // Operands of a loop with sums stand in shared memory.
    const double bytes = figures.sums > 1 ? figures.sums * bytesOfSum : figures.tileBytes;
    return bytes / (threads * registersOfThread);
  }
  const double room = asDouble(std::max<int64_t>(chip.cacheBytes("L2"), 1 << 18));
  return (figures.tileBytes + figures.sums * bytesOfSum) / room;
}

ScheduleCost costOf(const std::vector<LaunchFigures> &figures, const Machine &chip) {
  ScheduleCost cost;
  for (const LaunchFigures &one : figures) {
    const double slow =
        std::max(1.0, pressureOf(one, chip)) / std::max(waveFraction(one, chip), 1e-6);
    const double again = std::max(0.0, one.movedBytes - one.ownBytes) * againInCache;
    if (one.ownBytes > asDouble(chip.lastCacheBytes())) {
      cost.memory += (one.fetchedBytes - one.ownBytes) * slow;
    }
    double hidden = 1;
    if (chip.isDevice) {
      const double warps = asDouble(one.programs * (one.warps > 0 ? one.warps : 4)) /
                           asDouble(std::max(chip.cores, 1));
      hidden = std::sqrt(std::min(1.0, warps / busyWarps)) *
               std::sqrt(asDouble(one.stages > 0 ? one.stages : 3) / 3);
    }
    cost.arithmetic += (one.ownBytes - one.leftBytes) * slow;
    cost.memory += (one.ownBytes + again) * slow;
    cost.waiting += (asDouble(one.programs) * (chip.isDevice ? deviceProgram : hostProgram) +
                     one.turns * (chip.isDevice ? deviceTurn : hostTurn) +
                     one.runs * (chip.isDevice ? deviceRun : hostRun)) *
                    slow / hidden;
  }
  return cost;
}

double expectedGain(const ScheduleCost &before, const ScheduleCost &after,
                    const Diagnosis &diagnosis) {
  constexpr double leastWaiting = 0.05;
  const double compute = std::clamp(diagnosis.computeFraction, 0.0, 1.0);
  const double memory = std::clamp(diagnosis.bandwidthFraction, 0.0, 1.0);
  const double waiting = std::max(leastWaiting, 1 - compute - memory);
  auto ratio = [](double now, double then) { return then > 0 ? now / then : 1; };
  const double time = compute * ratio(after.arithmetic, before.arithmetic) +
                      memory * ratio(after.memory, before.memory) +
                      waiting * ratio(after.waiting, before.waiting);
  return time > 0 ? (compute + memory + waiting) / time : 1;
}

void describeTiles(const std::vector<LaunchFigures> &figures, const Machine &chip,
                   Diagnosis &diagnosis) {
  double own = 0, moved = 0, runs = 0, waves = 0;
  diagnosis.pressure = 0;
  for (const LaunchFigures &one : figures) {
    own += one.ownBytes;
    moved += one.movedBytes;
    runs += one.runs;
    waves += waveFraction(one, chip) * one.ownBytes;
    diagnosis.pressure = std::max(diagnosis.pressure, pressureOf(one, chip));
  }
  diagnosis.processors = chip.cores;
  diagnosis.isOnDevice = chip.isDevice;
  diagnosis.waveFraction = own > 0 ? waves / own : 0;
  diagnosis.runBytes = runs > 0 ? moved / runs : 0;
  diagnosis.readsOfByte = own > 0 ? moved / own : 0;
}

} // namespace nereid::generator
