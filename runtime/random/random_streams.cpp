#include "runtime/random/random_streams.h"

#include <ATen/ATen.h>

#include <stdexcept>

#include "runtime/random/generators.h"

namespace rematch::random {

namespace {

constexpr std::uint64_t kModelParallelOffset = 2718, kExpertParallelOffset = 1024, kExpertRankStride = 100;

}  // namespace

void RandomStreams::add(const std::string& name, std::uint64_t seed) {
  if (states_.count(name) > 0) throw std::invalid_argument("random stream '" + name + "' is there already");
  states_[name] = seeded_generator(device_, seed);
}

StreamScope::StreamScope(RandomStreams& streams, const std::string& name)
    : streams_(streams), name_(name), default_before_(read_generator(streams.device())) {
  const auto state = streams.states_.find(name);
  if (state == streams.states_.end()) throw std::invalid_argument("there is no random stream '" + name + "'");
  write_generator(streams.device(), state->second);
}

StreamScope::~StreamScope() {
  streams_.states_[name_] = read_generator(streams_.device());
  write_generator(streams_.device(), default_before_);
}

void seed_streams(RandomStreams& streams, const StreamSeeds& seeds) {
  const auto seed = static_cast<std::uint64_t>(seeds.seed);
  at::manual_seed(seed);
  streams.add(kModelParallelStream, seed + kModelParallelOffset + static_cast<std::uint64_t>(seeds.tensor_parallel_rank));
  streams.add(kExpertParallelStream,
              seed + kExpertParallelOffset + kExpertRankStride * static_cast<std::uint64_t>(seeds.expert_parallel_rank));
}

}  // namespace rematch::random
