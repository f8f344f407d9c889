// SPDX-License-Identifier: Apache-2.0
// The tile of a kernel, see Tile.h.
#include "lib/generator/emit/Tile.h"

#include <algorithm>

namespace nereid::generator {

using kernel::call;
using kernel::name;

namespace {

/// "EVEN_X" beside "BLOCK_X".
std::string evenName(const TileDim &dim) {
  const size_t end = dim.block.find('_');
  return std::string(evenPrefix) + (end == std::string::npos ? "" : dim.block.substr(end));
}

} // namespace

Polynomial extentOf(const TileDim &dim, const Program &program) {
  Polynomial extent = 1;
  for (IteratorId iterator : dim.iterators) {
    extent = extent * program.space.iterators[iterator].extent;
  }
  return extent;
}

Tile::Tile(const Program &program, std::vector<TileDim> tileDims, kernel::Body &body,
           Arguments &arguments)
    : program(program), dims(std::move(tileDims)), body(body), arguments(arguments) {
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    dims[dim].index = arguments.names.fresh(dims[dim].index);
    if (dims[dim].form != DimForm::Point) {
      dims[dim].block = arguments.names.fresh(dims[dim].block);
    }
    if (!dims[dim].group.empty()) {
      dims[dim].group = arguments.names.fresh(dims[dim].group);
    }
    for (IteratorId iterator : dims[dim].iterators) {
      dimOf[iterator] = dim;
    }
    if (dims[dim].also) {
      dimOf[*dims[dim].also] = dim;
    }
  }
}

Tile::Tile(const Tile &other, std::vector<TileDim> tileDims)
    : program(other.program), dims(std::move(tileDims)), body(other.body),
      arguments(other.arguments) {
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const bool isOwn = !other.indices.contains(dims[dim].iterators[0]);
    dims[dim].index = isOwn ? arguments.names.fresh(dims[dim].index) : dims[dim].index;
    for (IteratorId iterator : dims[dim].iterators) {
      dimOf[iterator] = dim;
      if (!isOwn) {
        indices[iterator] = other.indices.at(iterator);
      }
    }
  }
}

unsigned Tile::rank() const {
  return static_cast<unsigned>(std::count_if(
      dims.begin(), dims.end(), [](const TileDim &dim) { return dim.form != DimForm::Point; }));
}

unsigned Tile::axisOf(size_t dim) const {
  return static_cast<unsigned>(
      std::count_if(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(dim),
                    [](const TileDim &each) { return each.form != DimForm::Point; }));
}

kernel::Expr Tile::extent(const TileDim &dim) {
  return arguments.size(extentOf(dim, program), dim.index + "_count");
}

void Tile::bind(const std::string &place) {
  std::vector<size_t> grid;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].form == DimForm::Grid || dims[dim].form == DimForm::Point) {
      grid.push_back(dim);
    }
  }
  std::vector<std::string> ids(dims.size());
  if (!grid.empty()) {
    bindGrid(grid, place, ids);
  }
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].form == DimForm::Grid) {
      bindIndex(dim, name(ids[dim]) * name(dims[dim].block));
    } else if (dims[dim].form == DimForm::Whole) {
      bindIndex(dim, {});
    } else if (dims[dim].form == DimForm::Point) {
      body.assign(dims[dim].index, name(ids[dim]));
      bindIterators(dims[dim]);
    }
  }
}

kernel::Expr Tile::blocksOf(const TileDim &dim) {
  return dim.form == DimForm::Point ? extent(dim) : call("tl.cdiv", {extent(dim), name(dim.block)});
}

void Tile::bindGrid(const std::vector<size_t> &grid, const std::string &place,
                    std::vector<std::string> &ids) {
  const std::string outermost = "pid_" + dims[grid[0]].index;
  std::string rest = place;
  if (place.empty()) {
    rest = arguments.names.fresh(grid.size() > 1 ? "pid" : outermost);
    body.assign(rest, call("tl.program_id", {kernel::Argument("axis", 0)}));
  }
  ids[grid[0]] = rest;
  std::map<size_t, std::string> innerBlocks;
  for (size_t i = grid.size(); i-- > 1;) {
    const TileDim &dim = dims[grid[i]];
    const std::string blocks = arguments.names.fresh("blocks_" + dim.index);
    ids[grid[i]] = arguments.names.fresh("pid_" + dim.index);
    body.assign(blocks, blocksOf(dim));
    body.assign(ids[grid[i]], kernel::binary("%", name(rest), name(blocks)));
    const std::string outer = arguments.names.fresh(i == 1 ? outermost : "pid_rest");
    body.assign(outer, kernel::binary("//", name(rest), name(blocks)));
    rest = ids[grid[0]] = outer;
    innerBlocks.emplace(grid[i], blocks);
  }
  for (size_t i = 0; i + 1 < grid.size(); ++i) {
    if (!dims[grid[i]].group.empty()) {
      regroup(dims[grid[i]], ids[grid[i]], ids[grid[i + 1]], innerBlocks.at(grid[i + 1]));
    }
  }
  body.when(name("WIDE"), [&] {
    for (size_t dim : grid) {
      body.assign(ids[dim], kernel::method(name(ids[dim]), "to", {name("tl.int64")}));
    }
  });
}

/// The order of programs in groups: down the rows of blocks of a group, then the next column.
void Tile::regroup(const TileDim &dim, const std::string &own, const std::string &inner,
                   const std::string &innerBlocks) {
  auto assign = [&](const std::string &hint, const kernel::Expr &value) {
    const std::string fresh = arguments.names.fresh(hint);
    body.assign(fresh, value);
    return name(fresh);
  };
  body.when(kernel::binary(">", name(dim.group), 1), [&] {
    const kernel::Expr blocks = blocksOf(dim);
    const kernel::Expr size = assign("group_size", name(dim.group) * name(innerBlocks));
    const kernel::Expr within = assign("within", name(own) * name(innerBlocks) + name(inner));
    const kernel::Expr first =
        assign("group_first", kernel::binary("//", within, size) * name(dim.group));
    const kernel::Expr rows =
        assign("group_rows", call("tl.minimum", {blocks - first, name(dim.group)}));
    const kernel::Expr place = assign("place", kernel::binary("%", within, size));
    body.assign(own, first + kernel::binary("%", place, rows));
    body.assign(inner, kernel::binary("//", place, rows));
  });
}

/// `first`: what the block begins with; none: 0.
void Tile::bindIndex(size_t dim, const kernel::Expr &first) {
  const kernel::Expr lanes = call("tl.arange", {0, name(dims[dim].block)});
  const kernel::Expr index = first ? first + lanes : lanes;
  const std::string &own = dims[dim].index;
  body.assign(own, rank() > 1 ? kernel::axis(index, axisOf(dim), rank()) : index);
  if (dims[dim].form != DimForm::Grid) {
    body.when(name("WIDE"),
              [&] { body.assign(own, kernel::method(name(own), "to", {name("tl.int64")})); });
  }
  bindIterators(dims[dim]);
}

void Tile::enter(const std::string &start) {
  inLoop = true;
  turnStart = start;
  bindIndex(*reducedDim(), name(start));
}

kernel::Expr Tile::countOfTurn() {
  const TileDim &dim = dims[*reducedDim()];
  return call("tl.minimum", {extent(dim) - name(turnStart), name(dim.block)});
}

void Tile::bindOwn() {
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].form == DimForm::Whole && !indices.contains(dims[dim].iterators[0])) {
      bindIndex(dim, {});
    }
  }
}

void Tile::loop(const std::function<void()> &inside, const std::vector<Tile *> &also) {
  walk(0, extent(dims[*reducedDim()]), inside, also);
}

void Tile::loop(const kernel::Expr &first, const kernel::Expr &last,
                const std::function<void()> &inside, const std::vector<Tile *> &also) {
  const kernel::Expr block = name(dims[*reducedDim()].block);
  const std::string begin = arguments.names.fresh("begin"), stop = arguments.names.fresh("stop");
  body.assign(begin, first * block);
  body.assign(stop, last * block);
  walk(name(begin), name(stop), inside, also);
}

/// From `first` to `end`, in elements.
void Tile::walk(const kernel::Expr &first, const kernel::Expr &end,
                const std::function<void()> &inside, const std::vector<Tile *> &also) {
  const size_t dim = *reducedDim();
  const std::string start = arguments.names.fresh("start");
  body.loop(start, call("range", {first, end, name(dims[dim].block)}), [&] {
    enter(start);
    for (Tile *each : also) {
      each->enter(start);
    }
    inside();
    inLoop = false;
    for (Tile *each : also) {
      each->inLoop = false;
    }
  });
  std::erase_if(masks, [&](const auto &mask) { return mask.first.contains(dim); });
}

void Tile::bindIterators(const TileDim &dim) {
  kernel::Expr rest = name(dim.index);
  for (size_t i = dim.iterators.size(); i-- > 0;) {
    const Iterator &iterator = program.space.iterators[dim.iterators[i]];
    if (i == 0) {
      indices[dim.iterators[i]] = rest;
      if (dim.also) {
        indices[*dim.also] = rest;
      }
      return;
    }
    const kernel::Expr size = arguments.size(iterator.extent, iterator.name + "_count");
    const std::string inner = arguments.names.fresh(iterator.name);
    body.assign(inner, kernel::binary("%", rest, size));
    const std::string outer = arguments.names.fresh(
        i == 1 ? program.space.iterators[dim.iterators[0]].name : dim.index + "_rest");
    body.assign(outer, kernel::binary("//", rest, size));
    indices[dim.iterators[i]] = name(inner);
    rest = name(outer);
  }
}

DimSet Tile::dimsOf(const std::set<IteratorId> &iterators) const {
  DimSet result;
  for (IteratorId iterator : iterators) {
    result.insert(dimOf.at(iterator));
  }
  return result;
}

kernel::Expr Tile::inside(const DimSet &some) {
  DimSet which = some;
  std::erase_if(which, [&](size_t dim) { return dims[dim].form == DimForm::Point; });
  if (which.empty()) {
    return {};
  }
  kernel::Expr &known = masks[which];
  if (known) {
    return known;
  }
  if (inLoop && std::none_of(which.begin(), which.end(),
                             [&](size_t dim) { return dims[dim].form == DimForm::Looped; })) {
    kernel::Expr mask;
    outside([&] { mask = inside(which); });
    return mask;
  }
  kernel::Expr value;
  if (which.size() == 1) {
    TileDim &dim = dims[*which.begin()];
    value = kernel::binary("<", name(dim.index), extent(dim));
    if (dim.mayBeEven) {
      dim.even = dim.even.empty() ? arguments.names.fresh(evenName(dim)) : dim.even;
      value = kernel::binary("|", value, kernel::binary("==", name(dim.even), 1));
    }
  } else {
    for (size_t dim : which) {
      const kernel::Expr one = inside({dim});
      value = value ? kernel::binary("&", value, one) : one;
    }
  }
  const std::string hint = which.size() == 1 && dims.size() > 1
                               ? dims[*which.begin()].index + "_inside"
                               : std::string("inside");
  const std::string mask = arguments.names.fresh(hint);
  body.assign(mask, value);
  return masks[which] = name(mask);
}

std::optional<size_t> Tile::reducedDim() const {
  for (const DimForm form : {DimForm::Looped, DimForm::Whole}) {
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dims[dim].form == form) {
        return dim;
      }
    }
  }
  return std::nullopt;
}

std::vector<size_t> Tile::reducedDims() const {
  std::vector<size_t> result;
  const std::optional<size_t> first = reducedDim();
  for (size_t dim = first.value_or(dims.size()); dim < dims.size(); ++dim) {
    if (dims[dim].form == dims[*first].form) {
      result.push_back(dim);
    }
  }
  return result;
}

bool Tile::variesInLoop(const std::set<IteratorId> &iterators) const {
  return std::any_of(iterators.begin(), iterators.end(), [&](IteratorId iterator) {
    auto found = dimOf.find(iterator);
    return found != dimOf.end() && dims[found->second].form == DimForm::Looped;
  });
}

void Tile::outside(const std::function<void()> &write) {
  if (!inLoop) {
    write();
    return;
  }
  inLoop = false;
  body.outside(write);
  inLoop = true;
}

} // namespace nereid::generator
