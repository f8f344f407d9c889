// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Linking.h"

#include "lib/aot/Archive.h"
#include "lib/aot/ObjectMerge.h"
#include "lib/aot/RuntimeArchive.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/RunProgram.h"
#include "lib/support/TemporaryFolder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <elf.h>
#include <filesystem>

namespace nereid::aot {
namespace {

/// The first member's that is an object.
int machineOfArchive(std::span<const uint8_t> bytes) {
  auto members = readArchive(bytes);
  for (size_t i = 0; members && i < members->size(); ++i) {
    if (int machine = machineOf((*members)[i].bytes)) {
      return machine;
    }
  }
  return 0;
}

/// Compilers first: they know where the C library is.
std::vector<std::string> linkerNames(int machine) {
  std::vector<std::string> names;
  if (const char *chosen = std::getenv("CC"); chosen && *chosen) {
    names.emplace_back(chosen);
  }
  std::string prefix = machine == EM_AARCH64 ? "aarch64-linux-gnu-"
                       : machine == EM_RISCV ? "riscv64-linux-gnu-"
                                             : "";
#if defined(__aarch64__)
  prefix = machine == EM_AARCH64 ? "" : machine == EM_X86_64 ? "x86_64-linux-gnu-" : prefix;
#endif
  if (prefix.empty()) {
    names.insert(names.end(), {"cc", "gcc", "clang"});
  } else {
    names.push_back(prefix + "gcc");
  }
  names.insert(names.end(), {"ld.lld", "ld.lld-19"});
  return names;
}

bool isCompiler(const std::string &name) {
  return std::filesystem::path(name).filename().string().rfind("ld", 0) != 0;
}

std::vector<std::string> commandLine(const std::string &linker, const std::string &folder,
                                     const std::string &soname) {
  const std::vector<std::string> options = {"-soname=" + soname,
                                            "-Bsymbolic",
                                            "-z",
                                            "now",
                                            "-z",
                                            "nodelete", // its pool's threads run in it
                                            "-z",
                                            "noexecstack",
                                            "--gc-sections",
                                            "--version-script=" + folder + "/exports.map"};
  std::vector<std::string> words = {
      linker, "-shared", "-o", folder + "/library.so", folder + "/kernel.o", folder + "/runtime.a"};
  if (!isCompiler(linker)) {
    words.insert(words.end(), options.begin(), options.end());
    return words; // the C library's functions are found when it is loaded
  }
  for (const std::string &option : options) {
    words.push_back("-Wl," + option);
  }
  words.insert(words.end(), {"-lm", "-lpthread"});
  return words;
}

} // namespace

Result<std::vector<uint8_t>> runtimeFor(const CompiledLibrary &library, const std::string &file) {
  const int machine = machineOf(library.object);
  std::vector<uint8_t> bytes(runtimeArchive().begin(), runtimeArchive().end());
  if (!file.empty()) {
    Result<std::vector<uint8_t>> read = readBinaryFile(file);
    if (!read) {
      return read.error();
    }
    bytes = std::move(*read);
    if (machineOfArchive(bytes) != machine) {
      return makeError("E0024", fmt::format("'{}' is not the runtime part for '{}'", file,
                                            library.targets.front().name))
          .withHelp("build runtime/aot for that architecture; docs/ahead-of-time.md says how");
    }
  }
  return machineOfArchive(bytes) == machine ? bytes : std::vector<uint8_t>();
}

Result<std::vector<uint8_t>> staticLibrary(const CompiledLibrary &library,
                                           const std::vector<uint8_t> &runtime) {
  std::vector<ArchiveMember> members = {{library.name + ".o", library.object}};
  if (auto parts = readArchive(runtime)) {
    members.insert(members.end(), parts->begin(), parts->end());
  }
  return writeArchive(members);
}

Status linkShared(const CompiledLibrary &library, const std::vector<uint8_t> &runtime,
                  const std::string &path) {
  TemporaryFolder folder;
  if (Status made = folder.made(); !made) {
    return made.error();
  }
  const std::string exports = fmt::format("{{ global: {}; nereid_aot_*; local: *; }};\n",
                                          fmt::join(functionNames(library), "; "));
  for (const Status &written : {writeFileAtomically(folder.path + "/kernel.o", library.object),
                                writeFileAtomically(folder.path + "/runtime.a", runtime),
                                writeFileAtomically(folder.path + "/exports.map", exports)}) {
    if (!written) {
      return written.error();
    }
  }
  const std::string soname = std::filesystem::path(path).filename().string();
  const std::vector<std::string> names = linkerNames(machineOf(library.object));
  for (const std::string &name : names) {
    const int status =
        runProgram(commandLine(name, folder.path, soname), folder.path + "/linker.log");
    if (status == 127) {
      continue;
    }
    Result<std::vector<uint8_t>> linked = readBinaryFile(folder.path + "/library.so");
    if (status != 0 || !linked) { // which is none of a program that is no linker
      auto log = readTextFile(folder.path + "/linker.log");
      return makeError("E0025", fmt::format("linking '{}' with '{}' failed", path, name))
          .note(log && !log->empty()
                    ? *log
                    : fmt::format("it ended with status {} and printed nothing", status))
          .withHelp("set CC to another compiler, or use --emit static");
    }
    return writeFileAtomically(path, *linked);
  }
  return makeError("E0025", "a shared library needs a linker, and none was found")
      .note(fmt::format("looked for {} in the folders of PATH", fmt::join(names, ", ")))
      .withHelp("install a C compiler, set CC, or use --emit static, which needs none");
}

} // namespace nereid::aot
