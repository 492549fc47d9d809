//===- beside_llvm.cpp - the JIT in a process that uses another LLVM -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Uses the distribution's LLVM through its C interface before, while and after libtessera.so compiles and runs a kernel with the LLVM inside it.
//
#include <tessera/tessera.hpp>

#include <cstdio>
#include <cstring>

// Of llvm-c/Core.h, declared here so that this test needs no header of LLVM.
extern "C" {
void LLVMGetVersion(unsigned *, unsigned *, unsigned *);
void *LLVMContextCreate();
void *LLVMModuleCreateWithNameInContext(const char *, void *);
char *LLVMPrintModuleToString(void *);
void LLVMDisposeMessage(char *);
void LLVMDisposeModule(void *);
void LLVMContextDispose(void *);
void LLVMParseCommandLineOptions(int, const char *const *, const char *);
}

int main() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  const char *words[] = {"beside_llvm", "-unroll-threshold=77"}; // an option that both LLVMs register
  LLVMParseCommandLineOptions(2, words, "");
  void *context = LLVMContextCreate(), *module = LLVMModuleCreateWithNameInContext("other", context);

  auto program =
      tessera::Program::fromSource("kernel scale<T = f32>(x: in T[N], y: out T[N], factor: f32)\n"
                                   "  grid (i in 0..N by 256) { y[i +: 256] = T(exp(f32(x[i +: 256])) * factor) }\n",
                                   {"scale", {}, tessera::Device::cpu()});
  if (!program)
    return std::fputs(program.failure().text().c_str(), stderr), 1;
  auto kernel = program->kernel("scale");
  float x[3] = {0, 1, 2}, y[3] = {};
  if (!kernel)
    return 1;
  auto done = kernel->launch(nullptr, tessera::TensorRef::contiguous(x, tessera::DType::F32, {3}),
                             tessera::TensorRef::contiguous(y, tessera::DType::F32, {3}), 2.0f);
  if (!done)
    return std::fputs(done.failure().text().c_str(), stderr), 1;
  bool right = y[0] == 2 && y[1] > 5.43656f && y[1] < 5.43657f && y[2] > 14.7781f && y[2] < 14.7782f;
  auto wrong = tessera::Program::fromSource("kernel k(");
  char *text = LLVMPrintModuleToString(module);
  bool printed = std::strstr(text, "other") != nullptr;
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  std::printf("LLVM %u.%u beside libtessera: %s\n", major, minor, right && printed && !wrong ? "right" : "wrong");
  return right && printed && !wrong ? 0 : 1;
}
