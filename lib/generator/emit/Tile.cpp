// SPDX-License-Identifier: Apache-2.0
// The tile of a kernel, see Tile.h.
#include "lib/generator/emit/Tile.h"

namespace nereid::generator {

using kernel::call;
using kernel::name;

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
    dims[dim].block = arguments.names.fresh(dims[dim].block);
    for (IteratorId iterator : dims[dim].iterators) {
      dimOf[iterator] = dim;
    }
  }
}

kernel::Expr Tile::extent(const TileDim &dim) {
  return arguments.size(extentOf(dim, program), dim.index + "_count");
}

void Tile::bind() {
  const unsigned rank = static_cast<unsigned>(dims.size());
  if (rank == 0) {
    return;
  }
  std::string rest = arguments.names.fresh(rank > 1 ? "pid" : "pid_" + dims[0].index);
  body.assign(rest, call("tl.program_id", {kernel::Argument("axis", 0)}));
  std::vector<std::string> ids(rank, rest);
  for (size_t dim = rank; dim-- > 1;) {
    const std::string blocks = arguments.names.fresh("blocks_" + dims[dim].index);
    ids[dim] = arguments.names.fresh("pid_" + dims[dim].index);
    body.assign(blocks, call("tl.cdiv", {extent(dims[dim]), name(dims[dim].block)}));
    body.assign(ids[dim], kernel::binary("%", name(rest), name(blocks)));
    const std::string outer = arguments.names.fresh(dim == 1 ? "pid_" + dims[0].index : "pid_rest");
    body.assign(outer, kernel::binary("//", name(rest), name(blocks)));
    rest = ids[0] = outer;
  }
  body.when(name("WIDE"), [&] {
    for (const std::string &id : ids) {
      body.assign(id, kernel::method(name(id), "to", {name("tl.int64")}));
    }
  });
  for (unsigned dim = 0; dim < rank; ++dim) {
    kernel::Expr lanes = call("tl.arange", {0, name(dims[dim].block)});
    kernel::Expr index = name(ids[dim]) * name(dims[dim].block) + lanes;
    body.assign(dims[dim].index, rank > 1 ? kernel::axis(index, dim, rank) : index);
    bindIterators(dims[dim]);
  }
}

void Tile::bindIterators(const TileDim &dim) {
  kernel::Expr rest = name(dim.index);
  for (size_t i = dim.iterators.size(); i-- > 0;) {
    const Iterator &iterator = program.space.iterators[dim.iterators[i]];
    if (i == 0) {
      indices[dim.iterators[i]] = rest;
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

kernel::Expr Tile::inside(const DimSet &which) {
  if (which.empty()) {
    return {};
  }
  kernel::Expr &known = masks[which];
  if (known) {
    return known;
  }
  kernel::Expr value;
  if (which.size() == 1) {
    const TileDim &dim = dims[*which.begin()];
    value = kernel::binary("<", name(dim.index), extent(dim));
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

} // namespace nereid::generator
