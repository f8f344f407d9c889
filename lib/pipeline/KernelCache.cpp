// SPDX-License-Identifier: Apache-2.0
// An entry is the lengths of two texts in four bytes each, the texts, and the object. The texts are
// the KernelInfo and the dependencies: digest and path of each, every one ended by a zero byte.
#include "lib/pipeline/KernelCache.h"

#include "lib/pipeline/ImportPaths.h"
#include "lib/pipeline/kernel/KernelInfo.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"

#include <cstring>
#include <deque>
#include <elf.h>
#include <link.h>
#include <mutex>
#include <sys/stat.h>

namespace nereid::pipeline {
namespace {

struct OwnModule {
  std::string path; // empty for the program itself
  std::string buildId;
  bool isFound = false;
};

/// Called per loaded program or library; stops at the one that holds this function.
int inspectModule(dl_phdr_info *info, size_t, void *data) {
  auto &own = *static_cast<OwnModule *>(data);
  auto address = reinterpret_cast<uintptr_t>(&inspectModule);
  bool isOwn = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    isOwn |= segment.p_type == PT_LOAD && address >= start && address < start + segment.p_memsz;
  }
  if (!isOwn) {
    return 0;
  }
  own.isFound = true;
  own.path = info->dlpi_name ? info->dlpi_name : "";
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) {
      continue;
    }
    auto *at = reinterpret_cast<const uint8_t *>(info->dlpi_addr + segment.p_vaddr);
    const uint8_t *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const uint8_t *name = at + sizeof(note);
      const uint8_t *value = name + ((note.n_namesz + 3) & ~3u);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && value + note.n_descsz <= end &&
          std::memcmp(name, "GNU", 4) == 0) {
        own.buildId.assign(value, value + note.n_descsz);
        return 1;
      }
      at = value + ((note.n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

std::string findBuildId() {
  OwnModule own;
  dl_iterate_phdr(inspectModule, &own);
  if (!own.buildId.empty()) {
    return own.buildId;
  }
  struct stat file;
  const char *path = own.path.empty() ? "/proc/self/exe" : own.path.c_str();
  if (stat(path, &file) == 0) {
    return std::to_string(file.st_size) + "@" + std::to_string(file.st_mtim.tv_sec) + "." +
           std::to_string(file.st_mtim.tv_nsec);
  }
  return "unknown";
}

} // namespace

const std::string &compilerBuildId() {
  static const std::string id = findBuildId();
  return id;
}

/// Hash of a text, kept for the last ones: all kernels of a file, with every signature, ask for
/// that of the same text, and to compare it takes a hundredth of the time.
static std::string hashOfText(const std::string &text) {
  constexpr size_t textsAtMost = 4, bytesAtMost = 1 << 20;
  static std::mutex mutex;
  static std::deque<std::pair<std::string, std::string>> known;
  {
    std::lock_guard lock(mutex);
    for (const auto &[each, hash] : known) {
      if (each == text) {
        return hash;
      }
    }
  }
  std::string hash = toHex(sha256(text));
  if (text.size() <= bytesAtMost) {
    std::lock_guard lock(mutex);
    if (known.size() >= textsAtMost) {
      known.pop_front();
    }
    known.emplace_back(text, hash);
  }
  return hash;
}

std::string kernelCacheKey(const std::string &sourceText, const CompileInput &input,
                           const std::string &targetName) {
  Sha256 hash;
  hash.field("kernel").field(compilerBuildId()).field(targetName);
  hash.field(input.function).field(input.signature).field(hashOfText(sourceText));
  return toHex(hash.finish());
}

std::string importingKernelKey(const std::string &kernelKey, const CompileInput &input) {
  Sha256 hash;
  hash.field("importing kernel").field(kernelKey);
  hash.field(language::absolutePath(language::folderOf(input.path)));
  for (const std::string &folder : allImportPaths(input)) {
    hash.field(language::absolutePath(folder));
  }
  return toHex(hash.finish());
}

std::vector<uint8_t> encodeCachedKernel(const CachedKernel &kernel) {
  std::string info = toJson(kernel.info), dependencies;
  for (const language::FileState &file : kernel.dependencies) {
    dependencies += file.digest + '\0' + file.path + '\0';
  }
  const uint32_t lengths[2] = {static_cast<uint32_t>(info.size()),
                               static_cast<uint32_t>(dependencies.size())};
  std::vector<uint8_t> bytes(sizeof(lengths));
  std::memcpy(bytes.data(), lengths, sizeof(lengths));
  bytes.insert(bytes.end(), info.begin(), info.end());
  bytes.insert(bytes.end(), dependencies.begin(), dependencies.end());
  bytes.insert(bytes.end(), kernel.object.begin(), kernel.object.end());
  return bytes;
}

/// Nothing when the text does not end where a path does.
static std::optional<std::vector<language::FileState>> decodeDependencies(std::string_view text) {
  std::vector<language::FileState> files;
  while (!text.empty()) {
    size_t digestEnd = text.find('\0');
    size_t pathEnd = digestEnd == text.npos ? text.npos : text.find('\0', digestEnd + 1);
    if (pathEnd == text.npos) {
      return std::nullopt;
    }
    files.push_back({std::string(text.substr(digestEnd + 1, pathEnd - digestEnd - 1)),
                     std::string(text.substr(0, digestEnd))});
    text.remove_prefix(pathEnd + 1);
  }
  return files;
}

std::optional<CachedKernel> decodeCachedKernel(std::span<const uint8_t> bytes) {
  uint32_t lengths[2] = {};
  if (bytes.size() < sizeof(lengths)) {
    return std::nullopt;
  }
  std::memcpy(lengths, bytes.data(), sizeof(lengths));
  bytes = bytes.subspan(sizeof(lengths));
  if (bytes.size() < lengths[0] || bytes.size() - lengths[0] < lengths[1]) {
    return std::nullopt;
  }
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  auto info = kernelInfoFromJson(text.substr(0, lengths[0]));
  auto dependencies = decodeDependencies(text.substr(lengths[0], lengths[1]));
  if (!info || !dependencies) {
    return std::nullopt;
  }
  auto object = bytes.subspan(size_t(lengths[0]) + lengths[1]);
  return CachedKernel{std::move(*info), {object.begin(), object.end()}, std::move(*dependencies)};
}

std::optional<CachedKernel> findCachedKernel(const std::string &kernelKey,
                                             const CompileInput &input) {
  auto bytes = DiskCache::forKernels().read(kernelKey);
  if (!bytes) {
    bytes = DiskCache::forKernels().read(importingKernelKey(kernelKey, input));
  }
  auto kernel = bytes ? decodeCachedKernel(*bytes) : std::nullopt;
  return kernel && language::isCurrent(kernel->dependencies) ? kernel : std::nullopt;
}

void storeCachedKernel(const std::string &kernelKey, const CompileInput &input,
                       const CachedKernel &kernel) {
  bool isImporting = !kernel.dependencies.empty();
  DiskCache::forKernels().write(isImporting ? importingKernelKey(kernelKey, input) : kernelKey,
                                encodeCachedKernel(kernel));
}

} // namespace nereid::pipeline
