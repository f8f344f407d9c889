// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp`: launches the kernels of `<op>_triton.py` from C++. What all operators share is
// include/nereid/operator.hpp, which reads the schedules from the Python file's table.
#include "lib/generator/LauncherText.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/generator/cpp/EagerCalls.h"
#include "lib/generator/programs/ProgramText.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class HeaderWriter : LauncherText {
public:
  explicit HeaderWriter(const Generation &generation)
      : LauncherText(generation.fused), table(generation.table), fused(generation.fused) {}

  std::string run() {
    beginning("  static const nereid::ScheduleTable &table();\n");
    kernels();
    launch();
    table.hasForm(Form::Eager) ? eager() : wrapper();
    text += "} // namespace triton\n";
    return text;
  }

private:
  std::string kernel(KernelVariant variant) const {
    return "\"" + kernelName(fused, variant) + "\"";
  }
  /// Which kernels there are.
  void kernels() {
    std::string fields;
    for (KernelVariant variant : variantsOf(fused)) {
      fields += fmt::format("    all.{} = {};\n", fieldOf(variant), kernel(variant));
    }
    if (!fused.isFlat && variantsOf(fused).front() == KernelVariant::Rows) {
      fields += fmt::format("    all.widestRow = {};\n", table.widestRowTile);
    }
    text += fmt::format(R"(inline const nereid::ScheduleTable &Launch::table() {{
  static const nereid::ScheduleTable loaded = [] {{
    nereid::OperatorKernels all;
{}    return nereid::ScheduleTable(OPERATOR_FOLDER "/{}_triton.py", all);
  }}();
  return loaded;
}}

)",
                        fields, fused.op.name);
  }
  static const char *fieldOf(KernelVariant variant) {
    switch (variant) {
    case KernelVariant::Flat:
      return "flat";
    case KernelVariant::Tiles:
      return "tiles";
    case KernelVariant::Rows:
      return "rows";
    case KernelVariant::LoopedRows:
      break;
    }
    return "loopedRows";
  }

  std::string sizeText(const SizeProduct &size) const {
    definition::Dim rest;
    rest.symbol = "...";
    return names.product(size, "nereid::product(" + names.variable(rest) + ")");
  }
  void launch() {
    launchBeginning("||");
    line("const int64_t rows = " + sizeText(fused.rows) + ";");
    line("const int64_t columns = " + sizeText(fused.columns) + ";");
    line(fmt::format("const nereid::DType dtype = {}.dtype();", leadName()));
    bytes("  ");
    line("const nereid::Schedule schedule = Launch::table().find(dtype, rows, columns, bytes);");
    line("// 64-bit offsets where an offset, those of masked lanes included, may exceed 32 bits.");
    line("const bool isWide = (rows + 4096) * columns + (1 << 20) > INT32_MAX;");
    if (fused.isFlat) {
      line(fmt::format("if (schedule.kernel == {}) {{", kernel(KernelVariant::Flat)));
      arguments(KernelVariant::Flat, "  ");
      line("} else {");
      arguments(KernelVariant::Tiles, "  ");
      line("}");
    } else {
      arguments(variantsOf(fused).front(), "");
    }
    line("this->prepare(Launch::table(), schedule, isWide);");
    text += "}\n\n";
  }

  void bytes(const std::string &pad) {
    std::vector<std::string> list;
    for (const Operand &operand : fused.operands) {
      list.push_back(operand.name + ".byteCount()");
    }
    text += packed(pad + "const size_t bytes = ", list, ";\n", " +");
  }

  /// Tensors of devices have no eager form here: their kernels are launched.
  void eager() {
    const std::string name = fused.op.name + "_eager";
    text += "/// The body, operation by operation, on the host.\n";
    text += packed(fmt::format("inline {} {}(", cppResult(called), name),
                   cppParameters(called, false), ") {\n");
    text += cppSizes(called, names, "  ") + eagerCalls(called, names) + "}\n\n";
    std::vector<std::string> given;
    for (const CallParameter &parameter : callParameters(called)) {
      given.push_back(parameter.name);
    }
    std::string rest;
    std::swap(rest, text);
    bytes("  ");
    const std::string lead = leadName();
    text += packed("  if (",
                   {lead + ".isOnHost()",
                    fmt::format("Launch::table().form({}.dtype(), {}, bytes) == \"eager\"", lead,
                                sizeText(fused.columns))},
                   ") {\n", " &&");
    text += packed(fmt::format("    return {}(", name), given, ");\n");
    line("}");
    std::swap(rest, text);
    wrapper(rest);
  }

  void arguments(KernelVariant variant, const std::string &pad) {
    for (const KernelParameter &parameter : kernelParameters(fused, variant)) {
      const std::string &name = parameter.name;
      switch (parameter.kind) {
      case KernelParameter::Kind::Pointer: {
        const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
        line(pad +
             fmt::format("addTensor(\"{}\", {}, {});", name,
                         operand.fixedDtype ? cppType(*operand.fixedDtype) : "dtype",
                         operand.isOutput ? operand.name : "contiguous(" + operand.name + ")"));
        break;
      }
      case KernelParameter::Kind::Scalar: {
        const auto &number = fused.op.parameters[static_cast<size_t>(parameter.scalar)];
        line(pad + (isPassedWhole(fused, number)
                        ? fmt::format("addWhole(\"{}\", {});", name, number.name)
                        : fmt::format("addNumber(\"{}\", dtype == nereid::DType::F64, {});", name,
                                      number.name)));
        break;
      }
      case KernelParameter::Kind::Size:
        line(pad + fmt::format("addSize(\"{}\", {});", name,
                               name == "rows" || name == "columns" ? name
                               : name == "elements"                ? "rows * columns"
                                                                   : sizeText(parameter.size)));
        break;
      case KernelParameter::Kind::Constexpr:
        break;
      default:
        line(pad + fmt::format("addSize(\"{}\", {});", name, strideText(parameter)));
        break;
      }
    }
    switch (variant) {
    case KernelVariant::Flat:
      line(pad + "grid = nereid::Grid(nereid::cdiv(rows * columns, schedule.get(\"BLOCK\")));");
      break;
    case KernelVariant::Tiles:
      line(pad + "const int64_t rowBlocks = nereid::cdiv(rows, schedule.get(\"BLOCK_M\"));");
      line(pad + "const int64_t columnBlocks = nereid::cdiv(columns, schedule.get(\"BLOCK_N\"));");
      line(pad + "grid = schedule.get(\"GRID_2D\") ? nereid::Grid(rowBlocks, columnBlocks)");
      line(pad + "                               : nereid::Grid(rowBlocks * columnBlocks);");
      break;
    case KernelVariant::Rows:
    case KernelVariant::LoopedRows:
      line(pad + "grid = nereid::Grid(nereid::cdiv(rows, schedule.get(\"ROWS\")));");
      break;
    }
  }

  std::string strideText(const KernelParameter &parameter) const {
    const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
    bool isRow = parameter.kind == KernelParameter::Kind::RowStride;
    bool isGroup = parameter.kind == KernelParameter::Kind::GroupStride;
    return sizeText(
        isRow ? widthOf(fused, operand)
              : contiguousStride(fused, operand, isGroup, static_cast<size_t>(parameter.group)));
  }

  const ScheduleTable &table;
  const FusedOperator &fused;
};

} // namespace

std::string writeKernelHeader(const Generation &generation) {
  return generation.program
             ? writeProgramHeader(generation.called(), *generation.program, generation.table)
             : HeaderWriter(generation).run();
}

} // namespace nereid::generator
