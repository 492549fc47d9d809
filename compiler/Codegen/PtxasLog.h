//===- PtxasLog.h - what ptxas says about a kernel --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Reads the output of `ptxas -v`.  Needs: its text.  Gives: resources of each function, and the lines that must not appear for a shipped kernel.  Leaves out: running
// ptxas (tools do).
//
#ifndef TESSERA_COMPILER_CODEGEN_PTXASLOG_H
#define TESSERA_COMPILER_CODEGEN_PTXASLOG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// One entry or device function; sizes in bytes.
struct PtxasFunction {
  std::string name;
  std::string target; ///< sm_90a; empty for a function that is not an entry
  bool isEntry = false;
  int64_t registers = 0; ///< of a thread
  int64_t barriers = 0;
  int64_t sharedBytes = 0; ///< static
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  bool spills() const { return spillStoreBytes || spillLoadBytes; }
};

struct PtxasReport {
  std::vector<PtxasFunction> functions;       ///< in the order of the log
  std::vector<std::string> performanceLosses; ///< lines with "Potential Performance Loss", without `ptxas info : `
  std::vector<std::string> warnings;
  std::vector<std::string> errors; ///< error and fatal lines
  const PtxasFunction *find(std::string_view name) const;
};

/// Never fails: lines it does not know are skipped.
PtxasReport parsePtxasLog(std::string_view log);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_PTXASLOG_H
