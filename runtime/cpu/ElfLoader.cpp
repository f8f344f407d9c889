// SPDX-License-Identifier: Apache-2.0
// Links one relocatable ELF object of this machine's architecture into this process. The object may
// come from a damaged file, so nothing in it is believed: every offset, index, size and relocation
// is checked against what was read before it. Pages are writable while they are filled and
// executable or read-only afterwards, never both. Format: System V gABI chapter 4; what each
// architecture adds is in Relocations.h.
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/cpu/ExternalSymbols.h"
#include "runtime/cpu/Relocations.h"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

constexpr uint64_t maxImageBytes = uint64_t{1} << 30;
/// Left free before the code: Clang's -fsanitize=function reads the words before a function it
/// calls.
constexpr uint64_t leadBytes = 64;
/// SHT_X86_64_UNWIND of the psABI: unwind tables, which nothing reads as kernels do not throw.
constexpr uint32_t unwindSection = 0x70000001;

/// Unmaps the image when the last kernel that uses it is gone.
class ElfCode final : public Module {
public:
  ElfCode(uint8_t *base, size_t bytes, std::map<std::string, void *, std::less<>> symbols)
      : Module(cpuDevice()), base(base), bytes(bytes), symbols(std::move(symbols)) {}
  ~ElfCode() override { ::munmap(base, bytes); }
  void *symbol(std::string_view name) const override {
    const auto found = symbols.find(name);
    return found == symbols.end() ? nullptr : found->second;
  }

private:
  uint8_t *base;
  size_t bytes;
  std::map<std::string, void *, std::less<>> symbols;
};

/// Sections with the same protection lie together and start on a page of their own.
enum Segment { Code, ReadOnly, Writable, SegmentCount };

struct Linker {
  std::span<const uint8_t> file;
  LaunchError problem;
  const RelocationArchitecture *architecture = hostRelocations();

  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string_view names;

  std::vector<uint64_t> sectionOffset; ///< in the image; unplaced for sections not loaded
  std::vector<uint64_t> stubOf;        ///< per symbol, offset of its stub; unplaced = none
  uint64_t segmentStart[SegmentCount + 1] = {};
  uint64_t stubsStart = 0;
  uint8_t *image = nullptr;
  std::map<uint64_t, uint64_t> distances; ///< of relative relocations, by place, for low parts
  static constexpr uint64_t unplaced = ~uint64_t{0};

  bool fail(std::string text) {
    problem = {"E0390", "object code is damaged or of an unknown form: " + std::move(text)};
    return false;
  }

  bool contains(uint64_t offset, uint64_t bytes) const {
    return offset <= file.size() && bytes <= file.size() - offset;
  }

  template <class T> bool readTable(const Elf64_Shdr &section, std::vector<T> &table) {
    if (section.sh_entsize != sizeof(T) || section.sh_size % sizeof(T) != 0 ||
        !contains(section.sh_offset, section.sh_size)) {
      return false;
    }
    table.resize(section.sh_size / sizeof(T));
    if (!table.empty()) {
      std::memcpy(table.data(), file.data() + section.sh_offset, section.sh_size);
    }
    return true;
  }

  bool readHeader() {
    if (!contains(0, sizeof header)) {
      return fail("it has " + std::to_string(file.size()) + " bytes, less than a header");
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
      return fail("it is no 64-bit little-endian ELF file");
    }
    if (!architecture) {
      return fail("this program cannot load objects on this architecture");
    }
    if (header.e_type != ET_REL || header.e_machine != architecture->machine) {
      const RelocationArchitecture *known = relocationArchitecture(header.e_machine);
      return fail("expects a relocatable file for " + std::string(architecture->name) +
                  ", but got type " + std::to_string(header.e_type) + " for machine " +
                  (known ? std::string(known->name) : std::to_string(header.e_machine)));
    }
    const uint64_t bytes = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || !contains(header.e_shoff, bytes)) {
      return fail("its section table lies outside the file");
    }
    sections.resize(header.e_shnum);
    if (!sections.empty()) {
      std::memcpy(sections.data(), file.data() + header.e_shoff, bytes);
    }
    return true;
  }

  bool readSymbols() {
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type != SHT_SYMTAB) {
        continue;
      }
      if (!symbols.empty()) {
        return fail("it has two symbol tables");
      }
      if (!readTable(section, symbols) || section.sh_link >= sections.size()) {
        return fail("its symbol table lies outside the file");
      }
      const Elf64_Shdr &strings = sections[section.sh_link];
      if (strings.sh_type != SHT_STRTAB || !contains(strings.sh_offset, strings.sh_size) ||
          strings.sh_size == 0 || file[strings.sh_offset + strings.sh_size - 1] != 0) {
        return fail("its string table does not end");
      }
      names = {reinterpret_cast<const char *>(file.data() + strings.sh_offset), strings.sh_size};
    }
    return true;
  }

  std::string_view nameOf(const Elf64_Sym &symbol) const {
    return symbol.st_name < names.size() ? std::string_view(names.data() + symbol.st_name)
                                         : std::string_view();
  }

  static bool isLoaded(const Elf64_Shdr &section) {
    return (section.sh_flags & SHF_ALLOC) && section.sh_size != 0 &&
           section.sh_type != unwindSection && section.sh_type != SHT_NOTE;
  }

  static Segment segmentOf(const Elf64_Shdr &section) {
    return section.sh_flags & SHF_EXECINSTR ? Code
           : section.sh_flags & SHF_WRITE   ? Writable
                                            : ReadOnly;
  }

  bool place(const Elf64_Shdr &section, uint64_t &end, uint64_t &offset) {
    const uint64_t alignment = section.sh_addralign ? section.sh_addralign : 1;
    if ((alignment & (alignment - 1)) != 0 || alignment > 4096) {
      return fail("a section wants alignment " + std::to_string(alignment));
    }
    if (section.sh_flags & SHF_TLS) {
      return fail("thread-local data is not supported");
    }
    if ((section.sh_flags & SHF_EXECINSTR) && (section.sh_flags & SHF_WRITE)) {
      return fail("a section is both writable and executable");
    }
    if (section.sh_size > maxImageBytes ||
        (section.sh_type != SHT_NOBITS && !contains(section.sh_offset, section.sh_size))) {
      return fail("a section lies outside the file");
    }
    offset = (end + alignment - 1) & ~(alignment - 1);
    end = offset + section.sh_size;
    return end <= maxImageBytes || fail("it is larger than 1 GiB");
  }

  bool layOut() {
    const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    sectionOffset.assign(sections.size(), unplaced);
    stubOf.assign(symbols.size(), unplaced);
    uint64_t end = leadBytes;
    for (int segment = Code; segment < SegmentCount; ++segment) {
      if (segment != Code) {
        end = (end + page - 1) & ~(page - 1);
        segmentStart[segment] = end;
      }
      for (size_t i = 0; i < sections.size(); ++i) {
        if (isLoaded(sections[i]) && segmentOf(sections[i]) == segment &&
            !place(sections[i], end, sectionOffset[i])) {
          return false;
        }
      }
      if (segment == Code && !placeStubs(end)) {
        return false;
      }
    }
    segmentStart[SegmentCount] = (end + page - 1) & ~(page - 1);
    return true;
  }

  /// A jump through a full address for every external function: the C library may be further away
  /// than the displacement of a call reaches.
  bool placeStubs(uint64_t &end) {
    const uint64_t stubBytes = architecture->stubBytes;
    end = stubsStart = (end + stubBytes - 1) & ~(stubBytes - 1);
    for (size_t i = 1; i < symbols.size(); ++i) {
      if (symbols[i].st_shndx != SHN_UNDEF || nameOf(symbols[i]).empty()) {
        continue;
      }
      if (!externalSymbol(nameOf(symbols[i]))) {
        problem = {"E0390", "object code refers to '" +
                                std::string(nameOf(symbols[i]).substr(0, 200)) +
                                "', which the runtime does not offer"};
        return false;
      }
      stubOf[i] = end;
      end += stubBytes;
      if (end > maxImageBytes) {
        return fail("it is larger than 1 GiB");
      }
    }
    return true;
  }

  bool map() {
    if (stubsStart == leadBytes) {
      return fail("it holds no code");
    }
    void *memory = ::mmap(nullptr, segmentStart[SegmentCount], PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      problem = {"E0506",
                 "no memory for " + std::to_string(segmentStart[SegmentCount]) + " bytes of code"};
      return false;
    }
    image = static_cast<uint8_t *>(memory);
    for (size_t i = 0; i < sections.size(); ++i) {
      if (sectionOffset[i] != unplaced && sections[i].sh_type != SHT_NOBITS) {
        std::memcpy(image + sectionOffset[i], file.data() + sections[i].sh_offset,
                    sections[i].sh_size);
      }
    }
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (stubOf[i] != unplaced) {
        architecture->writeStub(image + stubOf[i],
                                reinterpret_cast<uintptr_t>(externalSymbol(nameOf(symbols[i]))));
      }
    }
    return true;
  }

  /// Address of a symbol in this process; false when it has none.
  bool addressOf(size_t index, uint64_t &address) const {
    const Elf64_Sym &symbol = symbols[index];
    if (stubOf[index] != unplaced) {
      address = reinterpret_cast<uintptr_t>(image) + stubOf[index];
      return true;
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size() ||
        sectionOffset[symbol.st_shndx] == unplaced ||
        symbol.st_value > sections[symbol.st_shndx].sh_size) {
      return false;
    }
    address = reinterpret_cast<uintptr_t>(image) + sectionOffset[symbol.st_shndx] + symbol.st_value;
    return true;
  }

  bool relocate(const Elf64_Rela &entry, const Elf64_Shdr &target, uint64_t targetOffset) {
    const uint32_t type = ELF64_R_TYPE(entry.r_info);
    const uint64_t index = ELF64_R_SYM(entry.r_info);
    const RelocationForm form = architecture->formOf(type);
    using Kind = RelocationForm::Kind;
    if (form.kind == Kind::None) {
      return true;
    }
    if (form.kind == Kind::Unsupported) {
      return fail("relocation type " + std::to_string(type) + " is not supported; supported are " +
                  std::string(architecture->supported));
    }
    if (target.sh_size < form.bytes || entry.r_offset > target.sh_size - form.bytes) {
      return fail("a relocation lies outside its section");
    }
    uint64_t address = 0;
    if (index == 0 || index >= symbols.size() || !addressOf(index, address)) {
      return fail("a relocation refers to symbol " + std::to_string(index) +
                  ", which has no address");
    }
    uint8_t *place = image + targetOffset + entry.r_offset;
    const uint64_t placeAddress = reinterpret_cast<uintptr_t>(place);
    if (form.kind == Kind::LowPart) {
      const auto high = distances.find(address);
      if (high == distances.end()) {
        return fail("a relocation's other half is missing");
      }
      return architecture->write(type, place, high->second) || fail("a relocation reaches too far");
    }
    uint64_t value = address + static_cast<uint64_t>(entry.r_addend);
    if (form.kind == Kind::Relative) {
      value -= placeAddress;
      if (architecture->hasLowParts) {
        distances[placeAddress] = value;
      }
    } else if (form.kind == Kind::Page) {
      value = (value & ~uint64_t{4095}) - (placeAddress & ~uint64_t{4095});
    }
    return architecture->write(type, place, value) || fail("a relocation reaches too far");
  }

  bool relocateAll() {
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type == SHT_REL && section.sh_info < sections.size() &&
          sectionOffset[section.sh_info] != unplaced) {
        return fail("relocations without addends are not supported");
      }
      if (section.sh_type != SHT_RELA || section.sh_info >= sections.size() ||
          sectionOffset[section.sh_info] == unplaced) {
        continue;
      }
      std::vector<Elf64_Rela> entries;
      if (!readTable(section, entries)) {
        return fail("a relocation table lies outside the file");
      }
      const Elf64_Shdr &target = sections[section.sh_info];
      if (target.sh_type == SHT_NOBITS && !entries.empty()) {
        return fail("a section without content has relocations");
      }
      // Low parts come last: they look up what the others found.
      for (const bool isLowPart : {false, true}) {
        for (const Elf64_Rela &entry : entries) {
          const RelocationForm form = architecture->formOf(ELF64_R_TYPE(entry.r_info));
          if ((form.kind == RelocationForm::Kind::LowPart) == isLowPart &&
              !relocate(entry, target, sectionOffset[section.sh_info])) {
            return false;
          }
        }
      }
    }
    return true;
  }

  bool protect() {
    // Without effect where instruction fetches see stores by themselves, as on x86-64.
    __builtin___clear_cache(reinterpret_cast<char *>(image),
                            reinterpret_cast<char *>(image + segmentStart[ReadOnly]));
    const int access[SegmentCount] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int segment = Code; segment < SegmentCount; ++segment) {
      const uint64_t bytes = segmentStart[segment + 1] - segmentStart[segment];
      if (bytes != 0 && ::mprotect(image + segmentStart[segment], bytes, access[segment]) != 0) {
        problem = {"E0418", "the system does not allow code to be made executable (" +
                                std::string(std::strerror(errno)) + ")"};
        return false;
      }
    }
    return true;
  }

  std::map<std::string, void *, std::less<>> definedSymbols() const {
    std::map<std::string, void *, std::less<>> found;
    for (size_t i = 1; i < symbols.size(); ++i) {
      uint64_t address = 0;
      const int binding = ELF64_ST_BIND(symbols[i].st_info);
      if (binding != STB_LOCAL && symbols[i].st_shndx != SHN_UNDEF && !nameOf(symbols[i]).empty() &&
          addressOf(i, address)) {
        found.emplace(nameOf(symbols[i]), reinterpret_cast<void *>(address));
      }
    }
    return found;
  }

  bool run() {
    return readHeader() && readSymbols() && layOut() && map() && relocateAll() && protect();
  }
};

} // namespace

std::variant<std::shared_ptr<Module>, LaunchError> loadObject(std::span<const uint8_t> object) {
  Linker linker;
  linker.file = object;
  if (!linker.run()) {
    if (linker.image) {
      ::munmap(linker.image, linker.segmentStart[SegmentCount]);
    }
    return linker.problem;
  }
  return std::make_shared<ElfCode>(linker.image, linker.segmentStart[SegmentCount],
                                   linker.definedSymbols());
}

} // namespace nereid::runtime
