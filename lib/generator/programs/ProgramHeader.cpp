// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp` of kernels made of programs, see ProgramText.h.
#include "lib/generator/LauncherText.h"
#include "lib/generator/programs/ProgramText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class ProgramHeader : LauncherText {
public:
  ProgramHeader(const CalledOperator &called, ProgramOperator shown)
      : LauncherText(called), program(std::move(shown)),
        variables(called, names, ExpressionLanguage::Cpp) {}

  std::string run() {
    beginning("");
    launch();
    wrapper();
    text += "} // namespace triton\n";
    return text;
  }

private:
  void launch() {
    launchBeginning("&&");
    if (!variables.rest.empty()) {
      definition::Dim leading;
      leading.symbol = "...";
      line(fmt::format("const int64_t {} = nereid::product({});", variables.rest,
                       names.variable(leading)));
    }
    line(fmt::format("const nereid::DType dtype = {}.dtype();", leadName()));
    path = variables.fresh("file");
    line(fmt::format("const std::string {} = OPERATOR_FOLDER \"/{}_triton.py\";", path,
                     called.op.name));
    for (const Operand &operand : called.operands) {
      memory[operand.name] = operand.name;
      if (!operand.isOutput && !called.writtenTo(operand.name)) {
        input(operand);
      }
    }
    if (usesProcessors(program)) {
      const std::string processors = variables.fresh("processors");
      line(fmt::format("const int64_t {} = this->processorsOf({});", processors, leadName()));
      variables.spelling.rename(processorsName, processors);
    }
    const std::vector<std::vector<DType>> groups = launchGroups(program, called.op);
    for (size_t i = 0; i < groups.size(); ++i) {
      std::vector<std::string> types;
      for (DType type : groups[i]) {
        types.push_back("dtype == " + cppType(type));
      }
      if (groups.size() == 1) {
        launches(program.tables.at(groups[i][0]), "");
      } else {
        const bool isLast = i + 1 == groups.size();
        const std::string head = i == 0 ? "  if (" : "  } else if (";
        text += isLast ? "  } else {\n" : packed(head, types, ") {\n", " ||");
        launches(program.tables.at(groups[i][0]), "  ");
      }
    }
    text += groups.size() == 1 ? "" : "  }\n";
    text += "}\n\n";
  }

  /// In place where all types take its rows with gaps between them.
  void input(const Operand &operand) {
    const std::string written = writtenInputs();
    const std::string &dense = memory[operand.name] = variables.fresh(operand.name + "_dense");
    for (const TableStride &one : common) {
      if (one.buffer == operand.name) {
        line(fmt::format("const nereid::Tensor {} = this->withRows({}, {}{});", dense, operand.name,
                         one.dims, written));
        const std::string variable = variables.fresh(one.name);
        put("",
            fmt::format("const int64_t {} = this->rowStride({}, {}, ", variable, dense, one.dims),
            one.value, ");");
        variables.spelling.rename(one.name, variable);
        return;
      }
    }
    line(fmt::format("const nereid::Tensor {} = contiguous({}{});", dense, operand.name, written));
  }

  /// ", x", of those that nothing else may share memory with.
  std::string writtenInputs() const {
    std::string list;
    for (const Operand &operand : called.operands) {
      list += operand.memory.empty() ? "" : ", " + operand.memory;
    }
    return list.empty() ? "" : ", {" + list.substr(2) + "}";
  }

  void put(const std::string &pad, const std::string &head, const std::string &expression,
           const std::string &tail) {
    text += variables.spelling.line("  " + pad + head, expression, tail);
  }

  void launches(const LaunchTable &table, const std::string &pad) {
    const WrapperVariables shared = variables;
    for (const NamedExpression &one : table.derived) {
      const std::string variable = variables.fresh(one.name);
      put(pad, fmt::format("const int64_t {} = ", variable), one.value, ";");
      variables.spelling.rename(one.name, variable);
    }
    for (const TableStride &one : table.strides) {
      const Operand *operand = operandOf(called, one.buffer);
      const bool isKnown = operand && !operand->isOutput &&
                           std::find(common.begin(), common.end(), one) != common.end();
      if (!isKnown) {
        const std::string variable = variables.fresh(one.name);
        put(pad, fmt::format("const int64_t {} = ", variable), one.value, ";");
        variables.spelling.rename(one.name, variable);
      }
    }
    for (const Workspace &one : table.workspaces) {
      const std::string variable = variables.fresh(one.name);
      memory[one.name] = variable;
      put(pad, fmt::format("const nereid::Tensor {} = this->workspace(", variable), one.elements,
          fmt::format(", {}, {});", cppType(one.dtype), leadName()));
    }
    for (const LaunchEntry &kernel : table.kernels) {
      step(kernel, pad);
    }
    variables = shared;
  }

  /// In braces, for the names of its blocks.
  void step(const LaunchEntry &kernel, const std::string &pad) {
    const WrapperVariables shared = variables;
    const bool isOnly = kernel.constexprs.empty();
    const std::string inner = isOnly ? pad : pad + "  ";
    text += isOnly ? "" : "  " + pad + "{\n";
    for (const LaunchArgument &argument : kernel.arguments) {
      switch (argument.kind) {
      case StageArgument::Kind::Memory: {
        const Operand *operand = operandOf(called, argument.value);
        const bool isOwn = operand && !operand->fixedDtype;
        line(inner + fmt::format("addTensor(\"{}\", {}, {});", argument.name,
                                 isOwn ? "dtype" : cppType(argument.dtype),
                                 memory.at(argument.value)));
        break;
      }
      case StageArgument::Kind::Number:
        line(inner + (isFloat(argument.dtype)
                          ? fmt::format("addNumber(\"{}\", dtype == nereid::DType::F64, {});",
                                        argument.name, argument.value)
                          : fmt::format("addWhole(\"{}\", {});", argument.name, argument.value)));
        break;
      case StageArgument::Kind::Size:
        put(inner, fmt::format("addSize(\"{}\", ", argument.name), argument.value, ");");
        break;
      }
    }
    std::vector<std::string> constants;
    for (const NamedExpression &one : kernel.constexprs) {
      const std::string variable = variables.fresh(lowered(one.name));
      put(inner, fmt::format("const int64_t {} = ", variable), one.value, ";");
      variables.spelling.rename(one.name, variable);
      constants.push_back(fmt::format("{{\"{}\", {}}}", one.name, variable));
    }
    const std::string grid = variables.fresh("programs");
    put(inner, fmt::format("const int64_t {} = ", grid), kernel.grid, ";");
    text += packed(fmt::format("  {}this->addStep({}, \"{}\", {{", inner, path, kernel.function),
                   constants, fmt::format("}}, {});\n", grid));
    text += isOnly ? "" : "  " + pad + "}\n";
    variables = shared;
  }

  const ProgramOperator program;
  const std::vector<TableStride> common = sharedStrides(program);
  WrapperVariables variables;
  std::map<std::string, std::string> memory; ///< variables of buffers
  std::string path;
};

} // namespace

std::string writeProgramHeader(const CalledOperator &called, const ProgramOperator &program,
                               const ScheduleTable &schedules) {
  return ProgramHeader(called, withSchedules(program, schedules)).run();
}

} // namespace nereid::generator
