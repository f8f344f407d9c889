// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/Nvcc.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/RunProgram.h"
#include "lib/support/TemporaryFolder.h"

#include <filesystem>

namespace nereid::nvidia {

Nvcc::Nvcc(std::string program) : program(std::move(program)) {}

std::string Nvcc::identity() const {
  std::error_code ignored;
  const auto time = std::filesystem::last_write_time(program, ignored).time_since_epoch().count();
  return program + " " + std::to_string(std::filesystem::file_size(program, ignored)) + " " +
         std::to_string(time);
}

/// The text under the name of a copy becomes what the user calls it.
static std::string renamed(std::string log, const std::string &from, const std::string &to) {
  for (size_t at = log.find(from); at != log.npos; at = log.find(from, at + to.size())) {
    log.replace(at, from.size(), to);
  }
  return log;
}

Result<CompiledCuda> Nvcc::compile(const CudaSource &source) const {
  const TemporaryFolder folder;
  if (Status made = folder.made(); !made) {
    return made.error();
  }
  // What was read is what is compiled, whatever has become of the file.
  const std::string copy = folder.path + "/kernel.cu", ptx = folder.path + "/kernel.ptx",
                    log = folder.path + "/log";
  if (Status written = writeFileAtomically(copy, source.text); !written) {
    return written.error();
  }
  std::vector<std::string> words = {program, "-ptx", "-arch=" + source.architecture,
                                    "-I" + folderOfSource(source.path)};
  for (std::string &option : cudaOptions(source)) {
    words.push_back(std::move(option));
  }
  words.insert(words.end(), {"-o", ptx, copy});
  const int status = runProgram(words, log);
  Result<std::string> said = readTextFile(log);
  if (!said) {
    return said.error();
  }
  CompiledCuda result;
  Result<std::string> text = readTextFile(ptx); // none of a program that is no nvcc
  result.isRight = status == 0 && text;
  result.log = renamed(std::move(*said), copy, source.path);
  if (result.isRight) {
    result.ptx = std::move(*text);
  } else if (result.log.empty() || status == 0) {
    result.log += "it ended with status " + std::to_string(status) +
                  (status == 0 ? " and wrote no PTX" : " and printed nothing");
  }
  return result;
}

} // namespace nereid::nvidia
