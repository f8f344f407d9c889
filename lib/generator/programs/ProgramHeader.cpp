// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp`: launches the kernels of `<op>_triton.py` from C++. What all operators share is
// include/nereid/operator.hpp. See ProgramText.h.
#include "lib/generator/LauncherText.h"
#include "lib/generator/cpp/EagerCalls.h"
#include "lib/generator/programs/ProgramText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class ProgramHeader : LauncherText {
public:
  explicit ProgramHeader(const Generation &generation)
      : LauncherText(generation.called()), schedules(generation.table),
        program(withTuning(generation.program)), variables(called, names, ExpressionLanguage::Cpp) {
  }

  std::string run() {
    beginning("  static const nereid::TuningTable &table();\n");
    table();
    launch();
    schedules.hasForm(Form::Eager) ? eager() : wrapper();
    text += "} // namespace triton\n";
    return text;
  }

private:
  /// What was found for sizes, read from the Python file so that a change of it touches that alone.
  void table() {
    text += fmt::format(R"(inline const nereid::TuningTable &Launch::table() {{
  static const nereid::TuningTable loaded(OPERATOR_FOLDER "/{}_triton.py");
  return loaded;
}}

)",
                        called.op.name);
  }

  void launch() {
    launchBeginning();
    rest();
    line(fmt::format("const nereid::DType dtype = {}.dtype();", leadName()));
    const std::string tuned = variables.fresh("tuned");
    text += packed(fmt::format("  const nereid::Tuning {} = Launch::table().find(dtype, {{", tuned),
                   keySizes(), "});\n");
    variables.spelling.rename(std::string(choicePrefix), tuned);
    for (const Operand &operand : called.operands) {
      memory[operand.name] = operand.name;
      if (!operand.isOutput && !called.writtenTo(operand.name)) {
        input(operand);
      }
    }
    const auto onHost = LaunchSite{}.values(), onDevice = LaunchSite{.isDevice = true}.values();
    for (const auto &[name, value] : onHost) {
      if (usesName(program, name)) {
        const std::string variable = variables.fresh(lowered(name));
        const std::string found =
            name == processorsName
                ? fmt::format("this->processorsOf({})", leadName())
                : fmt::format("{}.isOnHost() ? {} : {}", leadName(), value, onDevice.at(name));
        line(fmt::format("const int64_t {} = {};", variable, found));
        variables.spelling.rename(name, variable);
      }
    }
    if (usesName(program, elementBytesName)) {
      const std::string variable = variables.fresh(lowered(elementBytesName));
      line(fmt::format("const auto {} = static_cast<int64_t>(nereid::sizeInBytes(dtype));",
                       variable));
      variables.spelling.rename(elementBytesName, variable);
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
    line(fmt::format("this->takeForm({}.form());", tuned));
    text += "}\n\n";
  }

  std::vector<std::string> keySizes() const {
    std::vector<std::string> sizes;
    for (const std::string &name : classSizes(program)) {
      sizes.push_back(variables.spelling.text(name));
    }
    return sizes;
  }

  /// Product of the leading sizes.
  void rest() {
    if (!variables.rest.empty()) {
      definition::Dim leading;
      leading.symbol = "...";
      line(fmt::format("const int64_t {} = nereid::product({});", variables.rest,
                       names.variable(leading)));
    }
  }

  /// Tensors of devices have no eager form here: their kernels are launched.
  void eager() {
    const std::string name = called.op.name + "_eager";
    text += "/// The body, operation by operation, on the host.\n";
    text += packed(fmt::format("inline {} {}(", cppResult(called), name),
                   cppParameters(called, false), ") {\n");
    text += cppSizes(called, names, "  ") + eagerCalls(called, names) + "}\n\n";
    std::vector<std::string> given;
    for (const CallParameter &parameter : callParameters(called)) {
      given.push_back(parameter.name);
    }
    std::string shortcut;
    std::swap(shortcut, text);
    rest();
    const std::string lead = leadName(), found = variables.fresh("found");
    text += packed(
        fmt::format("  const nereid::Tuning {} = Launch::table().find({}.dtype(), {{", found, lead),
        keySizes(), "});\n");
    line(fmt::format("if ({}.isOnHost() && {}.form() == \"eager\") {{", lead, found));
    text += packed(fmt::format("    return {}(", name), given, ");\n");
    line("}");
    std::swap(shortcut, text);
    wrapper(shortcut);
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
      if (!isOfSizes(one.name)) {
        variables.spelling.rename(one.name, variable);
      }
      constants.push_back(fmt::format("{{\"{}\", {}}}", one.name, variable));
    }
    const std::string grid = variables.fresh("programs");
    put(inner, fmt::format("const int64_t {} = ", grid), kernel.grid, ";");
    text += packed(
        fmt::format("  {}this->addStep(Launch::table().path(), \"{}\", {{", inner, kernel.function),
        constants, fmt::format("}}, {});\n", grid));
    text += isOnly ? "" : "  " + pad + "}\n";
    variables = shared;
  }

  const ScheduleTable &schedules;
  const ProgramOperator program;
  const std::vector<TableStride> common = sharedStrides(program);
  WrapperVariables variables;
  std::map<std::string, std::string> memory; ///< variables of buffers
};

} // namespace

std::string writeKernelHeader(const Generation &generation) {
  return ProgramHeader(generation).run();
}

} // namespace nereid::generator
