// SPDX-License-Identifier: Apache-2.0
// Puts the steps of generation together, see Generator.h.
#include "lib/generator/Generator.h"

#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Operations.h"
#include "lib/generator/CompanionWriter.h"
#include "lib/generator/EagerText.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/launch/Choices.h"
#include "lib/generator/python/Steps.h"
#include "lib/generator/schedules/Bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nereid::generator {

namespace {

/// Composites are opened by definition::decomposed, formulas of operations.def here.
class Primitives {
public:
  explicit Primitives(const definition::Operator &op) {
    const bool areFloats = op.dtypes.empty() || isFloat(op.dtypes.front());
    computed = areFloats ? DType::F32 : DType::I32;
    add(definition::decomposed(op), {});
  }

  std::vector<PrimitiveOperation> take() { return std::move(list); }

private:
  /// The last node's number. `operands`: what the graph's parameters are; none for the operator's.
  int add(const definition::Operator &op, const std::vector<int> &operands) {
    std::vector<int> numbers;
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      const definition::Node &node = op.nodes[i];
      if (node.op == "input" && !operands.empty()) {
        numbers.push_back(operands[i]);
        continue;
      }
      std::vector<int> inputs;
      for (int input : node.inputs) {
        inputs.push_back(numbers[static_cast<size_t>(input)]);
      }
      const definition::Operator *formula = definition::loweringOf(node, computed);
      numbers.push_back(formula ? add(*formula, inputs) : push(node, std::move(inputs), i));
    }
    return numbers.empty() || op.outputs.empty() ? -1 : numbers[static_cast<size_t>(op.outputs[0])];
  }

  int push(const definition::Node &node, std::vector<int> inputs, size_t number) {
    list.push_back(
        {node.op, std::move(inputs), node.op == "input" ? static_cast<int>(number) : -1});
    return static_cast<int>(list.size()) - 1;
  }

  DType computed;
  std::vector<PrimitiveOperation> list;
};

} // namespace

std::vector<PrimitiveOperation> Generation::primitives() const { return Primitives(op()).take(); }

bool Generation::hasReduction() const {
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
  for (const Operand &operand : interface.operands) {
    const bool isOwn = !operand.isOutput && !operand.fixedDtype;
    widest = isOwn && (!widest || operand.shape.size() > widest->shape.size()) ? &operand : widest;
  }
  return widest ? *widest : interface.operands.front();
}

size_t Generation::denseDimensions(const Operand &output,
                                   const definition::Binding &binding) const {
  size_t dense = 0;
  for (const auto &[dtype, table] : program.tables) {
    const TableStride *row = table.strideOf(output.name);
    dense = std::max(dense, lastDimensions(output, row ? row->dims : output.shape.size(), binding));
  }
  return dense;
}

CaseClass Generation::classOf(const definition::Binding &binding, DType dtype) const {
  return {dtype, sizeClass(program.tables.at(dtype), launchSymbols(binding))};
}

ProgramCase Generation::programCase(const definition::Binding &binding, DType dtype) const {
  return {&program.tables.at(dtype), launchSymbols(binding), site, dtype,
          definition::tensorBytes(op(), binding, dtype)};
}

std::vector<Schedule> Generation::space(const definition::Binding &binding, DType dtype,
                                        const Machine &chip) const {
  return scheduleSpace(programCase(binding, dtype), chip);
}

Neighbourhood Generation::neighbourhood(const Schedule &schedule,
                                        const definition::Binding &binding, DType dtype,
                                        const Machine &chip,
                                        std::span<const Schedule> tried) const {
  return {programCase(binding, dtype), schedule, chip, tried};
}

Schedule Generation::keptOf(const Schedule &schedule, const definition::Binding &binding,
                            DType dtype) const {
  return chosenPart(programCase(binding, dtype), schedule);
}

CaseSizes Generation::sizesFor(const std::string &key, const definition::Binding &binding,
                               DType dtype) const {
  return sizesOf(programCase(binding, dtype), roleOfChange(key));
}

void Generation::describe(const Schedule &schedule, const definition::Binding &binding, DType dtype,
                          const Machine &chip, Diagnosis &diagnosis) const {
  diagnosis.processors = chip.cores;
  diagnosis.isOnDevice = chip.isDevice;
  const ProgramCase one = programCase(binding, dtype);
  if (auto figures = figuresOf(*one.table, one.symbols, one.site, chosenBy(schedule))) {
    describeTiles(*figures, chip, diagnosis);
  }
  diagnosis.bottleneck = bottleneckOf(diagnosis);
}

FirstChoice Generation::firstChoice(const definition::Binding &binding, DType dtype,
                                    const Machine &chip, const Patterns *patterns) const {
  return start == Start::Naive ? FirstChoice{naiveSchedule(program.tables.at(dtype)), "naive",
                                             "as --start naive asks for"}
                               : firstSchedule(programCase(binding, dtype), chip, patterns);
}

Schedule Generation::scheduleFor(const definition::Binding &binding, DType dtype,
                                 const Machine &chip, const Patterns *patterns) {
  const CaseClass caseClass = classOf(binding, dtype);
  if (const ScheduleTable::Entry *entry = table.find(caseClass)) {
    return entry->schedule;
  }
  const FirstChoice choice = firstChoice(binding, dtype, chip, patterns);
  const bool hasReason = choice.origin == "pattern"; // the others say all of it
  table.set(caseClass, choice.schedule,
            hasReason ? fmt::format("{}: {}", choice.origin, choice.reason) : choice.origin);
  remarks.push_back(fmt::format("{}: {} by {}, {}", caseClass.text(), choice.schedule.text(),
                                choice.origin, choice.reason));
  return choice.schedule;
}

namespace {

Diagnostic inDefinition(Diagnostic error, const definition::Operator &op) {
  error.file = error.file.empty() ? op.path : error.file;
  return error;
}

} // namespace

Result<Generation> generateKernels(const definition::Operator &op) {
  if (Status named = checkNames(op); !named) {
    return named.error();
  }
  auto program = makeProgramOperator(op);
  if (!program) {
    return inDefinition(program.error(), op);
  }
  Generation generation;
  generation.interface = calledOperator(op);
  generation.program = std::move(*program);
  return generation;
}

Status checkGenerates(const definition::Operator &op) {
  if (Status named = checkNames(op); !named) {
    return named.error();
  }
  Status made = checkProgramOperator(op);
  return made ? made : Status(inDefinition(made.error(), op));
}

LaunchSite siteOf(const Machine &chip) { return {chip.cores, chip.isDevice}; }

Result<Generation> generate(const definition::Operator &op, const Machine &chip,
                            const Patterns *patterns, Start start) {
  auto made = generateKernels(op);
  if (!made) {
    return made.error();
  }
  Generation generation = std::move(*made);
  generation.start = start;
  generation.site = siteOf(chip);
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
  if (hasPython(generation.language) && stepsOf(generation.op())) {
    append(writePythonCompanions(generation));
  }
  const std::vector<std::string> symbols = definition::symbolsOf(generation.op());
  if (std::find(symbols.begin(), symbols.end(), "F") != symbols.end()) {
    for (GeneratedFile &file : files) {
      if (file.name.ends_with(".py")) {
        file.content = withWholeModules(std::move(file.content));
      }
    }
  }
  return files;
}

} // namespace nereid::generator
