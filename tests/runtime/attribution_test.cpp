// Whose the bytes of a region are: on the modelled CPU device, with the regions that models are made of.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "probes/device/charge.h"
#include "runtime/base/scope.h"
#include "runtime/recompute/policy.h"
#include "runtime/recompute/region.h"
#include "tests/runtime/modelled_memory.h"

namespace rematch::recompute {
namespace {

using protocol::Attribution;
using protocol::Role;

constexpr std::int64_t kElements = 1024;
constexpr std::int64_t kBytes = 4 * kElements;

probes::DeviceMemory& memory() { return modelled_memory(); }

// One tensor that the graph keeps inside, and the output.
Tensors square_of_exp(const Tensors& in) { return {in[0].exp().square()}; }

class RegionBytes : public testing::Test {
 protected:
  RegionBytes() { memory().reset_peaks(); }

  Region region(const std::string& label, const std::vector<std::string>& active = {}) {
    policy_.emplace(protocol::RecomputeSpec{.recompute_granularity = "selective", .recompute_modules = active, .core_revision = "24bad8e6"},
                    at::kCPU);
    return policy_->region(label);
  }
  static std::int64_t bytes_of(const Attribution& attribution, Role role, const std::string& region) {
    for (const auto& part : attribution)
      if (part.role == role && part.region == region) return part.bytes;
    return 0;
  }
  // Now: nothing was freed since the reset.
  static std::int64_t live(Role role, const std::string& region) {
    memory().reset_peaks();
    return bytes_of(*memory().peak_attribution(), role, region);
  }

  probes::DeviceMemory& device_ = memory();  // before the first tensor
  probes::DeviceScope charged_;
  base::RoleScope role_{Role::kActivations};
  std::optional<Policy> policy_;
};

TEST_F(RegionBytes, AddUpToWhatTheAllocatorCounts) {
  const auto x = at::ones({kElements}).requires_grad_();
  const auto output = region("mlp").run(square_of_exp, {x});
  EXPECT_EQ(protocol::total_bytes(*memory().peak_attribution()), memory().snapshot().peak_allocated_bytes);
}

TEST_F(RegionBytes, LeaveTheOutputOfAPlainRegionToWhatSurroundsIt) {
  const auto x = at::ones({kElements}).requires_grad_();
  const auto before = live(Role::kActivations, "");
  const auto output = region("mlp").run(square_of_exp, {x});
  EXPECT_EQ(live(Role::kActivations, "mlp"), kBytes) << "the exponential, which square keeps";
  EXPECT_EQ(live(Role::kActivations, "") - before, kBytes) << "the output";
}

TEST_F(RegionBytes, CountTheOutputOfADiscardingRegionAsItsOwn) {
  const auto x = at::ones({kElements}).requires_grad_();
  const auto output = region("moe_act").run(square_of_exp, {x});
  EXPECT_EQ(live(Role::kActivations, "moe_act"), 2 * kBytes);
}

TEST_F(RegionBytes, OfAnInnerRegionStandUnderBothLabels) {
  const auto x = at::ones({kElements}).requires_grad_();
  const Region inner = region("shared_experts");
  const RegionFn outer_fn = [&](const Tensors& in) { return Tensors{inner.run(square_of_exp, in).tensors[0].sin()}; };
  const auto output = region("moe").run(outer_fn, {x});
  EXPECT_EQ(live(Role::kActivations, "moe/shared_experts"), kBytes);
  EXPECT_EQ(live(Role::kActivations, "moe"), kBytes) << "the inner region's output, which the sine keeps";
}

TEST_F(RegionBytes, OfAnActiveLabelAreGoneAfterForwardAndBackInItsReplay) {
  const auto x = at::ones({kElements}).requires_grad_();
  at::Tensor consumed;
  {
    auto output = region("moe_act", {"moe_act"}).run(square_of_exp, {x});
    consumed = output.tensors[0].sin();
    output.discard_after(consumed);
  }
  EXPECT_EQ(live(Role::kActivations, "moe_act"), 0);
  const base::RoleScope backward(Role::kTemporaries);
  Attribution in_backward;
  consumed.register_hook([&](const at::Tensor&) {  // after the region's own hook
    memory().reset_peaks();
    in_backward = *memory().peak_attribution();
  });
  torch::autograd::backward({consumed.sum()}, {});
  EXPECT_EQ(bytes_of(in_backward, Role::kActivations, "moe_act"), 2 * kBytes);
  EXPECT_GT(bytes_of(in_backward, Role::kTemporaries, ""), 0);
  EXPECT_EQ(live(Role::kActivations, "moe_act"), 0);
}

TEST_F(RegionBytes, OfAPeakInsideARegionLeaveItsOutputOut) {
  const auto x = at::ones({kElements}).requires_grad_();
  memory().reset_peaks();
  const RegionFn peaked = [](const Tensors& in) {
    auto output = in[0].exp();
    at::empty({4 * kElements});
    return Tensors{output};
  };
  const auto output = region("core_attn").run(peaked, {x});
  EXPECT_EQ(bytes_of(*memory().peak_attribution(), Role::kActivations, "core_attn"), 4 * kBytes);
}

}  // namespace
}  // namespace rematch::recompute
