// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Archive.h"

#include <fmt/format.h>

#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>

namespace nereid::aot {
namespace {

llvm::MemoryBufferRef bufferOf(std::span<const uint8_t> bytes, std::string_view name) {
  return {{reinterpret_cast<const char *>(bytes.data()), bytes.size()}, name};
}

} // namespace

Result<std::vector<uint8_t>> writeArchive(const std::vector<ArchiveMember> &members) {
  std::vector<llvm::NewArchiveMember> added;
  for (const ArchiveMember &member : members) {
    added.emplace_back(bufferOf(member.bytes, member.name));
  }
  auto archive = llvm::writeArchiveToBuffer(added, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU,
                                            /*Deterministic=*/true, /*Thin=*/false);
  if (!archive) {
    return makeError("E0024", fmt::format("a member of the static library is no object that can be "
                                          "linked: {}",
                                          llvm::toString(archive.takeError())))
        .withHelp("build runtime/aot again; docs/ahead-of-time.md says how");
  }
  return std::vector<uint8_t>((*archive)->getBufferStart(), (*archive)->getBufferEnd());
}

std::optional<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes) {
  auto archive = llvm::object::Archive::create(bufferOf(bytes, "archive"));
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return std::nullopt;
  }
  if ((*archive)->isThin()) { // its members are elsewhere
    return std::nullopt;
  }
  std::vector<ArchiveMember> members;
  bool isReadable = true;
  llvm::Error end = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*archive)->children(end)) {
    auto name = child.getName();
    auto content = child.getBuffer();
    isReadable = isReadable && name && content;
    if (isReadable) {
      members.push_back({name->str(), {content->bytes_begin(), content->bytes_end()}});
    }
    llvm::consumeError(llvm::joinErrors(name.takeError(), content.takeError()));
  }
  isReadable = isReadable && !end;
  llvm::consumeError(std::move(end));
  return isReadable ? std::optional(std::move(members)) : std::nullopt;
}

} // namespace nereid::aot
