// SPDX-License-Identifier: Apache-2.0
#include "lib/document/Document.h"

#include "lib/document/Chapters.h"

#include <algorithm>

namespace nereid::document {

std::string cell(std::string text) {
  std::string escaped;
  for (char one : text) {
    if (one == '|') {
      escaped += '\\';
    }
    escaped += one == '\n' ? ' ' : one;
  }
  return escaped;
}

std::string code(const std::string &text) {
  const bool hasTick = text.find('`') != std::string::npos;
  return cell(hasTick ? "`` " + text + " ``" : "`" + text + "`");
}

std::string pictureName(const definition::Operator &op) { return op.name + "_roofline.svg"; }

std::string definitionDocument(const DocumentInput &input) {
  return "# " + input.op.name + "\n\n" + input.op.summary + "\n\n" + operatorChapter(input) +
         "## 2 Analysis\n\n" + costSections(input) + boundSections(input) + flowSection(input) +
         accuracySection(input) + strategyChapter(input) + missedChapter(input);
}

} // namespace nereid::document
