// SPDX-License-Identifier: Apache-2.0
// Which thread of a program holds which elements of a tile, as a linear map over bits: an element's
// row-major number is the exclusive or of one basis for each bit that is set in the number of the
// register, of the lane and of the warp that hold it. Shapes and numbers are powers of two, so that
// every layout here (rows across lanes, fragments of matrix instructions, replicas) is one such
// map, and transposing, slicing and reshaping tiles are permutations of the bits of its bases.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace nereid::layout {

/// What of a program holds an element.
enum class Holder : uint8_t { Register, Lane, Warp };

class LinearLayout {
public:
  using Shape = std::vector<int64_t>;
  using Bases = std::vector<int64_t>;

  LinearLayout() = default;
  /// Basis i of each list belongs to bit i of the holder's number. Sizes of `shape` are powers of
  /// two, bases are numbers of elements, 0 where the bit makes no difference: replicas.
  LinearLayout(Shape shape, Bases registers, Bases lanes, Bases warps);

  const Shape &shape() const { return sizes; }
  int64_t elementCount() const;
  const Bases &bases(Holder holder) const { return lists[static_cast<size_t>(holder)]; }
  /// How many registers, lanes or warps there are.
  int64_t count(Holder holder) const { return int64_t{1} << bases(holder).size(); }
  bool operator==(const LinearLayout &) const = default;

  /// Row-major number of the element that is held there.
  int64_t elementAt(int64_t reg, int64_t lane, int64_t warp) const;
  /// What the number's bits contribute on their own.
  int64_t contribution(Holder holder, int64_t number) const;
  /// The first register for each contribution that registers make: where a thread holds an element,
  /// by what the element's number has beside the thread's own part.
  std::unordered_map<int64_t, size_t> registersByContribution() const;
  /// Whether every element is held by somebody.
  bool isComplete() const;
  /// Whether no two bases share a bit of the element's number, so that adding contributions is as
  /// good as their exclusive or, and each basis is a single bit.
  bool isPermutation() const;
  /// Bits of the holder's numbers that make no difference, as a mask: those holders that have one
  /// of them set hold replicas.
  int64_t replicaBits(Holder holder) const;

  // ---- layouts of the same elements in other shapes ----

  /// The row-major numbers stay; equal element counts.
  LinearLayout reshaped(Shape shape) const;
  /// Dimension i of the result is dimension order[i] of this one.
  LinearLayout transposed(std::span<const int32_t> order) const;
  /// That of the tile with size 1 along each dimension in which `shape` has size 1 and this one has
  /// not: replicas along it, without registers of their own. The layout an operand needs that is
  /// broadcast to this one.
  LinearLayout projectedTo(const Shape &shape) const;
  /// `axis` removed, as of the result of a reduction along it.
  LinearLayout withoutAxis(unsigned axis) const;
  /// That of a half of a tile with this layout, whose last dimension is 2.
  LinearLayout halved() const;
  /// That of a tile with a last dimension of 2, whose halves have this layout, in two registers.
  LinearLayout doubled() const;

  /// "registers 1 2, lanes 4 8 16 32 64, warps 128 256"
  std::string text() const;

private:
  template <class Map> LinearLayout mapped(Shape shape, const Map &map) const;

  Shape sizes;
  Bases lists[3];
};

/// Consecutive elements along the dimensions of `order`, fastest first: `vector` elements of the
/// first one for each thread, then lanes, then warps; what is left over goes to further registers.
/// Counts are powers of two. Where the tile has fewer elements than threads, threads hold replicas.
LinearLayout blockedLayout(const LinearLayout::Shape &shape, std::span<const int32_t> order,
                           int64_t vector, int64_t lanes, int64_t warps);

/// The bits that an axis has in an element's row-major number.
int64_t axisBits(const LinearLayout::Shape &shape, size_t axis);

/// n-1, n-2, … 0: the last dimension is the fastest.
std::vector<int32_t> rowMajorOrder(size_t rank);

/// For what each thread computes from a few rows and a few columns: lanes and registers are spread
/// over the last two dimensions alike, warps along the last but one, so that a row stays within a
/// warp. At least two dimensions; further ones come last. Replicas as of blockedLayout.
LinearLayout squareLayout(const LinearLayout::Shape &shape, int64_t lanes, int64_t warps);

/// For a walk along `axis`: neighbours along it in a thread's registers, then in its lanes, and in
/// warps where these do not reach; then the other dimensions. isWalkable.
LinearLayout scanLayout(const LinearLayout::Shape &shape, unsigned axis, int64_t lanes,
                        int64_t warps);

/// Whether a walk along `axis` comes to neighbouring registers of a thread first, then to
/// neighbouring lanes, then to warps in the order of their numbers, and after all of these to what
/// further registers hold, in the same way.
bool isWalkable(const LinearLayout &layout, unsigned axis);

} // namespace nereid::layout
