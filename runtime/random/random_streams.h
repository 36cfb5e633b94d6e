// Named random streams beside the default one: Megatron Core's CudaRNGStatesTracker. What must differ between tensor-parallel ranks
// (dropout inside attention) draws from the model-parallel stream, so that the default stream stays the same on all of them. The
// expert-parallel stream is Megatron's too; nothing in this trainer draws from it. One a rank, owned by recompute::Policy. Used by one
// thread at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace rematch::random {

inline constexpr const char* kModelParallelStream = "model-parallel-rng";
inline constexpr const char* kExpertParallelStream = "expert-parallel-rng";

class RandomStreams {
 public:
  explicit RandomStreams(at::Device device) : device_(device) {}

  // Throws std::invalid_argument when the name is taken.
  void add(const std::string& name, std::uint64_t seed);
  at::Device device() const { return device_; }

  // Generator states by name, in host memory. Values are never written in place.
  using States = std::map<std::string, at::Tensor>;
  const States& states() const { return states_; }
  void set_states(States states) { states_ = std::move(states); }

 private:
  friend class StreamScope;
  at::Device device_;
  States states_;
};

// For its lifetime the device's default generator draws from the named stream; then the stream has moved on and the default one has not.
// Throws std::invalid_argument for a name that was not added.
class StreamScope {
 public:
  StreamScope(RandomStreams& streams, const std::string& name);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  RandomStreams& streams_;
  std::string name_;
  at::Tensor default_before_;
};

// Seeds the default streams (CPU and device) with `seed`, and adds the two named ones with Megatron's offsets:
// model-parallel seed + 2718 + tensor rank, expert-parallel seed + 1024 + 100 * expert rank.
struct StreamSeeds {
  std::int64_t seed = 0;
  int tensor_parallel_rank = 0;
  int expert_parallel_rank = 0;
};
void seed_streams(RandomStreams& streams, const StreamSeeds& seeds);

}  // namespace rematch::random
