// SPDX-License-Identifier: Apache-2.0
// `<op>_triton.py`: every kernel variant of the operator, the table of schedules and the Python
// wrapper, which PyTorch users with upstream's compiler call. Nereid itself reads the kernels only.
#include "lib/generator/EagerText.h"
#include "lib/generator/Generator.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/KernelWriter.h"
#include "lib/generator/PythonWrapper.h"
#include "lib/generator/ScheduleRules.h"
#include "lib/generator/programs/ProgramText.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

class TritonWriter : PythonWrapper {
public:
  explicit TritonWriter(const Generation &generation)
      : PythonWrapper(generation.fused), table(generation.table), fused(generation.fused) {}

  std::string run() {
    const bool needsDevice = std::any_of(fused.nodes.begin(), fused.nodes.end(),
                                         [](const FusedNode &n) { return needsLibdevice(n.op); });
    head({hasRest() || hasEager(), hasEager(), needsDevice},
         "The schedule table is rewritten by `nereid optimize`.");
    for (KernelVariant variant : variantsOf(fused)) {
      text += writeKernel(fused, variant) + "\n\n";
    }
    scheduleTable();
    formTable();
    scheduleFunction();
    formFunctions();
    checkFunction();
    if (usesRowViews()) {
      text += R"(def _as_rows(tensor, width):
    """The tensor and the distance between its rows; copied unless its rows are whole."""
    if tensor.dim() == 2 and tensor.stride(1) == 1:
        return tensor, tensor.stride(0)
    return tensor.contiguous(), width


)";
    }
    wrapper();
    return text;
  }

private:
  void scheduleTable() {
    text += "# Bytes of all tensors together from which on they count as larger than the cache.\n";
    text += fmt::format("CACHE_BYTES = {}\n\n", table.cacheBytes);
    text += "# (type, columns up to, larger than the cache): kernel and its block sizes.\n";
    text += "SCHEDULES = {\n";
    for (const ScheduleTable::Entry &entry : table.entries) {
      std::string constants;
      for (const auto &[name, value] : entry.schedule.constants) {
        bool isSwitch = name == "STREAMING" || name == "GRID_2D";
        constants +=
            fmt::format("{}{}={}", constants.empty() ? "" : ", ", name,
                        isSwitch ? (value != 0 ? "True" : "False") : std::to_string(value));
      }
      text +=
          fmt::format("    ({}, {}, {}): (  # by {}\n        {},\n        dict({}),\n    ),\n",
                      "torch." + std::string(torchName(entry.caseClass.dtype)),
                      entry.caseClass.columnsUpTo, entry.caseClass.isBeyondCache ? "True" : "False",
                      entry.origin, kernelName(fused, entry.schedule.variant), constants);
    }
    text += "}\n\n\n";
  }

  bool hasEager() const { return table.hasForm(Form::Eager); }

  /// Where a mode has chosen.
  void formTable() {
    if (!hasEager() && !table.hasForm(Form::Graph) && !table.hasForm(Form::Launches)) {
      return;
    }
    text.pop_back();
    text +=
        "# What --mode chose by time for the same keys: the kernel, by a launch for each call or\n"
        "# recorded and replayed (which needs tensors that stay: the C++ launcher's), or "
        "PyTorch's\n"
        "# own operations.\n";
    text += "FORMS = {\n";
    for (const ScheduleTable::Entry &entry : table.entries) {
      if (entry.form != Form::Unasked) {
        text += fmt::format("    ({}, {}, {}): \"{}\",\n",
                            "torch." + std::string(torchName(entry.caseClass.dtype)),
                            entry.caseClass.columnsUpTo,
                            entry.caseClass.isBeyondCache ? "True" : "False", formName(entry.form));
      }
    }
    text += "}\n\n\n";
  }

  void formFunctions() {
    if (hasEager()) {
      text += "def _form(dtype, columns, size_bytes):\n";
      line("\"\"\"How the sizes' class is computed.\"\"\"");
      line("width = triton.next_power_of_2(max(columns, 1))");
      line("return FORMS.get((dtype, width, size_bytes > CACHE_BYTES), \"launches\")");
      text += "\n\n" + eagerFunction(fused, names);
    }
  }

  void scheduleFunction() {
    text += "def _schedule(dtype, rows, columns, size_bytes):\n";
    line("\"\"\"The schedule of this class of sizes, or one by rule when it has none yet.\"\"\"");
    line("is_large = size_bytes > CACHE_BYTES");
    line("width = triton.next_power_of_2(max(columns, 1))");
    line("found = SCHEDULES.get((dtype, width, is_large))");
    line("if found is not None:");
    line("    return found");
    std::vector<KernelVariant> variants = variantsOf(fused);
    if (variants.front() == KernelVariant::Flat) {
      line(fmt::format("return {}, dict(BLOCK=16384, STREAMING=is_large)",
                       kernelName(fused, KernelVariant::Flat)));
    } else if (variants.front() == KernelVariant::Tiles) {
      line("width = min(max(width, 16), 4096)");
      line("height = max(min(16384 // width, triton.next_power_of_2(max(rows, 1))), 1)");
      line(fmt::format("return {}, dict(", kernelName(fused, KernelVariant::Tiles)));
      line("    BLOCK_M=height, BLOCK_N=width, GRID_2D=True, STREAMING=is_large");
      line(")");
    } else {
      line("count = max(min(16384 // width, triton.next_power_of_2(max(rows, 1))), 1)");
      line(fmt::format("if width <= {}:", table.widestRowTile));
      line(fmt::format("    return {}, dict(", kernelName(fused, KernelVariant::Rows)));
      line("        ROWS=count, BLOCK_N=max(width, 16), STREAMING=is_large");
      line("    )");
      line(fmt::format("return {}, dict(ROWS=1, BLOCK_N=4096, STREAMING=is_large)",
                       kernelName(fused, KernelVariant::LoopedRows)));
    }
    text += "\n\n";
  }

  /// Rows of a two-dimensional view are used in place.
  bool isRowView(const Operand &operand) const {
    return !operand.isOutput && operand.hasAllRows() && operand.hasAllColumns() &&
           fused.columns.dims.size() == 1 && !fused.isFlat;
  }
  bool usesRowViews() const {
    return std::any_of(fused.operands.begin(), fused.operands.end(),
                       [&](const Operand &operand) { return isRowView(operand); });
  }

  std::string product(const SizeProduct &size) const {
    return names.product(size, fmt::format("math.prod({})", restName()));
  }
  void layouts() {
    line("rows = " + product(fused.rows));
    line("columns = " + product(fused.columns));
    for (const Operand &operand : fused.operands) {
      if (operand.isOutput) {
        continue;
      }
      if (isRowView(operand)) {
        line(
            fmt::format("{0}, {1} = _as_rows({0}, columns)", operand.name, rowStrideName(operand)));
      } else {
        line(fmt::format("{0} = {0}.contiguous()", operand.name));
      }
    }
  }

  std::string strideText(const KernelParameter &parameter) const {
    const Operand &operand = fused.operands[static_cast<size_t>(parameter.operand)];
    if (parameter.kind == KernelParameter::Kind::RowStride) {
      return isRowView(operand) ? parameter.name : product(widthOf(fused, operand));
    }
    return product(contiguousStride(fused, operand,
                                    parameter.kind == KernelParameter::Kind::GroupStride,
                                    static_cast<size_t>(parameter.group)));
  }
  std::string argumentText(const KernelParameter &parameter) const {
    switch (parameter.kind) {
    case KernelParameter::Kind::Pointer:
      return fused.operands[static_cast<size_t>(parameter.operand)].name;
    case KernelParameter::Kind::Scalar: {
      const auto &number = fused.op.parameters[static_cast<size_t>(parameter.scalar)];
      return isPassedWhole(fused, number) ? "int(" + number.name + ")" : number.name;
    }
    case KernelParameter::Kind::Size:
      return parameter.name == "rows" || parameter.name == "columns" ? parameter.name
             : parameter.name == "elements"                          ? "rows * columns"
                                                                     : product(parameter.size);
    default:
      return strideText(parameter);
    }
  }

  void launch(KernelVariant variant, const std::string &pad) {
    std::string grid;
    switch (variant) {
    case KernelVariant::Flat:
      grid = "(triton.cdiv(rows * columns, meta[\"BLOCK\"]),)";
      break;
    case KernelVariant::Tiles:
      text += "\n";
      line(pad + "def grid(meta):");
      line(pad + "    height = triton.cdiv(rows, meta[\"BLOCK_M\"])");
      line(pad + "    width = triton.cdiv(columns, meta[\"BLOCK_N\"])");
      line(pad + "    return (height, width) if meta[\"GRID_2D\"] else (height * width,)");
      text += "\n";
      break;
    case KernelVariant::Rows:
    case KernelVariant::LoopedRows:
      grid = "(triton.cdiv(rows, meta[\"ROWS\"]),)";
      break;
    }
    if (!grid.empty()) {
      line(pad + "grid = lambda meta: " + grid);
    }
    line(pad + "kernel[grid](");
    for (const KernelParameter &parameter : kernelParameters(fused, variant)) {
      if (parameter.kind != KernelParameter::Kind::Constexpr) {
        line(pad + "    " + argumentText(parameter) + ",");
      }
    }
    line(pad + "    **blocks,");
    line(pad + "    WIDE=wide,");
    line(pad + ")");
  }

  void wrapper() {
    signature();
    documentation();
    checks();
    outputs("or");
    layouts();
    std::string bytes, spread = "columns";
    for (const Operand &operand : fused.operands) {
      bytes += fmt::format("{}{}.nbytes", bytes.empty() ? "" : " + ", operand.name);
      spread += isRowView(operand) ? ", " + rowStrideName(operand) : "";
    }
    line("size_bytes = " + bytes);
    if (hasEager()) {
      std::string list;
      for (const CallParameter &parameter : callParameters(fused)) {
        list += (list.empty() ? "" : ", ") + parameter.name;
      }
      line(fmt::format("if _form({}.dtype, columns, size_bytes) == \"eager\":", leadTensor));
      line(fmt::format("    return _eager({})", list));
    }
    line(
        fmt::format("kernel, blocks = _schedule({}.dtype, rows, columns, size_bytes)", leadTensor));
    line("# 64-bit offsets where an offset, those of masked lanes included, may exceed 32 bits.");
    line(fmt::format("wide = (rows + 4096) * {} + 2**20 >= 2**31",
                     spread == "columns" ? spread : "max(" + spread + ")"));
    if (fused.isFlat) {
      line(fmt::format("if kernel is {}:", kernelName(fused, KernelVariant::Flat)));
      launch(KernelVariant::Flat, "    ");
      line("else:");
      launch(KernelVariant::Tiles, "    ");
    } else {
      launch(variantsOf(fused).front(), "");
    }
    line("return " + outputList());
  }

  const ScheduleTable &table;
  const FusedOperator &fused;
};

} // namespace

std::string writeTriton(const Generation &generation) {
  return generation.program ? writeProgramTriton(generation.called(), *generation.program)
                            : TritonWriter(generation).run();
}

} // namespace nereid::generator
