// SPDX-License-Identifier: Apache-2.0
// Stage two of developing an operator, in one call: make its kernels by way of an index-space
// program, choose schedules for the definition's cases, write `<op>_triton.py` and its companions,
// and check that their interfaces agree.
#pragma once

#include "lib/generator/Patterns.h"
#include "lib/generator/Schedule.h"
#include "lib/generator/Start.h"
#include "lib/generator/call/CalledOperator.h"
#include "lib/generator/programs/ProgramOperator.h"
#include "lib/generator/python/Language.h"
#include "lib/generator/schedules/Neighbourhood.h"

#include <string>
#include <vector>

namespace nereid::generator {

struct GeneratedFile {
  std::string name; ///< relative to the operator's folder
  std::string content;
};

/// An operation of an operator whose composites are opened, or a leaf: "input" number `parameter`.
struct PrimitiveOperation {
  std::string op;
  std::vector<int> inputs;
  int parameter = -1;
};

/// An operator with its kernels and schedules; enough to write every file and plan every launch.
struct Generation {
  CalledOperator interface; ///< what callers see
  ProgramOperator program;
  LaunchSite site; ///< the chip whose launches `program`'s tables are evaluated for
  ScheduleTable table;
  Start start = Start::Rule;         ///< what cases without an entry begin with
  Language language = Language::Cpp; ///< of the files beside `<op>_triton.py`
  std::vector<std::string> remarks;  ///< why each schedule was chosen, one line each

  const CalledOperator &called() const { return interface; }
  const definition::Operator &op() const { return interface.op; }
  std::vector<PrimitiveOperation> primitives() const; ///< topological
  bool hasReduction() const;
  /// The input of the operator's own type that is as large as what is computed, or the first.
  const Operand &widestInput() const;
  /// Dimensions of an output, counted from the end, that a launch needs without gaps between them.
  size_t denseDimensions(const Operand &output, const definition::Binding &binding) const;
  CaseClass classOf(const definition::Binding &binding, DType dtype) const;
  /// What a search may try for a case, and what may be tried after a measurement.
  std::vector<Schedule> space(const definition::Binding &binding, DType dtype,
                              const Machine &chip) const;
  Neighbourhood neighbourhood(const Schedule &schedule, const definition::Binding &binding,
                              DType dtype, const Machine &chip,
                              std::span<const Schedule> tried) const;

  /// What becomes of a schedule that is kept for a class: what the rules do not say.
  Schedule keptOf(const Schedule &schedule, const definition::Binding &binding, DType dtype) const;
  /// How patterns file a change of this schedule: by the sizes of its template's kernel.
  CaseSizes sizesFor(const std::string &key, const definition::Binding &binding, DType dtype) const;
  /// Fills in what the schedule's tiles say of a measurement.
  void describe(const Schedule &schedule, const definition::Binding &binding, DType dtype,
                const Machine &chip, Diagnosis &diagnosis) const;

  /// The table's schedule for a case, or the first choice (which is then entered in the table).
  Schedule scheduleFor(const definition::Binding &binding, DType dtype, const Machine &chip,
                       const Patterns *patterns = nullptr);

private:
  ProgramCase programCase(const definition::Binding &binding, DType dtype) const;
  FirstChoice firstChoice(const definition::Binding &binding, DType dtype, const Machine &chip,
                          const Patterns *patterns) const;
};

/// Kernels without schedules. E0607 for what no template makes.
Result<Generation> generateKernels(const definition::Operator &op);
/// The error that this would give, of kernels that are made and thrown away: types that do not
/// share a text are not made a second time, under names of their own.
Status checkGenerates(const definition::Operator &op);
LaunchSite siteOf(const Machine &chip);
/// The same, and fills the table for every accuracy and performance case and dtype of the
/// definition.
Result<Generation> generate(const definition::Operator &op, const Machine &chip,
                            const Patterns *patterns, Start start = Start::Rule);

/// `<op>_triton.py`: kernels and Python wrapper. Depends on the table only in the wrapper's blocks
/// and forms.
std::string writeTriton(const Generation &generation);
/// `<op>_kernel.hpp`, `<op>_baseline.cpp`, `<op>_accuracy.cpp`, `<op>_performance.cpp`,
/// `CMakeLists.txt`.
std::vector<GeneratedFile> writeCompanions(const Generation &generation);
/// `<op>_baseline.py`, `<op>_accuracy.py`, `<op>_performance.py`.
std::vector<GeneratedFile> writePythonCompanions(const Generation &generation);
/// `<op>_triton.py` and the companions in the generation's languages.
std::vector<GeneratedFile> writeFiles(const Generation &generation);

} // namespace nereid::generator
