# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES="a.py;b.py" -DHEADER=x.h -DTYPE=space::File -DFUNCTION=space::files -DOUTPUT=X.cpp
# -P EmbedText.cmake writes the files' texts as C++ source: the header's function, which gives all of
# them as a span of its type {name, text}.
set(source "// Written by cmake/EmbedText.cmake.\n#include \"${HEADER}\"\n\n")
string(APPEND source "static const ${TYPE} files[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(FIND "${text}" ")nereid\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the text that ends a raw string")
  endif()
  string(APPEND source "    {\"${name}\", R\"nereid(${text})nereid\"},\n")
endforeach()
string(APPEND source "};\n\nstd::span<const ${TYPE}> ${FUNCTION}() { return files; }\n")
file(WRITE ${OUTPUT} "${source}")
