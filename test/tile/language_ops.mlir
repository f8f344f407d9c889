// RUN: tile-opt %s | tile-opt | FileCheck %s
// Operations of the language's tiers T2 to T5 survive printing and parsing.

// CHECK-LABEL: func.func @across
func.func @across(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %v: tensor<16xi32>, %m: tensor<16xi1>) {
  // CHECK: tile.scan %{{.*}} axis 1 {
  // CHECK: tile.combine_return %{{.*}} : f32
  // CHECK: } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = tile.scan %x axis 1 {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tile.scan %{{.*}} axis 0 reverse {
  %1 = tile.scan %x axis 0 reverse {
  ^bb0(%l: f32, %r: f32):
    %s = arith.mulf %l, %r : f32
    tile.combine_return %s : f32
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8x2xf32>
  %2 = tile.join %0, %1 : tensor<4x8xf32> -> tensor<4x8x2xf32>
  // CHECK: tile.split %{{.*}} : tensor<4x8x2xf32> -> tensor<4x8xf32>, tensor<4x8xf32>
  %3, %4 = tile.split %2 : tensor<4x8x2xf32> -> tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] axis 1 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  %5 = tile.gather %x[%i] axis 1 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  // CHECK: tile.histogram %{{.*}} : tensor<16xi32> -> tensor<8xi32>
  %6 = tile.histogram %v : tensor<16xi32> -> tensor<8xi32>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<16xi1> : tensor<16xi32> -> tensor<8xi32>
  %7 = tile.histogram %v mask %m : tensor<16xi1> : tensor<16xi32> -> tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%p: !tile.ptr<f32>, %t: tensor<4x!tile.ptr<i32>>, %f: f32, %v: tensor<4xi32>,
                   %m: tensor<4xi1>) {
  // CHECK: tile.atomic_rmw fadd %{{.*}}, %{{.*}} : !tile.ptr<f32>, f32
  %0 = tile.atomic_rmw fadd %p, %f : !tile.ptr<f32>, f32
  // CHECK: tile.atomic_rmw umax %{{.*}}, %{{.*}} mask %{{.*}} : tensor<4xi1> {scope = 2 : i32, sem = 0 : i32} : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %1 = tile.atomic_rmw umax %t, %v mask %m : tensor<4xi1> {scope = 2 : i32, sem = 0 : i32} : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %2 = tile.atomic_cas %t, %v, %1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%v: tensor<4xi32>, %e: tensor<4xf8E4M3FN>) {
  // CHECK: tile.inline_asm "mov.b32 $0, $1;" "=r,r" pack 1(%{{.*}}) {isPure} : (tensor<4xi32>) -> tensor<4xi32>
  %0 = tile.inline_asm "mov.b32 $0, $1;" "=r,r" pack 1 (%v) {isPure} : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: tile.reshape %{{.*}} : tensor<4xf8E4M3FN> -> tensor<2x2xf8E4M3FN>
  %1 = tile.reshape %e : tensor<4xf8E4M3FN> -> tensor<2x2xf8E4M3FN>
  return
}
