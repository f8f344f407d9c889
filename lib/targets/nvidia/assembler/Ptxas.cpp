// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/assembler/Ptxas.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/RunProgram.h"
#include "lib/support/TemporaryFolder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace nereid::nvidia {
namespace {

constexpr const char *knob = "NEREID_PTXAS";

std::string valueOf(const char *variable) {
  const char *value = std::getenv(variable);
  return value ? value : "";
}

bool isProgram(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// "cuda-12.4" stands before "cuda-11.8" and "cuda-9.0".
bool isNewer(const std::filesystem::path &a, const std::filesystem::path &b) {
  const std::string left = a.filename(), right = b.filename();
  return left.size() != right.size() ? left.size() > right.size() : left > right;
}

/// Folders in the order in which they are looked at.
std::vector<std::string> folders() {
  std::vector<std::string> result;
  const std::string path = valueOf("PATH");
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    result.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string folder = valueOf(variable); !folder.empty()) {
      result.push_back(folder + "/bin");
    }
  }
  result.insert(result.end(), {"/usr/local/cuda/bin", "/opt/cuda/bin"});
  std::vector<std::filesystem::path> versions;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) {
      versions.push_back(entry.path() / "bin");
    }
  }
  std::sort(versions.begin(), versions.end(),
            [](const auto &a, const auto &b) { return isNewer(a.parent_path(), b.parent_path()); });
  result.insert(result.end(), versions.begin(), versions.end());
  return result;
}

} // namespace

Result<std::optional<std::string>> findPtxas() {
  if (const std::string named = valueOf(knob); !named.empty()) {
    if (named == "none") {
      return std::optional<std::string>();
    }
    if (!isProgram(named)) {
      return makeError("E0027", std::string(knob) + " expects a program, but '" + named +
                                    "' is none that can be run")
          .withHelp("name the file of ptxas, or 'none' to do without");
    }
    return std::optional(named);
  }
  for (const std::string &folder : folders()) {
    if (const std::string path = folder + "/ptxas"; isProgram(path)) {
      return std::optional(path);
    }
  }
  return std::optional<std::string>();
}

Result<AssembledCode> assemble(std::string_view ptx, const std::string &architecture) {
  Result<std::optional<std::string>> ptxas = findPtxas();
  if (!ptxas) {
    return ptxas.error();
  }
  if (!*ptxas) {
    Diagnostic error = makeError("E0027", "machine code for '" + architecture +
                                              "' needs ptxas, and there is none");
    error.note(valueOf(knob) == "none"
                   ? std::string(knob) + " is 'none'"
                   : "looked in the folders of PATH, in $CUDA_HOME/bin, $CUDA_PATH/bin, "
                     "/usr/local/cuda/bin, /opt/cuda/bin and /usr/local/cuda-*/bin");
    return error.withHelp("install CUDA's ptxas, name one by " + std::string(knob) +
                          ", or keep the PTX, which the driver of the GPU compiles");
  }
  const TemporaryFolder folder;
  if (Status made = folder.made(); !made) {
    return made.error();
  }
  const std::string text = folder.path + "/kernel.ptx", code = folder.path + "/kernel.cubin",
                    log = folder.path + "/log";
  if (Status written = writeFileAtomically(text, ptx); !written) {
    return written.error();
  }
  const int status = runProgram({**ptxas, "-v", "-arch=" + architecture, "-o", code, text}, log);
  Result<std::string> said = readTextFile(log);
  if (!said) {
    return said.error();
  }
  if (status != 0) {
    return makeError("E0027", "'" + **ptxas + "' does not assemble the kernel for '" +
                                  architecture + "': it ended with status " +
                                  std::to_string(status))
        .note(said->empty() ? "it printed nothing" : *said)
        .withHelp("take a newer ptxas where it does not know this PTX version or architecture; "
                  "for assembly in the kernel's own source see its line");
  }
  Result<std::vector<uint8_t>> cubin = readBinaryFile(code);
  return cubin ? Result<AssembledCode>(AssembledCode{std::move(*cubin), std::move(*said)})
               : Result<AssembledCode>(cubin.error());
}

} // namespace nereid::nvidia
