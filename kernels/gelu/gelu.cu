// SPDX-License-Identifier: Apache-2.0
// GELU in CUDA C++, in both forms of gelu.py: what `nereid bench kernels/gelu --target nvidia:0`
// times in turns with it. TANH and BLOCK are constexprs of the case, macros here; the grid is the
// case's as well.

static __device__ float gelu_of(float value) {
#if TANH
  // 0.5 * (1 + tanh(u)) is 1 / (1 + exp(-2 * u)), which cancels nothing where tanh is near -1.
  const float twice_u = 1.5957691216057308f * (value + 0.044715f * value * value * value);
  return value / (1.0f + expf(-twice_u));
#else
  return 0.5f * value * (1.0f + erff(value * 0.7071067811865476f));
#endif
}

// The first kernel that one writes: an element for each thread.
extern "C" __global__ void __launch_bounds__(BLOCK) gelu(const float *x, float *out, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) {
    out[i] = gelu_of(x[i]);
  }
}

// What it takes to keep the memory busy: 16 bytes at a time, and few threads that wait for them.
extern "C" __global__ void __launch_bounds__(BLOCK / 4)
    gelu_vector(const float *x, float *out, int n) {
  const int i = blockIdx.x * BLOCK + 4 * threadIdx.x;
  if (i + 4 <= n) {
    const float4 four = *reinterpret_cast<const float4 *>(x + i);
    *reinterpret_cast<float4 *>(out + i) =
        make_float4(gelu_of(four.x), gelu_of(four.y), gelu_of(four.z), gelu_of(four.w));
  } else {
    for (int k = i; k < n; ++k) {
      out[k] = gelu_of(x[k]);
    }
  }
}
