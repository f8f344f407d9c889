# SPDX-License-Identifier: Apache-2.0
# Embeds lib/language/std/*.py into the library `language`: no file of it is needed at run time.
file(GLOB library_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/language/std/*.py)
set(library_text ${PROJECT_BINARY_DIR}/generated/StandardLibraryText.cpp)
add_custom_command(OUTPUT ${library_text}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${library_files}" -DOUTPUT=${library_text}
          -DHEADER=lib/language/StandardLibrary.h -DTYPE=nereid::language::LibraryFile
          -DFUNCTION=nereid::language::libraryFiles
          -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
  DEPENDS ${library_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
  COMMENT "Embedding the standard library" VERBATIM)
target_sources(nereid.language PRIVATE ${library_text})
