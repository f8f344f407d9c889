// Folds and rewrites of tile operations, each with a neighbour that must stay.
// RUN: tile-opt %s --tile-simplify | FileCheck %s

// CHECK-LABEL: func.func @constant_splats
func.func @constant_splats() -> (tensor<4xi32>, tensor<1x4xf32>, tensor<8x4xf32>, tensor<4x2xi1>) {
  %n = arith.constant 3 : i32
  %s = tile.splat %n : i32 -> tensor<4xi32>
  %f = arith.constant dense<2.5> : tensor<4xf32>
  %e = tile.expand_dims %f, 0 : tensor<4xf32> -> tensor<1x4xf32>
  %b = tile.broadcast %e : tensor<1x4xf32> -> tensor<8x4xf32>
  %t = arith.constant dense<true> : tensor<8xi1>
  %r = tile.reshape %t : tensor<8xi1> -> tensor<2x4xi1>
  %p = tile.trans %r, [1, 0] : tensor<2x4xi1> -> tensor<4x2xi1>
  // CHECK-DAG: arith.constant dense<3> : tensor<4xi32>
  // CHECK-DAG: arith.constant dense<2.500000e+00> : tensor<1x4xf32>
  // CHECK-DAG: arith.constant dense<2.500000e+00> : tensor<8x4xf32>
  // CHECK-DAG: arith.constant dense<true> : tensor<4x2xi1>
  // CHECK-NOT: tile.
  return %s, %e, %b, %p : tensor<4xi32>, tensor<1x4xf32>, tensor<8x4xf32>, tensor<4x2xi1>
}

// CHECK-LABEL: func.func @splat_stays_splat
// CHECK-SAME: %[[X:.*]]: f32
func.func @splat_stays_splat(%x: f32) -> (tensor<2x8xf32>, f32) {
  // CHECK-NEXT: %[[S:.*]] = tile.splat %[[X]] : f32 -> tensor<2x8xf32>
  // CHECK-NEXT: return %[[S]], %[[X]]
  %0 = tile.splat %x : f32 -> tensor<8xf32>
  %1 = tile.expand_dims %0, 1 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = tile.broadcast %1 : tensor<8x1xf32> -> tensor<8x2xf32>
  %3 = tile.trans %2, [1, 0] : tensor<8x2xf32> -> tensor<2x8xf32>
  %4 = tile.splat %x : f32 -> tensor<1xf32>
  %5 = tile.unsplat %4 : tensor<1xf32> -> f32
  return %3, %5 : tensor<2x8xf32>, f32
}

// CHECK-LABEL: func.func @shape_chains
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<1x1xf32>
func.func @shape_chains(%x: tensor<2x3x4xf32>, %y: tensor<1x1xf32>)
    -> (tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<24xf32>, tensor<5x6xf32>) {
  // CHECK-NEXT: %[[T:.*]] = tile.trans %[[X]], [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  // CHECK-NEXT: %[[R:.*]] = tile.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[Y]] : tensor<1x1xf32> -> tensor<5x6xf32>
  // CHECK-NEXT: return %[[X]], %[[T]], %[[R]], %[[B]]
  %0 = tile.trans %x, [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %1 = tile.trans %0, [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  %2 = tile.trans %0, [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %3 = tile.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %4 = tile.reshape %3 : tensor<6x4xf32> -> tensor<24xf32>
  %5 = tile.broadcast %y : tensor<1x1xf32> -> tensor<5x1xf32>
  %6 = tile.broadcast %5 : tensor<5x1xf32> -> tensor<5x6xf32>
  return %1, %2, %4, %6 : tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<24xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: func.func @addresses
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[N:.*]]: i32, %[[O:.*]]: tensor<4xi32>
func.func @addresses(%p: !tile.ptr<f32>, %n: i32, %o: tensor<4xi32>)
    -> (!tile.ptr<f32>, tensor<4x!tile.ptr<f32>>, tensor<4x!tile.ptr<f32>>) {
  // CHECK: %[[Q:.*]] = tile.addptr %[[P]], %[[N]] : !tile.ptr<f32>, i32
  // CHECK: %[[QS:.*]] = tile.splat %[[Q]]
  // CHECK: %[[R:.*]] = tile.addptr %{{.*}}, %[[O]]
  // CHECK: return %[[P]], %[[QS]], %[[R]]
  %zero = arith.constant 0 : i32
  %0 = tile.addptr %p, %zero : !tile.ptr<f32>, i32
  %1 = tile.splat %0 : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %2 = tile.splat %n : i32 -> tensor<4xi32>
  %3 = tile.addptr %1, %2 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %4 = tile.addptr %1, %o : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  return %0, %3, %4 : !tile.ptr<f32>, tensor<4x!tile.ptr<f32>>, tensor<4x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @pointer_casts
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>
func.func @pointer_casts(%p: !tile.ptr<f32>) -> (!tile.ptr<f32>, !tile.ptr<i8>) {
  // CHECK-NEXT: %[[C:.*]] = tile.ptr_cast %[[P]] : !tile.ptr<f32> -> !tile.ptr<i8>
  // CHECK-NEXT: return %[[P]], %[[C]]
  %0 = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<i32>
  %1 = tile.ptr_cast %0 : !tile.ptr<i32> -> !tile.ptr<f32>
  %2 = tile.ptr_cast %0 : !tile.ptr<i32> -> !tile.ptr<i8>
  return %1, %2 : !tile.ptr<f32>, !tile.ptr<i8>
}

// CHECK-LABEL: func.func @known_masks
func.func @known_masks(%p: tensor<4x!tile.ptr<f32>>, %v: tensor<4xf32>, %m: tensor<4xi1>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %yes = arith.constant dense<true> : tensor<4xi1>
  %no = arith.constant dense<false> : tensor<4xi1>
  // CHECK: %[[A:.*]] = tile.load %arg0 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %0 = tile.load %p mask %yes : tensor<4xi1> other %v : tensor<4xf32> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  %1 = tile.load %p mask %no : tensor<4xi1> other %v : tensor<4xf32> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  // Without other the value is undefined, and no constant may take its place.
  // CHECK: %[[C:.*]] = tile.load %arg0 mask %{{.*}} : tensor<4xi1> : tensor
  %2 = tile.load %p mask %no : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  // CHECK: %[[D:.*]] = tile.load %arg0 mask %arg2 : tensor<4xi1> other %arg1
  %3 = tile.load %p mask %m : tensor<4xi1> other %v : tensor<4xf32> : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  // CHECK-NEXT: tile.store %arg0, %arg1 : tensor
  // CHECK-NEXT: tile.store %arg0, %arg1 mask %arg2
  // CHECK-NEXT: return %[[A]], %arg1, %[[C]], %[[D]]
  tile.store %p, %v mask %yes : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  tile.store %p, %v mask %no : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  tile.store %p, %v mask %m : tensor<4xi1> : tensor<4x!tile.ptr<f32>>, tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @effects
func.func @effects(%p: !tile.ptr<f32>, %n: i1) {
  // An unused load goes, a volatile one and a failing assertion stay.
  // CHECK-NOT: tile.load %arg0 :
  // CHECK: tile.load %arg0 {isVolatile}
  // CHECK: tile.assert %{{.*}}, "never"
  // CHECK-NOT: "always"
  // CHECK: return
  %yes = arith.constant true
  %no = arith.constant false
  %0 = tile.load %p : !tile.ptr<f32> -> f32
  %1 = tile.load %p {isVolatile} : !tile.ptr<f32> -> f32
  tile.assert %no, "never" : i1
  tile.assert %yes, "always" : i1
  return
}

// CHECK-LABEL: func.func @single_iterations
func.func @single_iterations(%x: i32, %n: i32) -> (i32, i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  // One turn, from 1 to 5 in steps of 5: the body, with the induction variable at its start.
  // CHECK: %[[A:.*]] = arith.addi %arg0, %{{.*}} : i32
  %0 = scf.for %i = %one to %five step %five iter_args(%a = %x) -> (i32) : i32 {
    %sum = arith.addi %a, %i : i32
    scf.yield %sum : i32
  }
  // Five turns, and nobody knows how many.
  // CHECK: %[[B:.*]] = scf.for
  %1 = scf.for %i = %zero to %five step %one iter_args(%a = %x) -> (i32) : i32 {
    %sum = arith.addi %a, %i : i32
    scf.yield %sum : i32
  }
  // CHECK: %[[C:.*]] = scf.for
  %2 = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (i32) : i32 {
    %sum = arith.addi %a, %i : i32
    scf.yield %sum : i32
  }
  // CHECK: return %[[A]], %[[B]], %[[C]]
  return %0, %1, %2 : i32, i32, i32
}

// A NaN gives way to the number, and what is no number may give way to an infinity: x stays only
// beside a NaN and beside itself.
// CHECK-LABEL: func.func @extrema
// CHECK-SAME: %[[X:.*]]: f32, %[[T:.*]]: tensor<4xf32>
func.func @extrema(%x: f32, %t: tensor<4xf32>)
    -> (f32, f32, f32, f32, tensor<4xf32>, tensor<4xf32>, f32) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %two = arith.constant 2.0 : f32
  %tlow = arith.constant dense<0xFF800000> : tensor<4xf32>
  %tnan = arith.constant dense<0x7FC00000> : tensor<4xf32>
  %minus = arith.constant -0.0 : f32
  %plus = arith.constant 0.0 : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-DAG: %[[MAX:.*]] = tile.maxnum %[[X]], %{{.*}} : f32
  // CHECK-DAG: %[[MIN:.*]] = tile.minnum %[[X]], %{{.*}} : f32
  // CHECK-DAG: %[[TMAX:.*]] = tile.maxnum %[[T]], %{{.*}} : tensor<4xf32>
  // CHECK: return %[[MAX]], %[[MIN]], %[[X]], %[[TWO]], %[[TMAX]], %[[T]], %[[ZERO]]
  %0 = tile.maxnum %low, %x : f32
  %1 = arith.minnumf %x, %high : f32
  %2 = tile.minnum %nan, %x : f32
  %3 = tile.maxnum %nan, %two : f32
  %4 = arith.maxnumf %t, %tlow : tensor<4xf32>
  %5 = tile.minnum %t, %tnan : tensor<4xf32>
  %6 = tile.maxnum %minus, %plus : f32
  return %0, %1, %2, %3, %4, %5, %6
      : f32, f32, f32, f32, tensor<4xf32>, tensor<4xf32>, f32
}

// Sums that pick one element of each pair: a gather.
// CHECK-LABEL: func.func @sums_that_pick
// CHECK-SAME: %[[Y:.*]]: tensor<2x2x4xi32>, %[[W:.*]]: tensor<8x2x1xi64>
func.func @sums_that_pick(%y: tensor<2x2x4xi32>, %w: tensor<8x2x1xi64>)
    -> (tensor<2x2x4xi32>, tensor<8x2x1xi64>) {
  // CHECK-DAG: %[[CLEAR:.*]] = arith.constant dense<-5> : tensor<16xi32>
  // CHECK-DAG: %[[SET:.*]] = arith.constant dense<1> : tensor<16xi32>
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %range = tile.make_range 0 to 2 : tensor<2xi32>
  %row = tile.expand_dims %range, 0 : tensor<2xi32> -> tensor<1x2xi32>
  %mask = tile.expand_dims %row, 2 : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %not = arith.subi %one, %mask : tensor<1x2x1xi32>
  %left = tile.broadcast %not : tensor<1x2x1xi32> -> tensor<2x2x4xi32>
  %wide = arith.extsi %mask : tensor<1x2x1xi32> to tensor<1x2x1xi64>
  %right = tile.broadcast %wide : tensor<1x2x1xi64> -> tensor<8x2x1xi64>
  // CHECK-NOT: tile.reduce
  // CHECK: %[[AT:.*]] = arith.andi %{{.*}}, %[[CLEAR]] : tensor<16xi32>
  // CHECK: tile.gather %{{.*}}[%[[AT]]] axis 0 : tensor<16xi32>, tensor<16xi32> -> tensor<16xi32>
  %0 = arith.muli %y, %left : tensor<2x2x4xi32>
  %1 = tile.reduce %0 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x4xi32>) -> tensor<2x4xi32>
  %2 = tile.expand_dims %1, 1 : tensor<2x4xi32> -> tensor<2x1x4xi32>
  %3 = tile.broadcast %2 : tensor<2x1x4xi32> -> tensor<2x2x4xi32>
  // CHECK: %[[OR:.*]] = arith.ori %{{.*}}, %[[SET]] : tensor<16xi32>
  // CHECK: tile.gather %{{.*}}[%[[OR]]] axis 0 : tensor<16xi64>, tensor<16xi32> -> tensor<16xi64>
  %4 = arith.muli %right, %w : tensor<8x2x1xi64>
  %5 = tile.reduce %4 axis 1 {
  ^bb0(%a: i64, %b: i64):
    %s = arith.addi %b, %a : i64
    tile.combine_return %s : i64
  } : (tensor<8x2x1xi64>) -> tensor<8x1xi64>
  %6 = tile.expand_dims %5, 1 : tensor<8x1xi64> -> tensor<8x1x1xi64>
  %7 = tile.broadcast %6 : tensor<8x1x1xi64> -> tensor<8x2x1xi64>
  return %3, %7 : tensor<2x2x4xi32>, tensor<8x2x1xi64>
}

// Near misses: both elements, a maximum, another axis, the mask along another axis, a mask from
// memory, other numbers.
// CHECK-LABEL: func.func @sums_that_do_not_pick
// CHECK-NOT: tile.gather
func.func @sums_that_do_not_pick(%y: tensor<2x2x2xi32>, %given: tensor<2x2x2xi32>)
    -> (tensor<2x2x2xi32>, tensor<2x2x2xi32>, tensor<2x2x2xi32>, tensor<2x2x2xi32>,
        tensor<2x2x2xi32>, tensor<2x2x2xi32>) {
  %ones = arith.constant dense<1> : tensor<2x2x2xi32>
  %range = tile.make_range 0 to 2 : tensor<2xi32>
  %row = tile.expand_dims %range, 0 : tensor<2xi32> -> tensor<1x2xi32>
  %mask = tile.expand_dims %row, 2 : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %right = tile.broadcast %mask : tensor<1x2x1xi32> -> tensor<2x2x2xi32>
  %last = tile.expand_dims %row, 0 : tensor<1x2xi32> -> tensor<1x1x2xi32>
  %other = tile.broadcast %last : tensor<1x1x2xi32> -> tensor<2x2x2xi32>
  %from1 = tile.make_range 1 to 3 : tensor<2xi32>
  %row1 = tile.expand_dims %from1, 0 : tensor<2xi32> -> tensor<1x2xi32>
  %mask1 = tile.expand_dims %row1, 2 : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %twice = tile.broadcast %mask1 : tensor<1x2x1xi32> -> tensor<2x2x2xi32>

  %0 = arith.muli %y, %ones : tensor<2x2x2xi32>
  %1 = tile.reduce %0 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %2 = tile.expand_dims %1, 1 : tensor<2x2xi32> -> tensor<2x1x2xi32>
  %both = tile.broadcast %2 : tensor<2x1x2xi32> -> tensor<2x2x2xi32>

  %3 = arith.muli %y, %right : tensor<2x2x2xi32>
  %4 = tile.reduce %3 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %5 = tile.expand_dims %4, 1 : tensor<2x2xi32> -> tensor<2x1x2xi32>
  %most = tile.broadcast %5 : tensor<2x1x2xi32> -> tensor<2x2x2xi32>

  %6 = tile.reduce %3 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %7 = tile.expand_dims %6, 2 : tensor<2x2xi32> -> tensor<2x2x1xi32>
  %elsewhere = tile.broadcast %7 : tensor<2x2x1xi32> -> tensor<2x2x2xi32>

  %8 = arith.muli %y, %other : tensor<2x2x2xi32>
  %9 = tile.reduce %8 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %10 = tile.expand_dims %9, 1 : tensor<2x2xi32> -> tensor<2x1x2xi32>
  %along = tile.broadcast %10 : tensor<2x1x2xi32> -> tensor<2x2x2xi32>

  %11 = arith.muli %y, %given : tensor<2x2x2xi32>
  %12 = tile.reduce %11 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %13 = tile.expand_dims %12, 1 : tensor<2x2xi32> -> tensor<2x1x2xi32>
  %read = tile.broadcast %13 : tensor<2x1x2xi32> -> tensor<2x2x2xi32>

  %14 = arith.muli %y, %twice : tensor<2x2x2xi32>
  %15 = tile.reduce %14 axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.combine_return %s : i32
  } : (tensor<2x2x2xi32>) -> tensor<2x2xi32>
  %16 = tile.expand_dims %15, 1 : tensor<2x2xi32> -> tensor<2x1x2xi32>
  %weighed = tile.broadcast %16 : tensor<2x1x2xi32> -> tensor<2x2x2xi32>
  return %both, %most, %elsewhere, %along, %read, %weighed
      : tensor<2x2x2xi32>, tensor<2x2x2xi32>, tensor<2x2x2xi32>, tensor<2x2x2xi32>,
        tensor<2x2x2xi32>, tensor<2x2x2xi32>
}
