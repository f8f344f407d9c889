// SPDX-License-Identifier: Apache-2.0
// Reasons in words, see CutReason.h.
#include "lib/generator/fuse/CutReason.h"

#include "lib/generator/fuse/Contraction.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

using IteratorSet = std::set<IteratorId>;

std::string extentText(const IteratorSet &iterators, const Program &program) {
  Polynomial all = 1;
  for (IteratorId iterator : iterators) {
    all = all * program.space.iterators[iterator].extent;
  }
  return program.space.symbols.text(all);
}

IteratorSet boundBy(const Node &node) { return {node.iterators.begin(), node.iterators.end()}; }

std::string kindOf(const Node &node) {
  return contractionOf(node)                        ? "a product"
         : node.name == "max" || node.name == "min" ? "an extreme"
                                                    : "a reduction";
}

/// What computing it where it is needed would cost, and what memory costs.
std::string figures(const CutReason &why, const Node &cut, const Node &read,
                    const Program &program) {
  IteratorSet needed = why.stage;
  if (why.anchor) {
    needed.insert(why.anchor->iterators.begin(), why.anchor->iterators.end());
  }
  for (IteratorId own : read.free) {
    needed.erase(own);
  }
  const std::string times = extentText(needed, program), each = extentText(boundBy(cut), program),
                    elements = extentText(read.free, program);
  const int perTerm = contractionOf(cut) ? 2 : 1;
  return times == "1"
             ? fmt::format("it leaves {} elements of {} bytes", elements, sizeInBytes(read.dtype))
             : fmt::format("computed there it would be {} times {} operations for each of {} "
                           "elements, and in memory it is {} bytes written and read for each",
                           times, perTerm == 1 ? each : "2·(" + each + ")", elements,
                           2 * sizeInBytes(read.dtype));
}

} // namespace

std::string textOf(const CutReason &why, const Node &cut, const Node &read,
                   const Program &program) {
  const std::string own = kindOf(cut);
  std::string text;
  switch (why.kind) {
  case CutKind::Line:
    text = own + " comes before the line that is scanned or sorted, which kernels take from memory";
    break;
  case CutKind::Stage:
    text = own + " has fewer elements than what is computed of it, or others";
    break;
  case CutKind::Template:
    text = contractionOf(cut) ? "the template of reductions makes no tiles of products"
                              : "the template of products makes no other reduction beside them";
    break;
  case CutKind::Axes:
    text =
        fmt::format("{} goes over {} elements, and {} of the kernel that needs it over {} others",
                    own, extentText(boundBy(cut), program), kindOf(*why.anchor),
                    extentText(boundBy(*why.anchor), program));
    break;
  case CutKind::Inside:
    text = own + " differs along what the kernel that needs it reduces";
    break;
  case CutKind::Tiles:
    text = "a product has factors over other tiles than those of the kernel that needs it";
    break;
  }
  return text + ": " + figures(why, cut, read, program);
}

} // namespace nereid::generator
