// SPDX-License-Identifier: Apache-2.0
// lib/aot/runtime.cmake says which files these are and builds them first.
#include "lib/aot/RuntimeArchive.h"

__asm__(".section .rodata.nereid_aot, \"a\"\n"
        ".balign 8\n"
        ".globl nereid_aot_archive_begin\n.hidden nereid_aot_archive_begin\n"
        "nereid_aot_archive_begin:\n.incbin \"" NEREID_AOT_ARCHIVE "\"\n"
        ".globl nereid_aot_archive_end\n.hidden nereid_aot_archive_end\n"
        "nereid_aot_archive_end:\n"
        ".globl nereid_aot_header_begin\n.hidden nereid_aot_header_begin\n"
        "nereid_aot_header_begin:\n.incbin \"" NEREID_AOT_HEADER "\"\n"
        ".globl nereid_aot_header_end\n.hidden nereid_aot_header_end\n"
        "nereid_aot_header_end:\n"
        ".previous\n");

extern "C" {
extern const uint8_t nereid_aot_archive_begin[], nereid_aot_archive_end[];
extern const char nereid_aot_header_begin[], nereid_aot_header_end[];
}

namespace nereid::aot {

std::span<const uint8_t> runtimeArchive() {
  return {nereid_aot_archive_begin, nereid_aot_archive_end};
}

std::string_view runtimeHeader() {
  return {nereid_aot_header_begin,
          static_cast<size_t>(nereid_aot_header_end - nereid_aot_header_begin)};
}

} // namespace nereid::aot
