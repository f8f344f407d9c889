// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Archive.h"

#include "lib/aot/ObjectMerge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nereid::aot {
namespace {

constexpr std::string_view magic = "!<arch>\n";
constexpr size_t headerBytes = 60;
constexpr size_t longestName = 15; ///< besides the ending '/'

std::string header(const std::string &name, size_t bytes) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, bytes);
}

void append(std::vector<uint8_t> &out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

/// Members start at even offsets.
void pad(std::vector<uint8_t> &out) {
  if (out.size() % 2 != 0) {
    out.push_back('\n');
  }
}

void appendBigEndian(std::string &out, uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift & 0xFF));
  }
}

size_t padded(size_t bytes) { return bytes + bytes % 2; }

} // namespace

std::vector<uint8_t> writeArchive(const std::vector<ArchiveMember> &members) {
  std::string longNames;
  std::vector<std::string> names; // as the headers have them
  std::vector<std::vector<std::string>> symbols;
  size_t symbolCount = 0, symbolTextBytes = 0;
  for (const ArchiveMember &member : members) {
    if (member.name.size() <= longestName) {
      names.push_back(member.name + "/");
    } else {
      names.push_back(fmt::format("/{}", longNames.size()));
      longNames += member.name + "/\n";
    }
    symbols.push_back(definedGlobals(member.bytes));
    for (const std::string &symbol : symbols.back()) {
      symbolTextBytes += symbol.size() + 1;
      ++symbolCount;
    }
  }
  const size_t indexBytes = 4 + 4 * symbolCount + symbolTextBytes;
  size_t offset = magic.size() + headerBytes + padded(indexBytes) +
                  (longNames.empty() ? 0 : headerBytes + padded(longNames.size()));
  std::string index, symbolTexts;
  appendBigEndian(index, symbolCount);
  for (size_t i = 0; i < members.size(); ++i) {
    for (const std::string &symbol : symbols[i]) {
      appendBigEndian(index, offset);
      symbolTexts += symbol + '\0';
    }
    offset += headerBytes + padded(members[i].bytes.size());
  }
  std::vector<uint8_t> out;
  append(out, magic);
  append(out, header("/", indexBytes));
  append(out, index + symbolTexts);
  pad(out);
  if (!longNames.empty()) {
    append(out, header("//", longNames.size()));
    append(out, longNames);
    pad(out);
  }
  for (size_t i = 0; i < members.size(); ++i) {
    append(out, header(names[i], members[i].bytes.size()));
    out.insert(out.end(), members[i].bytes.begin(), members[i].bytes.end());
    pad(out);
  }
  return out;
}

std::optional<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.substr(0, magic.size()) != magic) {
    return std::nullopt;
  }
  std::vector<ArchiveMember> members;
  std::string_view longNames;
  for (size_t at = magic.size(); at < text.size();) {
    if (text.size() - at < headerBytes) {
      return std::nullopt;
    }
    std::string name(text.substr(at, 16));
    name.erase(name.find_last_not_of(' ') + 1);
    const size_t size = std::strtoull(std::string(text.substr(at + 48, 10)).c_str(), nullptr, 10);
    at += headerBytes;
    if (size > text.size() - at) {
      return std::nullopt;
    }
    const std::string_view content = text.substr(at, size);
    at += padded(size);
    if (name == "//") {
      longNames = content;
      continue;
    }
    if (name == "/" || name == "/SYM64/") {
      continue;
    }
    if (name.size() > 1 && name[0] == '/') {
      const size_t start = std::strtoull(name.c_str() + 1, nullptr, 10);
      if (start >= longNames.size()) {
        return std::nullopt;
      }
      name = longNames.substr(start, longNames.find('\n', start) - start);
    }
    if (!name.empty() && name.back() == '/') {
      name.pop_back();
    }
    members.push_back({name, {content.begin(), content.end()}});
  }
  return members;
}

} // namespace nereid::aot
