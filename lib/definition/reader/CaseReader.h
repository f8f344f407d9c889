// SPDX-License-Identifier: Apache-2.0
// The cases of a definition: a size for every name, within what an address can hold and what the
// constraints allow, under a name of its own.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/definition/reader/TomlReader.h"
#include "lib/definition/reader/sizes/ComputedDims.h"

namespace nereid::definition {

class CaseReader {
public:
  /// `op` has its nodes and outputs.
  CaseReader(TomlReader &toml, const Operator &op, const ComputedDims &computed)
      : toml(toml), op(op), computed(computed) {}

  /// The list `cases` of the table that `what` names: "[accuracy]".
  void read(const toml::table &table, std::string_view what, std::vector<Case> &cases);

private:
  std::optional<Case> readCase(const toml::table &table, const std::string &what);
  bool computeDims(Binding &binding, const toml::table &table);
  bool readSize(const toml::node &node, const std::string &symbol, std::vector<int64_t> &sizes);
  bool readSizes(const toml::node &node, std::vector<int64_t> &sizes);
  bool fitsAddressSpace(const Case &one, const toml::table &table);
  /// No computed size has more than 64 bits.
  bool hasSizes(const Case &one, const toml::table &table);
  bool meetsConstraints(const Case &one, const std::string &what, const toml::table &table);
  std::string caseName(const Binding &binding) const;

  TomlReader &toml;
  const Operator &op;
  const ComputedDims &computed;
};

} // namespace nereid::definition
