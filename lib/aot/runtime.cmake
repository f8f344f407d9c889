# SPDX-License-Identifier: Apache-2.0
# Embeds libnereid_aot.a and its header into the library `aot`.
set(aot_archive ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libnereid_aot.a)
set(aot_header ${PROJECT_SOURCE_DIR}/include/nereid/aot.h)
set_source_files_properties(lib/aot/RuntimeArchive.cpp PROPERTIES
  OBJECT_DEPENDS "${aot_archive};${aot_header}"
  COMPILE_DEFINITIONS "NEREID_AOT_ARCHIVE=\"${aot_archive}\";NEREID_AOT_HEADER=\"${aot_header}\"")
add_dependencies(nereid.aot nereid_aot)
set_target_properties(nereid.aot PROPERTIES OUTPUT_NAME nereid_aot_compiler) # beside libnereid_aot.a
