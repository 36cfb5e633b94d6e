// Ranks of any layout as threads of one process over real Gloo, each with a mesh of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "runtime/mesh/mesh.h"

namespace rematch::nn {

// LibTorch's flight recorder notes each collective in a map of the process that nothing guards: ranks that are threads must not have one.
inline void switch_flight_recorder_off() {
  static const int result = ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);
  ASSERT_EQ(result, 0);
}

// rank_body(mesh) on each rank. A failing rank fails the test.
inline void run_ranks(const protocol::ParallelSpec& spec, const std::function<void(const mesh::Mesh&)>& rank_body) {
  switch_flight_recorder_off();
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::string> errors(static_cast<std::size_t>(spec.world_size));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < spec.world_size; ++rank)
    ranks.emplace_back([&, rank] {
      try {
        const mesh::Mesh mesh(spec, {.backend = "gloo", .rank = rank, .timeout = std::chrono::seconds(30)}, store);
        rank_body(mesh);
        mesh.world().barrier();  // nobody leaves while a peer still talks
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (auto& rank : ranks) rank.join();
  for (std::size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

}  // namespace rematch::nn
