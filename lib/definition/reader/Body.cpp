// SPDX-License-Identifier: Apache-2.0
// A body as a whole: its statements are read (BodyStatements.h), then the outputs are looked up and
// what none of them needs is dropped.
#include "lib/definition/reader/Body.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/reader/BodyInPlace.h"
#include "lib/definition/reader/BodyStatements.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nereid::definition {
namespace {

/// Removes the indentation all lines share; returns how many characters that was.
int dedent(std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  size_t shared = std::string::npos;
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos) {
      shared = std::min(shared, first);
    }
    lines.push_back(std::move(line));
  }
  if (shared == std::string::npos || shared == 0) {
    return 0;
  }
  text.clear();
  for (const std::string &line : lines) {
    text += (line.size() > shared ? line.substr(shared) : "") + "\n";
  }
  return static_cast<int>(shared);
}

/// Keeps the parameters and what the outputs need, in order.
void dropUnused(Operator &op) {
  std::vector<bool> needed(op.nodes.size(), false);
  std::fill(needed.begin(), needed.begin() + static_cast<ptrdiff_t>(op.parameters.size()), true);
  for (int output : op.outputs) {
    needed[static_cast<size_t>(output)] = true;
  }
  for (size_t i = op.nodes.size(); i-- > 0;) {
    for (int input : needed[i] ? op.nodes[i].inputs : std::vector<int>{}) {
      needed[static_cast<size_t>(input)] = true;
    }
  }
  std::vector<int> renumbered(op.nodes.size(), -1);
  std::vector<Node> kept;
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    if (!needed[i]) {
      continue;
    }
    renumbered[i] = static_cast<int>(kept.size());
    for (int &input : op.nodes[i].inputs) {
      input = renumbered[static_cast<size_t>(input)];
    }
    kept.push_back(std::move(op.nodes[i]));
  }
  for (int &output : op.outputs) {
    output = renumbered[static_cast<size_t>(output)];
  }
  op.nodes = std::move(kept);
}

bool collectOutputs(Operator &op, BodyExpressions &reader, SourceRange whole) {
  bool complete = true;
  for (const std::string &name : op.outputNames) {
    std::optional<int> node = reader.lookup(name);
    if (const std::optional<size_t> length = node ? std::nullopt : reader.listLength(name)) {
      reader
          .fail("E0608", whole,
                fmt::format("the output '{}' is a list of {} values, and no tensor", name, *length))
          .withHelp(fmt::format("take them apart: {}, b = …", name));
      complete = false;
      continue;
    }
    if (!node) {
      if (!reader.wasAssigned(name)) {
        reader.fail("E0608", whole, fmt::format("the body does not assign the output '{}'", name))
            .withHelp(fmt::format("add a line '{} = …'", name));
      }
      complete = false;
      continue;
    }
    if (isLeaf(op.nodes[static_cast<size_t>(*node)])) {
      reader
          .fail("E0608", whole,
                fmt::format("the output '{}' is an input or a number unchanged", name))
          .withHelp("an operator computes something; drop the output or compute it");
      complete = false;
      continue;
    }
    op.outputs.push_back(*node);
  }
  return complete && BodyInPlace(reader).placeOutputs(whole);
}

} // namespace

bool readBody(Operator &op, const BodyPlace &place, Diagnostics &diags) {
  std::string text = op.body;
  int indentation = dedent(text);
  // Blank lines in front make the parser count the definition file's own lines.
  std::string padded(static_cast<size_t>(std::max(0, place.firstLine - 1 - place.added)), '\n');
  Diagnostics syntax;
  std::optional<language::SourceModule> module =
      language::parseStatements(place.path, padded + text, syntax);
  BodyExpressions reader(op, place, indentation, diags);
  for (const Diagnostic &problem : syntax.all()) {
    reader.report(problem);
  }
  if (!module || syntax.hasErrors()) {
    return false;
  }
  BodyStatements statements(reader);
  statements.read(module->body);
  if (reader.failed()) {
    return false;
  }
  SourceRange whole{place.firstLine, place.firstColumn, place.firstColumn + 1};
  if (!collectOutputs(op, reader, whole)) {
    return false;
  }
  dropUnused(op);
  return true;
}

} // namespace nereid::definition
