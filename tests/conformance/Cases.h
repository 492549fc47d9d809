//===- Cases.h - cases of the conformance matrix, and where they run -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A case belongs to a cell (operation x element type) and launches a kernel that it may share with other cases; kernels are compiled once.
//
#ifndef TESSERA_TESTS_CONFORMANCE_CASES_H
#define TESSERA_TESTS_CONFORMANCE_CASES_H

#include "dialect/Operations/Operations.h"
#include "runtime/Api/tessera.hpp"
#include "tests/conformance/Bits.h"

#include <functional>
#include <map>
#include <mutex>

namespace tessera::conformance {

/// A device with the programs compiled for it so far.  Any thread may launch.
class Bench {
public:
  explicit Bench(Device device) : device(std::move(device)) {}

  /// Launches the only kernel of `source` with tensors (copied to the device and back) and i64 scalars, in the order of its parameters: tensors first.
  /// What went wrong, or nothing.
  std::string launch(const std::string &source, const std::vector<Data *> &tensors,
                     const std::vector<int64_t> &scalars);

private:
  struct Entry;
  std::shared_ptr<Entry> entryOf(const std::string &source);
  Device device;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
};

struct Case {
  std::string operation;
  DType type;
  std::string label;                       ///< shape and values: `extent 17`, `specials`
  std::function<std::string(Bench &)> run; ///< what is wrong, or nothing

  std::string name() const { return operation + "/" + std::string(nameOf(type)) + "/" + label; }
};

/// The elements of `have` that are not as wanted: the first in words, and how many; nothing if there is none.
std::string compare(const Data &have, const std::function<Want(int64_t)> &want);

/// Each adds the cases of one operation on one type, where it knows the operation.
void addElementwise(const Operation &operation, DType type, std::vector<Case> &cases);
void addConversions(const Operation &operation, DType type, std::vector<Case> &cases);
void addTiles(const Operation &operation, DType type, std::vector<Case> &cases);
void addMemory(const Operation &operation, DType type, std::vector<Case> &cases);

/// The matrix, and a case of every cell that the table excuses by a reason although there are cases: it must fail, else the reason is out of date.
struct Matrix {
  std::vector<Case> cases, excused;
  std::vector<std::string> empty; ///< cells without case and without reason
};
Matrix matrix();

} // namespace tessera::conformance
#endif // TESSERA_TESTS_CONFORMANCE_CASES_H
