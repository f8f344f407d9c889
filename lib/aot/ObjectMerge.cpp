// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/ObjectMerge.h"

#include <cstring>
#include <elf.h>
#include <set>

namespace nereid::aot {
namespace {

constexpr uint32_t addressSignificance = 0x6fff4c03; // SHT_LLVM_ADDRSIG: indexes of symbols
constexpr uint32_t riscvAttributes = 0x70000003;     // SHT_RISCV_ATTRIBUTES

/// Reads with every offset checked; `isValid` is false after the first that lies outside.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {
    header = at<Elf64_Ehdr>(0);
    isValid = isValid && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
              header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
              header.e_type == ET_REL && header.e_shentsize == sizeof(Elf64_Shdr);
    for (uint64_t i = 0; isValid && i < header.e_shnum; ++i) {
      sections.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size()) {
        symbolNames = sections[section.sh_link];
        for (uint64_t offset = 0; isValid && offset + sizeof(Elf64_Sym) <= section.sh_size;
             offset += sizeof(Elf64_Sym)) {
          symbols.push_back(at<Elf64_Sym>(section.sh_offset + offset));
        }
      }
    }
  }

  template <class T> T at(uint64_t offset) {
    T value{};
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
      isValid = false;
      return value;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }

  std::string text(const Elf64_Shdr &table, uint64_t offset) {
    const uint64_t start = table.sh_offset + offset;
    if (offset >= table.sh_size || start >= bytes.size()) {
      isValid = false;
      return "";
    }
    const char *first = reinterpret_cast<const char *>(bytes.data() + start);
    return {first, strnlen(first, bytes.size() - start)};
  }
  std::string nameOf(const Elf64_Sym &symbol) { return text(symbolNames, symbol.st_name); }
  std::string nameOf(const Elf64_Shdr &section) {
    return header.e_shstrndx < sections.size() ? text(sections[header.e_shstrndx], section.sh_name)
                                               : "";
  }

  std::span<const uint8_t> bytes;
  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  Elf64_Shdr symbolNames{};
  bool isValid = true;
};

bool isGlobal(const Elf64_Sym &symbol) { return ELF64_ST_BIND(symbol.st_info) != STB_LOCAL; }

class Merger {
public:
  Merger(const std::vector<ObjectPart> &parts, const std::set<std::string> &exported)
      : parts(parts), exported(exported) {}

  Result<std::vector<uint8_t>> merge() {
    out.resize(sizeof(Elf64_Ehdr));
    sections.push_back({}); // the null section
    symbols.push_back({});
    symbolNames.push_back('\0');
    sectionNames.push_back('\0');
    for (const ObjectPart &part : parts) {
      readers.emplace_back(part.bytes);
      const Elf64_Ehdr &own = readers.back().header, &first = readers.front().header;
      if (!readers.back().isValid || own.e_machine != first.e_machine ||
          own.e_flags != first.e_flags) {
        return broken("it is damaged or for another machine");
      }
    }
    sectionMap.resize(parts.size());
    symbolMap.resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      copySections(i);
    }
    addLocals();
    const size_t firstGlobal = addGlobals();
    for (size_t i = 0; i < parts.size(); ++i) {
      rewriteRelocations(i);
    }
    for (const Reader &reader : readers) {
      if (!reader.isValid) {
        return broken("an offset lies outside of it");
      }
    }
    if (!problem.empty()) {
      return broken(problem);
    }
    finish(firstGlobal);
    return std::move(out);
  }

private:
  static Diagnostic broken(const std::string &why) {
    return makeError("E0390", "an object of the library cannot be merged: " + why)
        .withHelp("this is a bug in nereid; please report it");
  }

  std::string renamed(size_t part, const std::string &name) const {
    auto found = parts[part].renamed.find(name);
    return found == parts[part].renamed.end() ? name : found->second;
  }

  static uint32_t addText(std::string &table, const std::string &text) {
    const auto offset = static_cast<uint32_t>(table.size());
    table += text;
    table.push_back('\0');
    return offset;
  }

  void align(uint64_t alignment) {
    while (alignment > 1 && out.size() % alignment != 0) {
      out.push_back(0);
    }
  }

  bool isKept(size_t part, const Elf64_Shdr &section, const std::string &name) const {
    switch (section.sh_type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case addressSignificance:
      return false;
    case riscvAttributes:
      return part == 0;
    default:
      return part == 0 || name != ".note.GNU-stack";
    }
  }

  void copySections(size_t part) {
    Reader &reader = readers[part];
    std::vector<uint32_t> &map = sectionMap[part];
    map.assign(reader.sections.size(), 0);
    for (size_t i = 0; i < reader.sections.size(); ++i) {
      Elf64_Shdr section = reader.sections[i];
      const std::string name = reader.nameOf(section);
      if (section.sh_type == SHT_GROUP || section.sh_type == SHT_REL) {
        problem = "it has a section of the unexpected type " + std::to_string(section.sh_type);
      }
      if (!isKept(part, section, name)) {
        continue;
      }
      align(section.sh_addralign);
      const uint64_t offset = out.size();
      if (section.sh_type != SHT_NOBITS) {
        if (section.sh_offset > reader.bytes.size() ||
            reader.bytes.size() - section.sh_offset < section.sh_size) {
          reader.isValid = false;
          return;
        }
        const uint8_t *first = reader.bytes.data() + section.sh_offset;
        out.insert(out.end(), first, first + section.sh_size);
      }
      section.sh_offset = offset;
      section.sh_name = addText(sectionNames, name);
      map[i] = static_cast<uint32_t>(sections.size());
      sections.push_back(section);
    }
    for (uint32_t own : map) {
      if (own != 0 && (sections[own].sh_flags & SHF_LINK_ORDER) &&
          sections[own].sh_link < map.size()) {
        sections[own].sh_link = map[sections[own].sh_link];
      }
    }
  }

  uint16_t mappedSection(size_t part, uint16_t index) {
    if (index == SHN_UNDEF || index >= SHN_LORESERVE) {
      return index;
    }
    return index < sectionMap[part].size() ? static_cast<uint16_t>(sectionMap[part][index]) : 0;
  }

  uint32_t addSymbol(size_t part, Elf64_Sym symbol, const std::string &name, int binding) {
    symbol.st_name = name.empty() ? 0 : addText(symbolNames, name);
    symbol.st_shndx = mappedSection(part, symbol.st_shndx);
    symbol.st_info = ELF64_ST_INFO(binding, ELF64_ST_TYPE(symbol.st_info));
    if (binding == STB_LOCAL) {
      symbol.st_other = (symbol.st_other & ~3) | STV_DEFAULT;
    }
    symbols.push_back(symbol);
    return static_cast<uint32_t>(symbols.size() - 1);
  }

  /// Local ones, and defined ones that nobody outside needs.
  void addLocals() {
    for (size_t part = 0; part < parts.size(); ++part) {
      Reader &reader = readers[part];
      symbolMap[part].assign(reader.symbols.size(), 0);
      for (size_t i = 1; i < reader.symbols.size(); ++i) {
        const Elf64_Sym &symbol = reader.symbols[i];
        const std::string name = renamed(part, reader.nameOf(symbol));
        const bool isDefined = symbol.st_shndx != SHN_UNDEF;
        if (isGlobal(symbol) && (!isDefined || exported.count(name))) {
          continue;
        }
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
          continue;
        }
        const uint32_t index = addSymbol(part, symbol, name, STB_LOCAL);
        symbolMap[part][i] = index;
        if (isGlobal(symbol)) {
          defined.emplace(name, index);
        }
      }
    }
  }

  /// Exported ones, then those the user's link has to bring; gives the number of the first.
  size_t addGlobals() {
    const size_t first = symbols.size();
    for (const bool isUndefined : {false, true}) {
      for (size_t part = 0; part < parts.size(); ++part) {
        Reader &reader = readers[part];
        for (size_t i = 1; i < reader.symbols.size(); ++i) {
          const Elf64_Sym &symbol = reader.symbols[i];
          if (symbolMap[part][i] != 0 || !isGlobal(symbol) ||
              (symbol.st_shndx == SHN_UNDEF) != isUndefined) {
            continue;
          }
          const std::string name = renamed(part, reader.nameOf(symbol));
          auto known = defined.find(name);
          if (known == defined.end()) {
            const uint32_t index = addSymbol(part, symbol, name, ELF64_ST_BIND(symbol.st_info));
            known = defined.emplace(name, index).first;
          }
          symbolMap[part][i] = known->second;
        }
      }
    }
    return first;
  }

  void rewriteRelocations(size_t part) {
    Reader &reader = readers[part];
    for (uint32_t own : sectionMap[part]) {
      Elf64_Shdr &section = sections[own];
      if (own == 0 || section.sh_type != SHT_RELA) {
        continue;
      }
      section.sh_link = static_cast<uint32_t>(sections.size()); // the symbol table comes next
      section.sh_info =
          section.sh_info < sectionMap[part].size() ? sectionMap[part][section.sh_info] : 0;
      for (uint64_t offset = 0; offset + sizeof(Elf64_Rela) <= section.sh_size;
           offset += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        std::memcpy(&entry, out.data() + section.sh_offset + offset, sizeof entry);
        const uint64_t symbol = ELF64_R_SYM(entry.r_info);
        if (symbol >= symbolMap[part].size()) {
          reader.isValid = false;
          return;
        }
        entry.r_info = ELF64_R_INFO(static_cast<uint64_t>(symbolMap[part][symbol]),
                                    ELF64_R_TYPE(entry.r_info));
        std::memcpy(out.data() + section.sh_offset + offset, &entry, sizeof entry);
      }
    }
  }

  void append(const void *data, uint64_t bytes, Elf64_Shdr section, const char *name) {
    align(section.sh_addralign);
    section.sh_offset = out.size();
    section.sh_size = bytes;
    section.sh_name = addText(sectionNames, name);
    const auto *first = static_cast<const uint8_t *>(data);
    out.insert(out.end(), first, first + bytes);
    sections.push_back(section);
  }

  void finish(size_t firstGlobal) {
    const auto symbolTable = static_cast<uint32_t>(sections.size());
    Elf64_Shdr table{}, texts{};
    table.sh_type = SHT_SYMTAB;
    table.sh_link = symbolTable + 1;
    table.sh_info = static_cast<uint32_t>(firstGlobal);
    table.sh_addralign = 8;
    table.sh_entsize = sizeof(Elf64_Sym);
    append(symbols.data(), symbols.size() * sizeof(Elf64_Sym), table, ".symtab");
    texts.sh_type = SHT_STRTAB;
    texts.sh_addralign = 1;
    append(symbolNames.data(), symbolNames.size(), texts, ".strtab");
    // Its own name is part of what it holds.
    const uint32_t name = addText(sectionNames, ".shstrtab");
    const std::string names = sectionNames;
    append(names.data(), names.size(), texts, "");
    sections.back().sh_name = name;
    align(8);
    Elf64_Ehdr header = readers.front().header;
    header.e_shoff = out.size();
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
    const auto *rows = reinterpret_cast<const uint8_t *>(sections.data());
    out.insert(out.end(), rows, rows + sections.size() * sizeof(Elf64_Shdr));
    std::memcpy(out.data(), &header, sizeof header);
  }

  const std::vector<ObjectPart> &parts;
  const std::set<std::string> &exported;
  std::vector<Reader> readers;
  std::vector<std::vector<uint32_t>> sectionMap, symbolMap; ///< by part, then old index
  std::map<std::string, uint32_t> defined;                  ///< global symbols by name
  std::vector<uint8_t> out;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string symbolNames, sectionNames, problem;
};

} // namespace

Result<std::vector<uint8_t>> mergeObjects(const std::vector<ObjectPart> &parts,
                                          const std::set<std::string> &exported) {
  return Merger(parts, exported).merge();
}

std::vector<std::string> definedGlobals(std::span<const uint8_t> object) {
  Reader reader(object);
  std::vector<std::string> names;
  for (size_t i = 1; reader.isValid && i < reader.symbols.size(); ++i) {
    if (isGlobal(reader.symbols[i]) && reader.symbols[i].st_shndx != SHN_UNDEF) {
      names.push_back(reader.nameOf(reader.symbols[i]));
    }
  }
  return names;
}

int machineOf(std::span<const uint8_t> object) {
  Reader reader(object);
  return reader.isValid ? reader.header.e_machine : 0;
}

} // namespace nereid::aot
