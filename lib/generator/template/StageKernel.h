// SPDX-License-Identifier: Apache-2.0
// Kernels of stages, whatever template makes them, and what all templates share.
#pragma once

#include "lib/generator/emit/Values.h"

namespace nereid::generator {

/// What a tile reads or writes of one buffer, as far as costs depend on it.
struct TileAccess {
  int64_t bytes = 0; ///< of an element
  bool isStore = false;
  std::set<size_t> dims;            ///< of the tile, that the place depends on
  std::optional<size_t> contiguous; ///< the one along which elements are neighbours
  int64_t walks = 1;                ///< over a line in pieces that read it
  bool operator==(const TileAccess &) const = default;
};

/// Which tiles the programs of a kernel compute. A wave are as many of them as programs stay on
/// the processors at a time.
enum class TileShare : uint8_t {
  Each,   ///< a program has one
  Walked, ///< a wave of programs walks over all of them
  Dealt,  ///< of the last wave: what is summed up for them is dealt evenly to a wave of programs
  Joined  ///< of the last wave: what these have left of a tile is added up
};

/// A kernel and what its launch has to know.
struct StageKernel {
  kernel::Kernel tree;
  std::vector<StageArgument> arguments; ///< of the launch, in order
  std::vector<TileDim> dims; ///< the grid has a program for each block of each one that is divided
  std::vector<Affine> offsets; ///< index expressions it computes, in elements
  bool usesLibdevice = false;
  /// Of one of two, whole or looped: the length that decides, as an expression of the launch table.
  std::string lengthOfTwo = {};
  /// Options of the launch, such as num_warps, as expressions of the launch table.
  std::vector<std::pair<std::string, std::string>> options = {};
  /// Names of expressions of the launch table that it takes as constexprs.
  std::vector<std::string> constants = {};
  std::string condition = {}; ///< expression of the launches that take it; "": all
  /// What its template is called in schedules: "contract", "reduce_looped", "map2" of the second.
  std::string role = {};
  std::string heldChoice = {}; ///< of a pair of which one is taken: the choice that decides
  std::vector<TileAccess> accesses = {};
  bool joinsTurns = false;    ///< lanes of each turn of its loop, which threads wait for
  bool hasOtherLoads = false; ///< on devices fewer than its accesses, see ChosenPlaces.h
  TileShare share = TileShare::Each;
  bool hasOtherShares = false;     ///< other kernels have the same tiles, and choices in common
  std::string lastDealtIf = {};    ///< expression: those of the last wave are theirs
  std::vector<BufferId> left = {}; ///< workspaces of sums, two tiles for each program
};

/// The stores of a stage that one kernel can make: those over the same iterators.
std::vector<std::vector<Store>> groupsOf(const Program &program, const Stage &stage);

/// What binds an iterator or has no form in kernels at all, in words; nothing when all can be
/// written. `hasReductions`: reductions can.
std::optional<std::string> unsupported(const std::vector<Store> &stores, bool hasReductions);

/// A kernel while it is written: the tile is bound, values can follow.
class KernelWriting {
public:
  /// `share`: programs that have not one tile each are in a loop over tiles, which the template
  /// puts around what is written.
  KernelWriting(const Program &program, const std::string &name, const std::vector<Store> &stores,
                std::vector<TileDim> dims, TileShare share = TileShare::Each);
  /// `others`: dimensions of further tiles.
  StageKernel take(const std::vector<TileDim> &others = {});

  /// Stores the stage's stores, or on devices these, which are the same elsewhere computed.
  void storeOtherwise(const std::vector<Store> &onDevices);

  /// Writes the masks of all dimensions, for several branches or tiles to know them.
  void bindMasks();
  /// Offsets of what has been written besides `values`.
  void takeOffsets(const Values &others);

  /// What the launch table's expressions call `known`, as a constexpr of the same name.
  kernel::Expr constant(const std::string &known);

  const std::string name;
  const std::vector<Store> &stores;
  kernel::Body body;
  Arguments arguments;
  const std::string place; ///< the number of the tile in a loop over them
  Tile tile;
  Values values;

private:
  const Program &program;
  const TileShare share;
  std::vector<std::string> constants;
  std::vector<Affine> otherOffsets;
  bool hasOtherLoads = false;
};

/// A new name for the value.
kernel::Expr assigned(KernelWriting &writing, const std::string &hint, const kernel::Expr &value);

/// The text of a module with these kernels, readable by upstream as well.
std::string moduleText(const std::vector<StageKernel> &kernels);

} // namespace nereid::generator
