// SPDX-License-Identifier: Apache-2.0
// Stage two of developing an operator, in one call: fuse, choose schedules for the definition's
// cases, write `<op>_triton.py` and its C++ companions, and check that their interfaces agree.
#pragma once

#include "lib/generator/Fusion.h"
#include "lib/generator/LaunchPlan.h"
#include "lib/generator/NaiveStart.h"
#include "lib/generator/Patterns.h"
#include "lib/generator/Schedule.h"
#include "lib/generator/python/Language.h"

#include <string>
#include <vector>

namespace nereid::generator {

struct GeneratedFile {
  std::string name; ///< relative to the operator's folder
  std::string content;
};

/// A fused operator with its schedules; enough to write every file and plan every launch.
struct Generation {
  FusedOperator fused;
  ScheduleTable table;
  Start start = Start::Rule;         ///< what cases without an entry begin with
  Language language = Language::Cpp; ///< of the files beside `<op>_triton.py`
  std::vector<std::string> remarks;  ///< why each schedule was chosen, one line each

  /// The table's schedule for a case, or the first choice (which is then entered in the table).
  Schedule scheduleFor(const definition::Binding &binding, DType dtype, const Machine &chip,
                       const Patterns *patterns = nullptr);
};

/// Fuses, and fills the table for every accuracy and performance case and dtype of the definition.
Result<Generation> generate(const definition::Operator &op, const Machine &chip,
                            const Patterns *patterns, Start start = Start::Rule);

/// `<op>_triton.py`: kernels and Python wrapper. Depends on the table only in the wrapper's
/// schedule table.
std::string writeTriton(const Generation &generation);
/// `<op>_kernel.hpp`, `<op>_baseline.cpp`, `<op>_accuracy.cpp`, `<op>_performance.cpp`,
/// `CMakeLists.txt`.
std::vector<GeneratedFile> writeCompanions(const Generation &generation);
/// `<op>_baseline.py`, `<op>_accuracy.py`, `<op>_performance.py`.
std::vector<GeneratedFile> writePythonCompanions(const Generation &generation);
/// `<op>_triton.py` and the companions in the generation's languages.
std::vector<GeneratedFile> writeFiles(const Generation &generation);

} // namespace nereid::generator
