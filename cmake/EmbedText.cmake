# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES="a.py;b.py" -DOUTPUT=X.cpp -P EmbedText.cmake writes the files' texts as C++ source:
# the function libraryFiles() of lib/language/StandardLibrary.h.
set(source "// Written by cmake/EmbedText.cmake.\n#include \"lib/language/StandardLibrary.h\"\n\n")
string(APPEND source "namespace nereid::language {\n\nstatic const LibraryFile files[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(FIND "${text}" ")nereid\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the text that ends a raw string")
  endif()
  string(APPEND source "    {\"${name}\", R\"nereid(${text})nereid\"},\n")
endforeach()
string(APPEND source "};\n\nstd::span<const LibraryFile> libraryFiles() { return files; }\n\n")
string(APPEND source "} // namespace nereid::language\n")
file(WRITE ${OUTPUT} "${source}")
