// Describe documents for tests: the example's families with every axis, and with what the published sweeps need beside them.
#pragma once

#include "schemas/protocol/describe.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::tests {

inline protocol::Describe trainer_of_every_axis() {
  protocol::Describe trainer = spec::example_trainer("valid-families");
  trainer.parallel_axes = {"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
                           "expert_model_parallel_size", "expert_tensor_parallel_size",  "virtual_pipeline_model_parallel_size"};
  return trainer;
}

inline protocol::Describe trainer_of_published_sweeps() {
  protocol::Describe trainer = trainer_of_every_axis();
  trainer.devices = {"cuda"};
  trainer.optimizer_modes = {"use_distributed_optimizer=true",
                             "use_precision_aware_optimizer=true",
                             "use_precision_aware_optimizer=false",
                             "exp_avg_dtype=bf16",
                             "exp_avg_dtype=fp32",
                             "exp_avg_sq_dtype=bf16",
                             "exp_avg_sq_dtype=fp32",
                             "gradient_accumulation_fusion=true",
                             "fp8_recipe=tensorwise",
                             "fp8_recipe=null",
                             "moe_shared_expert_overlap=true",
                             "moe_shared_expert_overlap=false",
                             "cross_entropy_gradient=in_place",
                             "cross_entropy_gradient=fp32"};
  for (protocol::FamilyDescription& family : trainer.families)
    if (family.name == "hybrid") family.fields.push_back({"moe_router_force_load_balancing", "boolean", false, false, {}, {}, "", {}, {}});
  return trainer;
}

}  // namespace rematch::tests
