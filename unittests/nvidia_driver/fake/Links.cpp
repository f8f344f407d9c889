// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: links, which give machine code for PTX. What it makes is an ELF file for its
// own capability with the text in it, and it counts how often it was made.
#include "unittests/nvidia_driver/fake/State.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string>

using namespace nereid::nvidia;
using namespace nereid::nvidia::test;
using cuda::Result;

namespace nereid::nvidia::test {

constexpr char sectionNames[] = "\0.names\0.fake.ptx";

std::string fakeCubin(const std::string &ptx, int capability) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_flags = static_cast<uint32_t>(capability);
  const std::string contents = std::string(sectionNames, sizeof sectionNames) + ptx + '\0';
  const size_t padding = (8 - contents.size() % 8) % 8;
  header.e_shoff = sizeof header + contents.size() + padding;
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = sizeof sectionNames;
  sections[2].sh_name = 8;
  sections[2].sh_offset = sizeof header + sizeof sectionNames;
  sections[2].sh_size = ptx.size() + 1;
  return std::string(reinterpret_cast<const char *>(&header), sizeof header) + contents +
         std::string(padding, '\0') +
         std::string(reinterpret_cast<const char *>(sections), sizeof sections);
}

const char *ptxOfCubin(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const auto *sections = reinterpret_cast<const Elf64_Shdr *>(image + header.e_shoff);
  const char *names = image + sections[header.e_shstrndx].sh_offset;
  const auto *end = sections + header.e_shnum;
  const auto *found = std::find_if(sections, end, [&](const Elf64_Shdr &section) {
    return std::strcmp(names + section.sh_name, ".fake.ptx") == 0;
  });
  return found == end ? nullptr : image + found->sh_offset;
}

} // namespace nereid::nvidia::test

FAKE_CUDA Result cuLinkCreate_v2(unsigned count, cuda::JitOption *options, void **values,
                                 cuda::LinkState *link) {
  Call call("cuLinkCreate");
  if (call.result != cuda::Success) {
    return call.result;
  }
  auto *made =
      new FakeLink{.context = call.context, .ptx = {}, .cubin = {}, .log = {}, .logBytes = 0};
  for (unsigned i = 0; i + 1 < count; ++i) {
    if (options[i] == cuda::JitErrorLog && options[i + 1] == cuda::JitErrorLogBytes) {
      made->log = static_cast<char *>(values[i]);
      made->logBytes = reinterpret_cast<uintptr_t>(values[i + 1]);
    }
  }
  state().links.insert(made);
  *link = reinterpret_cast<cuda::LinkState>(made);
  return cuda::Success;
}

/// The link when it is alive and of the current context, else null and the call's result.
static FakeLink *linkOf(Call &call, cuda::LinkState handle) {
  auto *link = reinterpret_cast<FakeLink *>(handle);
  if (!state().links.contains(link) || (call.context && link->context != call.context)) {
    call.result = state().violate("a link that is gone or of another context", cuda::InvalidHandle);
    return nullptr;
  }
  if (call.result != cuda::Success && link->log) {
    std::strncpy(link->log, state().jitLog.c_str(), link->logBytes);
  }
  return link;
}

FAKE_CUDA Result cuLinkAddData_v2(cuda::LinkState handle, cuda::JitInput kind, void *data,
                                  size_t bytes, const char *, unsigned, cuda::JitOption *,
                                  void **) {
  Call call("cuLinkAddData");
  FakeLink *link = linkOf(call, handle);
  if (!link || call.result != cuda::Success) {
    return call.result;
  }
  const auto *text = static_cast<const char *>(data);
  if (kind != cuda::JitInputPtx || bytes == 0 || std::memchr(text, 0, bytes) != text + bytes - 1) {
    return state().violate("a link of what is no text with a zero at its end", cuda::InvalidValue);
  }
  link->ptx += text;
  return cuda::Success;
}

FAKE_CUDA Result cuLinkComplete(cuda::LinkState handle, void **cubin, size_t *bytes) {
  Call call("cuLinkComplete");
  FakeLink *link = linkOf(call, handle);
  if (!link || call.result != cuda::Success) {
    return call.result;
  }
  link->cubin = fakeCubin(link->ptx, state().capability);
  *cubin = link->cubin.data();
  *bytes = link->cubin.size();
  return cuda::Success;
}

FAKE_CUDA Result cuLinkDestroy(cuda::LinkState handle) {
  Call call("cuLinkDestroy");
  FakeLink *link = linkOf(call, handle);
  if (link) {
    state().links.erase(link);
    delete link;
  }
  return call.result;
}
