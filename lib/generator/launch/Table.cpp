// SPDX-License-Identifier: Apache-2.0
// Tables of launches, see Table.h: how they are made of a program's kernels.
#include "lib/generator/launch/Table.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Chain.h"
#include "lib/generator/template/Contract.h"
#include "lib/generator/template/Map.h"
#include "lib/generator/template/Order.h"
#include "lib/generator/template/Reduce.h"
#include "lib/generator/template/Scan.h"
#include "lib/generator/template/SplitSchedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::generator {
namespace {

/// Elements of a tile that is tried first, and of its innermost dimension; also of one that lies
/// inside of a dimension that is reduced.
constexpr int64_t elementsOfTile = 4096, elementsAlong = 1024, elementsInside = 64;

class TableMaker {
public:
  TableMaker(const Program &program, std::map<BufferId, std::string> conditions)
      : program(program), conditions(std::move(conditions)) {}

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
    for (BufferId id = 0; id < program.buffers.size(); ++id) {
      const Buffer &buffer = program.buffers[id];
      if (!buffer.base && buffer.role == BufferRole::Temporary) {
        auto condition = conditions.find(id);
        const std::string elements = elementsOf(buffer);
        table.workspaces.push_back(
            {buffer.name, buffer.dtype,
             condition == conditions.end()
                 ? elements
                 : fmt::format("max(1, ({})*{})", elements, condition->second)});
      }
    }
    for (const StageKernel &kernel : kernels) {
      table.kernels.push_back(entry(kernel));
    }
    return table;
  }

private:
  std::string text(const Polynomial &value) const { return launchText(value, program); }

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
    made.grid += kernel.condition.empty() ? "" : "*(" + kernel.condition + ")";
    made.constexprs.push_back({"WIDE", wide(kernel)});
    for (const auto &[name, value] : kernel.options) {
      made.constexprs.push_back({name, value});
    }
    return made;
  }

  static std::string largestBlock(const StageKernel &kernel, size_t dim, const std::string &left) {
    const bool isInnermost = dim + 1 == kernel.dims.size();
    if (!kernel.dims[dim].largest.empty()) {
      return kernel.dims[dim].largest;
    }
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
  const std::map<BufferId, std::string> conditions;
};

} // namespace

namespace {

/// The kernels of stores that one kernel can make: of reductions whose extent is not known, both
/// forms; of a part of such, the loop.
Result<std::vector<StageKernel>> kernelsOf(Program &program, const std::string &name,
                                           const std::vector<Store> &stores, bool isPart = false) {
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
    if (extent ? fits != (form == DimForm::Whole) : isPart && form == DimForm::Whole) {
      continue;
    }
    const char *suffix = form == DimForm::Whole ? "_kernel" : "_looped_kernel";
    if (Status made = add(emitReduce(program, name + suffix, stores, std::move(dims))); !made) {
      return made.error();
    }
    kernels.back().isOneOfTwo = !extent && !isPart;
  }
  return kernels;
}

/// Adds the kernels that reduce in parts, where that may be better; the others are then launched
/// where it is not.
Status addParts(Program &program, const std::string &name, const std::vector<Store> &stores,
                MadeKernels &made, std::vector<StageKernel> &kernels,
                std::map<BufferId, std::string> &conditions) {
  const std::vector<Contraction> products = contractionsOf(program, stores);
  std::optional<SplitSchedule> split =
      reduces(stores) ? splitScheduleOf(program, stores, products) : std::nullopt;
  if (!split) {
    return Done{};
  }
  for (StageKernel &kernel : kernels) {
    kernel.condition = "((" + split->condition + ") == 0)";
  }
  for (BufferId workspace : split->split.workspaces) {
    conditions[workspace] = "(" + split->condition + ")";
  }
  for (size_t i = 0; i < split->split.stages.size(); ++i) {
    auto parts = kernelsOf(program, fmt::format("{}_part_{}", name, i + 1), split->split.stages[i],
                           /*isPart=*/true);
    if (!parts) {
      return parts.error();
    }
    for (StageKernel &kernel : *parts) {
      kernel.condition = split->condition;
      made.kernels.push_back(std::move(kernel));
    }
  }
  return Done{};
}

} // namespace

namespace {

/// A stage that one kernel can make at some sizes and that is cut into several for the others.
struct ChainStage {
  std::vector<Store> stores;
  ProductChain chain;
};

/// By the first buffer that the stage stores.
std::map<BufferId, ChainStage> chainStages(Program &program) {
  std::map<BufferId, ChainStage> found;
  for (const Stage &stage : program.stages) {
    const std::vector<std::vector<Store>> groups = groupsOf(program, stage);
    if (groups.size() == 1) {
      if (std::optional<ProductChain> chain = chainOf(program, groups[0])) {
        found.emplace(stage.stores[0].buffer, ChainStage{groups[0], std::move(*chain)});
      }
    }
  }
  return found;
}

void addCondition(std::string &all, const std::string &one) {
  all += (all.empty() ? "" : "*") + ("(" + one + ")");
}

/// The chain's kernel beside those into which partition() has cut its stage, the last of `made`.
Status addChain(const Program &program, const std::string &name, const ChainStage &stage,
                size_t firstKernel, BufferId firstSaved, MadeKernels &made,
                std::map<BufferId, std::string> &conditions) {
  auto kernel = emitChain(program, name, stage.stores, stage.chain);
  if (!kernel) {
    return kernel.error();
  }
  const std::string otherwise = "(" + kernel->condition + ") == 0";
  std::set<BufferId> saved; // by those kernels alone
  for (size_t i = firstKernel; i < made.kernels.size(); ++i) {
    addCondition(made.kernels[i].condition, otherwise);
    for (const StageArgument &argument : made.kernels[i].arguments) {
      if (argument.kind == StageArgument::Kind::Memory && argument.buffer >= firstSaved) {
        saved.insert(argument.buffer);
      }
    }
  }
  for (BufferId buffer : saved) {
    addCondition(conditions[buffer], otherwise);
  }
  made.kernels.push_back(std::move(*kernel));
  return Done{};
}

} // namespace

Result<MadeKernels> makeKernels(Program &program, const std::string &name) {
  const std::map<BufferId, ChainStage> chains = chainStages(program);
  const size_t ownBuffers = program.buffers.size();
  if (Status status = partition(program); !status) {
    return status.error();
  }
  MadeKernels made;
  std::map<BufferId, std::string> conditions; ///< under which a workspace is needed at all
  size_t count = 0, number = 0;
  for (const Stage &stage : program.stages) {
    count += groupsOf(program, stage).size();
  }
  // The output of the stage from which this one has been cut off, or its own.
  auto ownerOf = [&](size_t stage) {
    while (program.stages[stage].stores[0].buffer >= ownBuffers) {
      ++stage;
    }
    return program.stages[stage].stores[0].buffer;
  };
  size_t firstKernel = 0; // of the stages that partition() has cut off the next one
  for (size_t at = 0; at < program.stages.size(); ++at) {
    const Stage &stage = program.stages[at];
    const bool isOfChain = chains.contains(ownerOf(at));
    for (const std::vector<Store> &stores : groupsOf(program, stage)) {
      const std::string suffix = count > 1 ? "_" + std::to_string(++number) : std::string();
      auto kernels = kernelsOf(program, name + suffix, stores);
      if (!kernels) {
        return kernels.error();
      }
      Status added = isOfChain
                         ? Status(Done{}) // the other form is better already
                         : addParts(program, name + suffix, stores, made, *kernels, conditions);
      if (!added) {
        return added.error();
      }
      std::move(kernels->begin(), kernels->end(), std::back_inserter(made.kernels));
    }
    const BufferId first = stage.stores[0].buffer;
    if (first >= ownBuffers) {
      continue;
    }
    if (auto chain = chains.find(first); chain != chains.end()) {
      if (Status added = addChain(program, name + "_chain_kernel", chain->second, firstKernel,
                                  static_cast<BufferId>(ownBuffers), made, conditions);
          !added) {
        return added.error();
      }
    }
    firstKernel = made.kernels.size();
  }
  made.table = TableMaker(program, std::move(conditions)).run(made.kernels);
  return made;
}

} // namespace nereid::generator
