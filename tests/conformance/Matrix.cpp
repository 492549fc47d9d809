//===- Matrix.cpp - the cells of the table, filled ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/conformance/Cases.h"

#include <fmt/format.h>

namespace tessera::conformance {

Matrix matrix() {
  Matrix result;
  std::vector<Case> &cases = result.cases;
  for (const Operation &operation : operations()) {
    for (int t = 0; t <= int(DType::F8E5M2); ++t) {
      if (!(operation.types >> t & 1))
        continue;
      DType type = DType(t);
      std::string_view reason;
      for (const Uncovered &cell : uncoveredCells())
        if (cell.name == operation.name && (cell.types >> t & 1))
          reason = cell.reason;
      size_t before = cases.size();
      if (operation.shape == Operation::Shape::Elementwise || operation.shape == Operation::Shape::ElementwiseOrReduced)
        addElementwise(operation, type, cases);
      addConversions(operation, type, cases);
      addTiles(operation, type, cases);
      addMemory(operation, type, cases);
      if (!reason.empty()) {
        if (cases.size() > before)
          result.excused.push_back(cases.back());
        cases.resize(before);
      } else if (cases.size() == before) {
        result.empty.push_back(fmt::format("{}/{}", operation.name, nameOf(type)));
      }
    }
  }
  return result;
}

} // namespace tessera::conformance
