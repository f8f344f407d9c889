// SPDX-License-Identifier: Apache-2.0
// How an operator is cut into program instances: what a launch table's choices (launch/Table.h) are
// decided by where their rules are not to. One source file holds every form of an operator, so that
// trying another schedule means another signature, not another source. Read by CallPlan, the source
// writers and the tuner.
#pragma once

#include "runtime/elements/DType.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::generator {

struct Schedule {
  /// Values of choices by their names, "map.BLOCK_X"; the table's rules decide those that are not
  /// named.
  std::vector<std::pair<std::string, int64_t>> constants;

  int64_t get(std::string_view name, int64_t fallback = 0) const;
  Schedule with(std::string_view name, int64_t value) const;
  /// The same with a constant that need not be there yet.
  Schedule choosing(const std::string &name, int64_t value) const;
  /// "map.BLOCK_X=4,map.BLOCK_Y=1024"; parseSchedule reads it back.
  std::string text() const;
  bool operator==(const Schedule &) const = default;
};
std::optional<Schedule> parseSchedule(std::string_view text);

/// Sizes of one case as far as schedules care.
struct CaseSizes {
  int64_t rows = 1, columns = 1;
  double bytes = 0; ///< of all operands together
};

/// Cases that share a schedule: element type, and each size rounded up to a power of two.
struct CaseClass {
  DType dtype = DType::F32;
  std::map<std::string, int64_t> sizesUpTo = {};
  std::string text() const; ///< "float32,M<=64,N<=256"
  bool operator==(const CaseClass &) const = default;
};

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
    std::string origin;        ///< "rule", "naive", "pattern: …" or "round 2: …" with a reason
    Form form = Form::Unasked; ///< measured with this schedule
  };
  std::vector<Entry> entries;

  const Entry *find(const CaseClass &caseClass) const;
  /// Another schedule than before has no form yet.
  void set(const CaseClass &caseClass, const Schedule &schedule, std::string origin);
  void setForm(const CaseClass &caseClass, Form form); ///< nothing where there is no entry
  bool hasForm(Form form) const;
  std::vector<Form> forms() const; ///< one for each entry
};

struct FirstChoice {
  Schedule schedule;
  std::string origin; ///< "rule" or "pattern"
  std::string reason; ///< one sentence
};

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

/// One step away from a schedule.
struct Neighbour {
  Schedule schedule;
  std::string change;        ///< "map.BLOCK_Y 512 -> 1024"
  std::string key;           ///< "map.BLOCK_Y=1024": how patterns.json files it, ...
  std::string from;          ///< "map.BLOCK_Y=512": ... with where it starts
  std::string reason;        ///< which finding it answers, one sentence
  double expectedGain = 1.0; ///< ratio: old time / new time
};

} // namespace nereid::generator
