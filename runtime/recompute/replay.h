// What both mechanisms share: random state at a region's forward, restored for its replay; and the replay's nested backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace rematch::recompute {

// State of the CPU generator, and of the device's own where it has one. Kept in host memory.
struct RandomState {
  at::Tensor cpu;
  std::optional<at::Tensor> device;
};

RandomState capture_random_state(at::Device device);

// Sets `state` for its lifetime, then puts back what was there.
class RandomStateScope {
 public:
  RandomStateScope(const RandomState& state, at::Device device);
  ~RandomStateScope();
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  at::Device device_;
  RandomState before_;
};

// Aliases of the inputs that start a graph of their own: same storage, same requires_grad.
std::vector<at::Tensor> detach_inputs(const std::vector<at::Tensor>& inputs);

// Backward over a replay's graph, then the gradients of its detached inputs (undefined where none was asked for). Frees the graph. The
// outputs are let go before it begins: whoever saved them in the graph keeps them as long as it needs them, and no longer.
std::vector<at::Tensor> replay_backward(std::vector<at::Tensor> outputs, const std::vector<at::Tensor>& output_grads,
                                        std::vector<at::Tensor> inputs);

}  // namespace rematch::recompute
