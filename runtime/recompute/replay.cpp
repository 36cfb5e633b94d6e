#include "runtime/recompute/replay.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "runtime/base/pass.h"
#include "runtime/base/scope.h"
#include "runtime/recompute/region_times.h"

namespace rematch::recompute {

RegionUse::RegionUse(const RegionSite& site, RegionFn fn)
    : site_(site),
      fn_(std::move(fn)),
      module_path_(base::open_module_path()),
      region_path_(base::open_region_path()),
      random_(random::capture_random_state(*site.streams)) {}

Tensors RegionUse::run_first(const Tensors& inputs) const {
  const RegionTimer timer(site_.label, Pass::kForward);
  return fn_(inputs);
}

Tensors RegionUse::replay(const Tensors& inputs) const {
  const base::ModuleScope module(module_path_);
  const base::RegionScope region(region_path_);
  const base::RoleScope role(protocol::Role::kActivations);
  const base::PassScope pass(protocol::Pass::kReplay);
  const random::RandomStateScope random(random_, *site_.streams);
  const at::AutoGradMode grad_on(true);
  ++*site_.replays;
  const RegionTimer timer(site_.label, Pass::kReplay);
  return fn_(inputs);
}

Tensors detach_inputs(const Tensors& inputs) {
  Tensors detached;
  detached.reserve(inputs.size());
  for (const auto& input : inputs) detached.push_back(input.detach().requires_grad_(input.requires_grad()));
  return detached;
}

Tensors replay_backward(Tensors outputs, const Tensors& output_grads, Tensors inputs) {
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
  Tensors grads;
  grads.reserve(inputs.size());
  for (auto& input : inputs) grads.push_back(input.requires_grad() ? input.grad() : at::Tensor());
  return grads;
}

}  // namespace rematch::recompute
