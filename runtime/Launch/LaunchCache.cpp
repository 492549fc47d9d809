//===- LaunchCache.cpp - launches whose check has been done before -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Keys are written to the stack, hashed on the way, and compared word by word: equality decides, the hash only finds.
//
#include "runtime/Launch/LaunchCache.h"

#include "runtime/Launch/LoadedImage.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

namespace tessera {
namespace {

constexpr size_t kMaxKeyWords = 160, kMaxSlots = 160, kMaxArguments = 64;
constexpr size_t kSets = 16, kWays = 4;
constexpr uint32_t kWriter = uint32_t(1) << 31;

struct Key {
  std::array<uint64_t, kMaxKeyWords> words; // not initialized: only the first `count` are read
  size_t count = 0;
  uint64_t hash = 0x9e3779b97f4a7c15;

  void add(uint64_t word) {
    words[count++] = word;
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }

  /// False where the arguments are more than a key holds, or wrong in a way that planLaunch names.  `keyed`: one bit an argument.
  bool encode(std::span<const ArgumentView> arguments, uint64_t keyed) {
    if (arguments.size() > kMaxArguments)
      return false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (const TensorRef *tensor = arguments[i].tensor()) {
        size_t rank = tensor->shape.size();
        if (tensor->strides.size() != rank || rank > 64 || count + 1 + 2 * rank > kMaxKeyWords)
          return false;
        // Contracts ask for at most 16 bytes, so that no more of the address matters to the plan.
        uint64_t address = reinterpret_cast<uintptr_t>(tensor->data);
        add(1 | uint64_t(tensor->dtype) << 8 | uint64_t(rank) << 16 | uint64_t(std::countr_zero(address | 16)) << 32 |
            uint64_t(tensor->mayOverlap) << 40 | uint64_t(address == 0) << 41);
        for (int64_t extent : tensor->shape)
          add(static_cast<uint64_t>(extent));
        for (int64_t stride : tensor->strides)
          add(static_cast<uint64_t>(stride));
        continue;
      }
      const ScalarRef *scalar = arguments[i].scalar();
      bool withValue = scalar && (keyed >> i & 1);
      if (count + 2 > kMaxKeyWords)
        return false;
      add(scalar ? 2 | uint64_t(scalar->dtype) << 8 | uint64_t(withValue) << 16 : 0);
      if (withValue)
        add(scalar->bits);
    }
    return true;
  }
};

bool names(const Expr &expr, const std::string &name) {
  if (expr.kind == Expr::Kind::Symbol)
    return expr.name == name;
  return std::any_of(expr.operands.begin(), expr.operands.end(), [&](const Expr &e) { return names(e, name); });
}

/// One bit for every scalar parameter that the plan depends on beyond its slot.
uint64_t scalarsOfThePlan(const KernelInfo &kernel) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kernel.params.size() && i < 64; ++i) {
    const ParamInfo &param = kernel.params[i];
    if (param.isTensor)
      continue;
    bool read = std::find(kernel.dims.begin(), kernel.dims.end(), param.name) != kernel.dims.end();
    for (const GridAxis &axis : kernel.grid)
      read |= names(axis.lo, param.name) || names(axis.hi, param.name) || names(axis.step, param.name);
    for (const Requirement &requirement : kernel.requirements)
      read |= names(requirement.condition, param.name);
    for (const ParamInfo &other : kernel.params)
      for (const Expr &extent : other.extents)
        read |= names(extent, param.name);
    mask |= uint64_t(read) << i;
  }
  return mask;
}

/// Bytes from the address of a tensor to the first that it touches, and how many follow up to the last.
struct Reach {
  int64_t low = 0;
  uint64_t bytes = 0;
};

Reach reachOf(const TensorRef &tensor) {
  Reach reach{0, tensor.isEmpty() ? 0 : uint64_t(sizeOf(tensor.dtype))};
  for (size_t d = 0; reach.bytes && d < tensor.shape.size(); ++d) {
    int64_t step = (tensor.shape[d] - 1) * tensor.strides[d] * sizeOf(tensor.dtype); // planLaunch has bounded it
    reach.low += std::min<int64_t>(step, 0);
    reach.bytes += static_cast<uint64_t>(step < 0 ? -step : step);
  }
  return reach;
}

uint64_t addressOf(const TensorRef &tensor) { return reinterpret_cast<uintptr_t>(tensor.data); }

/// A remembered launch.
struct Entry {
  std::vector<uint64_t> key;
  const LoadedImage *image = nullptr;
  size_t kernel = 0;
  int64_t programs = 0;
  std::vector<uint64_t> slots;
  /// What goes into a slot anew: an address, or a scalar as its parameter's type.
  struct Patch {
    uint32_t argument, slot;
    DType dtype;
  };
  std::vector<Patch> addresses, scalars;
  /// A written tensor and another: their ranges must not meet, unless they lie as far apart as they did (`met`).
  struct Pair {
    uint32_t written, other;
    Reach writtenReach, otherReach;
    bool met;
    uint64_t distance;

    /// Addresses count modulo 2^64, as the machine's do.
    bool meets(uint64_t a, uint64_t b) const {
      uint64_t first = a + static_cast<uint64_t>(writtenReach.low), second = b + static_cast<uint64_t>(otherReach.low);
      return writtenReach.bytes && otherReach.bytes &&
             (second - first < writtenReach.bytes || first - second < otherReach.bytes);
    }
  };
  std::vector<Pair> pairs;
  struct Clear {
    uint32_t argument;
    std::ptrdiff_t offset;
    ClearRun run;
  };
  std::vector<Clear> clears;

  static std::unique_ptr<Entry> make(std::span<const ArgumentView> arguments, const LoadedImage &image, size_t kernel,
                                     const LaunchPlan &plan) {
    auto entry = std::make_unique<Entry>();
    const KernelInfo &info = image.image().kernels[kernel];
    entry->image = &image;
    entry->kernel = kernel;
    entry->programs = plan.programs;
    entry->slots = plan.slots;
    // The slots of KernelImage.h: tensors with their strides, dimensions, scalars, the grid.
    uint32_t next = 0, count = static_cast<uint32_t>(arguments.size());
    for (uint32_t i = 0; i < count; ++i)
      if (const TensorRef *tensor = arguments[i].tensor()) {
        entry->addresses.push_back({i, next, tensor->dtype});
        next += 1 + static_cast<uint32_t>(tensor->shape.size());
      }
    next += static_cast<uint32_t>(info.dims.size());
    for (uint32_t i = 0; i < count; ++i)
      if (arguments[i].scalar())
        entry->scalars.push_back({i, next++, info.params[i].dtype});
    if (plan.slots.empty()) { // nothing runs
      entry->addresses.clear();
      entry->scalars.clear();
    }
    for (uint32_t i = 0; i < count; ++i) {
      const TensorRef *written = arguments[i].tensor();
      if (!written || info.params[i].mode == ParamMode::In)
        continue;
      if (info.params[i].clearFirst)
        for (const ClearRun &run : clearRuns(*written))
          entry->clears.push_back({i, run.first - static_cast<char *>(written->data), run});
      if (written->mayOverlap)
        continue;
      for (uint32_t j = 0; j < count; ++j)
        if (const TensorRef *other = arguments[j].tensor(); other && i != j) {
          Pair pair{i, j, reachOf(*written), reachOf(*other), false, addressOf(*written) - addressOf(*other)};
          pair.met = pair.meets(addressOf(*written), addressOf(*other));
          entry->pairs.push_back(pair);
        }
    }
    return entry;
  }

  bool separate(std::span<const ArgumentView> arguments) const {
    for (const Pair &pair : pairs) {
      uint64_t a = addressOf(*arguments[pair.written].tensor()), b = addressOf(*arguments[pair.other].tensor());
      if (pair.meets(a, b) && !(pair.met && a - b == pair.distance))
        return false;
    }
    return true;
  }

  std::optional<Result<void>> launch(std::span<const ArgumentView> arguments, StreamHandle stream) const {
    if (!separate(arguments))
      return std::nullopt;
    std::array<uint64_t, kMaxSlots> values;
    std::array<void *, kMaxSlots> params;
    for (size_t i = 0; i < slots.size(); ++i) {
      values[i] = slots[i];
      params[i] = &values[i];
    }
    for (const Patch &patch : addresses)
      values[patch.slot] = addressOf(*arguments[patch.argument].tensor());
    for (const Patch &patch : scalars) {
      ScalarRef scalar = arguments[patch.argument].scalar()->adapt(patch.dtype);
      if (scalar.dtype != patch.dtype)
        return std::nullopt; // a value that its parameter does not hold: planLaunch says so
      values[patch.slot] = scalar.bits;
    }
    for (const Clear &clear : clears) {
      ClearRun run = clear.run;
      run.first = static_cast<char *>(arguments[clear.argument].tensor()->data) + clear.offset;
      if (Result<void> status = image->clear(run, stream); !status)
        return status;
    }
    return image->launchSlots(kernel, programs, values.data(), params.data(), stream);
  }
};

/// One place of the table.
struct alignas(64) Place {
  std::atomic<uint32_t> users{0}; ///< readers, and kWriter while the entry changes
  std::atomic<uint64_t> hash{0};
  std::unique_ptr<Entry> entry; ///< read by those counted in while there is no writer
};

} // namespace

struct LaunchCache::Table {
  std::array<std::array<Place, kWays>, kSets> places;
  std::atomic<uint64_t> keyed{
      ~uint64_t(0)}; ///< which scalars belong to the key: all, until a kernel says which it reads
  std::mutex writing;
  bool masked = false; ///< `keyed` has been set; guarded by `writing`
  size_t turn = 0;     ///< the way to give up next; guarded by `writing`
};

LaunchCache::LaunchCache() : table(std::make_unique<Table>()) {}
LaunchCache::~LaunchCache() = default;
LaunchCache::LaunchCache(LaunchCache &&) noexcept = default;

std::optional<Result<void>> LaunchCache::launch(std::span<const ArgumentView> arguments, StreamHandle stream) const {
  Key key;
  if (!key.encode(arguments, table->keyed.load(std::memory_order_relaxed)))
    return std::nullopt;
  for (Place &place : table->places[key.hash % kSets]) {
    if (place.hash.load(std::memory_order_relaxed) != key.hash)
      continue;
    std::optional<Result<void>> done;
    if (!(place.users.fetch_add(1, std::memory_order_acquire) & kWriter) && place.entry &&
        place.entry->key.size() == key.count &&
        std::memcmp(place.entry->key.data(), key.words.data(), key.count * sizeof(uint64_t)) == 0)
      done = place.entry->launch(arguments, stream);
    place.users.fetch_sub(1, std::memory_order_release);
    if (done)
      return done;
  }
  return std::nullopt;
}

void LaunchCache::remember(std::span<const ArgumentView> arguments, const LoadedImage &image, size_t kernel,
                           const LaunchPlan &plan) const {
  const KernelInfo &info = image.image().kernels[kernel];
  if (plan.slots.size() > kMaxSlots || arguments.size() != info.params.size())
    return;
  std::lock_guard<std::mutex> lock(table->writing);
  uint64_t mask = scalarsOfThePlan(info);
  if (table->masked)
    mask |= table->keyed.load(std::memory_order_relaxed);
  table->masked = true;
  table->keyed.store(mask, std::memory_order_relaxed);
  Key key;
  if (!key.encode(arguments, mask))
    return;
  std::unique_ptr<Entry> entry = Entry::make(arguments, image, kernel, plan);
  entry->key.assign(key.words.begin(), key.words.begin() + static_cast<std::ptrdiff_t>(key.count));
  auto &set = table->places[key.hash % kSets];
  // The same key again (its tensors lie differently now), else a free place, else the next in turn.
  size_t first = kWays;
  for (size_t way = 0; way < kWays && first == kWays; ++way)
    if (set[way].entry && set[way].entry->key == entry->key)
      first = way;
  for (size_t way = 0; way < kWays && first == kWays; ++way)
    if (!set[way].entry)
      first = way;
  if (first == kWays)
    first = table->turn++ % kWays;
  for (size_t i = 0; i < kWays; ++i) {
    Place &place = set[(first + i) % kWays];
    uint32_t nobody = 0;
    if (!place.users.compare_exchange_strong(nobody, kWriter, std::memory_order_acquire))
      continue;
    place.entry = std::move(entry);
    place.hash.store(key.hash, std::memory_order_relaxed);
    place.users.fetch_sub(kWriter, std::memory_order_release);
    return;
  }
}

} // namespace tessera
