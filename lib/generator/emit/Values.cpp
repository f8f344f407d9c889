// SPDX-License-Identifier: Apache-2.0
// Values under the conditions around them, and constants, see Values.h.
#include "lib/generator/emit/Values.h"

#include "lib/generator/KernelExpression.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using kernel::call;
using kernel::name;

/// Higher trees are cut into lines.
constexpr int heightAtMost = 6;

bool isMap(const Node *node, const char *name) {
  return node->kind == NodeKind::Map && node->name == name;
}
bool isConst(const Node *node) { return node->kind == NodeKind::Const; }

bool isAccess(const Node *node) {
  return node->kind == NodeKind::Load || node->kind == NodeKind::Ref;
}

} // namespace

std::string languageName(DType dtype) {
  static const std::map<DType, std::string> names = {
      {DType::Bool, "int1"},    {DType::U8, "uint8"},   {DType::U16, "uint16"},
      {DType::U32, "uint32"},   {DType::U64, "uint64"}, {DType::F16, "float16"},
      {DType::BF16, "bfloat16"}};
  auto found = names.find(dtype);
  return "tl." + (found == names.end() ? std::string(torchName(dtype)) : found->second);
}

Values::Values(const Program &program, const std::vector<const Node *> &roots, Tile &tile,
               kernel::Body &body, Arguments &arguments)
    : program(program), tile(tile), body(body), arguments(arguments) {
  for (const Node *root : roots) {
    ++uses[root];
  }
  for (const Node *node : reachable(roots)) {
    bool readsMemory = node->kind == NodeKind::Load || node->kind == NodeKind::Ref;
    for (const Node *input : node->inputs) {
      ++uses[input];
      readsMemory |= reads(input);
    }
    for (const Affine &index : node->indices) {
      index.forEachAtom([&](const Atom &atom) {
        uses[atom.node] += atom.node != nullptr;
        readsMemory |= atom.node && reads(atom.node);
      });
    }
    if (readsMemory) {
      reading.insert(node);
    }
  }
}

// ---- values under conditions ----

/// Those of the conditions around a value on which its loads depend: under others it is the same.
const Conditions &Values::needs(const Node *node, const Conditions &around) {
  auto [found, isNew] = needed.try_emplace({node, around});
  Conditions &result = found->second;
  if (!isNew || around.empty() || !reads(node)) {
    return result;
  }
  if (isAccess(node) && readsIndex(node->indices)) {
    return result = around; // what is promised of the index may rest on any of them
  }
  Conditions sum;
  auto add = [&](const Conditions &some) { sum.insert(sum.end(), some.begin(), some.end()); };
  for (const Affine &index : node->indices) {
    index.forEachAtom([&](const Atom &atom) {
      if (atom.node) {
        add(needs(atom.node, around));
      }
    });
  }
  if (isAccess(node)) {
    add(maskOf(node->indices, program.buffers[node->buffer], node->free, around, program.space)
            .conditions);
  }
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    Conditions inner = around;
    if (isMap(node, "where") && i > 0) {
      addConditions(node->inputs[0], i == 1, inner);
    }
    add(needs(node->inputs[i], inner));
  }
  // In their order; one that reads memory may rest on those before it.
  bool isKept = false;
  for (size_t i = around.size(); i-- > 0;) {
    const bool isNeeded = std::find(sum.begin(), sum.end(), around[i]) != sum.end();
    if (isKept || isNeeded) {
      result.insert(result.begin(), around[i]);
      isKept |= reads(around[i].node);
    }
  }
  return result;
}

Values::Value Values::value(const Node *node, const Conditions &around) {
  if (isConst(node)) {
    return constant(*node, node->dtype);
  }
  const Conditions kept = needs(node, around);
  const std::pair key(node, kept);
  if (auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  Value made = compute(node, kept);
  const Node *source = isMap(node, "cast") ? node->inputs[0] : node;
  const Node *loaded = selectedLoad(source).load;
  const bool isShort = made.tree->kind == kernel::ExprKind::Name || made.isLiteral;
  if (!isShort && (loaded || uses[node] > 1 || made.height > heightAtMost)) {
    made = named(loaded ? program.buffers[program.baseOf(loaded->buffer)].name : "t", made);
  }
  known[key] = made;
  return made;
}

Values::Value Values::named(const std::string &hint, const Value &value) {
  const std::string fresh = arguments.names.fresh(hint);
  body.assign(fresh, value.tree);
  return {name(fresh)};
}

Values::Value Values::compute(const Node *node, const Conditions &around) {
  if (const Selected selected = selectedLoad(node); selected.load) {
    return load(selected, around);
  }
  if (node->kind == NodeKind::Param) {
    return {arguments.number(*node)};
  }
  if (node->kind == NodeKind::Index) {
    present = around;
    return {node->free.empty() ? call("tl.cast", {index(node->indices[0]), name("tl.int64")})
                               : generator::cast(index(node->indices[0]), "tl.int64")};
  }
  return operation(*node, around);
}

// ---- constants ----

Values::Value Values::constant(const Node &node, DType dtype) const {
  const double real = isFloat(node.dtype) ? node.real : static_cast<double>(node.integer);
  if (isFloat(dtype)) {
    return {kernel::real(real), 1, true};
  }
  const int64_t whole = isFloat(node.dtype) ? static_cast<int64_t>(node.real) : node.integer;
  if (dtype == DType::Bool) {
    return {kernel::Expr(isFloat(node.dtype) ? real != 0 : node.integer != 0), 1, true};
  }
  return {dtype == DType::U64 ? kernel::integer(std::to_string(static_cast<uint64_t>(whole)))
                              : kernel::Expr(whole),
          1, true};
}

/// The value with its type, which a literal alone does not have.
kernel::Expr Values::typed(const Value &value, DType dtype) const {
  if (!value.isLiteral) {
    return value.tree;
  }
  std::vector<kernel::Expr> shape(tile.dimensions().size(), 1);
  return call("tl.full", {kernel::tuple(std::move(shape)), value.tree, name(languageName(dtype))});
}

} // namespace nereid::generator
