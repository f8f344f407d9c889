# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES="a.py;b.py" -DHEADER=x.h -DFUNCTION=space::name -DOUTPUT=X.cpp -P EmbedStrings.cmake
# writes the files' texts as C++ source: the header's function from a file's name to its text.
set(source "// Written by cmake/EmbedStrings.cmake.\n#include \"${HEADER}\"\n\n#include <string>\n\n")
string(APPEND source "std::string ${FUNCTION}(std::string_view name) {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(FIND "${text}" ")nereid\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the text that ends a raw string")
  endif()
  string(APPEND source "  if (name == \"${name}\") {\n    return R\"nereid(${text})nereid\";\n  }\n")
endforeach()
string(APPEND source "  return \"\";\n}\n")
file(WRITE ${OUTPUT} "${source}")
