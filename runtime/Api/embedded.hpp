//===- embedded.hpp - kernels that were compiled at build time ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What the headers of `tessera compile --emit header` include; needs tessera::runtime, no LLVM.
//
#ifndef TESSERA_RUNTIME_API_EMBEDDED_HPP
#define TESSERA_RUNTIME_API_EMBEDDED_HPP

#include "runtime/Launch/Embedded.h"

#endif // TESSERA_RUNTIME_API_EMBEDDED_HPP
