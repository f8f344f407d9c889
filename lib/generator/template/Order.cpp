// SPDX-License-Identifier: Apache-2.0
// Sorted lines, see Order.h.
#include "lib/generator/template/Order.h"

#include "lib/generator/KernelExpression.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/launch/Table.h"
#include "lib/generator/program/Names.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::name;

/// Elements of a line that is sorted in a tile, and of a block of a longer one: powers of two.
constexpr int64_t wholeLine = 4096;
constexpr const char *sortedBlock = tileElementsName;
/// Of those that look up their places: on devices they wait for memory.
std::string lookedUp() { return fmt::format("{}//4", sortedBlock); }
constexpr int64_t levelsOfSearch = 13; ///< finds a place among so many, in [0, wholeLine]
constexpr int64_t blocksOfSearch = 4;  ///< are searched at a time, as each step waits for memory
/// So few elements are chosen one after the other, which takes less than to sort the others.
constexpr int64_t fewChosen = 16;
/// A block that elements are chosen from: it is in the first-level cache with what it chose.
constexpr const char *chosenBlock = "1024";
/// Of those that blocks have chosen, so many are compared at a time.
constexpr const char *chosenAtATime = "256";

kernel::Expr integer(const std::string &digits) { return kernel::integer(digits); }
kernel::Expr low32(const kernel::Expr &x) { return binary("&", x, integer("4294967295")); }
kernel::Expr where(const kernel::Expr &condition, const kernel::Expr &a, const kernel::Expr &b) {
  return call("tl.where", {condition, a, b});
}
kernel::Expr to(const kernel::Expr &x, const char *type) {
  return kernel::method(x, "to", {name(type)});
}
kernel::Expr bitsOf(const kernel::Expr &x, const char *type) {
  return kernel::method(x, "to", {name(type), {"bitcast", name("True")}});
}

bool isWide(DType type) { return sizeInBytes(type) == 8; }

/// One kernel over a tile of rows and a line, or a part of it.
class OrderWriting {
public:
  OrderWriting(const Program &program, const std::string &kernelName,
               const std::vector<Store> &stores, const Node &line, std::vector<TileDim> dims)
      : program(program), stores(stores), line(line), element(line.inputs[0]->dtype),
        writing(program, kernelName, stores, std::move(dims)) {}

  /// The whole line: every store has its values.
  StageKernel whole() {
    const kernel::Expr position =
        isOfFew() ? choose(packedLine(), writing.tile.along(lineDim()), *countAsked(), low32)
                  : sorted().position;
    writing.values.give(&line, {kernel::Expr(), position});
    writing.values.store(stores);
    return writing.take();
  }
  /// Only so few elements are asked for that nothing is sorted.
  bool isOfFew() const {
    const std::optional<int64_t> count = countAsked();
    return count && *count <= fewChosen && !isWide(element);
  }

  /// The smallest elements of each block, in order, at its beginning in the workspace.
  StageKernel chosenOfBlocks(BufferId space) {
    const int64_t count = *countAsked();
    const kernel::Expr packed = packedLine(), at = fresh("at", offset());
    const kernel::Expr lane = fresh("lane", laneOfBlock());
    const kernel::Expr kept =
        choose(packed, lane, count, [](const kernel::Expr &best) { return best; });
    writing.body.evaluate(
        call("tl.store", {writing.arguments.memory(space) + at,
                          kept,
                          {"mask", binary("&", inside(), binary("<", lane, count))}}));
    return writing.take();
  }

  /// The smallest of what all blocks, whose length is another constexpr, have chosen.
  StageKernel chosenOfLine(BufferId space) {
    const int64_t count = *countAsked();
    const std::string block = writing.arguments.names.fresh("BLOCK_S");
    const kernel::Expr lane = writing.tile.along(lineDim()), end = length();
    const kernel::Expr none = integer("9223372036854775807"), first = rowStart();
    const kernel::Expr rows = lineDim() == 0 ? kernel::Expr() : writing.tile.inside({0});
    const kernel::Expr least = fresh("least", full(none)), best = fresh("best", leastOf(least));
    const kernel::Expr position = fresh("position", full(integer("0")));
    const kernel::Expr offered = call("tl.cdiv", {end, name(block)}) * count;
    const std::string turn = writing.arguments.names.fresh("turn"),
                      start = writing.arguments.names.fresh("start");
    writing.body.loop(turn, call("range", {0, kernel::Expr(count)}), [&] {
      writing.body.assign(least->text, full(none));
      writing.body.loop(
          start, call("range", {0, offered, name(writing.tile.dimensions().back().block)}), [&] {
            const kernel::Expr number = fresh("number", name(start) + lane);
            const kernel::Expr place = fresh("place", binary("//", number, count) * name(block) +
                                                          binary("%", number, count));
            const kernel::Expr isIn =
                binary("&", binary("<", number, offered), binary("<", place, end));
            const kernel::Expr other = fresh(
                "other",
                call("tl.load", {writing.arguments.memory(space) + (first + to(place, "tl.int64")),
                                 {"mask", rows ? binary("&", rows, isIn) : isIn},
                                 {"other", none}}));
            const kernel::Expr isNext =
                binary("|", binary(">", other, best), binary("==", name(turn), 0));
            writing.body.assign(
                least->text, where(binary("&", isNext, binary("<", other, least)), other, least));
          });
      writing.body.assign(best->text, leastOf(least));
      writing.body.assign(position->text,
                          where(binary(">=", lane, name(turn)), low32(best), position));
    });
    writing.values.give(&line, {kernel::Expr(), position});
    writing.values.store(stores);
    TileDim ofBlock{"sorted", block, line.iterators, DimForm::Whole};
    ofBlock.largest = chosenBlock;
    return writing.take({ofBlock});
  }

  /// Blocks of the line, sorted, into the workspaces.
  StageKernel blocks(const std::vector<BufferId> &spaces) {
    const Sorted made = sorted();
    const kernel::Expr at = fresh("at", offset());
    std::vector<kernel::Expr> parts = {isWide(element) ? made.key : made.packed};
    if (isWide(element)) {
      parts.push_back(made.position);
    }
    kernel::Expr mask = inside();
    for (size_t i = 0; i < spaces.size(); ++i) {
      writing.body.evaluate(
          call("tl.store", {writing.arguments.memory(spaces[i]) + at, parts[i], {"mask", mask}}));
    }
    return writing.take();
  }

  /// Each element of the sorted blocks, whose length is another constexpr, to its place in the
  /// line.
  StageKernel ranks(const std::vector<BufferId> &spaces) {
    const std::string sorted = writing.arguments.names.fresh("BLOCK_S");
    const kernel::Expr at = fresh("at", offset()), mask = inside();
    auto load = [&](size_t i, const kernel::Expr &from, const kernel::Expr &lanes) {
      return call("tl.load", {writing.arguments.memory(spaces[i]) + from,
                              {"mask", lanes},
                              {"other", kernel::Expr(0)}});
    };
    const kernel::Expr key = fresh("key", load(0, at, mask));
    const kernel::Expr position =
        fresh("position", isWide(element) ? load(1, at, mask) : low32(key));
    const std::string rank = writing.arguments.names.fresh("rank");
    writing.body.assign(rank, at * 0);
    const TileDim &dim = writing.tile.dimensions().back();
    const kernel::Expr end = length(), block = name(sorted);
    const std::string start = writing.arguments.names.fresh("start");
    writing.body.loop(start, call("range", {0, end, blocksOfSearch * block}), [&] {
      std::vector<std::string> found;
      for (int64_t i = 0; i < blocksOfSearch; ++i) {
        found.push_back(writing.arguments.names.fresh("found"));
        writing.body.assign(found.back(), at * 0);
      }
      const std::string level = writing.arguments.names.fresh("level");
      writing.body.loop(level, call("range", {0, kernel::Expr(levelsOfSearch)}), [&] {
        const kernel::Expr step = fresh("step", binary(">>", block, name(level)));
        std::vector<kernel::Expr> tried, smaller;
        for (int64_t i = 0; i < blocksOfSearch; ++i) {
          tried.push_back(fresh("tried", name(found[static_cast<size_t>(i)]) + step));
          const kernel::Expr first = i == 0 ? name(start) : name(start) + i * block;
          const kernel::Expr probe = fresh("probe", first + tried.back() - 1);
          // A block's last steps are 0 where it is shorter than the longest one.
          const kernel::Expr isIn =
              binary("&", binary("<=", tried.back(), block), binary("<", probe, end));
          const kernel::Expr fits =
              fresh("fits", binary("&", binary("&", isIn, mask), binary(">", step, 0)));
          const kernel::Expr from = fresh("from_", rowStart() + probe);
          const kernel::Expr other = fresh("other", load(0, from, fits));
          kernel::Expr isSmaller = binary("<", other, key);
          if (isWide(element)) {
            const kernel::Expr place = fresh("place", load(1, from, fits));
            isSmaller = binary("|", isSmaller,
                               binary("&", binary("==", other, key), binary("<", place, position)));
          }
          smaller.push_back(fresh("is_behind", binary("&", fits, isSmaller)));
        }
        for (size_t i = 0; i < found.size(); ++i) {
          writing.body.assign(found[i], where(smaller[i], tried[i], name(found[i])));
        }
      });
      kernel::Expr all = name(rank);
      for (const std::string &each : found) {
        all = all + name(each);
      }
      writing.body.assign(rank, all);
    });
    writing.tile.move(*dim.also, name(rank));
    writing.values.give(&line, {kernel::Expr(), position});
    writing.values.store(stores);
    TileDim ofBlock{"sorted", sorted, line.iterators, DimForm::Whole};
    ofBlock.largest = sortedBlock;
    return writing.take({ofBlock});
  }

private:
  struct Sorted {
    kernel::Expr packed, key, position; ///< packed: of short elements; key: of wide ones
  };

  kernel::Expr fresh(const std::string &hint, const kernel::Expr &value) {
    return writing.values.fresh(hint, value);
  }
  size_t lineDim() const { return writing.tile.dimensions().size() - 1; }
  kernel::Expr inside() {
    DimSet all;
    for (size_t dim = 0; dim <= lineDim(); ++dim) {
      all.insert(dim);
    }
    return writing.tile.inside(all);
  }
  kernel::Expr length() {
    return writing.arguments.size(program.space.iterators[line.iterators[0]].extent, "r_count");
  }
  /// In 64 bits: workspaces may have more elements than 32 bits count.
  kernel::Expr rowStart() {
    if (lineDim() == 0) {
      return integer("0");
    }
    if (!rowOffset) {
      rowOffset = fresh("row_start", to(writing.tile.along(0), "tl.int64") * length());
    }
    return rowOffset;
  }
  kernel::Expr offset() { return rowStart() + to(writing.tile.along(lineDim()), "tl.int64"); }

  /// Signed numbers that are ordered as the elements are, NaN behind all others, both zeros equal.
  kernel::Expr keys() {
    const kernel::Expr x = writing.values.laneValue(line.inputs[0]);
    kernel::Expr key;
    if (isFloat(element)) {
      const bool isDouble = element == DType::F64;
      const kernel::Expr bits = fresh("bits", bitsOf(x, isDouble ? "tl.int64" : "tl.int32"));
      const kernel::Expr most = integer(isDouble ? "9223372036854775807" : "2147483647");
      const kernel::Expr ordered =
          binary("^", bits, binary("&", binary(">>", bits, isDouble ? 63 : 31), most));
      key = to(where(binary("!=", x, x), most, where(binary("==", x, kernel::real(0)), 0, ordered)),
               "tl.int64");
    } else if (element == DType::U64) {
      key = binary("^", bitsOf(x, "tl.int64"), integer("-9223372036854775807") - 1);
    } else if (element == DType::U32) {
      key = to(x, "tl.int64") - integer("2147483648");
    } else {
      key = to(x, "tl.int64");
    }
    key = fresh("key", key);
    return line.isDescending ? fresh("key", integer("-1") - key) : key;
  }

  kernel::Expr pack(const kernel::Expr &high, const kernel::Expr &low) {
    return fresh("packed", binary("|", binary("<<", high, 32), to(low, "tl.int64")));
  }
  kernel::Expr sort(const kernel::Expr &high, const kernel::Expr &low) {
    return fresh("sorted", call("tl.sort", {pack(high, low)}));
  }

  /// How many of the sorted elements the stores ask for, where all of them say `place < count`.
  std::optional<int64_t> countAsked() const {
    int64_t most = 0;
    for (const Store &store : stores) {
      const Node *guard = store.guard;
      const bool isBound =
          guard && isMap(*guard, "lt") && guard->inputs[0]->kind == NodeKind::Index &&
          guard->inputs[0]->indices[0].asIterator() == writing.tile.dimensions().back().also &&
          guard->inputs[1]->kind == NodeKind::Const;
      if (!isBound) {
        return std::nullopt;
      }
      most = std::max(most, guard->inputs[1]->integer);
    }
    return most;
  }

  kernel::Expr leastOf(const kernel::Expr &lanes) const {
    const auto axis = static_cast<int64_t>(writing.tile.axisOf(lineDim()));
    return call("tl.min", {lanes, {"axis", kernel::Expr(axis)}, {"keep_dims", name("True")}});
  }

  /// The smallest `count` of these different numbers, one after the other: each is the smallest
  /// above the last one. In lanes from its number on, what is `kept` of it.
  kernel::Expr choose(const kernel::Expr &packed, const kernel::Expr &lane, int64_t count,
                      const std::function<kernel::Expr(const kernel::Expr &)> &kept) {
    const kernel::Expr best = fresh("best", leastOf(packed));
    const kernel::Expr all = fresh("chosen", kept(best) + packed * 0);
    const std::string turn = writing.arguments.names.fresh("turn");
    writing.body.loop(turn, call("range", {1, kernel::Expr(count)}), [&] {
      const kernel::Expr above =
          where(binary(">", packed, best), packed, integer("9223372036854775807"));
      writing.body.assign(best->text, leastOf(above));
      writing.body.assign(all->text, where(binary(">=", lane, name(turn)), kept(best), all));
    });
    return all;
  }

  kernel::Expr full(const kernel::Expr &value) const {
    std::vector<kernel::Expr> shape;
    for (const TileDim &dim : writing.tile.dimensions()) {
      shape.push_back(name(dim.block));
    }
    return call("tl.full", {kernel::tuple(std::move(shape)), value, name("tl.int64")});
  }

  /// Keys before places. Lanes beyond the end have the largest key and stand behind it.
  kernel::Expr packedLine() {
    const kernel::Expr place = writing.tile.along(lineDim()), key = keys();
    const kernel::Expr inLine = writing.tile.inside({lineDim()});
    // Rows repeat the places.
    return pack(where(inLine, key, integer("2147483647")), place + key * 0);
  }

  /// Where a lane stands in its block.
  kernel::Expr laneOfBlock() const {
    const TileDim &dim = writing.tile.dimensions().back();
    const kernel::Expr lane = call("tl.arange", {0, name(dim.block)});
    const unsigned axis = writing.tile.axisOf(lineDim());
    return writing.tile.rank() > 1 ? kernel::axis(lane, axis, writing.tile.rank()) : lane;
  }

  /// Lanes beyond the end have the largest key and stand behind it.
  Sorted sorted() {
    const kernel::Expr most = integer("2147483647");
    if (!isWide(element)) {
      const kernel::Expr packed = fresh("sorted", call("tl.sort", {packedLine()}));
      return {packed, {}, fresh("position", low32(packed))};
    }
    const kernel::Expr mask = writing.tile.inside({lineDim()});
    const kernel::Expr place = writing.tile.along(lineDim());
    const kernel::Expr key = keys();
    const TileDim &dim = writing.tile.dimensions().back();
    const unsigned axis = writing.tile.axisOf(lineDim());
    const kernel::Expr lane = fresh("lane", to(laneOfBlock(), "tl.int64") + key * 0);
    auto gathered = [&](const kernel::Expr &from, const kernel::Expr &at) {
      return call("tl.gather",
                  {from, to(at, "tl.int32"), {"axis", kernel::Expr(static_cast<int64_t>(axis))}});
    };
    const kernel::Expr lowHalf = low32(key) - integer("2147483648");
    const kernel::Expr first = fresh("first", low32(sort(where(mask, lowHalf, most), lane)));
    const kernel::Expr high = fresh("high", where(mask, binary(">>", key, 32), most));
    const kernel::Expr from = fresh("from_lane", first);
    // Small integers differ in the low half alone.
    const kernel::Expr least = where(mask, high, integer("-2147483648"));
    writing.body.when(binary("<", call("tl.min", {high}), call("tl.max", {least})), [&] {
      const kernel::Expr second = fresh("second", low32(sort(gathered(high, first), lane)));
      writing.body.assign(from->text, gathered(first, second));
    });
    const kernel::Expr begin =
        dim.form == DimForm::Grid ? fresh("begin", to(place, "tl.int64") - lane) : kernel::Expr();
    return {{},
            dim.form == DimForm::Grid ? fresh("key", gathered(key, from)) : key,
            begin ? fresh("position", begin + from) : from};
  }

  const Program &program;
  const std::vector<Store> &stores;
  const Node &line;
  const DType element;
  KernelWriting writing;
  kernel::Expr rowOffset;
};

/// A line that a tile could hold is cut as well where programs would not keep half of the
/// processors at work: as far as what sorts blocks has smaller tiles.
std::string longestWhole(const std::vector<TileDim> &dims, const Program &program) {
  const std::string rows = dims.size() > 1 ? launchExtent(dims[0], program) : "1";
  return fmt::format("max({}, {}*(2*{} >= {}))", sortedBlock, wholeLine, rows, processorsName);
}

BufferId workspace(Program &program, const Polynomial &elements) {
  Buffer buffer;
  buffer.name = freeName(program, "sorted");
  buffer.dtype = DType::I64;
  buffer.role = BufferRole::Temporary;
  buffer.sizes = {elements};
  buffer.strides = contiguousStrides(buffer.sizes);
  return program.add(std::move(buffer));
}

} // namespace

Result<std::vector<StageKernel>> emitOrder(Program &program, const std::string &name,
                                           const std::vector<Store> &stores, const Node &line) {
  auto place = placeOf(program, stores, line);
  if (!place) {
    return place.error();
  }
  const Polynomial extent = program.space.iterators[line.iterators[0]].extent;
  const std::optional<int64_t> length = extent.constant();
  std::vector<StageKernel> kernels;
  std::vector<TileDim> dims = lineTile(program, stores, line, *place, DimForm::Whole);
  std::string longest;
  const std::string own = launchExtent({"", "", line.iterators}, program);
  if (!length || *length <= wholeLine) {
    dims.back().blockAtMost = wholeLine;
    OrderWriting writing(program, name + "_kernel", stores, line, dims);
    longest = writing.isOfFew() ? std::to_string(wholeLine) : longestWhole(dims, program);
    kernels.push_back(writing.whole());
    kernels.back().condition = length ? "" : fmt::format("({} <= {})", own, longest);
  }
  if (length && *length <= wholeLine) {
    return kernels;
  }
  dims = lineTile(program, stores, line, *place, DimForm::Grid);
  dims.back().blockAtMost = 1; // and by no choice: both kernels have the same blocks
  dims.back().largest = sortedBlock;
  Polynomial elements = extent;
  if (dims.size() > 1) {
    dims[0].blockAtMost = 1;
    elements = elements * extentOf(dims[0], program);
  }
  std::vector<BufferId> spaces = {workspace(program, elements)};
  if (isWide(line.inputs[0]->dtype)) {
    spaces.push_back(workspace(program, elements));
  }
  if (OrderWriting(program, name, stores, line, dims).isOfFew()) {
    dims.back().largest = chosenBlock;
    OrderWriting blocks(program, name + "_blocks_kernel", stores, line, dims);
    kernels.push_back(blocks.chosenOfBlocks(spaces[0]));
    dims = lineTile(program, stores, line, *place, DimForm::Whole);
    dims.back().largest = chosenAtATime;
    OrderWriting writing(program, name + "_chosen_kernel", stores, line, dims);
    kernels.push_back(writing.chosenOfLine(spaces[0]));
  } else {
    OrderWriting blocks(program, name + "_blocks_kernel", stores, line, dims);
    kernels.push_back(blocks.blocks(spaces));
    dims.back().largest = lookedUp();
    OrderWriting writing(program, name + "_ranks_kernel", stores, line, dims);
    kernels.push_back(writing.ranks(spaces));
  }
  for (size_t i = kernels.size() - 2; i < kernels.size(); ++i) {
    kernels[i].condition = length ? "" : fmt::format("({} > {})", own, longest);
  }
  return kernels;
}

} // namespace nereid::generator
