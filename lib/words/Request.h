// SPDX-License-Identifier: Apache-2.0
// A sentence or a Markdown document: its prose is what words are looked for in and what the
// definition quotes; its code fences are where the operator is used.
#pragma once

#include "lib/definition/Graph.h"

namespace nereid::words {

struct Request {
  std::string path;         ///< for messages
  std::string text;         ///< as it was given
  std::string prose;        ///< `text` with blanks for the lines of code: places agree
  std::string requirement;  ///< the prose as a definition quotes it
  bool isShortened = false; ///< the requirement is not all of it
  std::vector<definition::Scene> scenes;
};

Request readRequest(std::string path, std::string text);

} // namespace nereid::words
