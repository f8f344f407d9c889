// SPDX-License-Identifier: Apache-2.0
// `<op>_triton.py`: every kernel of the operator and the Python wrapper, which PyTorch users with
// upstream's compiler call. Nereid itself reads the kernels only. See ProgramText.h.
#include "lib/generator/EagerText.h"
#include "lib/generator/Generator.h"
#include "lib/generator/PythonWrapper.h"
#include "lib/generator/programs/ProgramText.h"
#include "lib/generator/python/ResultText.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class ProgramTriton : PythonWrapper {
public:
  explicit ProgramTriton(const Generation &generation)
      : PythonWrapper(generation.called()), schedules(generation.table),
        program(withTuning(generation.program)),
        variables(called, names, ExpressionLanguage::Python) {}

  std::string run() {
    head({hasRest() || hasEager(), hasEager(), program.usesLibdevice},
         "The table of schedules is rewritten by `nereid optimize`.");
    tables();
    for (const std::string &kernel : program.kernels) {
      text += kernel + "\n\n";
    }
    text += checkFunctions() + resultFunctions(called, true) + apartFunction();
    text += hasEager() ? eagerFunction(called) : "";
    rowFunction();
    wrapper();
    return text;
  }

private:
  bool hasEager() const { return schedules.hasForm(Form::Eager); }
  /// "(torch.float32, 1024, 64)".
  static std::string classText(const CaseClass &caseClass) {
    std::string text = "(" + torchType(caseClass.dtype);
    for (const auto &[name, size] : caseClass.sizesUpTo) {
      text += fmt::format(", {}", size);
    }
    return text + (caseClass.sizesUpTo.empty() ? ",)" : ")");
  }

  void tables() {
    std::string sizes;
    for (const std::string &name : classSizes(program)) {
      sizes += (sizes.empty() ? ", up to these powers of two: " : ", ") + name;
    }
    text += fmt::format("# (type{}): what was found better than the rules.\nSCHEDULES = {{", sizes);
    bool isEmpty = true;
    for (const ScheduleTable::Entry &entry : schedules.entries) {
      if (entry.schedule.constants.empty()) {
        continue;
      }
      text += isEmpty ? "\n" : "";
      text += fmt::format("    {}: {{  # by {}\n", classText(entry.caseClass), entry.origin);
      for (const auto &[name, value] : entry.schedule.constants) {
        text += fmt::format("        \"{}\": {},\n", name, value);
      }
      text += "    },\n";
      isEmpty = false;
    }
    text += "}\n\n";
    forms();
    text += "\n";
  }

  /// Where a mode has chosen.
  void forms() {
    if (!hasEager() && !schedules.hasForm(Form::Graph) && !schedules.hasForm(Form::Launches)) {
      return;
    }
    text +=
        "# What --mode chose by time for the same keys: the kernels, by launches for each call or\n"
        "# recorded and replayed (which needs tensors that stay: the C++ launcher's), or "
        "PyTorch's\n"
        "# own operations.\n"
        "FORMS = {\n";
    for (const ScheduleTable::Entry &entry : schedules.entries) {
      if (entry.form != Form::Unasked) {
        text += fmt::format("    {}: \"{}\",\n", classText(entry.caseClass), formName(entry.form));
      }
    }
    text += "}\n\n";
  }

  /// What was found for the sizes of the call.
  void lookUp() {
    const std::string sizes = variables.fresh("sizes"), tuned = variables.fresh("tuned");
    std::vector<std::string> key = {leadDtype(called)};
    for (const std::string &name : classSizes(program)) {
      key.push_back(variables.spelling.text(fmt::format("next_power_of_2({})", name)));
    }
    const std::string inOne =
        fmt::format("{} = ({}{})", sizes, fmt::join(key, ", "), key.size() == 1 ? "," : "");
    line(inOne.size() + 4 <= 100
             ? inOne
             : fmt::format("{} = (\n        {},\n    )", sizes, fmt::join(key, ",\n        ")));
    if (hasEager()) {
      line(fmt::format("if FORMS.get({}) == \"eager\":", sizes));
      const std::vector<std::string> &results = called.op.outputNames;
      line(fmt::format("    {} = _eager({})", fmt::join(results, ", "), argumentNames(called)));
      line("    return " + returnedResults(called, results));
    }
    line(fmt::format("{} = SCHEDULES.get({}, {{}})", tuned, sizes));
    variables.spelling.rename(std::string(choicePrefix), tuned);
  }

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
    lookUp();
    inputs();
    for (const auto &[name, value] : LaunchSite{nominalProcessors, true}.values()) {
      variables.spelling.rename(name, std::to_string(value));
    }
    variables.spelling.rename(elementBytesName, leadDtype(called) + ".itemsize");
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
      if (isOfSizes(one.name)) {
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
        line(pad + "    " + argument.value + ",");
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
      }
      if (isOfSizes(one.name)) {
        put(pad, "    " + one.name + "=", one.value, ",");
      }
    }
    line(pad + ")");
    variables = shared;
  }

  const ScheduleTable &schedules;
  const ProgramOperator program;
  const std::vector<TableStride> common = sharedStrides(program);
  WrapperVariables variables;
};

} // namespace

std::string writeTriton(const Generation &generation) { return ProgramTriton(generation).run(); }

} // namespace nereid::generator
