// SPDX-License-Identifier: Apache-2.0
// How the kernels of a program are launched, as data: in which order, with which arguments, on
// which grid. Every number is the text of an integer expression (lib/language/IntegerExpression.h)
// in the program's symbols and in what stands before it, so that whoever launches, in whatever
// language, evaluates the same text and knows nothing of programs.
//
//   symbols     N, M, and those that follow from others: q = (N + 1)//2
//   strides     x_stride = N of an operand whose rows may have gaps between them
//   workspaces  memory that one kernel leaves to the next
//   kernels     function, arguments, constexprs, grid
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

struct NamedExpression {
  std::string name, value;
  bool operator==(const NamedExpression &) const = default;
};

struct LaunchArgument {
  StageArgument::Kind kind = StageArgument::Kind::Size;
  std::string name;  ///< in the kernel
  DType dtype{};     ///< of Memory's elements or the Number
  std::string value; ///< buffer or parameter of the program; of a Size: its expression
  bool operator==(const LaunchArgument &) const = default;
};

/// What a launch may do in another way, without another kernel text: a block, a form, an option.
/// The rule's value holds unless a schedule (lib/generator/Schedule.h) names another one.
/// Expressions read it under choiceVariable().
struct LaunchChoice {
  enum class Kind : uint8_t {
    Block,  ///< the largest block of a dimension
    Form,   ///< 1: the form is taken, 0: it is not
    Held,   ///< the longest line that one tile holds whole
    Order,  ///< rows of blocks that programs walk before the next column
    Option, ///< of launches on devices: num_warps, num_stages
  };
  Kind kind = Kind::Block;
  std::string name;            ///< "contract.BLOCK_M", "reduce.SPLIT"
  std::string constant;        ///< the constexpr that it decides; "": conditions alone
  std::string rule;            ///< expression; of an option that is not passed: what it is then
  int64_t least = 1, most = 1; ///< powers of two between them are legal, and a `least` of 0
  int64_t naive = 1;           ///< where --start naive begins
  bool operator==(const LaunchChoice &) const = default;
};
/// "CHOICE_contract_BLOCK_M" of "contract.BLOCK_M".
std::string choiceVariable(const std::string &name);
/// Whether a form is taken; --start naive begins without it.
LaunchChoice formChoice(std::string name, std::string rule);
/// No size has such a name, nor is one called like the function of withTuning().
constexpr std::string_view choicePrefix = "CHOICE_";

/// A dimension of a kernel's tile, for whoever weighs schedules.
struct LaunchDim {
  DimForm form = DimForm::Grid;
  std::string block; ///< its constexpr; "" of a Point
  std::string group; ///< see TileDim
  std::string extent;
  bool operator==(const LaunchDim &) const = default;
};

struct LaunchEntry {
  std::string function;
  std::vector<LaunchArgument> arguments;
  std::vector<NamedExpression> constexprs; ///< block sizes and WIDE: offsets need 64 bits
  std::string grid;      ///< number of programs; 0 also of the one of two forms that is not taken
  std::string role = {}; ///< see StageKernel
  std::vector<LaunchChoice> choices = {}; ///< of this kernel alone
  std::vector<LaunchDim> dims = {};
  std::vector<TileAccess> accesses = {};
  TileShare share = TileShare::Each;
  std::string tiles = {}; ///< of those of `dims`, how many it computes; "": all
  bool operator==(const LaunchEntry &) const = default;
};

/// How far from each other the rows of an operand lie, in elements: a name of expressions, of which
/// a launch may bring the value; else it is that of `value`, what it is without gaps.
struct TableStride {
  std::string name, buffer, value;
  size_t dims = 1; ///< the last ones of the operand, which have no gaps
  bool operator==(const TableStride &) const = default;
};

struct Workspace {
  std::string name;
  DType dtype{};
  std::string elements;
  bool operator==(const Workspace &) const = default;
};

/// Where a launch takes place. Blocks and the number of parts of a sum are chosen by it.
struct LaunchSite {
  int64_t processors = 16; ///< that compute programs at a time
  bool isDevice = false;   ///< a program's elements lie in the registers of many lanes

  /// What expressions read of it, by the names below.
  std::map<std::string, int64_t> values() const;
};
constexpr const char *processorsName = "PROCESSORS";
/// Elements of a tile that is tried first, of the smallest one, where there are few, and of the
/// longest row that one tile holds whole.
constexpr const char *tileElementsName = "TILE_ELEMENTS", *fewestElementsName = "FEWEST_ELEMENTS",
                     *rowElementsName = "ROW_ELEMENTS";
/// 1: additions of all programs to one place in memory wait for each other. 0: threads sum up on
/// their own until the launch ends.
constexpr const char *waitingName = "ADDITIONS_WAIT";
/// 1: matrix units multiply numbers of 16 bits, and subnormal ones take no longer than others.
constexpr const char *onDeviceName = "ON_DEVICE";
/// Programs that a processor computes at a time, while most of them wait for memory; of one warp,
/// or with few sums of a product.
constexpr const char *programsAtATimeName = "PROGRAMS_AT_A_TIME";
/// Bytes of an element of the type that a call is of, LaunchTable::dtype. One text of launches
/// serves several types, so that it is a name and no number.
constexpr const char *elementBytesName = "ELEMENT_BYTES";

struct LaunchTable {
  DType dtype = DType::F32;             ///< of the calls that it is for
  std::vector<std::string> symbols;     ///< that a launch brings, in order
  std::vector<NamedExpression> derived; ///< those that follow from others
  std::vector<TableStride> strides;     ///< of operands whose rows may have gaps between them
  std::vector<Workspace> workspaces;
  std::vector<LaunchEntry> kernels;       ///< in the order of the launches
  std::vector<LaunchChoice> choices = {}; ///< of several kernels together
  bool operator==(const LaunchTable &) const = default;

  const TableStride *strideOf(const std::string &buffer) const; ///< null: it has no gaps
};

/// Values that a schedule gives choices, by their names; what the table does not know is left out.
using ChosenValues = std::map<std::string, int64_t>;

/// A program's kernels and their table. The program is normalised; reductions that cannot share a
/// kernel become stages of it (fuse/Partition.h), with temporaries. Where the length of a reduction
/// is a symbol, there are two kernels, of which a launch takes one. E0607 for a stage that no
/// template makes.
struct MadeKernels {
  std::vector<StageKernel> kernels;
  LaunchTable table;
};
Result<MadeKernels> makeKernels(Program &program, const std::string &name);

/// Whether a constexpr of this name follows from sizes alone: no schedule names it.
bool isOfSizes(std::string_view constant);

/// One launch with the sizes known.
struct BoundLaunch {
  std::string function, signature; ///< as the pipeline takes it: "x_ptr=*fp32, N=i32, BLOCK_Y=64"
  std::vector<int64_t> sizes;      ///< of each argument that is a Size, in order
  std::vector<std::pair<std::string, int64_t>> constants; ///< constexprs
  int64_t programs = 0; ///< of a grid of one dimension; 0: nothing to compile or launch
  int64_t tiles = 0;    ///< that these compute, where the table says so; else 0
};

/// E0612 when a symbol has no value, E028x when 64 bits do not hold a number on the way. Of
/// workspaces, the number of elements of each.
Result<std::vector<int64_t>> bindWorkspaces(const LaunchTable &table,
                                            const std::map<std::string, int64_t> &symbols,
                                            const LaunchSite &site = {},
                                            const ChosenValues &chosen = {});
Result<std::vector<BoundLaunch>> bindLaunch(const LaunchTable &table,
                                            const std::map<std::string, int64_t> &symbols,
                                            const LaunchSite &site = {},
                                            const ChosenValues &chosen = {});

/// The extents of each kernel's dimensions, in the table's order.
Result<std::vector<std::vector<int64_t>>> bindExtents(const LaunchTable &table,
                                                      const std::map<std::string, int64_t> &symbols,
                                                      const LaunchSite &site = {});

/// The table as JSON, and back; E0611 when it is none.
std::string toJson(const LaunchTable &table);
Result<LaunchTable> tableFromJson(const std::string &path, const std::string &text);

} // namespace nereid::generator
