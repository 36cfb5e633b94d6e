#include "runtime/train/mock_data.h"

#include <ATen/ATen.h>

#include <vector>

#include "runtime/nn/kernel.h"

namespace rematch::train {

namespace {

constexpr std::int64_t kMultiplier = 5, kIncrement = 7, kNumNoiseValues = 4;

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (SplitMix64).
struct SplitMix {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t bound) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound)); }
};

}  // namespace

Batch mock_batch(const BatchRequest& request, at::Device device) {
  const auto num_local = request.sequence.length, batch = request.sequence.batch;
  const auto runs = nn::token_runs(request.sequence.place, num_local);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(num_local * batch)), labels(ids.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    SplitMix random{SplitMix{static_cast<std::uint64_t>(request.seed)}.next() ^ static_cast<std::uint64_t>(request.first_sample + b)};
    std::int64_t token = random.below(request.vocab_size);
    for (std::int64_t s = 0; s < num_local * request.sequence.place.size; ++s) {
      const auto next = (token * kMultiplier + kIncrement + random.below(kNumNoiseValues)) % request.vocab_size;
      for (const auto& run : runs) {
        if (s < run.first || s >= run.first + run.count) continue;
        const auto row = static_cast<std::size_t>((run.row + s - run.first) * batch + b);
        ids[row] = token;
        labels[row] = next;
      }
      token = next;
    }
  }
  const auto to_device = [&](const std::vector<std::int64_t>& values) {
    auto tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions(device).dtype(at::kLong));
    nn::kernel({tensor}, [&] { tensor.copy_(at::tensor(values, at::kLong)); });
    return tensor;
  };
  return {to_device(ids), to_device(labels)};
}

}  // namespace rematch::train
