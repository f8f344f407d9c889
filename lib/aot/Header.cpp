// SPDX-License-Identifier: Apache-2.0
// The C header of a library: a typed launcher, the same as a question, and in comments what the
// launcher checks, in which order specializations are tried, and what runs where.
#include "lib/aot/Library.h"

#include "lib/support/Version.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::aot {
namespace {

std::string upperCase(std::string text) {
  for (char &c : text) {
    c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return text;
}

/// A user's text must not end the comment it stands in.
std::string inComment(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) {
    text.insert(at + 1, " ");
  }
  return text;
}

class Writer {
public:
  explicit Writer(const CompiledLibrary &library) : library(library) {}

  std::string write() {
    const std::string guard = "NEREID_KERNEL_" + upperCase(library.name) + "_H";
    writeHead();
    text += fmt::format("#ifndef {0}\n#define {0}\n\n", guard);
    text += "#include \"nereid/aot.h\"\n\n#include <stdbool.h>\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    if (!isForDevice) {
      writeConstants();
    }
    writeLauncher();
    if (isForDevice) {
      writeWait();
    }
    writeSelection();
    text += "#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return std::move(text);
  }

private:
  void writeHead() {
    text += fmt::format("/* Kernel '{}', compiled ahead of time by nereid {}.\n *\n",
                        library.kernel, versionText());
    text += " * Specializations, in the order in which they are tried:\n";
    for (size_t i = 0; i < library.interface.specializations.size(); ++i) {
      const SpecializationPlan &plan = library.interface.specializations[i];
      text += fmt::format(" *   {}: {}\n", i, inComment(plan.signature));
      for (const Condition &condition : plan.conditions) {
        text += fmt::format(" *      when {}\n", conditionText(library.interface, condition));
      }
    }
    if (isForDevice) {
      text += " * Devices, of which the newest that a device can stand for is taken:\n";
      for (const CompiledTarget &target : library.targets) {
        text += fmt::format(" *   {}: {}code that the driver compiles\n", target.name,
                            target.hasMachineCode ? "machine code, and " : "");
      }
    } else {
      text += " * Instruction sets, the first that the machine has is taken:";
      for (const CompiledTarget &target : library.targets) {
        text += " " + target.name;
      }
      text += "\n";
    }
    text += library.grid.empty() ? " * Grid: given by the caller.\n"
                                 : fmt::format(" * Grid: {}\n", inComment(library.grid));
    if (library.isBlocking) {
      text += " * Its programs may wait for each other: they run as coroutines.\n";
    }
    text += " */\n";
  }

  void writeConstants() {
    uint64_t scratch = 0;
    for (uint64_t bytes : library.scratchBytes) {
      scratch = std::max(scratch, bytes);
    }
    text += "/* Of nereid_aot_options.scratch, for each thread. */\n";
    text += fmt::format("#define {}_SCRATCH_BYTES {}\n\n", upperCase(library.name),
                        (scratch + 63) / 64 * 64);
  }

  std::vector<std::string> declarations() const {
    std::vector<std::string> result;
    if (library.grid.empty()) {
      result = {"int64_t grid_x", "int64_t grid_y", "int64_t grid_z"};
    }
    for (const CParameter &parameter : library.interface.parameters) {
      result.push_back(parameter.type() + parameter.name);
    }
    if (isForDevice) {
      result.emplace_back("void *stream");
    }
    return result;
  }

  void writeFunction(const std::string &name, std::vector<std::string> parameters) {
    parameters.push_back("const nereid_aot_options *options");
    std::string line = fmt::format("NEREID_AOT_API nereid_aot_status {}(", name);
    const std::string indent(std::min<size_t>(line.size(), 60), ' ');
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string part = parameters[i] + (i + 1 < parameters.size() ? "," : ");");
      if (line.size() + part.size() + 1 > 100) {
        text += line + "\n";
        line = indent + part;
      } else {
        line += (i == 0 ? "" : " ") + part;
      }
    }
    text += line + "\n\n";
  }

  void writeLauncher() {
    if (isForDevice) {
      text +=
          "/* Puts the kernel into the stream, of that stream's context; NULL: the default stream"
          " of the context\n * that is current. Returns NEREID_AOT_OK, or why it is not there."
          " Tensors are in the device's memory.\n * The first launch in a context loads the"
          " code, which waits for the device; do it before a graph is\n * captured. options may"
          " be NULL.\n";
    } else {
      text += "/* Runs the kernel and waits for it. Returns NEREID_AOT_OK, or what is wrong"
              "; nothing has run\n * then unless it is NEREID_AOT_ERROR_ASSERTION, _DEADLOCK,"
              " _MEMORY or _POOL. options may be NULL.\n";
    }
    for (const CParameter &parameter : library.interface.parameters) {
      if (!parameter.remark.empty()) {
        text += fmt::format(" * {}: {}\n", parameter.name, parameter.remark);
      }
    }
    text += " */\n";
    writeFunction(library.name, declarations());
  }

  void writeWait() {
    text +=
        "/* Waits until the stream has done all that it was given, and says what failed there."
        "\n * NEREID_AOT_ERROR_ASSERTION: an assertion of this kernel, since the last call. */\n";
    writeFunction(library.name + "_wait", {"void *stream"});
  }

  void writeSelection() {
    text +=
        "/* What a call with these arguments would run, with the same checks; runs nothing. */\n";
    std::vector<std::string> parameters = declarations();
    parameters.push_back("nereid_aot_selection *selection");
    writeFunction(library.name + "_select", parameters);
  }

  const CompiledLibrary &library;
  const bool isForDevice = !library.deviceRuntime.empty();
  std::string text;
};

} // namespace

std::string headerText(const CompiledLibrary &library) { return Writer(library).write(); }

} // namespace nereid::aot
