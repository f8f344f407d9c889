// SPDX-License-Identifier: Apache-2.0
// Tables of launches, see TableMaker.h.
#include "lib/generator/launch/table/TableMaker.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/launch/table/Offsets.h"
#include "lib/generator/launch/table/TileRows.h"
#include "lib/generator/launch/table/Warps.h"
#include "lib/generator/template/Blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Elements of a tile's innermost dimension; also of a tile whose innermost one lies inside of a
/// dimension that is reduced, wherever it is launched.
constexpr int64_t elementsAlong = 1024, elementsOfColumns = 4096;
/// Of one whose accesses lie where data says: more wait longer for memory than they overlap.
constexpr int64_t elementsAtData = 1024;
/// That a device has at a time at least, as long as there are elements for them.
constexpr int64_t programsOfProcessor = 4;
/// The values of more loads leave a lane no registers for a whole tile's elements.
constexpr int64_t fewLoads = 4;

/// How far schedules may go, and where --start naive begins.
constexpr int64_t mostOfBlock = 16384, mostOfProduct = 256, mostHeld = 65536,
                  mostHeldOutside = 1024, mostStages = 5, mostOfGroup = 16;
constexpr int64_t naiveOfProduct = 32, naiveAlong = 256;

/// Sums that programs keep in the registers of a processor at a time.
constexpr int64_t sumsOfProcessor = 32768;

class TableMaker {
public:
  TableMaker(const Program &program, std::map<BufferId, std::string> conditions)
      : program(program), conditions(std::move(conditions)) {}

  LaunchTable run(const std::vector<StageKernel> &kernels) {
    for (const Symbol &symbol : program.space.symbols.all()) {
      auto isIt = [&](const RowStride &one) { return one.symbol == symbol.name; };
      auto stride = std::find_if(program.rowStrides.begin(), program.rowStrides.end(), isIt);
      if (stride != program.rowStrides.end()) {
        table.strides.push_back({symbol.name, program.buffers[stride->buffer].name,
                                 text(stride->length), stride->dims});
      } else if (symbol.chosenBy) {
        table.derived.push_back({symbol.name, *symbol.chosenBy});
      } else if (!symbol.quotientOf) {
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
    return std::move(table);
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

  LaunchEntry entry(const StageKernel &kernel) {
    LaunchEntry made;
    made.function = kernel.tree.name;
    made.role = kernel.role;
    made.accesses = kernel.accesses;
    for (const StageArgument &argument : kernel.arguments) {
      using Kind = StageArgument::Kind;
      made.arguments.push_back({argument.kind, argument.name, argument.dtype,
                                argument.kind == Kind::Memory
                                    ? program.buffers[argument.buffer].name
                                : argument.kind == Kind::Number ? argument.parameter
                                                                : text(argument.value)});
    }
    std::string left = isSerial(kernel.dims)    ? tileElementsName
                       : isColumns(kernel.dims) ? std::to_string(elementsOfColumns)
                                                : elementsOfLoads(kernel, isAtData(kernel));
    left = divided(kernel, std::move(left));
    const std::string ofTile = left;
    const TileDim *outermost = kernel.dims.empty() ? nullptr : &kernel.dims[0];
    if (outermost && outermost->form == DimForm::Grid && outermost->blockAtMost > 1) {
      left += fmt::format("//{}", outermost->blockAtMost); // its share is taken
    }
    for (size_t dim = kernel.dims.size(); dim-- > 0;) {
      const TileDim &each = kernel.dims[dim];
      made.dims.insert(made.dims.begin(),
                       {each.form, each.block, each.group, launchExtent(each, program)});
      if (each.form == DimForm::Point) {
        made.grid += (made.grid.empty() ? "" : "*") + launchExtent(each, program);
        continue;
      }
      const std::string extent = fmt::format("max({}, next_power_of_2({}))", each.blockAtLeast,
                                             launchExtent(each, program));
      std::string largest = largestBlock(kernel, dim, left);
      if (std::optional<LaunchChoice> choice = blockChoice(kernel, dim, largest)) {
        largest = choiceVariable(choice->name);
        offer(kernel, std::move(*choice), made);
      }
      made.constexprs.push_back({each.block, fmt::format("min({}, {})", largest, extent)});
      if (!each.group.empty()) {
        made.constexprs.push_back({each.group, orderChoice(kernel, each, made)});
      }
      left += "//" + each.block;
      if (each.form == DimForm::Grid) {
        made.grid += fmt::format("{}cdiv({}, {})", made.grid.empty() ? "" : "*",
                                 launchExtent(each, program), each.block);
      }
    }
    dropUnread(ofTile, made);
    made.grid = made.grid.empty() ? "1" : made.grid;
    if (kernel.hasOtherShares) {
      share(kernel, made);
    }
    if (std::optional<std::string> condition = isTaken(kernel)) {
      made.grid += "*(" + *condition + ")";
    }
    made.grid += kernel.condition.empty() ? "" : "*(" + kernel.condition + ")";
    for (const std::string &constant : kernel.constants) {
      made.constexprs.push_back({constant, constant});
    }
    for (const TileDim &dim : kernel.dims) {
      if (!dim.even.empty()) {
        made.constexprs.push_back({dim.even, even(dim)});
      }
    }
    made.constexprs.push_back({"WIDE", isWide(kernel, program)});
    options(kernel, made);
    return made;
  }

  /// A derived size that no block of the kernel asks for would be an unused variable of launchers.
  void dropUnread(const std::string &name, const LaunchEntry &entry) {
    auto reads = [&](const std::string &text) { return text.find(name) != std::string::npos; };
    const bool isRead = std::any_of(entry.choices.begin(), entry.choices.end(),
                                    [&](const auto &each) { return reads(each.rule); }) ||
                        std::any_of(entry.constexprs.begin(), entry.constexprs.end(),
                                    [&](const auto &each) { return reads(each.value); });
    if (!isRead) {
      std::erase_if(table.derived, [&](const auto &each) { return each.name == name; });
    }
  }

  /// Of a dimension that the grid divides or a loop walks over. One that is whole has no choice but
  /// of being so.
  static std::optional<LaunchChoice> blockChoice(const StageKernel &kernel, size_t dim,
                                                 const std::string &largest) {
    const TileDim &each = kernel.dims[dim];
    const bool isFixed = each.blockAtMost > 0 && each.blockAtMost <= each.blockAtLeast;
    if (each.form == DimForm::Whole || isFixed) {
      return std::nullopt;
    }
    const bool isInnermost = dim + 1 == kernel.dims.size(), isOfUnit = each.blockAtLeast > 1;
    LaunchChoice choice;
    choice.name = kernel.role + "." + each.block;
    choice.constant = each.block;
    choice.rule = largest;
    choice.least = each.blockAtLeast;
    choice.most = isOfUnit ? mostOfProduct : mostOfBlock;
    choice.naive = isOfUnit ? naiveOfProduct : isInnermost ? naiveAlong : 1;
    return choice;
  }

  std::string orderChoice(const StageKernel &kernel, const TileDim &dim, LaunchEntry &made) {
    LaunchChoice choice{LaunchChoice::Kind::Order, kernel.role + "." + dim.group, dim.group, "1"};
    choice.most = mostOfGroup;
    std::string variable = choiceVariable(choice.name);
    offer(kernel, std::move(choice), made);
    return variable;
  }

  /// The kernel's own choice, or one that it has with others.
  void offer(const StageKernel &kernel, LaunchChoice choice, LaunchEntry &made) {
    std::vector<LaunchChoice> &list = kernel.hasOtherShares ? table.choices : made.choices;
    if (std::find(list.begin(), list.end(), choice) == list.end()) {
      list.push_back(std::move(choice));
    }
  }

  /// Which of the tiles that the grid has by now the kernel computes, in how many programs.
  void share(const StageKernel &kernel, LaunchEntry &made) {
    const std::string all = "(" + made.grid + ")";
    std::vector<std::string> blocks; // of a tile
    for (size_t dim = 0; dim < kernel.dims.size(); ++dim) {
      if (kernel.dims[dim].form == DimForm::Grid) {
        blocks.push_back(kernel.dims[dim].block);
      }
    }
    const std::string wave = programsOfWave(fmt::format("({})", fmt::join(blocks, "*")));
    const std::string last = fmt::format("{} % ({})", all, wave);
    made.share = kernel.share;
    switch (kernel.share) {
    case TileShare::Each:
      made.grid = kernel.lastDealtIf.empty()
                      ? all
                      : fmt::format("({} - {}*({}))", all, kernel.lastDealtIf, last);
      made.tiles = made.grid;
      return;
    case TileShare::Walked:
      made.grid = fmt::format("min({}, {})", all, wave);
      made.tiles = all;
      return;
    case TileShare::Dealt:
    case TileShare::Joined:
      made.grid = fmt::format("{}*({} > 0)", wave, last);
      made.tiles = last;
      break;
    }
    std::string elements; // of a tile, in what is known before kernels are
    for (const NamedExpression &one : made.constexprs) {
      if (std::find(blocks.begin(), blocks.end(), one.name) != blocks.end()) {
        elements += (elements.empty() ? "" : "*") + one.value;
      }
    }
    for (BufferId id : kernel.left) {
      for (Workspace &one : table.workspaces) {
        if (one.name == program.buffers[id].name) {
          one.elements = fmt::format("max(1, 2*{}*{}*({}))", programsOfWave("(" + elements + ")"),
                                     elements, conditions.at(id));
        }
      }
    }
  }

  /// That processors have at a time, by the elements of a tile.
  static std::string programsOfWave(const std::string &elements) {
    return fmt::format("{}*max(1, min({}, {}//{}))", processorsName, programsAtATimeName,
                       sumsOfProcessor, elements);
  }

  /// Those that the template passes, and the others that a device has for every kernel.
  void options(const StageKernel &kernel, LaunchEntry &made) const {
    auto add = [&](const std::string &name, const std::string &rule, int64_t most) {
      LaunchChoice choice{LaunchChoice::Kind::Option, kernel.role + "." + name, name, rule};
      choice.most = most;
      choice.naive = 0; // as the rule says
      made.choices.push_back(std::move(choice));
      return choiceVariable(kernel.role + "." + name);
    };
    bool hasWarps = false;
    for (const auto &[name, value] : kernel.options) {
      hasWarps = hasWarps || name == "num_warps";
      made.constexprs.push_back({name, add(name, value, mostWarps)});
    }
    if (const std::string rule = hasWarps ? "" : warpsOf(kernel, program); !rule.empty()) {
      made.constexprs.push_back({"num_warps", add("num_warps", rule, mostWarps)});
    } else if (!hasWarps) {
      add("num_warps", std::to_string(leastWarps), mostWarps);
    }
    if (std::any_of(kernel.dims.begin(), kernel.dims.end(),
                    [](const TileDim &dim) { return dim.form == DimForm::Looped; })) {
      add("num_stages", "3", mostStages);
    }
  }

  /// Elements of a tile, fewer where tiles of so many would leave processors of a device without
  /// one, under a name of expressions: what has few elements waits for memory, and the more lanes
  /// wait at a time the better.
  std::string divided(const StageKernel &kernel, std::string elements) {
    const bool isOfElements = kernel.role.find("map") != std::string::npos ||
                              kernel.role.find("reduce") != std::string::npos;
    if (!isOfElements || isLoopOfColumns(kernel.dims)) {
      return elements;
    }
    std::string all;
    for (const TileDim &dim : kernel.dims) {
      if (dim.form != DimForm::Looped) {
        all += (all.empty() ? "" : "*") + launchExtent(dim, program);
      }
    }
    if (all.empty()) {
      return elements;
    }
    std::string name = kernel.role + "_elements";
    auto isIt = [&](const auto &known) { return known.name == name; };
    while (std::find(table.symbols.begin(), table.symbols.end(), name) != table.symbols.end() ||
           std::any_of(table.derived.begin(), table.derived.end(), isIt)) {
      name += "_of_tile";
    }
    table.derived.push_back(
        {name, fmt::format("min({}, max({}, next_power_of_2({}//({}*{}))))", elements,
                           fewestElementsName, all, programsOfProcessor, processorsName)});
    return name;
  }

  /// Columns of a tile: fewer where so many would leave processors of a device without a program.
  std::string elementsOfColumn(const StageKernel &kernel) const {
    if (isSerial(kernel.dims)) {
      return std::to_string(columnsOfTile);
    }
    return fmt::format("min({}, max({}//8, next_power_of_2({}//{})))", columnsOfTile,
                       fewestElementsName, launchResults(kernel, program), processorsName);
  }

  /// Of a tile with many loads half, so that a lane has registers for them. On devices values that
  /// a row or a column has once do not count, of which lanes hold few, and of chosen places there
  /// is one. Rows that are walked over are better read one by one, in few long pieces.
  static std::string elementsOfLoads(const StageKernel &kernel, bool isAtData) {
    int64_t all = 0, ofElements = 0;
    for (const TileAccess &each : kernel.accesses) {
      all += each.isStore ? 0 : 1;
      ofElements += !each.isStore && each.dims.size() == kernel.dims.size() ? 1 : 0;
    }
    const bool isHalfElsewhere =
        all > fewLoads || kernel.hasOtherLoads || isLoopOfRows(kernel.dims);
    return ofElements > fewLoads && !kernel.hasOtherLoads ? fmt::format("{}//2", tileElementsName)
           : isHalfElsewhere ? fmt::format("{}//(2 - {})", tileElementsName, onDeviceName)
           : isAtData        ? std::to_string(elementsAtData)
                             : tileElementsName;
  }

  /// The longest line that is whole in a tile, which decides between both forms of a stage.
  std::string held(const StageKernel &kernel, const std::string &rule, bool isInnermost) {
    auto isIt = [&](const LaunchChoice &one) { return one.name == kernel.heldChoice; };
    if (std::none_of(table.choices.begin(), table.choices.end(), isIt)) {
      LaunchChoice choice{LaunchChoice::Kind::Held, kernel.heldChoice, "", rule};
      choice.least = choice.naive = 0;
      choice.most = isInnermost ? mostHeld : mostHeldOutside;
      table.choices.push_back(std::move(choice));
    }
    return choiceVariable(kernel.heldChoice);
  }

  std::string largestBlock(const StageKernel &kernel, size_t dim, const std::string &left) {
    const bool isInnermost = dim + 1 == kernel.dims.size();
    if (!kernel.heldChoice.empty() && kernel.dims[dim].form == DimForm::Whole) {
      return fmt::format("max(1, {})", held(kernel, longestWhole(kernel, dim), isInnermost));
    }
    if (!kernel.dims[dim].largest.empty()) {
      return kernel.dims[dim].largest;
    }
    if (kernel.dims[dim].blockAtMost > 0) {
      return std::to_string(kernel.dims[dim].blockAtMost);
    }
    if (kernel.dims[dim].form == DimForm::Whole) {
      return longestWhole(kernel, dim);
    }
    const TileDim &last = kernel.dims.back();
    if (dim + (isOfPlanes(kernel.dims) ? 3 : 2) == kernel.dims.size() &&
        last.form == DimForm::Whole && kernel.role.starts_with("reduce")) {
      return fmt::format("max(1, {}*({} < {}))", left, blockOfRow(kernel.dims), elementsOfLongRow);
    }
    const bool isAlong = isInnermost && dim > 0;
    return isAlong && isColumns(kernel.dims)         ? elementsOfColumn(kernel)
           : isAlong && last.form == DimForm::Looped ? partOfRow(kernel)
           : isAlong && left == tileElementsName     ? std::to_string(elementsAlong)
           : isAlong                 ? fmt::format("min({}, {})", elementsAlong, left)
           : dim == 0 && isInnermost ? left
                                     : fmt::format("max(1, {})", left);
  }

  static std::string longestWhole(const StageKernel &kernel, size_t dim) {
    const bool isInnermost = dim + 1 == kernel.dims.size();
    return kernel.dims[dim].wholeAtMost > 0 ? std::to_string(kernel.dims[dim].wholeAtMost)
           : isInnermost                    ? rowElementsName
                                            : std::to_string(wholeAtMostOutside);
  }

  /// When this one of two kernels is launched: the reduced dimension is whole in the tile as far as
  /// it fits. Nothing where there is one form only.
  std::optional<std::string> isTaken(const StageKernel &kernel) {
    for (size_t dim = kernel.dims.size(); !kernel.lengthOfTwo.empty() && dim-- > 0;) {
      const TileDim &each = kernel.dims[dim];
      if (each.form != DimForm::Grid) {
        const std::string rule = longestWhole(kernel, dim);
        return fmt::format(
            "{} {} {}", kernel.lengthOfTwo, each.form == DimForm::Whole ? "<=" : ">",
            kernel.heldChoice.empty() ? rule : held(kernel, rule, dim + 1 == kernel.dims.size()));
      }
    }
    return std::nullopt;
  }

  /// Whether no lane lies beyond the dimension's end. Devices pay for each mask with registers of
  /// comparisons, of which a thread has seven; on processors masks concern a loop's last turn.
  std::string even(const TileDim &dim) const {
    const std::string lanes =
        dim.form == DimForm::Whole
            ? fmt::format("{} == {}", launchExtent(dim, program), dim.block)
            : fmt::format("{} % {} == 0", launchExtent(dim, program), dim.block);
    return fmt::format("{}*({})", onDeviceName, lanes);
  }

  const Program &program;
  const std::map<BufferId, std::string> conditions;
  LaunchTable table;
};

} // namespace

LaunchTable tableOf(const Program &program, std::map<BufferId, std::string> conditions,
                    const std::vector<StageKernel> &kernels) {
  return TableMaker(program, std::move(conditions)).run(kernels);
}

std::string choiceVariable(const std::string &name) {
  std::string variable = std::string(choicePrefix) + name;
  std::replace(variable.begin(), variable.end(), '.', '_');
  return variable;
}

} // namespace nereid::generator
