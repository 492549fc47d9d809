//===- Crash.h - a crash leaves a reproducer ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TOOLS_TESSERA_CRASH_H
#define TESSERA_TOOLS_TESSERA_CRASH_H

#include <string>
#include <string_view>

namespace tessera {

/// From now on a crash of this process (a bad access, an abort, a stack that is too deep) writes `source` with the version and the command line to a file,
/// says where, and exits with 70.  The text is copied; a later call replaces it.
void guardSource(std::string_view source);

/// Comment lines that say which tessera ran with which options: the beginning of a reproducer.
std::string reproducerHeader();
/// Where this process would leave one: in $TMPDIR, or else in /tmp.
std::string reproducerPath();

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_CRASH_H
