// The next row is read while this one is computed and written: which rows, beside what, and how far
// ahead. The kernels are those of a row loop in the kernel language, as `tile-opt` leaves them.
// RUN: cpu-opt %s --cpu=x86-64-v4 --split-input-file --tile-cpu --convert-tile-to-loops \
// RUN:   --cpu-prefetch-next-row | FileCheck %s

// A quarter of the lines is prefetched beside the exponentials, the others where the row is stored.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: prefetch
// CHECK: arith.maxnumf
// CHECK: scf.for
// CHECK: llvm.intr.prefetch
// CHECK-NOT: scf.for
// CHECK: math.exp
// CHECK: scf.for
// CHECK: llvm.intr.prefetch
// CHECK: llvm.store
func.func @softmax(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 1024 : tensor<1024xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %1 = arith.muli %arg5, %arg4 : i32
    %2 = tile.addptr %arg1, %1 : !tile.ptr<f32>, i32
    %3 = tile.splat %2 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %4 = tile.addptr %3, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %5 = tile.load %4 : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
    %6 = tile.reduce %5 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %16 = tile.maxnum %arg6, %arg7 : f32
      tile.combine_return %16 : f32
    } : (tensor<1024xf32>) -> f32
    %7 = tile.splat %6 : f32 -> tensor<1024xf32>
    %8 = arith.subf %5, %7 : tensor<1024xf32>
    %9 = math.exp %8 : tensor<1024xf32>
    %10 = tile.addptr %arg0, %1 : !tile.ptr<f32>, i32
    %11 = tile.splat %10 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %12 = tile.addptr %11, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %13 = tile.reduce %9 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %16 = arith.addf %arg6, %arg7 : f32
      tile.combine_return %16 : f32
    } : (tensor<1024xf32>) -> f32
    %14 = tile.splat %13 : f32 -> tensor<1024xf32>
    %15 = arith.divf %9, %14 : tensor<1024xf32>
    tile.store %12, %15 : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  }
  return
}

// -----

// There is no second loop to read beside.
// CHECK-LABEL: func.func @one_loop
// CHECK-NOT: prefetch
func.func @one_loop(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 1024 : tensor<1024xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %1 = arith.muli %arg5, %arg4 : i32
    %2 = tile.addptr %arg0, %1 : !tile.ptr<f32>, i32
    %3 = tile.splat %2 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %4 = tile.addptr %3, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %5 = tile.addptr %arg1, %1 : !tile.ptr<f32>, i32
    %6 = tile.splat %5 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %7 = tile.addptr %6, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %8 = tile.load %7 : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
    %9 = math.exp %8 : tensor<1024xf32>
    tile.store %4, %9 : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  }
  return
}

// -----

// The next row is this one.
// CHECK-LABEL: func.func @same_row
// CHECK-NOT: prefetch
func.func @same_row(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 1024 : tensor<1024xi32>
  %1 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %2 = tile.addptr %1, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %3 = tile.load %2 : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
    %4 = tile.reduce %3 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %15 = tile.maxnum %arg6, %arg7 : f32
      tile.combine_return %15 : f32
    } : (tensor<1024xf32>) -> f32
    %5 = tile.splat %4 : f32 -> tensor<1024xf32>
    %6 = arith.subf %3, %5 : tensor<1024xf32>
    %7 = math.exp %6 : tensor<1024xf32>
    %8 = arith.muli %arg5, %arg4 : i32
    %9 = tile.addptr %arg0, %8 : !tile.ptr<f32>, i32
    %10 = tile.splat %9 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %11 = tile.addptr %10, %0 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %12 = tile.reduce %7 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %15 = arith.addf %arg6, %arg7 : f32
      tile.combine_return %15 : f32
    } : (tensor<1024xf32>) -> f32
    %13 = tile.splat %12 : f32 -> tensor<1024xf32>
    %14 = arith.divf %7, %13 : tensor<1024xf32>
    tile.store %11, %14 : tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>
  }
  return
}

// -----

// Rows of 512 bytes, four at a time: the four streams are prefetched four steps ahead, two lines of
// each beside two vectors' exponentials.
// CHECK-LABEL: func.func @short_rows
// CHECK: arith.constant 4 : i32
// CHECK: scf.for
// CHECK-COUNT-8: llvm.intr.prefetch
// CHECK-NOT: {{scf.for|prefetch}}
// CHECK: math.exp
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

// -----

// Rows that are only read and fit twice are prefetched 4 KiB ahead of the same place in the next row,
// and the beginning of the row behind it at the end.
// CHECK-LABEL: func.func @only_read
// CHECK: %[[LEAD:.*]] = arith.constant 1024 : i64
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[LEAD]] : i64
// CHECK: arith.cmpi sge, %[[AT]]
// CHECK: llvm.intr.prefetch
func.func @only_read(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 4096 : tensor<4096xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %1 = arith.muli %arg5, %arg4 : i32
    %2 = tile.addptr %arg1, %1 : !tile.ptr<f32>, i32
    %3 = tile.splat %2 : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
    %4 = tile.addptr %3, %0 : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %5 = tile.load %4 : tensor<4096x!tile.ptr<f32>> -> tensor<4096xf32>
    %6 = tile.reduce %5 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %12 = tile.maxnum %arg6, %arg7 : f32
      tile.combine_return %12 : f32
    } : (tensor<4096xf32>) -> f32
    %7 = tile.splat %6 : f32 -> tensor<4096xf32>
    %8 = arith.subf %5, %7 : tensor<4096xf32>
    %9 = math.exp %8 : tensor<4096xf32>
    %10 = tile.addptr %arg0, %arg5 : !tile.ptr<f32>, i32
    %11 = tile.reduce %9 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %12 = arith.addf %arg6, %arg7 : f32
      tile.combine_return %12 : f32
    } : (tensor<4096xf32>) -> f32
    tile.store %10, %11 : !tile.ptr<f32>, f32
  }
  return
}

// -----

// Others at the same place.
// CHECK-LABEL: func.func @stored
// CHECK: arith.maxnumf
// CHECK-NOT: arith.cmpi sge
// CHECK: llvm.intr.prefetch
func.func @stored(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 4096 : tensor<4096xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %1 = arith.muli %arg5, %arg4 : i32
    %2 = tile.addptr %arg1, %1 : !tile.ptr<f32>, i32
    %3 = tile.splat %2 : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
    %4 = tile.addptr %3, %0 : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %5 = tile.load %4 : tensor<4096x!tile.ptr<f32>> -> tensor<4096xf32>
    %6 = tile.reduce %5 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %16 = tile.maxnum %arg6, %arg7 : f32
      tile.combine_return %16 : f32
    } : (tensor<4096xf32>) -> f32
    %7 = tile.splat %6 : f32 -> tensor<4096xf32>
    %8 = arith.subf %5, %7 : tensor<4096xf32>
    %9 = math.exp %8 : tensor<4096xf32>
    %10 = tile.addptr %arg0, %1 : !tile.ptr<f32>, i32
    %11 = tile.splat %10 : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
    %12 = tile.addptr %11, %0 : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
    %13 = tile.reduce %9 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %16 = arith.addf %arg6, %arg7 : f32
      tile.combine_return %16 : f32
    } : (tensor<4096xf32>) -> f32
    %14 = tile.splat %13 : f32 -> tensor<4096xf32>
    %15 = arith.divf %9, %14 : tensor<4096xf32>
    tile.store %12, %15 : tensor<4096x!tile.ptr<f32>>, tensor<4096xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @too_long
// CHECK-NOT: arith.constant 1024 : i64
// CHECK: llvm.intr.prefetch
func.func @too_long(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32, %arg4: i32) attributes {tile.kernel} {
  %c1_i32 = arith.constant 1 : i32
  %0 = tile.make_range 0 to 8192 : tensor<8192xi32>
  scf.for %arg5 = %arg2 to %arg3 step %c1_i32  : i32 {
    %1 = arith.muli %arg5, %arg4 : i32
    %2 = tile.addptr %arg1, %1 : !tile.ptr<f32>, i32
    %3 = tile.splat %2 : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
    %4 = tile.addptr %3, %0 : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
    %5 = tile.load %4 : tensor<8192x!tile.ptr<f32>> -> tensor<8192xf32>
    %6 = tile.reduce %5 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %12 = tile.maxnum %arg6, %arg7 : f32
      tile.combine_return %12 : f32
    } : (tensor<8192xf32>) -> f32
    %7 = tile.splat %6 : f32 -> tensor<8192xf32>
    %8 = arith.subf %5, %7 : tensor<8192xf32>
    %9 = math.exp %8 : tensor<8192xf32>
    %10 = tile.addptr %arg0, %arg5 : !tile.ptr<f32>, i32
    %11 = tile.reduce %9 axis 0 {
    ^bb0(%arg6: f32, %arg7: f32):
      %12 = arith.addf %arg6, %arg7 : f32
      tile.combine_return %12 : f32
    } : (tensor<8192xf32>) -> f32
    tile.store %10, %11 : !tile.ptr<f32>, f32
  }
  return
}

// -----

// A row walked in blocks twice: the next row's blocks are prefetched beside the second walk, a line
// for each vector.
// CHECK-LABEL: func.func @blocks
// CHECK-COUNT-4: llvm.intr.prefetch
// CHECK-NOT: prefetch
func.func @blocks(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32) attributes {tile.kernel} {
  %c512_i32 = arith.constant 512 : i32
  %c0_i32 = arith.constant 0 : i32
  %cst = arith.constant dense<0.000000e+00> : tensor<512xf32>
  %0 = tile.program_id 0
  %1 = tile.make_range 0 to 512 : tensor<512xi32>
  %2 = arith.muli %0, %arg2 : i32
  %3 = tile.addptr %arg1, %2 : !tile.ptr<f32>, i32
  %4 = tile.splat %arg3 : i32 -> tensor<512xi32>
  %5 = scf.for %arg4 = %c0_i32 to %arg3 step %c512_i32 iter_args(%arg5 = %cst) -> (tensor<512xf32>)  : i32 {
    %12 = tile.addptr %3, %arg4 : !tile.ptr<f32>, i32
    %13 = tile.splat %12 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %14 = tile.addptr %13, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %15 = tile.splat %arg4 : i32 -> tensor<512xi32>
    %16 = arith.addi %15, %1 : tensor<512xi32>
    %17 = arith.cmpi slt, %16, %4 : tensor<512xi32>
    %18 = tile.load %14 mask %17 : tensor<512xi1> other %cst : tensor<512xf32> : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
    %19 = arith.addf %arg5, %18 : tensor<512xf32>
    scf.yield %19 : tensor<512xf32>
  }
  %6 = tile.reduce %5 axis 0 {
  ^bb0(%arg4: f32, %arg5: f32):
    %12 = arith.addf %arg4, %arg5 : f32
    tile.combine_return %12 : f32
  } : (tensor<512xf32>) -> f32
  %7 = arith.muli %0, %arg2 : i32
  %8 = tile.addptr %arg1, %7 : !tile.ptr<f32>, i32
  %9 = tile.splat %arg3 : i32 -> tensor<512xi32>
  %10 = tile.addptr %arg0, %7 : !tile.ptr<f32>, i32
  %11 = tile.splat %6 : f32 -> tensor<512xf32>
  scf.for %arg4 = %c0_i32 to %arg3 step %c512_i32  : i32 {
    %12 = tile.addptr %8, %arg4 : !tile.ptr<f32>, i32
    %13 = tile.splat %12 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %14 = tile.addptr %13, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %15 = tile.splat %arg4 : i32 -> tensor<512xi32>
    %16 = arith.addi %15, %1 : tensor<512xi32>
    %17 = arith.cmpi slt, %16, %9 : tensor<512xi32>
    %18 = tile.load %14 mask %17 : tensor<512xi1> other %cst : tensor<512xf32> : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
    %19 = tile.addptr %10, %arg4 : !tile.ptr<f32>, i32
    %20 = tile.splat %19 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %21 = tile.addptr %20, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %22 = arith.subf %18, %11 : tensor<512xf32>
    tile.store %21, %22 mask %17 : tensor<512xi1> : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
  }
  return
}

// -----

// A walk in other blocks takes none.
// CHECK-LABEL: func.func @other_blocks
// CHECK-NOT: prefetch
func.func @other_blocks(%arg0: !tile.ptr<f32>, %arg1: !tile.ptr<f32>, %arg2: i32, %arg3: i32) attributes {tile.kernel} {
  %c1024_i32 = arith.constant 1024 : i32
  %c512_i32 = arith.constant 512 : i32
  %c0_i32 = arith.constant 0 : i32
  %cst = arith.constant dense<0.000000e+00> : tensor<512xf32>
  %0 = tile.program_id 0
  %1 = tile.make_range 0 to 512 : tensor<512xi32>
  %2 = arith.muli %0, %arg2 : i32
  %3 = tile.addptr %arg1, %2 : !tile.ptr<f32>, i32
  %4 = tile.splat %arg3 : i32 -> tensor<512xi32>
  %5 = scf.for %arg4 = %c0_i32 to %arg3 step %c512_i32 iter_args(%arg5 = %cst) -> (tensor<512xf32>)  : i32 {
    %12 = tile.addptr %3, %arg4 : !tile.ptr<f32>, i32
    %13 = tile.splat %12 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %14 = tile.addptr %13, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %15 = tile.splat %arg4 : i32 -> tensor<512xi32>
    %16 = arith.addi %15, %1 : tensor<512xi32>
    %17 = arith.cmpi slt, %16, %4 : tensor<512xi32>
    %18 = tile.load %14 mask %17 : tensor<512xi1> other %cst : tensor<512xf32> : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
    %19 = arith.addf %arg5, %18 : tensor<512xf32>
    scf.yield %19 : tensor<512xf32>
  }
  %6 = tile.reduce %5 axis 0 {
  ^bb0(%arg4: f32, %arg5: f32):
    %12 = arith.addf %arg4, %arg5 : f32
    tile.combine_return %12 : f32
  } : (tensor<512xf32>) -> f32
  %7 = arith.muli %0, %arg2 : i32
  %8 = tile.addptr %arg1, %7 : !tile.ptr<f32>, i32
  %9 = tile.splat %arg3 : i32 -> tensor<512xi32>
  %10 = tile.addptr %arg0, %7 : !tile.ptr<f32>, i32
  %11 = tile.splat %6 : f32 -> tensor<512xf32>
  scf.for %arg4 = %c0_i32 to %arg3 step %c1024_i32  : i32 {
    %12 = tile.addptr %8, %arg4 : !tile.ptr<f32>, i32
    %13 = tile.splat %12 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %14 = tile.addptr %13, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %15 = tile.splat %arg4 : i32 -> tensor<512xi32>
    %16 = arith.addi %15, %1 : tensor<512xi32>
    %17 = arith.cmpi slt, %16, %9 : tensor<512xi32>
    %18 = tile.load %14 mask %17 : tensor<512xi1> other %cst : tensor<512xf32> : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
    %19 = tile.addptr %10, %arg4 : !tile.ptr<f32>, i32
    %20 = tile.splat %19 : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
    %21 = tile.addptr %20, %1 : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %22 = arith.subf %18, %11 : tensor<512xf32>
    tile.store %21, %22 mask %17 : tensor<512xi1> : tensor<512x!tile.ptr<f32>>, tensor<512xf32>
  }
  return
}
