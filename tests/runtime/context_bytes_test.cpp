// What attention holds at its peak under context parallelism, on the modelled CPU device and to the byte. One rank over the fake backend,
// whose messages are never filled in: bytes do not depend on values.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "probes/device/charge.h"
#include "runtime/nn/fused_attention.h"
#include "tests/runtime/modelled_memory.h"

namespace rematch::nn {
namespace {

// No tensor of these is rounded up to the allocator's 512 bytes.
constexpr std::int64_t kBatch = 2, kHeads = 4, kGroups = 2, kLocal = 64, kKeySize = 16, kValueSize = 8;
constexpr std::int64_t kQuery = kBatch * kHeads * kLocal * kKeySize, kOutput = kBatch * kHeads * kLocal * kValueSize;
constexpr std::int64_t kRows = kBatch * kHeads * kLocal, kKeysAndValues = kBatch * kGroups * kLocal * (kKeySize + kValueSize);

struct Peaks {
  std::int64_t forward, backward;
};

template <typename Body>
std::int64_t peak_of(const Body& body) {
  auto& memory = modelled_memory();
  memory.reset_peaks();
  const auto before = memory.snapshot().allocated_bytes;
  body();
  return memory.snapshot().peak_allocated_bytes - before;
}

Peaks attention_peaks(int num_ranks, const std::string& comm_type) {
  modelled_memory();
  const probes::DeviceScope charged;
  const protocol::ParallelSpec spec{.world_size = num_ranks, .context_parallel_size = num_ranks, .cp_comm_type = comm_type};
  const mesh::Mesh mesh(spec, {.backend = "fake", .rank = 1}, c10::make_intrusive<c10d::HashStore>());
  const auto make = [](at::IntArrayRef sizes) { return at::zeros(sizes, at::kBFloat16).requires_grad_(); };
  const auto q = make({kBatch, kHeads, kLocal, kKeySize}), k = make({kBatch, kGroups, kLocal, kKeySize}),
             v = make({kBatch, kGroups, kLocal, kValueSize});
  const auto output_grad = at::zeros({kLocal * kBatch, kHeads * kValueSize}, at::kBFloat16);
  at::Tensor o;
  const auto forward = peak_of([&] { o = fused_causal_attention(q, k, v, 0.3, 0, context_group(mesh)); });
  return {forward, peak_of([&] { torch::autograd::backward({o}, {output_grad}); })};
}

TEST(ContextBytes, OfARingAreSumsAndTwoSetsOfReceivedKeys) {
  for (const int size : {2, 4}) {
    const auto sets = size == 2 ? 1 : 2;
    const auto peaks = attention_peaks(size, "p2p");
    EXPECT_EQ(peaks.forward, 2 * kOutput + 4 * kRows + 4 * kOutput + sets * 2 * kKeysAndValues) << size;
    EXPECT_EQ(peaks.backward, 2 * (kQuery + kKeysAndValues) + 4 * kQuery + 2 * 4 * kKeysAndValues + sets * 2 * kKeysAndValues) << size;
  }
}

TEST(ContextBytes, OfAnAllGatherAreTheKeysOfAllRanksAndTheirGradients) {
  for (const int size : {2, 4}) {
    const auto peaks = attention_peaks(size, "all_gather");
    EXPECT_EQ(peaks.forward, 2 * kOutput + 4 * kRows + size * 2 * kKeysAndValues) << size;
    EXPECT_EQ(peaks.backward, 2 * (kQuery + kKeysAndValues) + size * (2 + 4) * kKeysAndValues) << size;
  }
}

}  // namespace
}  // namespace rematch::nn
