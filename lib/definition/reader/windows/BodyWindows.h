// SPDX-License-Identifier: Apache-2.0
// Functions of operations.def that are written out by code (NEREID_WRITTEN): pooling (Pooling.cpp,
// PoolingGradient.cpp), windows as columns and convolutions in other dimensions than two
// (Columns.cpp), other sizes (Resizing.cpp, ResizingGradient.cpp, GridSample.cpp), norms of
// channels (ChannelNorms.cpp), and what belongs to the gradients of paddings and slices
// (Pieces.cpp). All of them become movements, reductions and products: padding, windows, a
// reduction over their places, and windows spread back to where they came from. Those without
// windows are in reader/written.
#pragma once

#include "lib/definition/reader/windows/WrittenCall.h"

namespace nereid::definition {

class BodyWindows {
public:
  using Call = BodyExpressions::Call;
  using Results = std::optional<std::vector<int>>;

  BodyWindows(BodyExpressions &body, const Call &call) : body(body), call(call) {}

  /// F.unfold, which is not the method unfold.
  static bool isColumns(const Call &call);
  static bool isFunction(const std::string &name);
  /// Values, and where they are.
  bool returnsTwo() const;
  /// As many as there are pieces.
  bool returnsPieces() const;
  /// What the call returns, or nothing after an error was reported.
  Results run();

private:
  BodyExpressions &body;
  const Call &call;
};

Value pooled(WrittenCall &call, const std::string &kind);
/// Values and the places of the largest in the image.
std::vector<Value> pooledWithPlaces(WrittenCall &call);
Value poolingGradient(WrittenCall &call);
/// Values back at the places of an image.
Value unpooled(WrittenCall &call);
Value asColumns(WrittenCall &call);
Value fromColumns(WrittenCall &call);
Value windowsGradient(WrittenCall &call);
Value convolved(WrittenCall &call);
Value convolvedBack(WrittenCall &call);
Value resized(WrittenCall &call);
Value resizedGradient(WrittenCall &call);
Value shuffled(WrittenCall &call);
Value affineGrid(WrittenCall &call);
Value gridSample(WrittenCall &call);
Value paddedEdges(WrittenCall &call);
Value pieceGradient(WrittenCall &call);
Value channelNorm(WrittenCall &call);

} // namespace nereid::definition
