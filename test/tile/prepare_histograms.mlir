// What a histogram does not count gets the number behind its last bin.
// RUN: tile-opt %s --tile-prepare-histograms | FileCheck %s

// CHECK-LABEL: func.func @masked
// CHECK-SAME: %[[X:.*]]: tensor<64xi32>, %[[MASK:.*]]: tensor<64xi1>
func.func @masked(%x: tensor<64xi32>, %mask: tensor<64xi1>) -> tensor<8xi32> {
  // CHECK: %[[BEYOND:.*]] = arith.constant dense<8> : tensor<64xi32>
  // CHECK: %[[BELOW:.*]] = arith.minui %[[X]], %[[BEYOND]]
  // CHECK: %[[COUNTED:.*]] = arith.select %[[MASK]], %[[BELOW]], %[[BEYOND]]
  // CHECK: tile.histogram %[[COUNTED]] : tensor<64xi32> -> tensor<8xi32>
  %r = tile.histogram %x mask %mask : tensor<64xi1> : tensor<64xi32> -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// Bytes may be negative, and too narrow for the number of bins; wide numbers may be too large.
// CHECK-LABEL: func.func @widths
func.func @widths(%x: tensor<64xi8>, %y: tensor<64xi64>, %z: tensor<64xi1>) -> (tensor<256xi32>, tensor<8xi32>, tensor<2xi32>) {
  // CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : tensor<64xi8> to tensor<64xi32>
  // CHECK: arith.minui %[[WIDE]], %{{.*}} : tensor<64xi32>
  %a = tile.histogram %x : tensor<64xi8> -> tensor<256xi32>
  // CHECK: %[[LESS:.*]] = arith.minui %{{.*}}, %{{.*}} : tensor<64xi64>
  // CHECK: arith.trunci %[[LESS]] : tensor<64xi64> to tensor<64xi32>
  %b = tile.histogram %y : tensor<64xi64> -> tensor<8xi32>
  // CHECK: arith.extui %{{.*}} : tensor<64xi1> to tensor<64xi32>
  %c = tile.histogram %z : tensor<64xi1> -> tensor<2xi32>
  return %a, %b, %c : tensor<256xi32>, tensor<8xi32>, tensor<2xi32>
}
