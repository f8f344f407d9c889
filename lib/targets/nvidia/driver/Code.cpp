// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/Code.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <elf.h>

namespace nereid::nvidia {
namespace {

using runtime::LaunchError;

/// In front of a fat binary. The format is not documented; these fields have been so since CUDA 4.
struct FatHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes; ///< that follow the header
};
constexpr uint32_t fatMagic = 0xBA55ED50;

LaunchError cutOff(const char *what, uint64_t expected, size_t got) {
  return {"E0390", std::string("expects ") + what + " of " + std::to_string(expected) +
                       " bytes as its header says, but got " + std::to_string(got)};
}

template <class Header> bool read(std::span<const uint8_t> code, Header &header) {
  if (code.size() < sizeof header) {
    return false;
  }
  std::memcpy(&header, code.data(), sizeof header);
  return true;
}

/// From one of the two offsets, without overflow.
uint64_t endOfTable(uint64_t offset, uint64_t entries, uint64_t entryBytes) {
  return offset > INT64_MAX ? offset : offset + entries * entryBytes;
}

std::variant<CodeKind, LaunchError> checkCubin(std::span<const uint8_t> code) {
  Elf64_Ehdr header;
  if (!read(code, header)) {
    return cutOff("a cubin", sizeof header, code.size());
  }
  constexpr uint16_t machineCuda = 190;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machineCuda) {
    return LaunchError{"E0390", "expects a cubin, an ELF file for machine 190, but got one for "
                                "machine " +
                                    std::to_string(header.e_machine)};
  }
  const uint64_t end = std::max(endOfTable(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr)),
                                endOfTable(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr)));
  if (end > code.size()) {
    return cutOff("a cubin", end, code.size());
  }
  return CodeKind::Cubin;
}

std::variant<CodeKind, LaunchError> checkFatBinary(std::span<const uint8_t> code) {
  FatHeader header;
  if (!read(code, header)) {
    return cutOff("a fat binary", sizeof header, code.size());
  }
  if (header.bytes > code.size() || header.headerBytes + header.bytes > code.size()) {
    return cutOff("a fat binary", header.headerBytes + header.bytes, code.size());
  }
  return CodeKind::FatBinary;
}

/// The word behind a directive at the start of a line.
std::string directive(std::string_view text, std::string_view name) {
  for (size_t line = 0; line < text.size(); line = text.find('\n', line) + 1) {
    size_t begin = text.find_first_not_of(" \t", line);
    if (begin != text.npos && text.substr(begin).starts_with(name)) {
      begin = text.find_first_not_of(" \t", begin + name.size());
      const size_t end = text.find_first_of(" \t\r\n,;", begin);
      return begin == text.npos ? "" : std::string(text.substr(begin, end - begin));
    }
    if (text.find('\n', line) == text.npos) {
      break;
    }
  }
  return "";
}

} // namespace

std::variant<CodeKind, LaunchError> kindOf(std::span<const uint8_t> code) {
  uint32_t magic = 0;
  if (read(code, magic) && magic == fatMagic) {
    return checkFatBinary(code);
  }
  if (code.size() >= SELFMAG && std::memcmp(code.data(), ELFMAG, SELFMAG) == 0) {
    return checkCubin(code);
  }
  std::string_view text(reinterpret_cast<const char *>(code.data()), code.size());
  while (text.ends_with('\0')) {
    text.remove_suffix(1);
  }
  if (text.find('\0') != text.npos || readPtxHeader(text).version.empty()) {
    return LaunchError{"E0390", "expects PTX with a '.version', a cubin or a fat binary, but got " +
                                    std::to_string(code.size()) + " bytes that are none of them"};
  }
  return CodeKind::Ptx;
}

PtxHeader readPtxHeader(std::string_view text) {
  return {directive(text, ".version"), directive(text, ".target")};
}

int PtxHeader::capability() const {
  int number = 0;
  if (target.starts_with("sm_")) {
    (void)std::from_chars(target.data() + 3, target.data() + target.size(), number);
  }
  return number;
}

bool PtxHeader::isSpecific() const { return target.ends_with('a'); }

} // namespace nereid::nvidia
