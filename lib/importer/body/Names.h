// SPDX-License-Identifier: Apache-2.0
// Names of a foreign file as names of a definition: letters, digits and underscores, each given
// once, none of those that generated files need for themselves.
#pragma once

#include <map>
#include <set>
#include <string>

namespace nereid::importer {

/// Without regard to others: "/layer.0/Add" is "layer_0_Add"; never empty.
std::string identifierOf(const std::string &text);

class Names {
public:
  /// The same for the same text, another one for another text.
  std::string of(const std::string &text);
  /// Of a size, which a value of the same name does not share.
  std::string ofSize(const std::string &text);
  /// One that nothing else has.
  std::string another(const std::string &text);

private:
  std::string find(const std::string &key, const std::string &text);

  std::map<std::string, std::string> given;
  std::set<std::string> used;
};

/// Text of one line without control characters and what is no ASCII.
std::string printable(const std::string &text);

} // namespace nereid::importer
