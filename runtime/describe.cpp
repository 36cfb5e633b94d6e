#include "runtime/describe.h"

#include <string>

#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "runtime/base/torch_compat.h"
#include "runtime/comm/backends.h"
#include "runtime/models/model.h"
#include "runtime/models/presets.h"

namespace rematch::runtime {

protocol::Describe describe() {
  protocol::Describe description{
      .build_id = probes::build_id(),
      .version = REMATCH_VERSION,
      .libtorch_version = TORCH_VERSION,
      .devices = {"cpu", "meta"},
      .comm_backends = comm::backend_names(),
      .attention_backends = {"fused", "unfused"},
      .optimizer_modes = {"use_distributed_optimizer=true",
                          "use_distributed_optimizer=false",
                          "grad_reduce_in_fp32=true",
                          "grad_reduce_in_fp32=false",
                          "use_precision_aware_optimizer=true",
                          "use_precision_aware_optimizer=false",
                          "exp_avg_dtype=fp32",
                          "exp_avg_dtype=bf16",
                          "exp_avg_sq_dtype=fp32",
                          "exp_avg_sq_dtype=bf16",
                          "store_param_remainders=true",
                          "store_param_remainders=false",
                          "fp8_recipe=null",
                          "fp8_recipe=delayed",
                          "fp8_recipe=tensorwise",
                          "fp8_recipe=mxfp8",
                          "fp8_recipe=blockwise",
                          "fp8_recipe=custom",
                          "gradient_accumulation_fusion=true",
                          "gradient_accumulation_fusion=false",
                          "moe_shared_expert_overlap=true",
                          "moe_shared_expert_overlap=false",
                          "cross_entropy_gradient=fp32",
                          "cross_entropy_gradient=in_place"},
      .parallel_axes = {"tensor_model_parallel_size", "context_parallel_size", "expert_model_parallel_size", "expert_tensor_parallel_size",
                        "pipeline_model_parallel_size", "virtual_pipeline_model_parallel_size"},
      .families = {},
      .presets = models::presets()};
  if (probes::built_with_cuda()) description.devices.emplace_back("cuda");
  for (const auto* family : models::families()) description.families.push_back(family->describe());
  return description;
}

}  // namespace rematch::runtime
