// Chains of the upper halves of 32-bit products are computed in their even and odd lanes.
// RUN: cpu-opt %s --cpu=x86-64-v3 --cpu-split-products | FileCheck %s
// RUN: cpu-opt %s --cpu=aarch64 --cpu-split-products | FileCheck %s --check-prefix=OTHER

// Other processors multiply neighbouring lanes.
// OTHER-LABEL: func.func @chain
// OTHER: arith.extui
// OTHER-NOT: vector<4xi64>

// CHECK-LABEL: func.func @chain
// CHECK-NOT: arith.extui
// CHECK-COUNT-16: arith.muli %{{.*}} : vector<4xi64>
// CHECK-NOT: arith.muli
func.func @chain(%x: vector<8xi32>) -> vector<8xi32> {
  %c32 = arith.constant dense<32> : vector<8xi64>
  %wide = arith.constant dense<3528531795> : vector<8xi64>
  %w0 = arith.extui %x : vector<8xi32> to vector<8xi64>
  %m0 = arith.muli %w0, %wide : vector<8xi64>
  %s0 = arith.shrui %m0, %c32 : vector<8xi64>
  %h0 = arith.trunci %s0 : vector<8xi64> to vector<8xi32>
  %w1 = arith.extui %h0 : vector<8xi32> to vector<8xi64>
  %m1 = arith.muli %w1, %wide : vector<8xi64>
  %s1 = arith.shrui %m1, %c32 : vector<8xi64>
  %h1 = arith.trunci %s1 : vector<8xi64> to vector<8xi32>
  %w2 = arith.extui %h1 : vector<8xi32> to vector<8xi64>
  %m2 = arith.muli %w2, %wide : vector<8xi64>
  %s2 = arith.shrui %m2, %c32 : vector<8xi64>
  %h2 = arith.trunci %s2 : vector<8xi64> to vector<8xi32>
  %w3 = arith.extui %h2 : vector<8xi32> to vector<8xi64>
  %m3 = arith.muli %w3, %wide : vector<8xi64>
  %s3 = arith.shrui %m3, %c32 : vector<8xi64>
  %h3 = arith.trunci %s3 : vector<8xi64> to vector<8xi32>
  %w4 = arith.extui %h3 : vector<8xi32> to vector<8xi64>
  %m4 = arith.muli %w4, %wide : vector<8xi64>
  %s4 = arith.shrui %m4, %c32 : vector<8xi64>
  %h4 = arith.trunci %s4 : vector<8xi64> to vector<8xi32>
  %w5 = arith.extui %h4 : vector<8xi32> to vector<8xi64>
  %m5 = arith.muli %w5, %wide : vector<8xi64>
  %s5 = arith.shrui %m5, %c32 : vector<8xi64>
  %h5 = arith.trunci %s5 : vector<8xi64> to vector<8xi32>
  %w6 = arith.extui %h5 : vector<8xi32> to vector<8xi64>
  %m6 = arith.muli %w6, %wide : vector<8xi64>
  %s6 = arith.shrui %m6, %c32 : vector<8xi64>
  %h6 = arith.trunci %s6 : vector<8xi64> to vector<8xi32>
  %w7 = arith.extui %h6 : vector<8xi32> to vector<8xi64>
  %m7 = arith.muli %w7, %wide : vector<8xi64>
  %s7 = arith.shrui %m7, %c32 : vector<8xi64>
  %h7 = arith.trunci %s7 : vector<8xi64> to vector<8xi32>
  return %h7 : vector<8xi32>
}

// Few products wait for nothing.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-2: arith.muli %{{.*}} : vector<8xi64>
// CHECK-NOT: vector<4xi64>
func.func @few(%x: vector<8xi32>) -> vector<8xi32> {
  %c32 = arith.constant dense<32> : vector<8xi64>
  %wide = arith.constant dense<3528531795> : vector<8xi64>
  %w0 = arith.extui %x : vector<8xi32> to vector<8xi64>
  %m0 = arith.muli %w0, %wide : vector<8xi64>
  %s0 = arith.shrui %m0, %c32 : vector<8xi64>
  %h0 = arith.trunci %s0 : vector<8xi64> to vector<8xi32>
  %w1 = arith.extui %h0 : vector<8xi32> to vector<8xi64>
  %m1 = arith.muli %w1, %wide : vector<8xi64>
  %s1 = arith.shrui %m1, %c32 : vector<8xi64>
  %h1 = arith.trunci %s1 : vector<8xi64> to vector<8xi32>
  return %h1 : vector<8xi32>
}
