// SPDX-License-Identifier: Apache-2.0
// Writes small relocatable ELF files by hand, so that the loader is tested without a compiler and
// against the format's definition instead of one producer's habits.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

namespace nereid::runtime::test {

class ObjectBuilder {
public:
  enum Section : uint16_t { Undefined = 0, Text = 1, ReadOnly = 2, Data = 3, Bss = 4 };

  std::vector<uint8_t> text, readOnly, data;
  uint64_t bssBytes = 0;

  ObjectBuilder() : symbols(1) { strings.push_back('\0'); }

  /// Appends bytes to .text and gives their offset.
  uint64_t code(std::vector<uint8_t> bytes) {
    const uint64_t at = text.size();
    text.insert(text.end(), bytes.begin(), bytes.end());
    return at;
  }
  uint32_t symbol(const std::string &name, Section section, uint64_t value) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbol.st_shndx = section;
    symbol.st_value = value;
    strings.insert(strings.end(), name.begin(), name.end());
    strings.push_back('\0');
    symbols.push_back(symbol);
    return static_cast<uint32_t>(symbols.size() - 1);
  }
  void relocate(Section section, uint64_t offset, uint32_t type, uint32_t symbol, int64_t addend) {
    (section == Text ? textRelocations : dataRelocations)
        .push_back({offset, ELF64_R_INFO(symbol, type), addend});
  }

  std::vector<uint8_t> build() const {
    std::vector<uint8_t> file(sizeof(Elf64_Ehdr));
    std::vector<Elf64_Shdr> sections(9);
    const auto place = [&](int index, uint32_t type, uint64_t flags, const void *content,
                           uint64_t bytes, uint64_t entryBytes = 0, uint32_t link = 0,
                           uint32_t info = 0) {
      file.resize((file.size() + 15) / 16 * 16);
      Elf64_Shdr &section = sections[static_cast<size_t>(index)];
      section.sh_type = type;
      section.sh_flags = flags;
      section.sh_offset = file.size();
      section.sh_size = bytes;
      section.sh_entsize = entryBytes;
      section.sh_link = link;
      section.sh_info = info;
      section.sh_addralign = 16;
      if (type != SHT_NOBITS && bytes) {
        const uint8_t *from = static_cast<const uint8_t *>(content);
        file.insert(file.end(), from, from + bytes);
      }
    };
    place(Text, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text.data(), text.size());
    place(ReadOnly, SHT_PROGBITS, SHF_ALLOC, readOnly.data(), readOnly.size());
    place(Data, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data.data(), data.size());
    place(Bss, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, nullptr, bssBytes);
    constexpr uint64_t relaBytes = sizeof(Elf64_Rela), symbolBytes = sizeof(Elf64_Sym);
    place(5, SHT_RELA, 0, textRelocations.data(), textRelocations.size() * relaBytes, relaBytes, 7,
          Text);
    place(6, SHT_RELA, 0, dataRelocations.data(), dataRelocations.size() * relaBytes, relaBytes, 7,
          Data);
    place(7, SHT_SYMTAB, 0, symbols.data(), symbols.size() * symbolBytes, symbolBytes, 8, 1);
    place(8, SHT_STRTAB, 0, strings.data(), strings.size());
    file.resize((file.size() + 15) / 16 * 16);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections.size());
    std::memcpy(file.data(), &header, sizeof header);
    const uint8_t *table = reinterpret_cast<const uint8_t *>(sections.data());
    file.insert(file.end(), table, table + sections.size() * sizeof(Elf64_Shdr));
    return file;
  }

private:
  std::vector<Elf64_Sym> symbols;
  std::vector<char> strings;
  std::vector<Elf64_Rela> textRelocations, dataRelocations;
};

/// A kernel that adds 1000 (from .rodata) to its first program id and stores it: out[id] = id +
/// 1000.
inline std::vector<uint8_t> addThousandObject() {
  ObjectBuilder object;
  object.readOnly = {0xE8, 0x03, 0, 0};
  object.code({0x48, 0x8B, 0x07,       // mov rax, [rdi]
               0x48, 0x63, 0x0E,       // movsxd rcx, [rsi]
               0x8B, 0x15, 0, 0, 0, 0, // mov edx, [rip + constant]
               0x01, 0xCA,             // add edx, ecx
               0x89, 0x14, 0x88,       // mov [rax + 4*rcx], edx
               0xC3});                 // ret
  object.symbol("kernel", ObjectBuilder::Text, 0);
  const uint32_t constant = object.symbol("constant", ObjectBuilder::ReadOnly, 0);
  object.relocate(ObjectBuilder::Text, 8, R_X86_64_PC32, constant, -4);
  return object.build();
}

} // namespace nereid::runtime::test
