// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/compile/CompileLibrary.h"

#include "lib/aot/Library.h"
#include "lib/aot/Linking.h"
#include "lib/aot/RuntimeArchive.h"
#include "lib/cli/compile/Depfile.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/language/ChooseKernel.h"
#include "lib/language/syntax/Parser.h"
#include "lib/launch/KernelReference.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace nereid::cli {

using launch::KernelReference;

namespace {

using aot::CompiledLibrary;
using aot::LibraryForm;

class Writer {
public:
  Writer(const LibraryOptions &options, const CompiledLibrary &library)
      : options(options), library(library) {}

  Status writeAll() {
    if (options.form == "header") {
      return writeHeaderAlone();
    }
    const LibraryForm form = options.form == "object"   ? LibraryForm::Object
                             : options.form == "static" ? LibraryForm::Static
                                                        : LibraryForm::Shared;
    Result<std::vector<uint8_t>> runtime = aot::runtimeFor(library, options.runtime);
    if (!runtime) {
      return runtime.error();
    }
    hasRuntime = form != LibraryForm::Object && !runtime->empty();
    const std::string path = options.output.empty() ? defaultName(form) : options.output;
    if (Status made = enterFolderOf(path); !made) {
      return made.error();
    }
    if (Status written = writeMain(form, path, *runtime); !written) {
      return written.error();
    }
    files.push_back(path);
    if (Status written = write(library.name + ".h", aot::headerText(library)); !written) {
      return written.error();
    }
    const std::string fileName = std::filesystem::path(path).filename().string();
    if (Status written = write(library.name + "-config.cmake",
                               aot::cmakeText(library, form, fileName, hasRuntime));
        !written) {
      return written.error();
    }
    return writeRuntimeHeader();
  }

  std::vector<std::string> files;
  bool hasRuntime = false;

private:
  std::string defaultName(LibraryForm form) const {
    switch (form) {
    case LibraryForm::Object:
      return library.name + ".o";
    case LibraryForm::Static:
      return "lib" + library.name + ".a";
    case LibraryForm::Shared:
      return "lib" + library.name + ".so";
    }
    return "";
  }

  Status enterFolderOf(const std::string &path) {
    folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? Status(Done{}) : createFolders(folder.string());
  }

  Status writeHeaderAlone() {
    const std::string path = options.output.empty() ? library.name + ".h" : options.output;
    if (path == "-") {
      fmt::print("{}", aot::headerText(library));
      return Done{};
    }
    if (Status made = enterFolderOf(path); !made) {
      return made.error();
    }
    files.push_back(path);
    Status written = writeFileAtomically(path, aot::headerText(library));
    return written ? writeRuntimeHeader() : written;
  }

  Status write(const std::string &name, std::string_view content) {
    const std::string path = (folder / name).string();
    files.push_back(path);
    return writeOwnFile(path, content);
  }

  /// What the library's header includes.
  Status writeRuntimeHeader() {
    const std::string runtime = (folder / "nereid").string();
    if (Status isOwn = refuseLink(runtime); !isOwn) {
      return isOwn;
    }
    if (Status made = createFolders(runtime); !made) {
      return made.error();
    }
    return write("nereid/aot.h", aot::runtimeHeader());
  }

  Status writeMain(LibraryForm form, const std::string &path,
                   const std::vector<uint8_t> &runtime) const {
    switch (form) {
    case LibraryForm::Object:
      return writeFileAtomically(path, library.object);
    case LibraryForm::Static: {
      Result<std::vector<uint8_t>> archive = aot::staticLibrary(library, runtime);
      return archive ? writeFileAtomically(path, *archive) : Status(archive.error());
    }
    case LibraryForm::Shared:
      break;
    }
    if (runtime.empty()) {
      return makeError("E0024", fmt::format("a shared library for '{}' needs the runtime part "
                                            "for it, and none is built into this program",
                                            library.targets.front().name))
          .withHelp("name one with --runtime libnereid_aot.a; docs/ahead-of-time.md says how to "
                    "build it");
    }
    return aot::linkShared(library, runtime, path);
  }

  const LibraryOptions &options;
  const CompiledLibrary &library;
  std::filesystem::path folder;
};

void printJson(const CompiledLibrary &library, const Writer &written) {
  nlohmann::ordered_json targets = nlohmann::ordered_json::array();
  for (const aot::CompiledTarget &target : library.targets) {
    targets.push_back({{"name", target.name},
                       {"features", target.features},
                       {"has_machine_code", target.hasMachineCode}});
  }
  nlohmann::ordered_json specializations = nlohmann::ordered_json::array();
  for (size_t i = 0; i < library.interface.specializations.size(); ++i) {
    const aot::SpecializationPlan &plan = library.interface.specializations[i];
    nlohmann::ordered_json conditions = nlohmann::ordered_json::array();
    for (const aot::Condition &condition : plan.conditions) {
      conditions.push_back(aot::conditionText(library.interface, condition));
    }
    specializations.push_back({{"signature", plan.signature},
                               {"conditions", conditions},
                               {"scratch_bytes", library.scratchBytes[i]},
                               {"code", library.parts[i]}});
  }
  const nlohmann::ordered_json result = {{"name", library.name},
                                         {"kernel", library.kernel},
                                         {"grid", library.grid},
                                         {"targets", targets},
                                         {"specializations", specializations},
                                         {"has_runtime", written.hasRuntime},
                                         {"files", written.files}};
  fmt::print("{}\n", result.dump(2));
}

} // namespace

std::vector<std::string> splitTargets(const std::vector<std::string> &texts) {
  std::vector<std::string> targets;
  for (const std::string &text : texts) {
    for (size_t start = 0; start < text.size();) {
      size_t end = text.find(',', start);
      // ",+feature" belongs to the target before it.
      while (end != std::string::npos && end + 1 < text.size() &&
             (text[end + 1] == '+' || text[end + 1] == '-')) {
        end = text.find(',', end + 1);
      }
      targets.push_back(text.substr(start, end - start));
      start = end == std::string::npos ? text.size() : end + 1;
    }
  }
  return targets;
}

void compileLibrary(const LibraryOptions &options, Session &session) {
  const KernelReference file = launch::parseKernelReference(options.kernel);
  Diagnostics diags;
  auto module = language::parseFile(file.path, diags);
  if (!module) {
    return session.fail(diags);
  }
  Diagnostics remarks; // which the compiler makes again
  auto function = language::chooseKernel(*module, file.function, remarks);
  if (!function) {
    return session.fail(function.error());
  }
  aot::LibraryRequest request;
  request.kernel.path = file.path;
  request.kernel.importPaths = session.importPaths;
  request.signatures = options.signatures;
  request.targets = splitTargets(options.targets);
  request.architecture = options.architecture;
  request.grid = options.grid;
  request.gridArguments = options.gridArguments;
  request.chosen = options.chosen;
  request.name = options.name;
  request.chip = options.chip;
  request.useCache = options.useCache;
  if (request.signatures.empty()) {
    request.signatures.emplace_back(); // defaults and configs may give every parameter
  }
  std::optional<CompiledLibrary> library = aot::compileLibrary(request, *module, **function, diags);
  if (!library) {
    return session.fail(diags);
  }
  Writer writer(options, *library);
  if (Status written = writer.writeAll(); !written) {
    return session.fail(written.error());
  }
  if (!options.depfile.empty()) {
    const std::string text = depfileText(writer.files.front(), library->sources);
    if (Status written = writeFileAtomically(options.depfile, text); !written) {
      return session.fail(written.error());
    }
  }
  if (session.json && options.output != "-") {
    return printJson(*library, writer);
  }
  for (const std::string &path : writer.files) {
    printError(fmt::format("wrote {}\n", path));
  }
}

} // namespace nereid::cli
