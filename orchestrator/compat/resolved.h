// What Megatron Core's configuration class makes of a configuration before and while it checks it: unset lists, deprecated names and
// aliases, graph modules that imply others. Each step is a function, and where it changes what the user wrote, a row of the table says so.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/compat/megatron_config.h"

namespace rematch::compat {

using Names = std::vector<std::string>;

struct Resolved {
  // Most checks of recompute see the granularity and the list as they are before moe_layer_recompute changes them.
  Text early_granularity;
  Names early_modules;
  Text granularity;
  Names modules;
  Names offload_modules;
  OptionalNumber capacity_factor;  // a negative one is none
  std::int64_t expert_tensor_parallel_size = 1;
  bool has_shared_experts = false;  // their size is set, and positive

  std::string graph_impl_before_modules;  // after the flags enable_cuda_graph and external_cuda_graph
  std::string graph_impl;
  Names graph_modules;          // graphed modules by name; empty: whole layers
  Names written_graph_modules;  // as the user wrote them: split, aliases and unknown names still there
  Names unknown_graph_modules;
  Names deprecated_graph_modules;  // full_iteration, full_iteration_inference where they are aliases
  bool wrote_full_graph = false;   // the deprecated name "full"
};

Resolved resolve(const Configuration& configuration);

bool contains(const Names& names, std::string_view name);
// Those of `wanted` that are in names, in the order of `wanted`.
Names found_in(const Names& names, const Names& wanted);
std::string joined(const Names& names);

}  // namespace rematch::compat
