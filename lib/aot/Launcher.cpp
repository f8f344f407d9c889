// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Launcher.h"

#include "lib/aot/GridCode.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>

namespace nereid::aot {
namespace {

/// Constants of one table, in the order in which they refer to each other.
class Writer {
public:
  explicit Writer(const LauncherContent &content) : content(content) {}

  std::string write() {
    declareEntries();
    writeGrids();
    writeTable();
    if (isForDevice) {
      writeDeviceTable();
      text += fmt::format("declare signext i32 @{}(ptr, ptr, ptr, ptr, ptr)\n"
                          "declare signext i32 @{}(ptr, ptr, ptr, ptr, ptr, ptr)\n"
                          "declare signext i32 @{}(ptr, ptr, ptr)\n\n",
                          runtimeName("launch"), runtimeName("select"), runtimeName("wait"));
      writeWait();
    } else {
      text += fmt::format("declare signext i32 @{}(ptr, ptr, ptr, ptr)\n"
                          "declare signext i32 @{}(ptr, ptr, ptr, ptr, ptr)\n\n",
                          runtimeName("launch"), runtimeName("select"));
    }
    writeFunction(false);
    writeFunction(true);
    return std::move(text);
  }

private:
  /// "nereid_rt_launch_6", or with the device's runtime in it.
  std::string runtimeName(const char *what) const {
    return fmt::format("nereid_rt_{}{}{}_{}", content.deviceRuntime, isForDevice ? "_" : "", what,
                       tableVersion);
  }

  void declareEntries() {
    std::set<std::string> declared;
    for (const auto &row : content.variants) {
      for (const LauncherVariant &variant : row) {
        if (declared.insert(variant.entry).second) {
          text += fmt::format("declare void @\"{}\"(ptr, ptr, ptr, ptr)\n", variant.entry);
        }
      }
    }
  }

  void writeGrids() {
    text += content.grids.empty() ? "" : gridDeclarations();
    for (const std::string &function : content.grids) {
      text += function;
    }
  }

  static std::string escaped(std::string_view value) {
    std::string bytes;
    for (unsigned char c : value) {
      if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
        bytes += static_cast<char>(c);
      } else {
        fmt::format_to(std::back_inserter(bytes), "\\{:02X}", c);
      }
    }
    return bytes;
  }

  /// A zero-ended text; gives its name.
  std::string string(const std::string &value) {
    std::string name = fmt::format("@text.{}", texts++);
    text += fmt::format("{} = private unnamed_addr constant [{} x i8] c\"{}\\00\"\n", name,
                        value.size() + 1, escaped(value));
    return "ptr " + name;
  }

  /// Code with a zero behind it, equal code once; "ptr null" when there is none.
  std::string image(const std::vector<uint8_t> &code) {
    if (code.empty()) {
      return "ptr null";
    }
    const auto [known, isNew] = images.try_emplace(code, fmt::format("@image.{}", images.size()));
    if (isNew) {
      const std::string_view bytes(reinterpret_cast<const char *>(code.data()), code.size());
      text += fmt::format("{} = private constant [{} x i8] c\"{}\\00\", align 16\n", known->second,
                          code.size() + 1, escaped(bytes));
    }
    return "ptr " + known->second;
  }

  /// An array of structures of one type; "ptr null" when there are none.
  std::string array(const std::string &name, const std::string &type,
                    const std::vector<std::string> &rows) {
    if (rows.empty()) {
      return "ptr null";
    }
    text += fmt::format("@{} = private constant [{} x {}] [", name, rows.size(), type);
    for (size_t i = 0; i < rows.size(); ++i) {
      text += fmt::format("{}\n  {} {}", i == 0 ? "" : ",", type, rows[i]);
    }
    text += "]\n";
    return "ptr @" + name;
  }

  template <class Row> static std::string kindOf(const Row &row) {
    return fmt::format("i64 {}", static_cast<int64_t>(row.kind));
  }

  std::string specialization(size_t index) {
    const SpecializationPlan &plan = content.interface.specializations[index];
    std::vector<std::string> conditions, slots, variants;
    for (const Condition &condition : plan.conditions) {
      conditions.push_back(fmt::format("{{ {}, i64 {}, i64 {} }}", kindOf(condition),
                                       condition.slot, condition.value));
    }
    for (int64_t slot : plan.slots) {
      slots.push_back(fmt::format("{}", slot));
    }
    for (size_t i = 0; !isForDevice && i < content.variants[index].size(); ++i) {
      const LauncherVariant &variant = content.variants[index][i];
      variants.push_back(fmt::format("{{ ptr @\"{}\", i64 {}, i64 {}, i64 {} }}", variant.entry,
                                     variant.scratchBytes, variant.isBlocking ? 1 : 0,
                                     variant.takesRanges ? 1 : 0));
    }
    const std::string number = fmt::format(".{}", index);
    const std::string signature = string(plan.signature);
    const std::string conditionArray =
        array("conditions" + number, "{ i64, i64, i64 }", conditions);
    const std::string slotArray = array("slots" + number, "i64", slots);
    const std::string grid = content.grids.empty() ? "null" : "@" + gridName(index);
    const std::string variantArray = array("variants" + number, "{ ptr, i64, i64, i64 }", variants);
    return fmt::format("{{ {}, {}, i64 {}, {}, i64 {}, ptr {}, {} }}", signature, conditionArray,
                       conditions.size(), slotArray, slots.size(), grid, variantArray);
  }

  void writeTable() {
    std::vector<std::string> parameters, specializations, targets;
    for (const CParameter &parameter : content.interface.parameters) {
      parameters.push_back(
          fmt::format("{{ {}, {} }}", string(parameter.kernelName), kindOf(parameter)));
    }
    for (size_t i = 0; i < content.interface.specializations.size(); ++i) {
      specializations.push_back(specialization(i));
    }
    for (const auto &[name, features] : content.targets) {
      const std::string nameText = string(name);
      targets.push_back(fmt::format("{{ {}, {} }}", nameText, string(features)));
    }
    const std::string name = string(content.name);
    const std::string parameterArray = array("parameters", "{ ptr, i64 }", parameters);
    const std::string specializationArray =
        array("specializations", "{ ptr, ptr, i64, ptr, i64, ptr, ptr }", specializations);
    const std::string targetArray = array("targets", "{ ptr, ptr }", targets);
    if (!isForDevice) {
      text += fmt::format("@state = internal global [{} x i64] zeroinitializer, align 8\n",
                          1 + specializations.size());
    }
    text += fmt::format(
        "@table = private constant {{ i64, ptr, ptr, i64, ptr, i64, ptr, i64, ptr }} "
        "{{ i64 {}, {}, {}, i64 {}, {}, i64 {}, {}, i64 {}, ptr {} }}\n\n",
        tableVersion, name, parameterArray, parameters.size(), specializationArray,
        specializations.size(), targetArray, targets.size(), isForDevice ? "null" : "@state");
  }

  void writeDeviceTable() {
    std::vector<std::string> variants;
    for (const auto &row : content.deviceVariants) {
      for (const DeviceCode &code : row) {
        const std::string entry = string(code.entry), portable = image(code.portable);
        variants.push_back(fmt::format("{{ {}, {}, {}, i64 {}, i64 {}, i64 {}, i64 {} }}", entry,
                                       portable, image(code.native), code.threads, code.blocks,
                                       code.memoryBytes, code.waits ? 1 : 0));
      }
    }
    const std::string all =
        array("device.variants", "{ ptr, ptr, ptr, i64, i64, i64, i64 }", variants);
    text += "@loaded = internal global ptr null, align 8\n";
    text += fmt::format("@device = private constant {{ ptr, ptr, ptr }} {{ ptr @table, {}, ptr "
                        "@loaded }}\n\n",
                        all);
  }

  void writeWait() {
    text += fmt::format("define signext i32 @\"{}_wait\"(ptr %stream, ptr %options) nounwind {{\n"
                        "  %status = call signext i32 @{}(ptr @device, ptr %stream, ptr %options)\n"
                        "  ret i32 %status\n}}\n\n",
                        content.name, runtimeName("wait"));
  }

  /// As C passes it.
  static std::string typeOf(const CParameter &parameter) {
    switch (parameter.kind) {
    case ParameterKind::Pointer:
      return "ptr";
    case ParameterKind::Float:
      return parameter.dtype == DType::F64 ? "double" : "float";
    case ParameterKind::Integer:
      return fmt::format("i{}", 8 * sizeInBytes(parameter.dtype));
    }
    return "";
  }

  /// Instructions that make the 64 bits of slot `i` from argument `i`; gives their name.
  std::string slotValue(size_t i) {
    const CParameter &parameter = content.interface.parameters[i];
    const std::string type = typeOf(parameter);
    const std::string from = fmt::format("%a{}", i), to = fmt::format("%s{}", i);
    const bool isSigned = isSignedInteger(parameter.dtype);
    if (parameter.kind == ParameterKind::Pointer) {
      text += fmt::format("  {} = ptrtoint ptr {} to i64\n", to, from);
    } else if (type == "double") {
      text += fmt::format("  {} = bitcast double {} to i64\n", to, from);
    } else if (type == "float") {
      text += fmt::format("  %b{} = bitcast float {} to i32\n  {} = zext i32 %b{} to i64\n", i,
                          from, to, i);
    } else if (parameter.dtype == DType::Bool) {
      text +=
          fmt::format("  %b{} = icmp ne i8 {}, 0\n  {} = zext i1 %b{} to i64\n", i, from, to, i);
    } else if (type == "i64") {
      return from;
    } else {
      text += fmt::format("  {} = {} {} {} to i64\n", to, isSigned ? "sext" : "zext", type, from);
    }
    return to;
  }

  void writeFunction(bool isSelection) {
    const auto &parameters = content.interface.parameters;
    const bool takesGrid = content.grids.empty();
    text +=
        fmt::format("define signext i32 @\"{}{}\"(", content.name, isSelection ? "_select" : "");
    if (takesGrid) {
      text += "i64 %x, i64 %y, i64 %z, ";
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      text += fmt::format("{} %a{}, ", typeOf(parameters[i]), i);
    }
    text += fmt::format("{}{}ptr %options) nounwind {{\n", isForDevice ? "ptr %stream, " : "",
                        isSelection ? "ptr %selection, " : "");
    text += fmt::format("  %slots = alloca [{} x i64], align 8\n",
                        std::max<size_t>(parameters.size(), 1));
    store("%slots", "%p", parameters.size(), [&](size_t i) { return slotValue(i); });
    if (takesGrid) {
      text += "  %grid = alloca [3 x i64], align 8\n";
      store("%grid", "%g", 3, [](size_t i) { return fmt::format("%{}", "xyz"[i]); });
    }
    text += fmt::format("  %status = call signext i32 @{}(ptr {}, ptr %slots, ptr {}{}, ptr "
                        "%options{})\n  ret i32 %status\n}}\n\n",
                        runtimeName(isSelection ? "select" : "launch"),
                        isForDevice ? "@device" : "@table", takesGrid ? "%grid" : "null",
                        isForDevice ? ", ptr %stream" : "", isSelection ? ", ptr %selection" : "");
  }

  template <class Value>
  void store(const std::string &array, const std::string &prefix, size_t count, Value value) {
    for (size_t i = 0; i < count; ++i) {
      const std::string bits = value(i);
      text += fmt::format("  {}{} = getelementptr i64, ptr {}, i64 {}\n"
                          "  store i64 {}, ptr {}{}, align 8\n",
                          prefix, i, array, i, bits, prefix, i);
    }
  }

  const LauncherContent &content;
  const bool isForDevice = !content.deviceRuntime.empty();
  std::string text;
  int texts = 0;
  std::map<std::vector<uint8_t>, std::string> images; ///< their names
};

} // namespace

std::string launcherText(const LauncherContent &content) { return Writer(content).write(); }

} // namespace nereid::aot
