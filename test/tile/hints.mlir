// What a kernel says about its compilation, its loops and its numbers prints and parses back to itself.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @hints
// CHECK-SAME: tile.maxnreg = 128 : i32, tile.num_ctas = 2 : i32, tile.num_stages = 0 : i32, tile.num_warps = 8 : i32
func.func @hints(%n: i32, %flags: tensor<4xi1>) attributes {
    tile.kernel, tile.num_warps = 8 : i32, tile.num_ctas = 2 : i32, tile.num_stages = 0 : i32,
    tile.maxnreg = 128 : i32} {
  %zero = arith.constant 0 : i32
  %isPositive = arith.cmpi sgt, %n, %zero : i32
  // CHECK: tile.assume %{{.*}} : i1
  tile.assume %isPositive : i1
  // CHECK: tile.assume %arg1 : tensor<4xi1>
  tile.assume %flags : tensor<4xi1>
  // CHECK: tile.disable_licm, tile.disallow_acc_multi_buffer, tile.flatten, tile.loop_unroll_factor = 2 : i32, tile.num_stages = 3 : i32, tile.warp_specialize
  scf.for %i = %zero to %n step %n : i32 {
  } {tile.num_stages = 3 : i32, tile.loop_unroll_factor = 2 : i32, tile.flatten,
     tile.warp_specialize, tile.disallow_acc_multi_buffer, tile.disable_licm}
  return
}
