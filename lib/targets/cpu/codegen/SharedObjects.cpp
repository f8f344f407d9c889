// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/SharedObjects.h"

#include "lib/support/Hash.h"

#include "llvm/IR/Function.h"

#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

namespace nereid::cpu {
namespace {

/// A process may compile for ever and must not grow; signatures of a kernel are compiled close to
/// each other.
constexpr size_t objectsAtMost = 64, namesAtMost = 256;

struct Objects {
  std::mutex mutex;
  std::set<std::string> names; ///< of kernels that were compiled
  std::unordered_map<std::string, std::vector<uint8_t>> byKey;
  std::deque<std::string> keys; ///< the oldest first
};

Objects &objects() {
  static auto *kept = new Objects; // other static objects may compile while the process ends
  return *kept;
}

std::string nameOf(const llvm::Module &module) {
  std::string name;
  for (const llvm::Function &function : module) {
    name += function.isDeclaration() ? "" : function.getName().str() + " ";
  }
  return name;
}

} // namespace

std::string keyOfCode(codegen::LlvmModule &code, const std::string &machine) {
  {
    Objects &all = objects();
    std::lock_guard lock(all.mutex);
    if (all.names.size() >= namesAtMost) {
      all.names.clear();
    }
    if (all.names.insert(machine + " " + nameOf(*code.module)).second) {
      return "";
    }
  }
  const std::string description = code.kernelInfo();
  if (!description.empty()) {
    code.attachKernelInfo("");
  }
  const std::string text = code.text();
  if (!description.empty()) {
    code.attachKernelInfo(description);
  }
  return toHex(Sha256().field(machine).field(text).finish());
}

std::optional<std::vector<uint8_t>> findObject(const std::string &key) {
  Objects &all = objects();
  std::lock_guard lock(all.mutex);
  auto found = all.byKey.find(key);
  return found == all.byKey.end() ? std::nullopt : std::optional(found->second);
}

void keepObject(const std::string &key, const std::vector<uint8_t> &object) {
  Objects &all = objects();
  std::lock_guard lock(all.mutex);
  if (!all.byKey.emplace(key, object).second) {
    return;
  }
  all.keys.push_back(key);
  if (all.keys.size() > objectsAtMost) {
    all.byKey.erase(all.keys.front());
    all.keys.pop_front();
  }
}

} // namespace nereid::cpu
