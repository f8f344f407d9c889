// SPDX-License-Identifier: Apache-2.0
#include "lib/words/made/Formula.h"

#include "lib/definition/operations/Operations.h"
#include "lib/language/syntax/Parser.h"
#include "lib/words/made/Made.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace nereid::words {

namespace {

using definition::ArgumentType;
using language::Expr;
using language::ExprKind;

constexpr size_t longestPiece = 400; ///< bytes; what is longer is prose
constexpr size_t mostWords = 40, mostPieces = 64;
constexpr std::string_view result = "out = ";

bool isFunction(const std::string &written) {
  const std::string name = lowerCase(written);
  return definition::findOperation(name) || definition::findFunction(name);
}

/// "relu(" somewhere.
bool hasCall(std::string_view piece) {
  for (size_t at = piece.find('('); at != std::string_view::npos; at = piece.find('(', at + 1)) {
    size_t begin = at;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(piece[begin - 1])) != 0 ||
                         piece[begin - 1] == '_')) {
      --begin;
    }
    if (begin < at && isFunction(std::string(piece.substr(begin, at - begin)))) {
      return true;
    }
  }
  return false;
}

/// From one stop of a sentence to the next that stands in no bracket.
std::vector<std::string_view> piecesOf(std::string_view prose) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= prose.size(); ++i) {
    const char c = i < prose.size() ? prose[i] : '\n';
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    const bool isAscii = static_cast<unsigned char>(c) < 0x80;
    if (c == '\n' || c == ';' || !isAscii || (c == ',' && depth <= 0)) {
      pieces.push_back(prose.substr(begin, i - begin));
      begin = i + 1;
      depth = 0;
    }
  }
  std::erase_if(pieces, [](std::string_view piece) {
    return piece.size() > longestPiece || !hasCall(piece);
  });
  pieces.resize(std::min(pieces.size(), mostPieces));
  return pieces;
}

/// Views into the piece.
std::vector<std::string_view> wordsOf(std::string_view piece) {
  std::vector<std::string_view> words;
  for (size_t at = piece.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const size_t end = std::min(piece.find_first_of(" \t", at), piece.size());
    words.push_back(piece.substr(at, end - at));
    at = piece.find_first_not_of(" \t", end);
  }
  return words;
}

/// A formula that is read, with what is to be written into its text.
class Reading {
public:
  explicit Reading(std::string text) : text(std::move(text)) {}

  /// False when it is no formula of known functions over tensors.
  bool read(const Expr &expression);
  /// Body, tensors and name, of two operations or more.
  std::optional<MadeParts> parts() const;

private:
  bool readName(const Expr &name);
  bool readCall(const Expr &call);
  bool readOperands(const Expr &expression);
  /// Which operation or function a callee is, and where its name begins; "" = none.
  std::string calledBy(const Expr &callee);
  void completeCall(const std::string &name, const Expr &call);

  std::string text;
  std::map<size_t, std::pair<size_t, std::string>> edits; ///< place to length and new text
  std::vector<std::string> names, functions;
  std::vector<std::pair<std::string, std::string>> products;
  int operations = 0;
};

size_t placeOf(int column) { return static_cast<size_t>(column - 1); }

std::string Reading::calledBy(const Expr &callee) {
  const std::string name = lowerCase(callee.text);
  const bool isPlain = callee.kind == ExprKind::Name;
  if (!isPlain && callee.kind != ExprKind::Attribute) {
    return "";
  }
  if (!isFunction(name)) {
    return "";
  }
  if (!isPlain) { // "torch.relu", "F.gelu"
    const Expr &module = *callee.operands[0];
    return module.kind == ExprKind::Name && (module.text == "torch" || module.text == "F") ? name
                                                                                           : "";
  }
  edits[placeOf(callee.range.column)] = {callee.text.size(),
                                         fmt::format("{}.{}", definition::moduleOf(name), name)};
  return name;
}

/// Writes what the function must be told of a line, where the formula leaves it out.
void Reading::completeCall(const std::string &name, const Expr &call) {
  const definition::Operation *operation = definition::findOperation(name);
  if (!operation) {
    return;
  }
  std::string more;
  for (size_t i = 0; i < operation->arguments.size(); ++i) {
    const definition::Argument &argument = operation->arguments[i];
    const bool isGiven =
        i + 1 < call.operands.size() ||
        std::any_of(call.keywords.begin(), call.keywords.end(),
                    [&](const auto &keyword) { return keyword.name == argument.name; });
    const bool isLine = operation->kind == definition::OperationKind::Composite &&
                        argument.type == ArgumentType::Dims;
    if (!isGiven && (isLine || (argument.type == ArgumentType::Dims && !argument.hasDefault))) {
      more += fmt::format(", {}=-1", argument.name);
    } else if (!isGiven && argument.type == ArgumentType::TrailingShape) {
      more += ", (D,)";
    }
  }
  const size_t bracket = placeOf(call.range.endColumn) - 1;
  if (!more.empty() && bracket < text.size() && text[bracket] == ')') {
    edits[bracket] = {0, more};
  }
}

bool Reading::readCall(const Expr &call) {
  const std::string name = calledBy(*call.operands[0]);
  if (name.empty()) {
    return false;
  }
  functions.push_back(name);
  ++operations;
  completeCall(name, call);
  for (size_t i = 1; i < call.operands.size(); ++i) {
    if (!read(*call.operands[i])) {
      return false;
    }
  }
  return std::all_of(call.keywords.begin(), call.keywords.end(), [](const auto &keyword) {
    const ExprKind kind = keyword.value->kind;
    return !keyword.name.empty() && kind != ExprKind::Name && kind != ExprKind::Call;
  });
}

bool Reading::readName(const Expr &name) {
  static const std::vector<std::string> reserved = {"torch", "F", "math", "D",
                                                    "M",     "N", "K",    "out"};
  if (std::find(reserved.begin(), reserved.end(), name.text) != reserved.end()) {
    return false;
  }
  if (std::find(names.begin(), names.end(), name.text) == names.end()) {
    names.push_back(name.text);
  }
  return true;
}

bool Reading::readOperands(const Expr &expression) {
  return std::all_of(expression.operands.begin(), expression.operands.end(),
                     [&](const auto &operand) { return read(*operand); });
}

bool Reading::read(const Expr &expression) {
  switch (expression.kind) {
  case ExprKind::Integer:
  case ExprKind::Float:
    return true;
  case ExprKind::Name:
    return readName(expression);
  case ExprKind::Call:
    return readCall(expression);
  case ExprKind::Unary:
    ++operations;
    return expression.text == "-" && readOperands(expression);
  case ExprKind::Compare:
    ++operations;
    return readOperands(expression);
  case ExprKind::Binary: {
    ++operations;
    const Expr &left = *expression.operands[0], &right = *expression.operands[1];
    if (expression.text == "@") {
      products.emplace_back(left.text, right.text);
      functions.emplace_back("matmul");
      return left.kind == ExprKind::Name && right.kind == ExprKind::Name &&
             left.text != right.text && readOperands(expression);
    }
    static const std::vector<std::string> signs = {"+", "-", "*", "/", "**"};
    return std::find(signs.begin(), signs.end(), expression.text) != signs.end() &&
           readOperands(expression);
  }
  default:
    return false;
  }
}

bool isRowName(const std::string &name) {
  return name == "bias" || name == "weight" || name == "gamma" || name == "beta";
}

std::optional<MadeParts> Reading::parts() const {
  if (operations < 2 || functions.empty() || names.empty() || products.size() > 1) {
    return std::nullopt;
  }
  MadeParts parts;
  parts.isProduct = !products.empty();
  const bool isAllRows = std::all_of(names.begin(), names.end(), isRowName);
  for (const std::string &name : names) {
    std::string shape = (isRowName(name) || (parts.isProduct && name == "b")) && !isAllRows
                            ? rowShape(parts.isProduct)
                            : rowsShape(parts.isProduct);
    if (parts.isProduct && name == products.front().first) {
      shape = R"(["M", "K"])";
    } else if (parts.isProduct && name == products.front().second) {
      shape = R"(["K", "N"])";
    }
    parts.inputs.push_back({name, shape, "as the formula calls it"});
  }
  std::string body = text;
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    body.replace(edit->first, edit->second.first, edit->second.second);
  }
  parts.body = body + "\n";
  std::vector<std::string> once;
  for (const std::string &function : functions) {
    if (std::find(once.begin(), once.end(), function) == once.end() && once.size() < 6) {
      once.push_back(function);
    }
  }
  parts.name = fmt::format("{}_formula", fmt::join(once, "_"));
  parts.summary = "The formula of its requirement.";
  parts.origin = "the formula " + text.substr(result.size());
  parts.functions = {functions.begin(), functions.end()};
  return parts;
}

std::optional<Shipped> definitionOf(std::string formula) {
  // "y = gelu(x)": what the text calls the result is no tensor of it.
  const size_t equals = formula.find('=');
  const bool isAssigned =
      equals != std::string::npos && equals > 0 && equals + 1 < formula.size() &&
      formula[equals + 1] != '=' &&
      std::all_of(formula.begin(), formula.begin() + static_cast<long>(equals),
                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == ' '; });
  formula = isAssigned ? formula.substr(equals + 1) : formula;
  formula.erase(0, formula.find_first_not_of(' '));
  Diagnostics diags;
  const std::string text = std::string(result) + formula;
  const auto module = language::parseModule("formula", text, diags);
  if (!module || diags.hasErrors() || module->body.size() != 1 ||
      module->body.front()->kind != language::StmtKind::Assign || !module->body.front()->value) {
    return std::nullopt;
  }
  Reading reading(text);
  const auto parts = reading.read(*module->body.front()->value) ? reading.parts() : std::nullopt;
  return parts ? madeDefinition(*parts) : std::nullopt;
}

} // namespace

std::optional<Formula> formulaIn(std::string_view prose) {
  for (const std::string_view piece : piecesOf(prose)) {
    const std::vector<std::string_view> words = wordsOf(piece);
    if (words.size() > mostWords) {
      continue;
    }
    for (size_t count = words.size(); count > 0; --count) {
      for (size_t first = 0; first + count <= words.size(); ++first) {
        const std::string_view last = words[first + count - 1];
        const auto begin = static_cast<size_t>(words[first].data() - prose.data());
        const size_t size = static_cast<size_t>(last.data() - prose.data()) + last.size() - begin;
        if (auto made = definitionOf(std::string(prose.substr(begin, size)))) {
          return Formula{std::move(*made), std::string(prose.substr(0, begin)) + " " +
                                               std::string(prose.substr(begin + size))};
        }
      }
    }
  }
  return std::nullopt;
}

bool isWhole(const Formula &formula, const std::set<std::string> &known) {
  const auto tokens = tokenize("text", formula.rest + ".");
  if (!tokens) {
    return false;
  }
  const auto around = findTerms(*tokens, &known);
  return std::none_of(around.begin(), around.end(), [](const Term &term) {
    return term.kind == TermKind::Operation || term.kind == TermKind::Weak ||
           term.kind == TermKind::Then || term.isNegated;
  });
}

} // namespace nereid::words
