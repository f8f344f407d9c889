// The phase tile-cpu on short rows: programs are taken four at a time, where their tiles fit into the
// scratch memory so often.
// RUN: cpu-opt %s --tile-cpu | FileCheck %s --check-prefix=FOUR
// RUN: cpu-opt %s --scratch-bytes=16384 --tile-cpu | FileCheck %s --check-prefix=ONE
// Behind the phase the kernel takes a range of programs in one call.
// RUN: cpu-opt %s --tile-cpu --convert-tile-to-loops | FileCheck %s --check-prefix=LOOPS

// FOUR-LABEL: func.func @short_rows
// FOUR: tile.program_id 0 {tile.end_of_range}
// FOUR: scf.for
// FOUR-COUNT-4: tile.load
// FOUR-COUNT-4: arith.maxnumf
// FOUR-NOT: {tile.coarsened
// FOUR: scf.for
// FOUR: } {tile.coarsened, tile.one_order}

// ONE-LABEL: func.func @short_rows
// ONE: tile.program_id 0 {tile.end_of_range}
// ONE: scf.for
// ONE-NOT: scf.for
// ONE: tile.load
// ONE-NOT: tile.load
// ONE: } {tile.coarsened}

// LOOPS: func.func @short_rows
// LOOPS-SAME: nereid.takes_ranges
func.func @short_rows(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32) attributes {tile.kernel} {
  %cst = arith.constant dense<0xFF800000> : tensor<128xf32>
  %0 = tile.program_id 0
  %1 = tile.make_range 0 to 128 : tensor<128xi32>
  %2 = arith.muli %0, %arg2 : i32
  %3 = tile.addptr %arg1, %2 : !tile.ptr<f32>, i32
  %4 = tile.splat %3 : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %5 = tile.addptr %4, %1 : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %6 = tile.splat %arg3 : i32 -> tensor<128xi32>
  %7 = arith.cmpi slt, %1, %6 : tensor<128xi32>
  %8 = tile.load %5 mask %7 : tensor<128xi1> other %cst : tensor<128xf32> : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %9 = tile.reduce %8 axis 0 {
  ^bb0(%arg4: f32, %arg5: f32):
    %17 = tile.maxnum %arg4, %arg5 : f32
    tile.combine_return %17 : f32
  } : (tensor<128xf32>) -> f32
  %10 = tile.addptr %arg0, %0 : !tile.ptr<f32>, i32
  %11 = tile.splat %9 : f32 -> tensor<128xf32>
  %12 = arith.subf %8, %11 : tensor<128xf32>
  %13 = math.exp %12 : tensor<128xf32>
  %14 = tile.reduce %13 axis 0 {
  ^bb0(%arg4: f32, %arg5: f32):
    %17 = arith.addf %arg4, %arg5 : f32
    tile.combine_return %17 : f32
  } : (tensor<128xf32>) -> f32
  %15 = math.log %14 : f32
  %16 = arith.addf %9, %15 : f32
  tile.store %10, %16 : !tile.ptr<f32>, f32
  return
}
