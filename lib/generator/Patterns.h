// SPDX-License-Identifier: Apache-2.0
// Experience: which change of a schedule paid off, under which conditions, by how much. Written by
// the optimisation rounds, read for the next operator's first choice. One JSON file, readable by
// a person, merged on write so that several processes may learn at once.
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/machine/Machine.h"
#include "lib/support/Diagnostics.h"

#include <string>
#include <vector>

namespace nereid::generator {

/// A p value from which on an observation says nothing.
constexpr double patternSignificance = 0.05;

/// When a pattern applies. Ranges are inclusive; 0 as an upper bound means no bound.
struct PatternCondition {
  int64_t rowsFrom = 0, rowsTo = 0, columnsFrom = 0, columnsTo = 0;
  std::string dtype;          ///< PyTorch name, empty = any
  bool isBeyondCache = false; ///< operands larger than the last-level cache
  std::string chip;           ///< Machine::name, empty = any
  bool operator==(const PatternCondition &) const = default;
};

struct Pattern {
  std::string operatorKind; ///< the template whose kernel changes: "reduce"
  PatternCondition condition;
  std::string change;   ///< Neighbour::key: "reduce.BLOCK_R=1024"
  std::string from;     ///< Neighbour::from: a gain over "reduce.BLOCK_R=512" is none over 2048
  double gain = 1;      ///< geometric mean of old time / new time
  double pValue = 1;    ///< the largest of the observations': that there is no difference
  int count = 0;        ///< observations behind `gain`
  std::string lastSeen; ///< ISO date
};

class Patterns {
public:
  /// A missing file is an empty collection; E0611 when it is damaged or of another schema.
  static Result<Patterns> load(const std::string &path);
  /// Merges with what stands in the file now and replaces it atomically.
  Status save(const std::string &path) const;

  /// Records one observation; equal kind, condition, change and start are averaged.
  void record(const Pattern &observation);
  /// Significant patterns that apply, best gain first, those with gain <= 1 included (they warn).
  std::vector<const Pattern *> lookup(const std::string &operatorKind, const CaseSizes &sizes,
                                      DType dtype, const Machine &chip) const;
  const std::vector<Pattern> &all() const { return patterns; }

private:
  std::vector<Pattern> patterns;
  std::vector<Pattern> observations; ///< since load, what save merges
};

/// The condition under which an observation on this case is filed: sizes widened to powers of two.
PatternCondition conditionFor(const CaseSizes &sizes, DType dtype, const Machine &chip);

} // namespace nereid::generator
