// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp`: launches the kernels of `<op>_triton.py` from C++. What all operators share is
// include/nereid/operator.hpp, which reads the schedules from the Python file's table.
#include "lib/generator/CompanionWriter.h"
#include "lib/generator/InputChecks.h"
#include "lib/generator/ScheduleRules.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class HeaderWriter {
public:
  explicit HeaderWriter(const Generation &generation)
      : table(generation.table), fused(generation.fused), names(fused) {}

  std::string run() {
    text = cppHead(fused, "launches the kernels of " + fused.op.name + "_triton.py from C++.");
    text += R"(
#pragma once

#include <nereid/operator.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#ifndef OPERATOR_FOLDER
#define OPERATOR_FOLDER "."
#endif

using nereid::joined;
using nereid::Sizes;

namespace triton {

/// One launch made ready: run() as often as wanted while the tensors live.
class Launch : public nereid::OperatorLaunch {
public:
)";
    text += packed("  Launch(", launchParameters(), ");\n");
    text += "  static const nereid::ScheduleTable &table();\n};\n\n";
    kernels();
    launch();
    wrapper();
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

  std::vector<std::string> launchParameters() const {
    std::vector<std::string> list = cppParameters(fused, false);
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        list.push_back("const nereid::Tensor &" + operand.name);
      }
    }
    return list;
  }
  std::string sizeText(const SizeProduct &size) const {
    definition::Dim rest;
    rest.symbol = "...";
    return names.product(size, "nereid::product(" + names.variable(rest) + ")");
  }
  void line(const std::string &content) { text += "  " + content + "\n"; }

  std::string leadName() const {
    const std::string lead = leadInput(fused);
    return lead.empty() ? fused.operands.front().name : lead;
  }

  std::string typeOf(const Operand &operand) const {
    return operand.fixedDtype ? cppType(*operand.fixedDtype) : leadName() + ".dtype()";
  }

  void launch() {
    text += packed("inline Launch::Launch(", launchParameters(), ") {\n");
    text += cppSizes(fused, names, "  ");
    std::vector<std::string> bytes, isEmpty;
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        line(fmt::format("expectShape(\"{}\", {}, {});", operand.name, operand.name,
                         cppShape(operand.shape, names)));
        line(fmt::format("expectType(\"{}\", {}, {{{}}});", operand.name, operand.name,
                         typeOf(operand)));
        isEmpty.push_back(operand.name + ".elementCount() == 0");
      }
      bytes.push_back(operand.name + ".byteCount()");
    }
    text += packed("  if (", isEmpty, ") {\n", " ||");
    line("  return;");
    line("}");
    line("const int64_t rows = " + sizeText(fused.rows) + ";");
    line("const int64_t columns = " + sizeText(fused.columns) + ";");
    line(fmt::format("const nereid::DType dtype = {}.dtype();", leadName()));
    text += packed("  const size_t bytes = ", bytes, ";\n", " +");
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

  void wrapper() {
    text += packed(fmt::format("inline {} {}(", cppResult(fused), fused.op.name),
                   cppParameters(fused, true), ") {\n");
    text += cppSizes(fused, names, "  ");
    std::vector<std::string> call;
    std::string list;
    for (const CallParameter &parameter : callParameters(fused)) {
      call.push_back(parameter.name);
    }
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        text += packed(
            fmt::format("  const nereid::Tensor {} = nereid::Tensor::empty(", operand.name),
            {cppShape(operand.shape, names), typeOf(operand), leadName() + ".device()"}, ");\n");
        list += (list.empty() ? "" : ", ") + operand.name;
        call.push_back(operand.name);
      }
    }
    text += packed("  Launch(", call, ").run();\n");
    line(fused.outputNodes.size() == 1 ? "return " + list + ";" : "return {" + list + "};");
    text += "}\n\n";
  }

  const ScheduleTable &table;
  const FusedOperator &fused;
  SizeNames names;
  std::string text;
};

} // namespace

std::string writeKernelHeader(const Generation &generation) {
  return HeaderWriter(generation).run();
}

} // namespace nereid::generator
