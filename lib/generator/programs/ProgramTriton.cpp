// SPDX-License-Identifier: Apache-2.0
// `<op>_triton.py` of kernels made of programs, see ProgramText.h.
#include "lib/generator/PythonWrapper.h"
#include "lib/generator/programs/ProgramText.h"
#include "lib/generator/python/ResultText.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class ProgramTriton : PythonWrapper {
public:
  ProgramTriton(const CalledOperator &called, ProgramOperator shown)
      : PythonWrapper(called), program(std::move(shown)),
        variables(called, names, ExpressionLanguage::Python) {}

  std::string run() {
    head({hasRest(), program.usesLibdevice},
         "Blocks and forms by rule, \"tuned\" where rounds found better.");
    for (const std::string &kernel : program.kernels) {
      text += kernel + "\n\n";
    }
    text += checkFunctions() + resultFunctions(called, true) + apartFunction();
    rowFunction();
    wrapper();
    return text;
  }

private:
  /// Views of two dimensions are used in place.
  const TableStride *rowView(const Operand &operand) const {
    const bool mayBeOne =
        operand.shape.size() == 2 || (!operand.shape.empty() && operand.shape.front().isRest());
    auto found = std::find_if(common.begin(), common.end(), [&](const TableStride &one) {
      return one.buffer == operand.name && one.dims == 1 && mayBeOne && !operand.isOutput;
    });
    return found == common.end() ? nullptr : &*found;
  }
  void rowFunction() {
    if (std::any_of(called.operands.begin(), called.operands.end(),
                    [&](const Operand &operand) { return rowView(operand); })) {
      text += R"(def _as_rows(tensor, width):
    """The tensor and the distance between its rows; copied unless its rows are whole."""
    if tensor.dim() == 2 and tensor.stride(1) == 1:
        return tensor, tensor.stride(0)
    return tensor.contiguous(), width


)";
    }
  }

  void wrapper() {
    beginning();
    outputs();
    if (!variables.rest.empty()) {
      line(fmt::format("{} = math.prod({})", variables.rest, restName()));
    }
    inputs();
    variables.spelling.rename(processorsName, std::to_string(nominalProcessors));
    const std::vector<std::vector<DType>> groups = launchGroups(program, called.op);
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups.size() == 1) {
        launches(program.tables.at(groups[i][0]), "");
        continue;
      }
      const bool isLast = i + 1 == groups.size();
      line(isLast ? "else:"
                  : fmt::format("{} {}.dtype in {}:", i == 0 ? "if" : "elif", lead,
                                typeTuple(groups[i])));
      launches(program.tables.at(groups[i][0]), "    ");
    }
    results();
  }

  void inputs() {
    keepWritten(variables);
    for (const Operand &operand : called.operands) {
      if (const TableStride *row = rowView(operand)) {
        const std::string variable = variables.fresh(row->name);
        put("", fmt::format("{}, {} = _as_rows({}, ", operand.name, variable, apartInput(operand)),
            row->value, ")");
        variables.spelling.rename(row->name, variable);
      } else if (!operand.isOutput) {
        line(fmt::format("{} = {}.contiguous()", operand.name, apartInput(operand)));
      }
    }
  }

  static std::string typeTuple(const std::vector<DType> &types) {
    std::string list;
    for (DType type : types) {
      list += (list.empty() ? "" : ", ") + torchType(type);
    }
    return "(" + list + (types.size() == 1 ? ",)" : ")");
  }

  void put(const std::string &pad, const std::string &head, const std::string &expression,
           const std::string &tail = "") {
    text += variables.spelling.line("    " + pad + head, expression, tail);
  }

  /// Types may have names of their own; each branch begins with those that all of them know.
  void launches(const LaunchTable &table, const std::string &pad) {
    const WrapperVariables shared = variables;
    for (const NamedExpression &one : table.derived) {
      const std::string variable = variables.fresh(one.name);
      put(pad, variable + " = ", one.value);
      variables.spelling.rename(one.name, variable);
    }
    for (const TableStride &one : table.strides) {
      const Operand *operand = operandOf(called, one.buffer);
      if (!operand || !rowView(*operand)) {
        const std::string variable = variables.fresh(one.name);
        put(pad, variable + " = ", one.value);
        variables.spelling.rename(one.name, variable);
      }
    }
    std::map<std::string, std::string> workspaces;
    for (const Workspace &one : table.workspaces) {
      const std::string &variable = workspaces[one.name] = variables.fresh(one.name);
      put(pad, variable + " = torch.empty(", one.elements,
          fmt::format(", dtype={}, device={})", torchType(one.dtype), leadDevice(called)));
    }
    for (const LaunchEntry &kernel : table.kernels) {
      launch(kernel, workspaces, pad, table.kernels.size() > 1);
    }
    variables = shared;
  }

  /// One of several may have nothing to do: its results are empty, or another form takes the sizes.
  void launch(const LaunchEntry &kernel, const std::map<std::string, std::string> &workspaces,
              std::string pad, bool mayBeEmpty) {
    const WrapperVariables shared = variables;
    std::vector<std::string> constants; // keyword arguments
    for (const NamedExpression &one : kernel.constexprs) {
      if (one.name == "WIDE") {
        continue;
      }
      const std::string variable = variables.fresh(lowered(one.name));
      put(pad, variable + " = ", one.value);
      variables.spelling.rename(one.name, variable);
      constants.push_back(one.name + "=" + variable);
    }
    const std::string grid = variables.fresh("programs");
    put(pad, grid + " = ", kernel.grid);
    if (mayBeEmpty) {
      line(pad + fmt::format("if {} > 0:", grid));
      pad += "    ";
    }
    line(pad + fmt::format("{}[({},)](", kernel.function, grid));
    for (const LaunchArgument &argument : kernel.arguments) {
      switch (argument.kind) {
      case StageArgument::Kind::Memory: {
        auto workspace = workspaces.find(argument.value);
        line(pad + "    " + (workspace == workspaces.end() ? argument.value : workspace->second) +
             ",");
        break;
      }
      case StageArgument::Kind::Number:
        line(pad + "    " +
             (isFloat(argument.dtype) ? argument.value : "int(" + argument.value + ")") + ",");
        break;
      case StageArgument::Kind::Size:
        put(pad, "    ", argument.value, ",");
        break;
      }
    }
    for (const std::string &constant : constants) {
      line(pad + "    " + constant + ",");
    }
    for (const NamedExpression &one : kernel.constexprs) {
      if (one.name == "WIDE") {
        line(pad + "    # 64-bit offsets where one, those of masked lanes included, needs them.");
        put(pad, "    WIDE=", one.value, ",");
      }
    }
    line(pad + ")");
    variables = shared;
  }

  const ProgramOperator program;
  const std::vector<TableStride> common = sharedStrides(program);
  WrapperVariables variables;
};

} // namespace

std::string writeProgramTriton(const CalledOperator &called, const ProgramOperator &program,
                               const ScheduleTable &schedules) {
  return ProgramTriton(called, withSchedules(program, schedules)).run();
}

} // namespace nereid::generator
