//===- Overlap.h - do two tensors share an element? ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tensor touches the bytes  base + sum(i_d * stride_d) + [0, size)  for 0 <= i_d < extent_d.  Two tensors share a byte iff
//
//     base_a - base_b  =  sum over all dimensions of both  x_d * stride_d  +  e          (x_d = a digit's range, e = a byte within)
//
// Disjoint byte intervals decide most pairs.  The rest (q, k and v packed in one buffer; the interleaved halves of a rotary embedding)
// are numbers in a mixed radix: going through the strides from the largest, the digits left cannot reach far, so nearly every level
// leaves one or two values for x_d and the search is linear in the rank.  It is exact; where strides conspire against it, it gives up
// after a fixed number of steps, and what is not proved disjoint counts as overlapping.
//
// Why not only intervals: packed gradients would be refused.  Why not always the general answer: the problem is subset sum.
//
#ifndef TESSERA_RUNTIME_LAUNCH_OVERLAP_H
#define TESSERA_RUNTIME_LAUNCH_OVERLAP_H

#include "runtime/Launch/TensorRef.h"

namespace tessera {

/// True unless `a` and `b` are proved to share no byte.  Both must have passed the launcher's check of shapes.
bool mayShareMemory(const TensorRef &a, const TensorRef &b);

/// True unless different index tuples of `tensor` are proved to name different elements.
bool mayOverlapItself(const TensorRef &tensor);

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_OVERLAP_H
