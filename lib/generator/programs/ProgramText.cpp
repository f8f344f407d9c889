// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/programs/ProgramText.h"

#include "lib/generator/lower/Lower.h"

#include <algorithm>
#include <cctype>

namespace nereid::generator {

WrapperVariables::WrapperVariables(const CalledOperator &called, const SizeNames &sizes,
                                   ExpressionLanguage language)
    : spelling(language, {}) {
  for (const definition::Parameter &parameter : called.op.parameters) {
    names.fresh(parameter.name);
  }
  for (const Operand &operand : called.operands) {
    names.fresh(operand.name);
  }
  for (const SizeNames::Step &step : sizes.steps) {
    names.fresh(step.variable);
  }
  for (const char *word : {"math", "torch", "dtype", "grid", "contiguous", "workspace", "addTensor",
                           "addSize", "addNumber", "addWhole", "addStep", "nereid", "device",
                           "processorsOf", "withRows", "rowStride", "takeForm"}) {
    names.fresh(word);
  }
  names.fresh(called.op.name);
  bool hasRest = false;
  const std::vector<std::string> symbols = definition::symbolsOf(called.op);
  for (const std::string &symbol : symbols) {
    definition::Dim dim;
    dim.symbol = symbol;
    hasRest = hasRest || symbol == "...";
    if (symbol != "...") {
      spelling.rename(symbol, sizes.variable(dim));
    }
  }
  if (hasRest) {
    rest = names.fresh("rest");
    spelling.rename(leadingSymbol([&](const std::string &name) {
                      return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
                    }),
                    rest);
  }
}

std::vector<TableStride> sharedStrides(const ProgramOperator &program) {
  std::vector<TableStride> shared = program.tables.begin()->second.strides;
  std::erase_if(shared, [&](const TableStride &one) {
    return std::any_of(program.tables.begin(), program.tables.end(), [&](const auto &table) {
      const TableStride *same = table.second.strideOf(one.buffer);
      return !same || *same != one;
    });
  });
  return shared;
}

bool usesName(const ProgramOperator &program, const std::string &name) {
  auto names = [&](const std::string &text) { return text.find(name) != std::string::npos; };
  auto hasIt = [&](const NamedExpression &one) { return names(one.value); };
  for (const auto &[dtype, table] : program.tables) {
    if (std::any_of(table.derived.begin(), table.derived.end(), hasIt)) {
      return true;
    }
    for (const LaunchEntry &kernel : table.kernels) {
      if (names(kernel.grid) ||
          std::any_of(kernel.constexprs.begin(), kernel.constexprs.end(), hasIt)) {
        return true;
      }
    }
  }
  return false;
}

ProgramOperator withTuning(ProgramOperator program) {
  for (auto &[dtype, table] : program.tables) {
    table = withTuning(std::move(table));
  }
  return program;
}

std::vector<std::string> classSizes(const ProgramOperator &program) {
  std::vector<std::string> names = program.tables.begin()->second.symbols;
  std::sort(names.begin(), names.end());
  return names;
}

const Operand *operandOf(const CalledOperator &called, const std::string &buffer) {
  return called.find(buffer);
}

std::string lowered(std::string name) {
  for (char &c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

} // namespace nereid::generator
