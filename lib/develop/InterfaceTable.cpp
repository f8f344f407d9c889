// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/InterfaceTable.h"

#include "lib/report/Table.h"

namespace nereid::develop {

std::string interfaceTable(const generator::InterfaceReport &report) {
  if (report.rows.empty()) {
    return "";
  }
  std::vector<std::string> titles = {"interface", "definition"};
  titles.insert(titles.end(), report.files.begin(), report.files.end());
  report::Table table(titles);
  for (const auto &row : report.rows) {
    std::vector<std::string> cells = {row.property, row.definition};
    for (const auto &cell : row.cells) {
      cells.push_back(cell.text.empty() ? "-" : (cell.differs ? "≠ " : "") + cell.text);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

} // namespace nereid::develop
