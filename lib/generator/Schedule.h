// SPDX-License-Identifier: Apache-2.0
// How a fused operator is cut into program instances: the kernel variant and its constexprs. One
// source file holds every variant of an operator, so that trying another schedule means another
// signature, not another source. Read by LaunchPlan, the source writers and the tuner.
#pragma once

#include "lib/generator/Fusion.h"
#include "lib/machine/Machine.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::generator {

class Patterns;

/// Flat: one dimension, BLOCK elements per program.
/// Tiles: BLOCK_M × BLOCK_N elements per program.
/// Rows: ROWS whole rows per program, one after another, each one tile of BLOCK_N columns.
/// LoopedRows: ROWS rows per program, each in column blocks of BLOCK_N, one pass per reduction.
/// On a device each has num_warps besides, an option of the launch and no parameter of the kernel.
enum class KernelVariant { Flat, Tiles, Rows, LoopedRows };
std::string_view variantName(KernelVariant variant); ///< "flat", "tiles", "rows", "looped_rows"

struct Schedule {
  KernelVariant variant = KernelVariant::Flat;
  /// Constexprs in the order of the kernel's parameters; booleans as 0 and 1.
  std::vector<std::pair<std::string, int64_t>> constants;
  /// Of kernels made of programs, which have no variants: values of their launch table's choices
  /// (launch/Table.h), "program:map.BLOCK_X=4,map.BLOCK_Y=1024". The table's rule decides those
  /// that are not named.
  bool isOfProgram = false;

  int64_t get(std::string_view name, int64_t fallback = 0) const;
  Schedule with(std::string_view name, int64_t value) const;
  /// The same with a constant that need not be there yet.
  Schedule choosing(const std::string &name, int64_t value) const;
  /// "BLOCK_M=32,BLOCK_N=512,GRID_2D=1,STREAMING=0".
  std::string constantsText() const;
  /// "tiles:BLOCK_M=32,BLOCK_N=512,GRID_2D=1,STREAMING=0"; parseSchedule reads it back.
  std::string text() const;
  bool operator==(const Schedule &) const = default;
};
std::optional<Schedule> parseSchedule(std::string_view text);

/// Sizes of one case as far as schedules care.
struct CaseSizes {
  int64_t rows = 1, columns = 1;
  double bytes = 0; ///< of all operands together
  double outputBytes = 0;
  int64_t elements() const { return rows * columns; }
};
CaseSizes sizesOf(const FusedOperator &fused, const definition::Binding &binding, DType dtype);

/// Cases that share a schedule: element type, columns rounded up to a power of two, and whether
/// the operands fit the last-level cache.
struct CaseClass {
  DType dtype = DType::F32;
  int64_t columnsUpTo = 0; ///< power of two
  bool isBeyondCache = false;
  /// Of kernels made of programs, instead of columns and cache: each size rounded up likewise.
  std::map<std::string, int64_t> sizesUpTo = {};
  std::string text() const; ///< "float32,columns<=1024,beyond-cache", "float32,M<=64,N<=256"
  bool operator==(const CaseClass &) const = default;
};
CaseClass classify(const FusedOperator &fused, const definition::Binding &binding, DType dtype,
                   const Machine &chip);

/// How an operator is run, as a mode chose it by time: nothing was asked; each call a launch; a
/// recorded launch that is replayed; the eager operations instead of the kernel.
enum class Form { Unasked, Launches, Graph, Eager };
std::string_view formName(Form form); ///< "", "launches", "graph", "eager"
std::optional<Form> parseForm(std::string_view name);

/// The schedule of each class seen so far. Written into the Python wrapper and the manifest.
struct ScheduleTable {
  struct Entry {
    CaseClass caseClass;
    Schedule schedule;
    std::string origin;        ///< "rule", "pattern", "naive" or "round 2"
    Form form = Form::Unasked; ///< measured with this schedule
  };
  std::vector<Entry> entries;
  int64_t cacheBytes = 32 << 20; ///< what "beyond-cache" compares with
  int64_t widestRowTile = 65536; ///< columns up to which a row is one tile when no entry fits

  const Entry *find(const CaseClass &caseClass) const;
  /// Another schedule than before has no form yet.
  void set(const CaseClass &caseClass, const Schedule &schedule, std::string origin);
  void setForm(const CaseClass &caseClass, Form form); ///< nothing where there is no entry
  bool hasForm(Form form) const;
  std::vector<Form> forms() const; ///< one for each entry
};

/// Every schedule worth considering for a case (the search space of the tuner), rules' first
/// choice first, no duplicates.
std::vector<Schedule> scheduleSpace(const FusedOperator &fused, const CaseSizes &sizes, DType dtype,
                                    const Machine &chip);
/// False when the schedule's variant does not exist for the operator, a block is no power of two,
/// or a whole-row block does not cover the columns; `why` then says so.
bool isValid(const Schedule &schedule, const FusedOperator &fused, const CaseSizes &sizes,
             std::string *why = nullptr);

struct FirstChoice {
  Schedule schedule;
  std::string origin; ///< "rule" or "pattern"
  std::string reason; ///< one sentence
};
/// By rule, then corrected by what patterns.json says worked (null = no experience).
FirstChoice firstSchedule(const FusedOperator &fused, const CaseSizes &sizes, DType dtype,
                          const Machine &chip, const Patterns *patterns);

/// A change touches `_triton.py` alone (Parameter), or all four files (Interface, Logic).
enum class ChangeClass { Parameter, Interface, Logic };
std::string_view changeClassName(ChangeClass changeClass);

/// What keeps a kernel from being quicker, see schedules/Bottleneck.h.
enum class Bottleneck : uint8_t {
  Unknown,
  Bandwidth,
  Arithmetic,
  Uncoalesced,
  CacheMisses,
  Latency,
  Pressure,
  Parallelism,
  TailWave,
  Launch
};

/// What a measurement said about the present schedule; the caller fills in what it knows.
struct Diagnosis {
  double bandwidthFraction = 0; ///< achieved / what a copy, or the cache, can; 0 = not measured
  double computeFraction = 0;   ///< achieved / peak FLOP/s
  bool isBeyondCache = false;   ///< the bytes come from memory
  double launchFraction = 0;    ///< share of the time spent in launching programs
  double idleFraction = 0;      ///< of the threads' time: measured, without a program
  int64_t programs = 0;         ///< of one launch
  // Of the schedule's tiles, by arithmetic; 0 = not known.
  int64_t processors = 0;  ///< that take programs
  double waveFraction = 0; ///< of the places in all waves of programs, how many have one
  double runBytes = 0;     ///< that lie one behind the other, on average
  double readsOfByte = 0;  ///< how often each byte of the operands is moved
  double pressure = 0;     ///< a tile's bytes by its share of cache or registers
  bool isOnDevice = false;
  Bottleneck bottleneck = Bottleneck::Unknown;
};

/// The constants (and the variant) in which `after` differs: "BLOCK_N=1024", "variant=looped_rows".
std::string changeKey(const Schedule &before, const Schedule &after);
/// The schedule after such a change; nothing when the key does not fit it.
std::optional<Schedule> applyChange(const Schedule &schedule, const std::string &key,
                                    const CaseSizes &sizes);

/// One step away from a schedule.
struct Neighbour {
  Schedule schedule;
  ChangeClass changeClass = ChangeClass::Parameter;
  std::string change;        ///< "BLOCK_N 512 -> 1024"
  std::string key;           ///< "BLOCK_N=1024": how patterns.json files it, ...
  std::string from;          ///< "BLOCK_N=512": ... with where it starts
  std::string reason;        ///< which finding it answers, one sentence
  double expectedGain = 1.0; ///< ratio: old time / new time
};
/// What the diagnosis asks for and should gain, best expectation first; what patterns.json knows
/// counts instead of the model. Excludes `tried`.
std::vector<Neighbour> neighbours(const FusedOperator &fused, const Schedule &schedule,
                                  const CaseSizes &sizes, DType dtype, const Machine &chip,
                                  const Diagnosis &diagnosis, const Patterns *patterns,
                                  const std::vector<Schedule> &tried);

} // namespace nereid::generator
