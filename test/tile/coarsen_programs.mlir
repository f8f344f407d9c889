// A loop over neighbouring programs of kernels that reduce rows.
// RUN: tile-opt %s --tile-coarsen-programs | FileCheck %s
// Run again, it changes nothing: programs are taken together once.
// RUN: tile-opt %s --tile-coarsen-programs --tile-coarsen-programs | FileCheck %s

// The scalar that all programs share stays in front of the loop.
// CHECK-LABEL: func.func @row_sum
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %[[OUT:.*]]: !tile.ptr<f32>, %[[N:.*]]: i32
func.func @row_sum(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) {
  // CHECK: %[[FIRST:.*]] = tile.program_id 0
  // CHECK: %[[END:.*]] = tile.program_id 0 {tile.end_of_range}
  // CHECK: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
  // CHECK: scf.for %[[ROW:.*]] = %[[FIRST]] to %[[END]]
  // CHECK: arith.muli %[[ROW]], %[[TWICE]]
  // CHECK: %[[SUM:.*]] = tile.reduce
  // CHECK: %[[P:.*]] = tile.addptr %[[OUT]], %[[ROW]]
  // CHECK: tile.store %[[P]], %[[SUM]]
  // CHECK: } {tile.coarsened}
  // CHECK-NEXT: return
  %row = tile.program_id 0
  %stride = arith.addi %n, %n : i32
  %start = arith.muli %row, %stride : i32
  %range = tile.make_range 0 to 512 : tensor<512xi32>
  %p = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %q = tile.addptr %ps, %range : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %a = tile.load %q : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
  %sum = tile.reduce %a axis 0 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<512xf32>) -> f32
  %o = tile.addptr %out, %row : !tile.ptr<f32>, i32
  tile.store %o, %sum : !tile.ptr<f32>, f32
  return
}

// Short rows that are reduced twice go four at a time, operation by operation.
// CHECK-LABEL: func.func @short_rows
// CHECK: %[[FIRST:.*]] = tile.program_id 0
// CHECK: %[[END:.*]] = tile.program_id 0 {tile.end_of_range}
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK: %[[WHOLE:.*]] = arith.andi %[[COUNT]], %{{.*}}
// CHECK: %[[REST:.*]] = arith.addi %[[FIRST]], %[[WHOLE]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[REST]]
// CHECK-COUNT-4: tile.load
// CHECK-COUNT-8: tile.reduce
// CHECK-COUNT-4: tile.store
// CHECK-NOT: tile.store
// CHECK: } {tile.one_order}
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[END]]
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK: } {tile.coarsened, tile.one_order}
func.func @short_rows(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %row = tile.program_id 0
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %p = tile.addptr %x, %row : !tile.ptr<f32>, i32
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %ps, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a = tile.load %q : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %sum = tile.reduce %a axis 0 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<64xf32>) -> f32
  %sums = tile.splat %sum : f32 -> tensor<64xf32>
  %b = arith.subf %a, %sums : tensor<64xf32>
  %top = tile.reduce %b axis 0 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.maximumf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<64xf32>) -> f32
  %o = tile.addptr %out, %row : !tile.ptr<f32>, i32
  tile.store %o, %top : !tile.ptr<f32>, f32
  return
}

// A kernel without rows overlaps with the next program by itself; what prints or waits runs alone, and
// without the program's id all programs do the same.
// CHECK-NOT: tile.coarsened
// CHECK-LABEL: func.func @elements
func.func @elements(%x: !tile.ptr<f32>) {
  %row = tile.program_id 0
  %p = tile.addptr %x, %row : !tile.ptr<f32>, i32
  %a = tile.load %p : !tile.ptr<f32> -> f32
  tile.store %p, %a : !tile.ptr<f32>, f32
  return
}
// CHECK-LABEL: func.func @prints
func.func @prints(%a: tensor<64xf32>) {
  %row = tile.program_id 0
  %sum = tile.reduce %a axis 0 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<64xf32>) -> f32
  tile.print "" false %sum, %row : f32, i32
  return
}
// CHECK-LABEL: func.func @no_id
func.func @no_id(%a: tensor<64xf32>, %out: !tile.ptr<f32>) {
  %sum = tile.reduce %a axis 0 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<64xf32>) -> f32
  tile.store %out, %sum : !tile.ptr<f32>, f32
  return
}
