// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/LayoutPicture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

namespace nereid::layout {
namespace {

constexpr std::pair<Holder, const char *> kinds[] = {
    {Holder::Register, "registers"}, {Holder::Lane, "lanes"}, {Holder::Warp, "warps"}};

/// Neighbouring bits of a holder's number that go on along one dimension.
struct Walk {
  size_t dim = 0;
  int64_t count = 1, step = 1;
};

/// Which dimension a basis moves along, and how far; nothing where it moves along several or none.
std::optional<std::pair<size_t, int64_t>> straight(int64_t basis,
                                                   const LinearLayout::Shape &shape) {
  std::optional<std::pair<size_t, int64_t>> found;
  const auto index = coordinatesOf(basis, shape);
  for (size_t dim = 0; dim < index.size(); ++dim) {
    if (index[dim] != 0) {
      if (found) {
        return std::nullopt;
      }
      found = {dim, index[dim]};
    }
  }
  return found;
}

std::string textOf(const Walk &walk) {
  return fmt::format("{} along dim {}{}", walk.count, walk.dim,
                     walk.step == 1 ? "" : fmt::format(" in steps of {}", walk.step));
}

std::string wordsOf(const LinearLayout &layout, Holder holder) {
  std::vector<std::string> parts;
  std::optional<Walk> walk;
  int64_t replicas = 1;
  auto end = [&] {
    if (walk) {
      parts.push_back(textOf(*walk));
    }
    walk.reset();
  };
  for (int64_t basis : layout.bases(holder)) {
    if (basis == 0) {
      replicas *= 2;
      continue;
    }
    const auto move = straight(basis, layout.shape());
    if (!move || !std::has_single_bit(static_cast<uint64_t>(move->second))) {
      end();
      parts.push_back(
          fmt::format("2 along [{}]", fmt::join(coordinatesOf(basis, layout.shape()), ", ")));
      continue;
    }
    if (walk && walk->dim == move->first && move->second == walk->count * walk->step) {
      walk->count *= 2;
    } else {
      end();
      walk = Walk{move->first, 2, move->second};
    }
  }
  end();
  std::string text = parts.empty() ? "" : fmt::format("{}", fmt::join(parts, ", then "));
  if (replicas > 1) {
    text += fmt::format("{}{} replicas", text.empty() ? "" : ", ", replicas);
  }
  return text.empty() ? "1" : text;
}

/// A table of the corner, with the index along the last dimension above it.
std::string tableOf(const LinearLayout::Shape &shape, const Corner &corner,
                    const std::function<std::string(int64_t)> &cellOf) {
  const int64_t allColumns = shape.empty() ? 1 : shape.back();
  const int64_t allRows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const int64_t rows = std::min(allRows, corner.rows);
  const int64_t columns = std::min(allColumns, corner.columns);
  std::vector<std::string> cells;
  size_t width = std::to_string(columns - 1).size();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      cells.push_back(cellOf(row * allColumns + column));
      width = std::max(width, cells.back().size());
    }
  }
  const size_t head = std::to_string(rows - 1).size();
  const char *more = columns < allColumns ? "  …" : "";
  std::string text = std::string(head, ' ');
  for (int64_t column = 0; column < columns; ++column) {
    text += fmt::format("  {:>{}}", column, width);
  }
  text += fmt::format("{}\n", more);
  for (int64_t row = 0; row < rows; ++row) {
    text += fmt::format("{:>{}}", row, head);
    for (int64_t column = 0; column < columns; ++column) {
      text += fmt::format("  {:>{}}", cells[static_cast<size_t>(row * columns + column)], width);
    }
    text += fmt::format("{}\n", more);
  }
  return rows < allRows ? text + "…\n" : text;
}

} // namespace

std::vector<int64_t> coordinatesOf(int64_t element, const LinearLayout::Shape &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return index;
}

std::vector<std::optional<HolderNumbers>> firstHolders(const LinearLayout &layout) {
  std::vector<std::optional<HolderNumbers>> holders(static_cast<size_t>(layout.elementCount()));
  for (int64_t warp = 0; warp < layout.count(Holder::Warp); ++warp) {
    for (int64_t lane = 0; lane < layout.count(Holder::Lane); ++lane) {
      for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
        auto &holder = holders[static_cast<size_t>(layout.elementAt(reg, lane, warp))];
        if (!holder) {
          holder = {warp, lane, reg};
        }
      }
    }
  }
  return holders;
}

std::string inWords(const LinearLayout &layout) {
  std::string text;
  for (const auto &[holder, name] : kinds) {
    text += fmt::format("{:<10} {}\n", std::string(name) + ":", wordsOf(layout, holder));
  }
  return text;
}

std::string basisVectors(const LinearLayout &layout) {
  std::string text;
  for (const auto &[holder, name] : kinds) {
    text += fmt::format("{:<10}", std::string(name) + ":");
    for (int64_t basis : layout.bases(holder)) {
      text += fmt::format(" [{}]", fmt::join(coordinatesOf(basis, layout.shape()), ", "));
    }
    text += layout.bases(holder).empty() ? " none\n" : "\n";
  }
  return text;
}

std::string pictureOfHolders(const LinearLayout &layout, const Corner &corner) {
  const auto holders = firstHolders(layout);
  return tableOf(layout.shape(), corner, [&](int64_t element) {
    const auto &holder = holders[static_cast<size_t>(element)];
    return holder ? fmt::format("{}:{}.{}", holder->warp, holder->lane, holder->reg)
                  : std::string("-");
  });
}

std::string pictureOfBanks(const LinearLayout::Shape &shape, const Places &places,
                           const Corner &corner) {
  return tableOf(shape, corner,
                 [&](int64_t element) { return std::to_string(bankOf(placeOf(element, places))); });
}

} // namespace nereid::layout
