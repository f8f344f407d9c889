// SPDX-License-Identifier: Apache-2.0
// An entry is the length of the KernelInfo text in four bytes, that text, and the object.
#include "lib/pipeline/KernelCache.h"

#include "lib/pipeline/KernelInfo.h"
#include "lib/support/Hash.h"

#include <cstring>
#include <elf.h>
#include <link.h>
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

std::string kernelCacheKey(const std::string &sourceText, const CompileInput &input,
                           const std::string &targetName) {
  Sha256 hash;
  hash.field("kernel").field(compilerBuildId()).field(targetName);
  hash.field(input.function).field(input.signature).field(sourceText);
  return toHex(hash.finish());
}

std::vector<uint8_t> encodeCachedKernel(const runtime::KernelInfo &info,
                                        std::span<const uint8_t> object) {
  std::string text = toJson(info);
  auto length = static_cast<uint32_t>(text.size());
  std::vector<uint8_t> bytes(sizeof(length));
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), object.begin(), object.end());
  return bytes;
}

std::optional<CachedKernel> decodeCachedKernel(std::span<const uint8_t> bytes) {
  uint32_t length = 0;
  if (bytes.size() < sizeof(length)) {
    return std::nullopt;
  }
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (bytes.size() - sizeof(length) < length) {
    return std::nullopt;
  }
  auto text = bytes.subspan(sizeof(length), length);
  auto info = kernelInfoFromJson(
      std::string_view(reinterpret_cast<const char *>(text.data()), text.size()));
  if (!info) {
    return std::nullopt;
  }
  auto object = bytes.subspan(sizeof(length) + length);
  return CachedKernel{std::move(*info), {object.begin(), object.end()}};
}

} // namespace nereid::pipeline
