// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/assembler/Ptxas.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/RunProgram.h"
#include "lib/support/TemporaryFolder.h"
#include "lib/targets/nvidia/assembler/Toolkit.h"

namespace nereid::nvidia {
namespace {

constexpr const char *knob = "NEREID_PTXAS";

} // namespace

Result<std::optional<std::string>> findPtxas() {
  if (const std::string named = environmentText(knob); !named.empty()) {
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
  std::string found = findToolkitProgram("ptxas");
  return found.empty() ? std::optional<std::string>() : std::optional(std::move(found));
}

Result<AssembledCode> assemble(std::string_view ptx, const std::string &architecture) {
  Result<std::optional<std::string>> ptxas = findPtxas();
  if (!ptxas) {
    return ptxas.error();
  }
  if (!*ptxas) {
    Diagnostic error = makeError("E0027", "machine code for '" + architecture +
                                              "' needs ptxas, and there is none");
    error.note(environmentText(knob) == "none"
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
  if (!cubin) {
    return makeError("E0027", "'" + **ptxas + "' has written no machine code for '" + architecture +
                                  "': it ended with status 0")
        .note(said->empty() ? "it printed nothing" : *said)
        .withHelp("name the file of ptxas by " + std::string(knob) + ", or 'none' to do without");
  }
  return AssembledCode{std::move(*cubin), std::move(*said)};
}

} // namespace nereid::nvidia
