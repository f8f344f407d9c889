// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Linking.h"

#include "lib/aot/Archive.h"
#include "lib/aot/ObjectMerge.h"
#include "lib/aot/RuntimeArchive.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

/// A folder that is removed with what is in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    const char *parent = std::getenv("TMPDIR");
    path = std::string(parent && *parent ? parent : "/tmp") + "/nereid-XXXXXX";
    isMade = ::mkdtemp(path.data()) != nullptr;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (isMade) {
      std::filesystem::remove_all(path, ignored);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string path;
  bool isMade = false;
};

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

/// 127 when there is no such program; what it printed goes to `logFile`.
int runProgram(const std::vector<std::string> &words, const std::string &logFile) {
  std::vector<char *> arguments;
  for (const std::string &word : words) {
    arguments.push_back(const_cast<char *>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, logFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return 127;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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
  if (!folder.isMade) {
    return makeError(
        "E0003", fmt::format("cannot create a folder '{}': {}", folder.path, std::strerror(errno)));
  }
  const std::string exports =
      fmt::format("{{ global: {0}; {0}_select; nereid_aot_*; local: *; }};\n", library.name);
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
    if (status != 0) {
      auto log = readTextFile(folder.path + "/linker.log");
      return makeError("E0025", fmt::format("linking '{}' with '{}' failed", path, name))
          .note(log ? *log : "it printed nothing")
          .withHelp("set CC to another compiler, or use --emit static");
    }
    Result<std::vector<uint8_t>> linked = readBinaryFile(folder.path + "/library.so");
    return linked ? writeFileAtomically(path, *linked) : Status(linked.error());
  }
  return makeError("E0025", "a shared library needs a linker, and none was found")
      .note(fmt::format("looked for {} in the folders of PATH", fmt::join(names, ", ")))
      .withHelp("install a C compiler, set CC, or use --emit static, which needs none");
}

} // namespace nereid::aot
