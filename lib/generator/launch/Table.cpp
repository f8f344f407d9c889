// SPDX-License-Identifier: Apache-2.0
// Tables of launches, see Table.h: how they are made of a program's kernels.
#include "lib/generator/launch/Table.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/template/Contract.h"
#include "lib/generator/template/Map.h"
#include "lib/generator/template/Order.h"
#include "lib/generator/template/Reduce.h"
#include "lib/generator/template/Scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::generator {
namespace {

/// Elements of a tile that is tried first, and of its innermost dimension; also of one that lies
/// inside of a dimension that is reduced.
constexpr int64_t elementsOfTile = 4096, elementsAlong = 1024, elementsInside = 64;

class TableMaker {
public:
  explicit TableMaker(const Program &program) : program(program) {}

  LaunchTable run(const std::vector<StageKernel> &kernels) {
    LaunchTable table;
    for (const Symbol &symbol : program.space.symbols.all()) {
      if (!symbol.quotientOf) {
        table.symbols.push_back(symbol.name);
      } else {
        const auto &[value, by] = *symbol.quotientOf;
        table.derived.push_back({symbol.name, fmt::format("({})//({})", text(value), text(by))});
      }
    }
    for (const Buffer &buffer : program.buffers) {
      if (!buffer.base && buffer.role == BufferRole::Temporary) {
        table.workspaces.push_back({buffer.name, buffer.dtype, elementsOf(buffer)});
      }
    }
    for (const StageKernel &kernel : kernels) {
      table.kernels.push_back(entry(kernel));
    }
    return table;
  }

private:
  std::string text(const Polynomial &value) const {
    std::string result;
    for (char c : program.space.symbols.text(value)) { // exact there: N/8 of a multiple of 8
      result += c == '/' ? "//" : std::string(1, c);
    }
    return result;
  }

  std::string elementsOf(const Buffer &buffer) const {
    std::string last = "1";
    for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
      last += fmt::format(" + ({})*({})", text(buffer.sizes[dim] - 1), text(buffer.strides[dim]));
    }
    return last;
  }

  LaunchEntry entry(const StageKernel &kernel) const {
    LaunchEntry made;
    made.function = kernel.tree.name;
    for (const StageArgument &argument : kernel.arguments) {
      using Kind = StageArgument::Kind;
      made.arguments.push_back({argument.kind, argument.name, argument.dtype,
                                argument.kind == Kind::Memory
                                    ? program.buffers[argument.buffer].name
                                : argument.kind == Kind::Number ? argument.parameter
                                                                : text(argument.value)});
    }
    std::string left = std::to_string(elementsOfTile);
    for (size_t dim = kernel.dims.size(); dim-- > 0;) {
      const TileDim &each = kernel.dims[dim];
      if (each.form == DimForm::Point) {
        made.grid += (made.grid.empty() ? "" : "*") + extentText(each);
        continue;
      }
      const std::string extent =
          fmt::format("max({}, next_power_of_2({}))", each.blockAtLeast, extentText(each));
      made.constexprs.push_back(
          {each.block, fmt::format("min({}, {})", largestBlock(kernel, dim, left), extent)});
      left += "//" + each.block;
      if (each.form == DimForm::Grid) {
        made.grid += fmt::format("{}cdiv({}, {})", made.grid.empty() ? "" : "*", extentText(each),
                                 each.block);
      }
    }
    made.grid = made.grid.empty() ? "1" : made.grid;
    if (std::optional<std::string> condition = isTaken(kernel)) {
      made.grid += "*(" + *condition + ")";
    }
    made.constexprs.push_back({"WIDE", wide(kernel)});
    return made;
  }

  static std::string largestBlock(const StageKernel &kernel, size_t dim, const std::string &left) {
    const bool isInnermost = dim + 1 == kernel.dims.size();
    if (kernel.dims[dim].blockAtMost > 0) {
      return std::to_string(kernel.dims[dim].blockAtMost);
    }
    if (kernel.dims[dim].form == DimForm::Whole) {
      return std::to_string(isInnermost ? wholeAtMost : wholeAtMostOutside);
    }
    const bool isInReduction = isInnermost && dim > 0 && kernel.dims[dim - 1].form != DimForm::Grid;
    return isInReduction            ? std::to_string(elementsInside)
           : isInnermost && dim > 0 ? std::to_string(elementsAlong)
                                    : fmt::format("max(1, {})", left);
  }

  /// When this one of two kernels is launched: the reduced dimension is whole in the tile as far as
  /// it fits. Nothing where there is one form only.
  std::optional<std::string> isTaken(const StageKernel &kernel) const {
    if (kernel.longerThan > 0) {
      return fmt::format("({}) > {}", text(kernel.line), kernel.longerThan);
    }
    for (size_t dim = 0; kernel.isOneOfTwo && dim < kernel.dims.size(); ++dim) {
      const TileDim &each = kernel.dims[dim];
      if (each.form != DimForm::Grid) {
        const int64_t rule = dim + 1 == kernel.dims.size() ? wholeAtMost : wholeAtMostOutside;
        return fmt::format("{} {} {}", extentText(each), each.form == DimForm::Whole ? "<=" : ">",
                           each.wholeAtMost > 0 ? each.wholeAtMost : rule);
      }
    }
    return std::nullopt;
  }

  std::string extentText(const TileDim &dim) const {
    return "(" + text(extentOf(dim, program)) + ")";
  }

  /// Whether some offset or index, of lanes beyond a tile's edge too, needs more than 32 bits.
  std::string wide(const StageKernel &kernel) const {
    std::vector<std::string> ends = {"0", "0"}; // max takes two at least
    std::map<IteratorId, std::string> beyond;
    for (const TileDim &dim : kernel.dims) {
      if (dim.form == DimForm::Point) {
        continue;
      }
      beyond[dim.iterators[0]] = dim.block;
      if (dim.also) {
        beyond[*dim.also] = dim.block;
      }
      ends.push_back(fmt::format("{} + {}", extentText(dim), dim.block));
    }
    std::set<Affine> told;
    for (const Affine &offset : kernel.offsets) {
      if (!offset.isConstant() && told.insert(offset).second) {
        ends.push_back(magnitude(offset, beyond));
      }
    }
    return fmt::format("max({}) > 2147483647", fmt::join(ends, ", "));
  }

  /// No lane computes more, whatever the signs.
  std::string magnitude(const Affine &value,
                        const std::map<IteratorId, std::string> &beyond) const {
    std::string sum = fmt::format("abs({})", text(value.constant()));
    for (const auto &[atom, coefficient] : value.terms()) {
      sum += fmt::format(" + abs({})*({})", text(coefficient), magnitude(atom, beyond));
    }
    return sum;
  }
  std::string magnitude(const Atom &atom, const std::map<IteratorId, std::string> &beyond) const {
    switch (atom.kind) {
    case Atom::Kind::Iterator: {
      const std::string extent = text(program.space.iterators[atom.iterator].extent);
      auto found = beyond.find(atom.iterator);
      return found == beyond.end() ? extent : extent + " + " + found->second;
    }
    case Atom::Kind::Data: // is read as 64 bits
      return "0";
    case Atom::Kind::Quotient:
      return magnitude(*atom.argument, beyond);
    case Atom::Kind::Remainder:
      return text(atom.size);
    }
    return "0";
  }

  const Program &program;
};

} // namespace

namespace {

/// The kernels of stores that one kernel can make: of reductions whose extent is not known, both
/// forms.
Result<std::vector<StageKernel>> kernelsOf(Program &program, const std::string &name,
                                           const std::vector<Store> &stores) {
  if (const Node *line = lineOf(stores)) {
    return line->kind == NodeKind::Scan ? emitScan(program, name, stores, *line)
                                        : emitOrder(program, name, stores, *line);
  }
  std::vector<StageKernel> kernels;
  auto add = [&](Result<StageKernel> made) -> Status {
    if (!made) {
      return made.error();
    }
    kernels.push_back(std::move(*made));
    return Done{};
  };
  if (!reduces(stores)) {
    if (Status made = add(emitMap(program, name + "_kernel", stores, firstTile(program, stores)));
        !made) {
      return made.error();
    }
    return kernels;
  }
  if (const std::vector<Contraction> found = contractionsOf(program, stores); !found.empty()) {
    if (Status made = add(emitContract(program, name + "_kernel", stores, found)); !made) {
      return made.error();
    }
    return kernels;
  }
  const std::optional<int64_t> extent = reducedExtent(program, stores).constant();
  for (const DimForm form : {DimForm::Whole, DimForm::Looped}) {
    std::vector<TileDim> dims = firstReduceTile(program, stores, form);
    const bool isInnermost = dims.back().form != DimForm::Grid;
    const bool fits = extent && *extent <= (isInnermost ? wholeAtMost : wholeAtMostOutside);
    if (extent && fits != (form == DimForm::Whole)) {
      continue;
    }
    const char *suffix = form == DimForm::Whole ? "_kernel" : "_looped_kernel";
    if (Status made = add(emitReduce(program, name + suffix, stores, std::move(dims))); !made) {
      return made.error();
    }
    kernels.back().isOneOfTwo = !extent;
  }
  return kernels;
}

} // namespace

Result<MadeKernels> makeKernels(Program &program, const std::string &name) {
  if (Status status = partition(program); !status) {
    return status.error();
  }
  MadeKernels made;
  size_t count = 0, number = 0;
  for (const Stage &stage : program.stages) {
    count += groupsOf(program, stage).size();
  }
  for (const Stage &stage : program.stages) {
    for (const std::vector<Store> &stores : groupsOf(program, stage)) {
      const std::string suffix = count > 1 ? "_" + std::to_string(++number) : std::string();
      auto kernels = kernelsOf(program, name + suffix, stores);
      if (!kernels) {
        return kernels.error();
      }
      std::move(kernels->begin(), kernels->end(), std::back_inserter(made.kernels));
    }
  }
  made.table = TableMaker(program).run(made.kernels);
  return made;
}

} // namespace nereid::generator
