#include "runtime/recompute/replay.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <mutex>
#include <utility>

#include "probes/device/charge.h"

namespace rematch::recompute {

namespace {

at::Tensor read_state(at::Device device) {
  const probes::ScratchScope scratch;
  auto generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void write_state(at::Device device, const at::Tensor& state) {
  auto generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

void write_random_state(const RandomState& state, at::Device device) {
  write_state(at::kCPU, state.cpu);
  if (state.device) write_state(device, *state.device);
}

}  // namespace

RandomState capture_random_state(at::Device device) {
  RandomState state{.cpu = read_state(at::kCPU), .device = std::nullopt};
  if (device.is_cuda()) state.device = read_state(device);
  return state;
}

RandomStateScope::RandomStateScope(const RandomState& state, at::Device device) : device_(device), before_(capture_random_state(device)) {
  write_random_state(state, device);
}

RandomStateScope::~RandomStateScope() { write_random_state(before_, device_); }

std::vector<at::Tensor> detach_inputs(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> detached;
  detached.reserve(inputs.size());
  for (const auto& input : inputs) detached.push_back(input.detach().requires_grad_(input.requires_grad()));
  return detached;
}

std::vector<at::Tensor> replay_backward(std::vector<at::Tensor> outputs, const std::vector<at::Tensor>& output_grads,
                                        std::vector<at::Tensor> inputs) {
  torch::autograd::edge_list roots;
  torch::autograd::variable_list root_grads;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad() || !output_grads[i].defined()) continue;
    roots.push_back(torch::autograd::impl::gradient_edge(outputs[i]));
    root_grads.push_back(output_grads[i]);
  }
  outputs.clear();
  torch::autograd::Engine::get_default_engine().execute(roots, root_grads, /*keep_graph=*/false, /*create_graph=*/false,
                                                        /*accumulate_grad=*/true);
  std::vector<at::Tensor> grads;
  grads.reserve(inputs.size());
  for (auto& input : inputs) grads.push_back(input.requires_grad() ? input.grad() : at::Tensor());
  return grads;
}

}  // namespace rematch::recompute
