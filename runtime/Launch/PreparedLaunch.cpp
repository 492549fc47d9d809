//===- PreparedLaunch.cpp - a kernel with its arguments bound ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The driver takes a pointer to each parameter's value; both arrays are made here and never change.
//
#include "runtime/Launch/PreparedLaunch.h"

namespace tessera {

struct PreparedLaunch::State {
  std::shared_ptr<const LoadedImage> image;
  size_t kernel = 0;
  LaunchPlan plan;
  std::vector<ClearRun> clears;
  std::vector<void *> params;
  std::optional<OpPlan> op; ///< instead of a kernel
};

PreparedLaunch::PreparedLaunch(std::shared_ptr<const LoadedImage> image, OpPlan plan) {
  auto made = std::make_shared<State>();
  made->image = std::move(image);
  made->op = std::move(plan);
  state = std::move(made);
}

PreparedLaunch::PreparedLaunch(std::shared_ptr<const LoadedImage> image, size_t kernel, LaunchPlan plan) {
  auto made = std::make_shared<State>();
  made->image = std::move(image);
  made->kernel = kernel;
  made->plan = std::move(plan);
  for (const TensorRef &tensor : made->plan.clears)
    for (const ClearRun &run : clearRuns(tensor))
      made->clears.push_back(run);
  for (uint64_t &slot : made->plan.slots)
    made->params.push_back(&slot);
  state = std::move(made);
}

Result<PreparedLaunch> PreparedLaunch::make(std::shared_ptr<const LoadedImage> image, size_t kernel,
                                            std::span<const Argument> arguments) {
  Result<LaunchPlan> plan = planLaunch(image->image().kernels[kernel], arguments);
  if (!plan)
    return plan.error();
  return PreparedLaunch(std::move(image), kernel, *std::move(plan));
}

Result<void> PreparedLaunch::launch(StreamHandle stream, const Workspace &workspace) const {
  if (!state)
    return {};
  if (state->op)
    return state->image->launchOp(*state->op, stream, workspace);
  for (const ClearRun &run : state->clears)
    if (Result<void> status = state->image->clear(run, stream); !status)
      return status;
  return state->image->launchSlots(state->kernel, state->plan.programs, state->plan.slots.data(),
                                   const_cast<void **>(state->params.data()), stream); // read only by the driver
}

const LaunchPlan &PreparedLaunch::plan() const {
  static const LaunchPlan kNothing;
  return state ? state->plan : kNothing;
}

bool PreparedLaunch::isOp() const { return state && state->op; }

size_t PreparedLaunch::workspaceBytes() const { return isOp() ? static_cast<size_t>(state->op->workspaceBytes) : 0; }

const LoadedImage *PreparedLaunch::image() const { return state ? state->image.get() : nullptr; }
size_t PreparedLaunch::kernel() const { return state ? state->kernel : 0; }

} // namespace tessera
