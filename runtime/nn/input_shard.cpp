#include "runtime/nn/input_shard.h"

#include <ATen/ATen.h>

#include <stdexcept>

namespace rematch::nn {

recompute::InputShard shard_over(const comm::Communicator& tensor_group) {
  const auto* group = &tensor_group;
  const auto keep = [group](const at::Tensor& whole) {
    if (whole.numel() % group->size() != 0)
      throw std::invalid_argument("distribute_saved_activations: wanted a multiple of " + std::to_string(group->size()) +
                                  " elements, found " + std::to_string(whole.numel()));
    const auto count = whole.numel() / group->size();
    return whole.detach().reshape({-1}).narrow(0, group->rank() * count, count).clone();
  };
  const auto restore = [group](const at::Tensor& kept, at::IntArrayRef sizes) {
    auto whole = at::empty(sizes, kept.options());
    group->all_gather(whole.view({-1}), kept);
    return whole;
  };
  return {keep, restore};
}

}  // namespace rematch::nn
