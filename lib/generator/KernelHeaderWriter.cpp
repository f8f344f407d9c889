// SPDX-License-Identifier: Apache-2.0
// `<op>_kernel.hpp`: launches the kernels of `<op>_triton.py` from C++. Schedules are read from the
// Python file's table, so that a change of block sizes touches that file alone.
#include "lib/generator/CompanionWriter.h"
#include "lib/generator/InputChecks.h"
#include "lib/generator/ScheduleRules.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

constexpr const char *commonPart = R"cpp(
#pragma once

#include <nereid/nereid.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifndef OPERATOR_FOLDER
#define OPERATOR_FOLDER "."
#endif

using nereid::joined;
using nereid::Sizes;

inline int64_t product(const Sizes &sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    result *= size;
  }
  return result;
}

namespace triton {

/// A kernel and its block sizes, as text for a signature.
struct Schedule {
  std::string kernel, constants;

  int64_t get(const std::string &name) const {
    std::smatch found;
    if (!std::regex_search(constants, found, std::regex("\\b" + name + "=(\\w+)"))) {
      return 1;
    }
    return found[1] == "True" ? 1 : found[1] == "False" ? 0 : std::stoll(found[1]);
  }
};

/// The table of @OP@_triton.py.
class ScheduleTable {
public:
  static const ScheduleTable &instance() {
    static const ScheduleTable table;
    return table;
  }
  static std::string sourcePath() { return OPERATOR_FOLDER "/@OP@_triton.py"; }

  Schedule find(nereid::DType dtype, int64_t rows, int64_t columns, size_t bytes) const {
    const bool isLarge = bytes > cacheBytes;
    int64_t width = powerOfTwo(columns);
    auto found = entries.find({nereid::name(dtype), width, isLarge});
    return found != entries.end() ? found->second : byRule(rows, width, isLarge);
  }

private:
  ScheduleTable() {
    std::ifstream file(sourcePath());
    if (!file) {
      throw std::runtime_error("cannot read " + sourcePath());
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::smatch size;
    if (std::regex_search(text, size, std::regex("CACHE_BYTES = (\\d+)"))) {
      cacheBytes = std::stoull(size[1]);
    }
    const std::regex entry("\\(torch\\.(\\w+), (\\d+), (True|False)\\): \\((?:[ \\t]*#[^\\n]*)?"
                           "\\s*(\\w+),\\s*dict\\(([^)]*)\\)");
    for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
      entries[{(*at)[1], std::stoll((*at)[2]), (*at)[3] == "True"}] = {(*at)[4], (*at)[5]};
    }
  }
  static int64_t powerOfTwo(int64_t value) {
    int64_t power = 1;
    while (power < value) {
      power *= 2;
    }
    return power;
  }
  static std::string text(const char *name, int64_t value) {
    return std::string(name) + "=" + std::to_string(value);
  }
  static Schedule byRule(int64_t rows, int64_t width, bool isLarge) {
    const std::string streaming = text("STREAMING", isLarge);
@RULE@  }

  uint64_t cacheBytes = 32 << 20;
  std::map<std::tuple<std::string, int64_t, bool>, Schedule> entries;
};

/// One launch made ready: run() as often as wanted while the tensors live.
class Launch {
public:
@LAUNCH_SIGNATURE@

  void run() const {
    if (kernel) {
      kernel->launch(grid, arguments);
    }
  }

private:
  const nereid::Tensor &contiguous(const nereid::Tensor &tensor) {
    kept.push_back(tensor.isContiguous() ? tensor : tensor.to(tensor.dtype()));
    return kept.back();
  }
  void declare(const std::string &name, const std::string &type) {
    signature += (signature.empty() ? "" : ", ") + name + "=" + type;
  }
  void addTensor(const std::string &name, const char *type, const nereid::Tensor &tensor) {
    const bool isAligned = reinterpret_cast<uintptr_t>(tensor.data()) % 16 == 0;
    declare(name, std::string("*") + type + (isAligned ? ":16" : ""));
    arguments.emplace_back(tensor);
  }
  void addSize(const std::string &name, int64_t value) {
    const bool isWide = value > std::numeric_limits<int32_t>::max();
    declare(name, std::string(isWide ? "i64" : "i32") + (value % 16 == 0 ? ":16" : ""));
    arguments.emplace_back(value);
  }
  void addNumber(const std::string &name, bool isDouble, double value) {
    declare(name, isDouble ? "fp64" : "fp32");
    arguments.emplace_back(value);
  }
  void addWhole(const std::string &name, double value) {
    declare(name, "i64");
    arguments.emplace_back(static_cast<int64_t>(value));
  }
  /// Compiled kernels are kept for the life of the program.
  static std::shared_ptr<nereid::Kernel> load(const std::string &function,
                                              const std::string &signature) {
    static std::mutex guard;
    static std::map<std::string, std::shared_ptr<nereid::Kernel>> loaded;
    std::lock_guard<std::mutex> lock(guard);
    std::shared_ptr<nereid::Kernel> &kernel = loaded[function + ":" + signature];
    if (!kernel) {
      kernel = std::make_shared<nereid::Kernel>(
          nereid::Kernel::load(ScheduleTable::sourcePath(), function, signature));
    }
    return kernel;
  }
  /// Name of a type in the kernel language.
  static const char *kernelType(nereid::DType type) {
    constexpr const char *names[] = {"i1",  "i8",  "i16",  "i32",  "i64",  "u8",  "u16",
                                     "u32", "u64", "fp16", "bf16", "fp32", "fp64"};
    return names[static_cast<size_t>(type)];
  }

  std::vector<nereid::Tensor> kept;
  std::vector<nereid::Argument> arguments;
  std::string signature;
  std::shared_ptr<nereid::Kernel> kernel;
  nereid::Grid grid{0};
};

)cpp";

std::string replaced(std::string text, const std::string &what, const std::string &with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class HeaderWriter {
public:
  explicit HeaderWriter(const Generation &generation)
      : table(generation.table), fused(generation.fused), names(fused) {}

  std::string run() {
    text = cppHead(fused, "launches the kernels of " + fused.op.name + "_triton.py from C++.");
    text += replaced(replaced(replaced(commonPart, "@OP@", fused.op.name), "@RULE@", rule()),
                     "@LAUNCH_SIGNATURE@", packed("  Launch(", launchParameters(), ");"));
    launch();
    wrapper();
    text += "} // namespace triton\n";
    return text;
  }

private:
  std::string kernel(KernelVariant variant) const {
    return "\"" + kernelName(fused, variant) + "\"";
  }
  std::string rule() const {
    std::string body;
    auto line = [&](const std::string &content) { body += "    " + content + "\n"; };
    KernelVariant first = variantsOf(fused).front();
    if (first == KernelVariant::Flat) {
      line("(void)rows, (void)width;");
      line(fmt::format("return {{{}, text(\"BLOCK\", 16384) + \", \" + streaming}};",
                       kernel(first)));
      return body;
    }
    if (first == KernelVariant::Tiles) {
      line("width = std::min<int64_t>(std::max<int64_t>(width, 16), 4096);");
      line("const int64_t height = std::max<int64_t>(std::min<int64_t>(16384 / width, "
           "powerOfTwo(rows)), 1);");
      line("const std::string blocks = text(\"BLOCK_M\", height) + \", \" + text(\"BLOCK_N\", "
           "width);");
      line(fmt::format("return {{{}, blocks + \", GRID_2D=1, \" + streaming}};", kernel(first)));
      return body;
    }
    line(fmt::format("if (width > {}) {{", table.widestRowTile));
    line(fmt::format("  return {{{}, \"ROWS=1, BLOCK_N=4096, \" + streaming}};",
                     kernel(KernelVariant::LoopedRows)));
    line("}");
    line("const int64_t count = std::max<int64_t>(std::min<int64_t>(16384 / width, "
         "powerOfTwo(rows)), "
         "1);");
    line("width = std::max<int64_t>(width, 16);");
    line("const std::string blocks = text(\"ROWS\", count) + \", \" + text(\"BLOCK_N\", width);");
    line(fmt::format("return {{{}, blocks + \", \" + streaming}};", kernel(KernelVariant::Rows)));
    return body;
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
    return names.product(size, "product(" + names.variable(rest) + ")");
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
    size_t inputs = 0;
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        line(fmt::format("expectShape(\"{}\", {}, {});", operand.name, operand.name,
                         cppShape(operand.shape, names)));
        line(fmt::format("expectType(\"{}\", {}, {{{}}});", operand.name, operand.name,
                         typeOf(operand)));
        isEmpty.push_back(operand.name + ".elementCount() == 0");
      } else {
        ++inputs;
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
    line("const Schedule schedule = ScheduleTable::instance().find(dtype, rows, columns, bytes);");
    line("// 64-bit offsets where an offset, those of masked lanes included, may exceed 32 bits.");
    line("const bool isWide = (rows + 4096) * columns + (1 << 20) > INT32_MAX;");
    line(fmt::format("kept.reserve({});", inputs));
    if (fused.isFlat) {
      line(fmt::format("if (schedule.kernel == {}) {{", kernel(KernelVariant::Flat)));
      arguments(KernelVariant::Flat, "  ");
      line("} else {");
      arguments(KernelVariant::Tiles, "  ");
      line("}");
    } else {
      arguments(variantsOf(fused).front(), "");
    }
    line("signature += \", \" + schedule.constants + (isWide ? \", WIDE=1\" : \", WIDE=0\");");
    line("kernel = load(schedule.kernel, signature);");
    text += "}\n\n";
  }

  void arguments(KernelVariant variant, const std::string &pad) {
    for (const KernelParameter &parameter : kernelParameters(fused, variant)) {
      const std::string &name = parameter.name;
      switch (parameter.kind) {
      case KernelParameter::Kind::Pointer: {
        const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
        line(pad +
             fmt::format("addTensor(\"{}\", kernelType({}), {});", name,
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
        text +=
            packed(fmt::format("  const nereid::Tensor {} = nereid::Tensor::empty(", operand.name),
                   {cppShape(operand.shape, names), typeOf(operand)}, ");\n");
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
