//===- Ptxas.cpp - the assembler that the command line may use ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The toolkit's program is looked for here and not in the runtime, which reads no environment.
//
#include "tools/tessera/Ptxas.h"

#include <cstdlib>
#include <unistd.h>

namespace tessera {

std::string findPtxas() {
  const char *path = std::getenv("PATH"), *home = std::getenv("CUDA_HOME");
  std::string folders =
      std::string(path ? path : "") + ":" + (home ? std::string(home) + "/bin" : "") + ":/usr/local/cuda/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    size_t end = std::min(folders.find(':', begin), folders.size());
    std::string candidate = folders.substr(begin, end - begin) + "/ptxas";
    if (end > begin && access(candidate.c_str(), X_OK) == 0)
      return candidate;
    begin = end + 1;
  }
  return "";
}

Result<std::shared_ptr<const cuda::Assembler>> openPtxas(const std::string &choice) {
  if (choice == "off")
    return std::shared_ptr<const cuda::Assembler>();
  std::string path = choice == "auto" ? findPtxas() : choice;
  if (path.empty())
    return Error{Fault::Machine, "there is no ptxas on PATH, in $CUDA_HOME or in /usr/local/cuda",
                 "install the CUDA toolkit or the Python package nvidia-cuda-nvcc, or name it with --ptxas", "T0625"};
  Result<cuda::Assembler> assembler = cuda::Assembler::open(path);
  if (!assembler)
    return assembler.error();
  return std::shared_ptr<const cuda::Assembler>(std::make_shared<cuda::Assembler>(*std::move(assembler)));
}

} // namespace tessera
