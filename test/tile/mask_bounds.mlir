// Masks as intervals along the dimensions of a tile.
// RUN: tile-opt %s --split-input-file --tile-print-mask-bounds --verify-diagnostics

// All four comparisons, with the limit on either side.
func.func @comparisons(%x: !tile.ptr<f32>, %n: i32) {
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %lt = arith.cmpi slt, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 < limit}}
  %0 = tile.load %p mask %lt : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %le = arith.cmpi sle, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 <= limit}}
  %1 = tile.load %p mask %le : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %gt = arith.cmpi sgt, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 > limit}}
  %2 = tile.load %p mask %gt : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %ge = arith.cmpi sge, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 >= limit}}
  %3 = tile.load %p mask %ge : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %lt2 = arith.cmpi slt, %ns, %range : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 > limit}}
  %4 = tile.load %p mask %lt2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %le2 = arith.cmpi sle, %ns, %range : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 >= limit}}
  %5 = tile.load %p mask %le2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %gt2 = arith.cmpi sgt, %ns, %range : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 < limit}}
  tile.store %p, %0 mask %gt2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  %ge2 = arith.cmpi sge, %ns, %range : tensor<64xi32>
  // expected-remark@below {{mask: dim 0 <= limit}}
  %6 = tile.atomic_rmw fadd %p, %0 mask %ge2 : tensor<64xi1> : tensor<64x!tile.ptr<f32>>, tensor<64xf32>
  return
}

// -----

// A conjunction: rows, every second column, and what holds for all or for none.
func.func @terms(%x: !tile.ptr<f32>, %n: i32, %m: i32, %on: i1) {
  %rows = tile.make_range 0 to 8 : tensor<8xi32>
  %columns = tile.make_range 0 to 64 : tensor<64xi32>
  %ms = tile.splat %m : i32 -> tensor<8xi32>
  %row_mask = arith.cmpi slt, %rows, %ms : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %even = arith.muli %columns, %two : tensor<64xi32>
  %start = tile.splat %n : i32 -> tensor<64xi32>
  %moved = arith.subi %even, %start : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %column_mask = arith.cmpi sge, %moved, %three : tensor<64xi32>
  %a = tile.expand_dims %row_mask, 1 : tensor<8xi1> -> tensor<8x1xi1>
  %b = tile.broadcast %a : tensor<8x1xi1> -> tensor<8x64xi1>
  %c = tile.expand_dims %column_mask, 0 : tensor<64xi1> -> tensor<1x64xi1>
  %d = tile.broadcast %c : tensor<1x64xi1> -> tensor<8x64xi1>
  %both = arith.andi %b, %d : tensor<8x64xi1>
  %ons = tile.splat %on : i1 -> tensor<8x64xi1>
  %mask = arith.andi %both, %ons : tensor<8x64xi1>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x64x!tile.ptr<f32>>
  // expected-remark@below {{mask: dim 0 < limit, 2 * dim 1 >= limit, uniform}}
  %0 = tile.load %xs mask %mask : tensor<8x64xi1> : tensor<8x64x!tile.ptr<f32>> -> tensor<8x64xf32>
  %order = tile.trans %mask, [1, 0] : tensor<8x64xi1> -> tensor<64x8xi1>
  %xt = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>>
  // expected-remark@below {{mask: dim 1 < limit, 2 * dim 0 >= limit, uniform}}
  %1 = tile.load %xt mask %order : tensor<64x8xi1> : tensor<64x8x!tile.ptr<f32>> -> tensor<64x8xf32>
  return
}

// -----

// Near misses: equality, unsigned comparisons, numbers that fall, limits that differ, bytes that
// may wrap around, a disjunction, and a comparison of rows with columns.
func.func @no_bounds(%x: !tile.ptr<f32>, %n: i32, %limits: tensor<64xi32>) {
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %eq = arith.cmpi eq, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: other}}
  %0 = tile.load %p mask %eq : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %ult = arith.cmpi ult, %range, %ns : tensor<64xi32>
  // expected-remark@below {{mask: other}}
  %1 = tile.load %p mask %ult : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %falling = arith.subi %ns, %range : tensor<64xi32>
  %down = arith.cmpi slt, %falling, %ns : tensor<64xi32>
  // expected-remark@below {{mask: other}}
  %2 = tile.load %p mask %down : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %each = arith.cmpi slt, %range, %limits : tensor<64xi32>
  // expected-remark@below {{mask: other}}
  %3 = tile.load %p mask %each : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %bytes = arith.trunci %range : tensor<64xi32> to tensor<64xi8>
  %limit = arith.constant dense<9> : tensor<64xi8>
  %wraps = arith.cmpi slt, %bytes, %limit : tensor<64xi8>
  // expected-remark@below {{mask: other}}
  %4 = tile.load %p mask %wraps : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %lt = arith.cmpi slt, %range, %ns : tensor<64xi32>
  %either = arith.ori %lt, %eq : tensor<64xi1>
  // expected-remark@below {{mask: other}}
  %5 = tile.load %p mask %either : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %r = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %c = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %rs = tile.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
  %cs = tile.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %causal = arith.cmpi sle, %cs, %rs : tensor<64x64xi32>
  %ps = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  // expected-remark@below {{mask: other}}
  %6 = tile.load %ps mask %causal : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f32>> -> tensor<64x64xf32>
  return
}
