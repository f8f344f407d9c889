# SPDX-License-Identifier: Apache-2.0
# Embeds lib/generator/python/text/*.py, the parts of generated Python programs that no operator
# changes, into the library `generator`.
file(GLOB program_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/generator/python/text/*.py)
set(program_text ${PROJECT_BINARY_DIR}/generated/PythonProgramText.cpp)
add_custom_command(OUTPUT ${program_text}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${program_files}" -DOUTPUT=${program_text}
          -DHEADER=lib/generator/python/ProgramText.h -DTYPE=nereid::generator::ProgramFile -DFUNCTION=nereid::generator::programFiles
          -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
  DEPENDS ${program_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
  COMMENT "Embedding the texts of Python programs" VERBATIM)
target_sources(nereid.generator PRIVATE ${program_text})
