// SPDX-License-Identifier: Apache-2.0
// Reads the symbol table of an ELF64 object: proves that code generation left no library call that
// the runtime's loader would refuse. The object comes from our own code generator, but every offset
// is checked all the same since this also runs on objects read from files.
#include "lib/targets/cpu/codegen/Codegen.h"

#include "llvm/BinaryFormat/ELF.h"

#include <cstring>

namespace nereid::cpu {
namespace {

template <class T> bool readAt(const std::vector<uint8_t> &bytes, uint64_t offset, T &value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return false;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

} // namespace

std::vector<std::string> undefinedSymbols(const std::vector<uint8_t> &object) {
  using namespace llvm::ELF;
  std::vector<std::string> names;
  Elf64_Ehdr header;
  if (!readAt(object, 0, header) || std::memcmp(header.e_ident, ElfMagic, 4) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return names;
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!readAt(object, header.e_shoff + i * sizeof(table), table)) {
      break;
    }
    if (table.sh_type != SHT_SYMTAB ||
        !readAt(object, header.e_shoff + table.sh_link * sizeof(strings), strings)) {
      continue;
    }
    // Entry 0 is the null symbol.
    for (uint64_t offset = sizeof(Elf64_Sym); offset < table.sh_size; offset += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!readAt(object, table.sh_offset + offset, symbol)) {
        break;
      }
      uint64_t name = strings.sh_offset + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || name >= object.size()) {
        continue;
      }
      const char *text = reinterpret_cast<const char *>(object.data() + name);
      names.emplace_back(text, strnlen(text, object.size() - name));
    }
  }
  return names;
}

} // namespace nereid::cpu
