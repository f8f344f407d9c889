// Four functions of scalars in one block become one of a vector.
// RUN: cpu-opt %s --cpu-pack-scalars | FileCheck %s

// CHECK-LABEL: func.func @four_of_five
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32, %[[E:.*]]: f32
func.func @four_of_five(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32) -> (f32, f32, f32) {
  // CHECK-NOT: math.log
  // CHECK: %[[V0:.*]] = vector.insert %[[A]], %{{.*}} [0] : f32 into vector<4xf32>
  // CHECK: %[[V1:.*]] = vector.insert %[[B]], %[[V0]] [1]
  // CHECK: %[[V2:.*]] = vector.insert %[[C]], %[[V1]] [2]
  // CHECK: %[[V3:.*]] = vector.insert %[[D]], %[[V2]] [3]
  // CHECK: %[[L:.*]] = math.log %[[V3]] : vector<4xf32>
  // CHECK: %[[LA:.*]] = vector.extract %[[L]][0]
  // CHECK: %[[LD:.*]] = vector.extract %[[L]][3]
  // CHECK: %[[LE:.*]] = math.log %[[E]] : f32
  // CHECK: return %[[LA]], %[[LD]], %[[LE]]
  %0 = math.log %a : f32
  %1 = math.log %b : f32
  %2 = math.log %c : f32
  %3 = math.log %d : f32
  %4 = math.log %e : f32
  return %0, %3, %4 : f32, f32, f32
}

// One that needs the one before begins anew, and then there are only three.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-4: math.log %{{.*}} : f32
// CHECK-NOT: math.log
func.func @chain(%a: f32, %b: f32, %c: f32) -> (f32, f32, f32) {
  %0 = math.log %a : f32
  %1 = math.log %0 : f32
  %2 = math.log %b : f32
  %3 = math.log %c : f32
  return %1, %2, %3 : f32, f32, f32
}

// Other types, and functions with other properties, are other functions.
// CHECK-LABEL: func.func @unlike
// CHECK-NOT: vector
func.func @unlike(%a: f32, %b: f32, %c: f64, %d: f32) -> (f32, f32, f64, f32) {
  %0 = math.log %a : f32
  %1 = math.log %b : f32
  %2 = math.log %c : f64
  %3 = math.log %d fastmath<nnan> : f32
  %4 = math.exp %d : f32
  %5 = arith.addf %3, %4 : f32
  return %0, %1, %2, %5 : f32, f32, f64, f32
}
