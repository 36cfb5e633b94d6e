// Real Gloo ranks for one test, one a thread, each with a mesh of its own. What fails on one rank fails the test.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "runtime/mesh/mesh.h"

namespace rematch::nn {

inline void run_ranks(const protocol::ParallelSpec& spec, const std::function<void(const mesh::Mesh&)>& body) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(spec.world_size));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < spec.world_size; ++rank)
    ranks.emplace_back([&, rank] {
      try {
        const mesh::Mesh mesh(spec, {.backend = "gloo", .rank = rank, .device = at::kCPU, .timeout = std::chrono::seconds(20)}, store);
        body(mesh);
        mesh.world().barrier();  // nobody leaves while a peer still talks
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (auto& rank : ranks) rank.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace rematch::nn
