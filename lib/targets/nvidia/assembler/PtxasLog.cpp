// SPDX-License-Identifier: Apache-2.0
// ptxas info    : Function properties for softmax
//     0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
// ptxas info    : Used 32 registers, used 1 barriers, 1040 bytes smem, 400 bytes cmem[0]
#include "lib/targets/nvidia/assembler/PtxasLog.h"

#include <charconv>

namespace nereid::nvidia {
namespace {

/// The number in front of `unit`, of all places where it stands together; 0 without one.
int64_t numberBefore(std::string_view log, std::string_view unit) {
  int64_t sum = 0;
  for (size_t at = log.find(unit); at != log.npos; at = log.find(unit, at + 1)) {
    size_t begin = at;
    while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') {
      --begin;
    }
    int64_t number = 0;
    (void)std::from_chars(log.data() + begin, log.data() + at, number);
    sum += number;
  }
  return sum;
}

/// "(C7510)" anywhere in the line.
bool hasCode(std::string_view line) {
  for (size_t at = line.find("(C"); at != line.npos; at = line.find("(C", at + 1)) {
    const size_t end = line.find_first_not_of("0123456789", at + 2);
    if (end != line.npos && end > at + 2 && line[end] == ')') {
      return true;
    }
  }
  return false;
}

} // namespace

pipeline::CodeAccount readPtxasLog(std::string_view log) {
  pipeline::CodeAccount account;
  runtime::FunctionResources &resources = account.resources;
  resources.registers = numberBefore(log, " registers");
  resources.sharedBytes = numberBefore(log, " bytes smem");
  resources.localBytes = numberBefore(log, " bytes stack frame");
  resources.spillStoreBytes = numberBefore(log, " bytes spill stores");
  resources.spillLoadBytes = numberBefore(log, " bytes spill loads");
  for (size_t start = 0; start < log.size();) {
    const size_t end = std::min(log.find('\n', start), log.size());
    const std::string_view line = log.substr(start, end - start);
    if (hasCode(line) || line.find("warning") != line.npos) {
      account.warnings.emplace_back(line);
    }
    start = end + 1;
  }
  return account;
}

} // namespace nereid::nvidia
