//===- CompileHeader.h - `tessera compile --emit header` ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TOOLS_TESSERA_COMPILEHEADER_H
#define TESSERA_TOOLS_TESSERA_COMPILEHEADER_H

#include "tools/tessera/ProgramOptions.h"

namespace tessera {

struct HeaderOptions {
  std::string targets; ///< separated by commas
  std::string output;  ///< the header; the archive lies beside it with the extension .a
  std::string nameSpace;
  std::vector<std::string> with;
  bool anyLayout = false;
  bool showReport = false;
};

/// Writes the header and the archive; the exit code.
int runCompileHeader(const SharedOptions &shared, const HeaderOptions &options);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_COMPILEHEADER_H
