// SPDX-License-Identifier: Apache-2.0
// Puts the steps of generation together, see Generator.h.
#include "lib/generator/Generator.h"

#include "lib/definition/operations/Operations.h"
#include "lib/generator/Decompose.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/generator/TensorLayout.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/launch/Choices.h"
#include "lib/generator/schedules/Bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nereid::generator {

std::vector<PrimitiveOperation> Generation::primitives() const {
  std::vector<PrimitiveOperation> result;
  if (!program) {
    for (const FusedNode &node : fused.nodes) {
      result.push_back({node.op, node.inputs, node.parameter});
    }
    return result;
  }
  const definition::Operator opened = definition::decomposed(op());
  for (size_t i = 0; i < opened.nodes.size(); ++i) {
    const definition::Node &node = opened.nodes[i];
    result.push_back({node.op, node.inputs, node.op == "input" ? static_cast<int>(i) : -1});
  }
  return result;
}

bool Generation::hasReduction() const {
  if (!program) {
    return fused.hasReduction;
  }
  const std::vector<PrimitiveOperation> all = primitives();
  return std::any_of(all.begin(), all.end(), [](const PrimitiveOperation &one) {
    using Kind = definition::OperationKind;
    const definition::Operation *known = definition::findOperation(one.op);
    return known && known->kind != Kind::Pointwise && known->kind != Kind::View &&
           known->kind != Kind::Creation;
  });
}

const Operand &Generation::widestInput() const {
  const Operand *widest = nullptr;
  for (const Operand &operand : fused.operands) {
    if (operand.isOutput || operand.fixedDtype) {
      continue;
    }
    const bool isWider = program ? !widest || operand.shape.size() > widest->shape.size()
                                 : !widest && operand.extent == Extent::Full;
    widest = isWider ? &operand : widest;
  }
  return widest ? *widest : fused.operands.front();
}

size_t Generation::denseDimensions(const Operand &output,
                                   const definition::Binding &binding) const {
  if (!program) {
    return rowDimensions(fused, output, binding);
  }
  size_t dense = 0;
  for (const auto &[dtype, table] : program->tables) {
    const TableStride *row = table.strideOf(output.name);
    dense = std::max(dense, lastDimensions(output, row ? row->dims : output.shape.size(), binding));
  }
  return dense;
}

CaseClass Generation::classOf(const definition::Binding &binding, DType dtype,
                              const Machine &chip) const {
  if (!program) {
    return classify(fused, binding, dtype, chip);
  }
  CaseClass caseClass{dtype, 1, false,
                      sizeClass(program->tables.at(dtype), launchSymbols(binding))};
  const double bytes = definition::tensorBytes(op(), binding, dtype);
  caseClass.isBeyondCache =
      caseClass.sizesUpTo.empty() && bytes > static_cast<double>(chip.lastCacheBytes());
  return caseClass;
}

ProgramCase Generation::programCase(const definition::Binding &binding, DType dtype) const {
  return {&program->tables.at(dtype), launchSymbols(binding), site, dtype,
          definition::tensorBytes(op(), binding, dtype)};
}

std::vector<Schedule> Generation::space(const definition::Binding &binding, DType dtype,
                                        const Machine &chip) const {
  return program ? scheduleSpace(programCase(binding, dtype), chip)
                 : scheduleSpace(fused, sizesOf(fused, binding, dtype), dtype, chip);
}

std::vector<Neighbour> Generation::neighboursOf(const Schedule &schedule,
                                                const definition::Binding &binding, DType dtype,
                                                const Machine &chip, const Diagnosis &diagnosis,
                                                const Patterns *patterns,
                                                const std::vector<Schedule> &tried) const {
  return program
             ? neighbours(programCase(binding, dtype), schedule, chip, diagnosis, patterns, tried)
             : neighbours(fused, schedule, sizesOf(fused, binding, dtype), dtype, chip, diagnosis,
                          patterns, tried);
}

Schedule Generation::keptOf(const Schedule &schedule, const definition::Binding &binding,
                            DType dtype) const {
  return program ? chosenPart(programCase(binding, dtype), schedule) : schedule;
}

std::string Generation::kindOf(const std::string &key) const {
  return program ? roleOfChange(key) : fused.kind();
}

CaseSizes Generation::sizesFor(const std::string &key, const definition::Binding &binding,
                               DType dtype) const {
  return program ? sizesOf(programCase(binding, dtype), roleOfChange(key))
                 : sizesOf(fused, binding, dtype);
}

void Generation::describe(const Schedule &schedule, const definition::Binding &binding, DType dtype,
                          const Machine &chip, Diagnosis &diagnosis) const {
  diagnosis.processors = chip.cores;
  diagnosis.isOnDevice = chip.isDevice;
  if (!program) {
    const CaseSizes sizes = sizesOf(fused, binding, dtype);
    const int64_t block =
        schedule.variant == KernelVariant::Flat ? schedule.get("BLOCK") : schedule.get("BLOCK_N");
    diagnosis.runBytes = static_cast<double>(std::min(std::max<int64_t>(block, 1), sizes.columns) *
                                             static_cast<int64_t>(sizeInBytes(dtype)));
    LaunchFigures figures;
    figures.programs = diagnosis.programs;
    diagnosis.waveFraction = waveFraction(figures, chip);
  } else {
    const ProgramCase one = programCase(binding, dtype);
    if (auto figures = figuresOf(*one.table, one.symbols, one.site, chosenBy(schedule))) {
      describeTiles(*figures, chip, diagnosis);
    }
  }
  diagnosis.bottleneck = bottleneckOf(diagnosis);
}

FirstChoice Generation::firstChoice(const definition::Binding &binding, DType dtype,
                                    const Machine &chip, const Patterns *patterns) const {
  const char *naive = "as --start naive asks for";
  if (start == Start::Naive) {
    return {program ? naiveSchedule(program->tables.at(dtype)) : naiveSchedule(fused), "naive",
            naive};
  }
  return program ? firstSchedule(programCase(binding, dtype), chip, patterns)
                 : firstSchedule(fused, sizesOf(fused, binding, dtype), dtype, chip, patterns);
}

Schedule Generation::scheduleFor(const definition::Binding &binding, DType dtype,
                                 const Machine &chip, const Patterns *patterns) {
  CaseClass caseClass = classOf(binding, dtype, chip);
  CaseSizes sizes = sizesOf(fused, binding, dtype);
  const ScheduleTable::Entry *entry = table.find(caseClass);
  const bool isUsable = entry && entry->schedule.isOfProgram == program.has_value() &&
                        (program || isValid(entry->schedule, fused, sizes));
  if (isUsable) {
    return entry->schedule;
  }
  const FirstChoice choice = firstChoice(binding, dtype, chip, patterns);
  table.set(caseClass, choice.schedule, choice.origin);
  remarks.push_back(fmt::format("{}: {} by {}, {}", caseClass.text(), choice.schedule.text(),
                                choice.origin, choice.reason));
  return choice.schedule;
}

namespace {

Diagnostic refusedByBoth(Diagnostic byFusion, const Diagnostic &byPrograms) {
  byFusion.note(fmt::format("nor can it be made of index-space programs: {}", byPrograms.message));
  return byFusion;
}

} // namespace

Result<Generation> generateKernels(const definition::Operator &op) {
  if (Status named = checkNames(op); !named) {
    return named.error();
  }
  Generation generation;
  auto fused = fuse(op);
  if (fused) {
    generation.fused = std::move(*fused);
    return generation;
  }
  auto program = makeProgramOperator(op);
  if (!program) {
    return refusedByBoth(fused.error(), program.error());
  }
  static_cast<CalledOperator &>(generation.fused) = calledOperator(op);
  generation.program = std::move(*program);
  return generation;
}

Status checkGenerates(const definition::Operator &op) {
  if (Status named = checkNames(op); !named) {
    return named.error();
  }
  auto fused = fuse(op);
  if (fused) {
    return Done{};
  }
  Status made = checkProgramOperator(op);
  return made ? made : Status(refusedByBoth(fused.error(), made.error()));
}

LaunchSite siteOf(const Machine &chip) { return {chip.cores}; }

Result<Generation> generate(const definition::Operator &op, const Machine &chip,
                            const Patterns *patterns, Start start) {
  auto made = generateKernels(op);
  if (!made) {
    return made.error();
  }
  Generation generation = std::move(*made);
  generation.start = start;
  generation.site = siteOf(chip);
  generation.table.cacheBytes = chip.lastCacheBytes();
  generation.table.widestRowTile = widestRowTile(chip);
  // Performance cases first: their class decides for small cases that share it.
  for (const std::vector<definition::Case> *cases : {&op.performanceCases, &op.accuracyCases}) {
    for (const definition::Case &one : *cases) {
      for (DType dtype : op.dtypes) {
        generation.scheduleFor(one.binding, dtype, chip, patterns);
      }
    }
  }
  return generation;
}

std::vector<GeneratedFile> writeFiles(const Generation &generation) {
  std::vector<GeneratedFile> files = {
      {generation.op().name + "_triton.py", writeTriton(generation)}};
  auto append = [&](std::vector<GeneratedFile> more) {
    std::move(more.begin(), more.end(), std::back_inserter(files));
  };
  if (hasCpp(generation.language)) {
    append(writeCompanions(generation));
  }
  if (hasPython(generation.language) && (!generation.program || stepsOf(generation.op()))) {
    append(writePythonCompanions(generation));
  }
  return files;
}

} // namespace nereid::generator
