/*===- HostCodeSample.c - host code as the compiler emits it -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===*/
/* A kernel of the host ABI that calls what generated code may call (fmaf, memcpy, memset), and one that calls what it may not. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef TESSERA_OUTSIDE
/* z[i] = a * x[i] + y[i] over blocks of 128; slots: x, y, z, N, a. */
void axpy(const uint64_t *slots, int64_t first, int64_t last, void *scratch) {
  const float *x = (const float *)slots[0], *y = (const float *)slots[1];
  float *z = (float *)slots[2], a, *block = (float *)scratch;
  int64_t n = (int64_t)slots[3];
  memcpy(&a, &slots[4], sizeof a);
  for (int64_t p = first; p < last; ++p) {
    int64_t begin = p * 128, end = begin + 128 < n ? begin + 128 : n;
    memset(block, 0, 128 * sizeof(float));
    for (int64_t i = begin; i < end; ++i)
      block[i - begin] = fmaf(a, x[i], y[i]);
    memcpy(z + begin, block, (size_t)(end - begin) * sizeof(float));
  }
}
#else
extern void notAllowed(void);
void outside(const uint64_t *slots, int64_t first, int64_t last, void *scratch) { notAllowed(); }
#endif
