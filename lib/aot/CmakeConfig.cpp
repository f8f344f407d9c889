// SPDX-License-Identifier: Apache-2.0
// NAME-config.cmake: `find_package(NAME)` with the folder in CMAKE_PREFIX_PATH, or `include()`.
#include "lib/aot/Library.h"

#include <fmt/format.h>

namespace nereid::aot {

std::string cmakeText(const CompiledLibrary &library, LibraryForm form, const std::string &fileName,
                      bool hasRuntime) {
  std::string text = fmt::format(
      "# The imported target {0}::{0}: kernel '{1}', compiled ahead of time by nereid.\n"
      "if(TARGET {0}::{0})\n  return()\nendif()\n"
      "get_filename_component(_{0}_folder \"${{CMAKE_CURRENT_LIST_FILE}}\" DIRECTORY)\n"
      "set(THREADS_PREFER_PTHREAD_FLAG ON)\nfind_package(Threads REQUIRED)\n",
      library.name, library.kernel);
  if (!hasRuntime) {
    text += "# The runtime part, of an installed Nereid.\n"
            "if(NOT TARGET nereid::aot)\n  find_package(nereid REQUIRED)\nendif()\n";
  }
  const std::string file = fmt::format("${{_{}_folder}}/{}", library.name, fileName);
  const std::string links = std::string(hasRuntime ? "" : "nereid::aot;") + "Threads::Threads;m" +
                            (library.deviceRuntime.empty() ? "" : ";${CMAKE_DL_LIBS}");
  switch (form) {
  case LibraryForm::Object:
    text += fmt::format("add_library({0}::{0} INTERFACE IMPORTED)\n"
                        "set_target_properties({0}::{0} PROPERTIES\n"
                        "  INTERFACE_LINK_LIBRARIES \"{1};{2}\"\n",
                        library.name, file, links);
    break;
  case LibraryForm::Static:
    text += fmt::format("add_library({0}::{0} STATIC IMPORTED)\n"
                        "set_target_properties({0}::{0} PROPERTIES\n"
                        "  IMPORTED_LOCATION \"{1}\"\n  INTERFACE_LINK_LIBRARIES \"{2}\"\n",
                        library.name, file, links);
    break;
  case LibraryForm::Shared:
    text += fmt::format("add_library({0}::{0} SHARED IMPORTED)\n"
                        "set_target_properties({0}::{0} PROPERTIES\n"
                        "  IMPORTED_LOCATION \"{1}\"\n  IMPORTED_SONAME \"{2}\"\n",
                        library.name, file, fileName);
    break;
  }
  text += fmt::format("  INTERFACE_INCLUDE_DIRECTORIES \"${{_{0}_folder}}\")\nunset(_{0}_folder)\n",
                      library.name);
  return text;
}

} // namespace nereid::aot
