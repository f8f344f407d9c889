// Every operation prints and parses back to itself.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @grid
func.func @grid() -> (i32, i32) attributes {tile.kernel} {
  // CHECK: tile.program_id 0
  // CHECK: tile.num_programs 2
  %0 = tile.program_id 0
  %1 = tile.num_programs 2
  return %0, %1 : i32, i32
}

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: %[[X:.*]]: f32, %[[P:.*]]: !tile.ptr<f32>
func.func @shapes(%x: f32, %p: !tile.ptr<f32> {tile.divisibility = 16 : i64}) -> f32 {
  // CHECK: tile.make_range 0 to 8 : tensor<8xi32>
  %range = tile.make_range 0 to 8 : tensor<8xi32>
  // CHECK: tile.make_range -3 to 2 : tensor<5xi32>
  %negative = tile.make_range -3 to 2 : tensor<5xi32>
  // CHECK: tile.splat %[[X]] : f32 -> tensor<8xf32>
  %splat = tile.splat %x : f32 -> tensor<8xf32>
  // CHECK: tile.splat %[[P]] : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %pointers = tile.splat %p : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<f32>
  %scalarTile = tile.splat %x : f32 -> tensor<f32>
  // CHECK: tile.expand_dims %{{.*}}, 1 : tensor<8xf32> -> tensor<8x1xf32>
  %column = tile.expand_dims %splat, 1 : tensor<8xf32> -> tensor<8x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<8x1xf32> -> tensor<8x4xf32>
  %wide = tile.broadcast %column : tensor<8x1xf32> -> tensor<8x4xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<8x4xf32> -> tensor<2x16xf32>
  %flat = tile.reshape %wide : tensor<8x4xf32> -> tensor<2x16xf32>
  // CHECK: tile.trans %{{.*}}, [1, 0] : tensor<2x16xf32> -> tensor<16x2xf32>
  %turned = tile.trans %flat, [1, 0] : tensor<2x16xf32> -> tensor<16x2xf32>
  // CHECK: tile.unsplat %{{.*}} : tensor<f32> -> f32
  %only = tile.unsplat %scalarTile : tensor<f32> -> f32
  return %only : f32
}

// CHECK-LABEL: func.func @memory
func.func @memory(%p: !tile.ptr<f16>, %q: tensor<4x!tile.ptr<f16>>, %o: tensor<4xi32>,
                  %n: i64, %m: tensor<4xi1>, %z: tensor<4xf16>, %b: i1, %s: f16) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : !tile.ptr<f16>, i64
  %0 = tile.addptr %p, %n : !tile.ptr<f16>, i64
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  %1 = tile.addptr %q, %o : tensor<4x!tile.ptr<f16>>, tensor<4xi32>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f16> -> f16
  %2 = tile.load %0 : !tile.ptr<f16> -> f16
  // CHECK: tile.load %{{.*}} mask %{{.*}} : i1 : !tile.ptr<f16> -> f16
  %3 = tile.load %0 mask %b : i1 : !tile.ptr<f16> -> f16
  // CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<4xi1> other %{{.*}} : tensor<4xf16> {cache = 3 : i32, evict = 1 : i32, isVolatile} : tensor<4x!tile.ptr<f16>> -> tensor<4xf16>
  %4 = tile.load %1 mask %m : tensor<4xi1> other %z : tensor<4xf16>
      {cache = 3 : i32, evict = 1 : i32, isVolatile} : tensor<4x!tile.ptr<f16>> -> tensor<4xf16>
  // CHECK: tile.store %{{.*}}, %{{.*}} : !tile.ptr<f16>, f16
  tile.store %0, %2 : !tile.ptr<f16>, f16
  // CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<4xi1> {cache = 3 : i32} : tensor<4x!tile.ptr<f16>>, tensor<4xf16>
  tile.store %1, %4 mask %m : tensor<4xi1> {cache = 3 : i32} : tensor<4x!tile.ptr<f16>>, tensor<4xf16>
  // CHECK: tile.ptr_to_int %{{.*}} : !tile.ptr<f16> -> i64
  %5 = tile.ptr_to_int %0 : !tile.ptr<f16> -> i64
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<f16>
  %6 = tile.int_to_ptr %5 : i64 -> !tile.ptr<f16>
  // CHECK: tile.ptr_cast %{{.*}} : !tile.ptr<f16> -> !tile.ptr<i16>
  %7 = tile.ptr_cast %6 : !tile.ptr<f16> -> !tile.ptr<i16>
  return
}

// CHECK-LABEL: func.func @across
func.func @across(%x: tensor<2x8xf32>, %i: tensor<2x8xi32>, %r: tensor<8xf32>,
                  %a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>,
                  %ba: tensor<3x4x5xi8>, %bb: tensor<3x5x6xi8>, %bc: tensor<3x4x6xi32>) {
  // CHECK: %{{.*}} = tile.reduce %{{.*}} axis 1 {
  // CHECK: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32):
  // CHECK: arith.addf %[[L]], %[[R]] : f32
  // CHECK: tile.combine_return %{{.*}} : f32
  // CHECK: } : (tensor<2x8xf32>) -> tensor<2xf32>
  %0 = tile.reduce %x axis 1 {
  ^bb0(%l: f32, %s: f32):
    %sum = arith.addf %l, %s : f32
    tile.combine_return %sum : f32
  } : (tensor<2x8xf32>) -> tensor<2xf32>
  // CHECK: tile.maxnum %{{.*}}, %{{.*}} : f32
  // CHECK: } : (tensor<8xf32>) -> f32
  %1 = tile.reduce %r axis 0 {
  ^bb0(%l: f32, %s: f32):
    %max = tile.maxnum %l, %s : f32
    tile.combine_return %max : f32
  } : (tensor<8xf32>) -> f32
  // CHECK: %{{.*}}:2 = tile.reduce %{{.*}}, %{{.*}} axis 0 {
  // CHECK: } : (tensor<2x8xf32>, tensor<2x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %2:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%lx: f32, %li: i32, %rx: f32, %ri: i32):
    %less = arith.cmpf olt, %lx, %rx : f32
    %vx = arith.select %less, %lx, %rx : f32
    %vi = arith.select %less, %li, %ri : i32
    tile.combine_return %vx, %vi : f32, i32
  } : (tensor<2x8xf32>, tensor<2x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16>, tensor<32x8xf16> -> tensor<16x8xf32>
  %3 = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16> -> tensor<16x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {inputPrecision = 1 : i32} : tensor<3x4x5xi8>, tensor<3x5x6xi8> -> tensor<3x4x6xi32>
  %4 = tile.dot %ba, %bb, %bc {inputPrecision = 1 : i32} : tensor<3x4x5xi8>, tensor<3x5x6xi8> -> tensor<3x4x6xi32>
  return
}

// CHECK-LABEL: func.func @talk
func.func @talk(%x: tensor<4xf32>, %n: i32, %m: tensor<4xi1>) {
  // CHECK: tile.print "x" false %{{.*}}, %{{.*}} : tensor<4xf32>, i32
  tile.print "x" false %x, %n : tensor<4xf32>, i32
  // CHECK: tile.print "here" true
  tile.print "here" true
  // CHECK: tile.assert %{{.*}}, "must hold" : tensor<4xi1>
  tile.assert %m, "must hold" : tensor<4xi1>
  return
}
