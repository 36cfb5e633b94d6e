// The counted work of operations against the products that LibTorch is seen to compute inside them.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/pass.h"
#include "runtime/base/work_log.h"
#include "runtime/nn/fused_attention.h"
#include "runtime/nn/gated_delta_rule.h"
#include "runtime/nn/gemm.h"
#include "runtime/nn/grouped_linear.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/mamba_scan.h"
#include "runtime/nn/unfused_attention.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

std::atomic<std::int64_t> seen_flops;
std::set<std::string> seen_names;  // set before a count begins

std::int64_t flops_of(const std::string& name, const at::Tensor& a, const at::Tensor& b) {
  if (name == "aten::linalg_solve_triangular") return b.numel() * a.size(-1);
  return 2 * a.numel() * b.size(-1);
}

std::unique_ptr<at::ObserverContext> see(const at::RecordFunction& function) {
  const std::string name = function.name();
  if (!seen_names.contains(name)) return nullptr;
  const auto inputs = function.inputs();
  const std::size_t first = name == "aten::addmm_" ? 1 : 0;
  seen_flops += flops_of(name, inputs[first].toTensor(), inputs[first + 1].toTensor());
  return nullptr;
}

// What LibTorch multiplies while `body` runs.
class SeenProducts {
 public:
  explicit SeenProducts(std::set<std::string> names) {
    seen_names = std::move(names);
    seen_flops = 0;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&see).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~SeenProducts() { at::removeCallback(handle_); }
  SeenProducts(const SeenProducts&) = delete;
  SeenProducts& operator=(const SeenProducts&) = delete;
  std::int64_t flops() const { return seen_flops; }

 private:
  at::CallbackHandle handle_;
};

std::int64_t counted_flops() {
  std::int64_t flops = 0;
  for (const auto& count : base::take_work()) flops += count.matmul_flops;
  return flops;
}

const std::set<std::string> kAllProducts = {"aten::mm", "aten::bmm", "aten::addmm_"};
// Inside a scan the two-dimensional products are running sums, which are not counted as products.
const std::set<std::string> kProductsOfScans = {"aten::bmm", "aten::linalg_solve_triangular"};

void expect_counted(const std::set<std::string>& names, const std::function<at::Tensor(const Tensors&)>& operation, const Tensors& inputs) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.clone().requires_grad_());
  base::take_work();
  at::Tensor output;
  for (const bool is_forward : {true, false}) {
    const SeenProducts seen(names);
    if (is_forward)
      output = operation(leaves);
    else
      torch::autograd::backward({output}, {at::ones_like(output)});
    const auto wanted = seen.flops();
    EXPECT_GT(wanted, 0) << (is_forward ? "forward" : "backward");
    EXPECT_EQ(counted_flops(), wanted) << (is_forward ? "forward" : "backward");
  }
}

TEST(Work, OfGroupedLinearLayersIsWhatIsMultiplied) {
  expect_counted(kAllProducts,
                 [](const Tensors& in) {
                   return grouped_linear(in[0], {in[1], in[2], in[3]}, {5, 0, 12});
                 },
                 {random({17, 6}), random({8, 6}), random({8, 6}), random({8, 6})});
}

TEST(Work, OfFusedAttentionIsOfTheTilesThatItTakes) {
  // Three blocks of queries, the last one short.
  expect_counted(kAllProducts, [](const Tensors& in) { return fused_causal_attention(in[0], in[1], in[2], 0.3, 0); },
                 {random({2, 4, 300, 12}), random({2, 2, 300, 12}), random({2, 2, 300, 8})});
}

TEST(Work, OfUnfusedAttentionIsOfWholeSquares) {
  expect_counted(kAllProducts, [](const Tensors& in) { return unfused_causal_attention(in[0], in[1], in[2], 0.3, 0); },
                 {random({2, 4, 30, 12}), random({2, 2, 30, 12}), random({2, 2, 30, 8})});
}

TEST(Work, OfTheGatedDeltaRuleIsOfItsChunks) {
  for (const std::int64_t length : {40, 64, 150}) {  // a chunk or less, and three with a short last one
    const auto rule = [&](const Tensors& in) { return gated_delta_rule({in[0], in[1], in[2], in[3], in[4]}, {length, 2}); };
    const auto gates = at::rand({length * 2, 3}).neg();
    expect_counted(
        kProductsOfScans, rule,
        {random({length * 2, 3, 6}) * 0.1, random({length * 2, 3, 6}) * 0.1, random({length * 2, 3, 5}), gates, random({length * 2, 3})});
  }
}

TEST(Work, OfTheMamba2ScanIsOfItsChunks) {
  const Mamba2Shape shape{
      .hidden_size = 10, .mamba_num_heads = 6, .mamba_head_dim = 4, .mamba_state_dim = 5, .mamba_num_groups = 3, .chunk_size = 8};
  for (const std::int64_t length : {6, 8, 20}) {
    const auto scan = [&](const Tensors& in) { return mamba2_scan(in[0], {in[1], in[2], in[3], in[4], in[5]}, shape, {length, 2}); };
    expect_counted(kProductsOfScans, scan,
                   {random({length * 2, shape.projection_size()}), random({shape.conv_size(), 4}), random({shape.conv_size()}), random({6}),
                    at::zeros({6}), random({6})});
  }
}

TEST(Work, StandsInThePassThatIsOpenAndIsTakenOnce) {
  base::take_work();
  const auto a = random({3, 4}), b = random({4, 5});
  {
    const base::PassScope pass(protocol::Pass::kForward);
    gemm(a, b);
  }
  {
    const base::PassScope pass(protocol::Pass::kReplay);
    kernel({a, b}, [] {});
  }
  const auto work = base::take_work();
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].pass, protocol::Pass::kForward);
  EXPECT_EQ(work[0].matmul_flops, 2 * 3 * 4 * 5);
  EXPECT_EQ(work[0].matmul_bytes, 2 * (3 * 4 + 4 * 5 + 3 * 5));
  EXPECT_EQ(work[0].other_bytes, 0);
  EXPECT_EQ(work[0].num_kernels, 1);
  EXPECT_EQ(work[1].pass, protocol::Pass::kReplay);
  EXPECT_EQ(work[1].matmul_flops, 0);
  EXPECT_EQ(work[1].other_bytes, 2 * (3 * 4 + 4 * 5));
  EXPECT_TRUE(base::take_work().empty());
}

TEST(Work, OfAnAddedProductReadsItsSumToo) {
  base::take_work();
  const auto sum = at::zeros({3, 5}, at::kFloat);
  gemm_add(sum, random({3, 4}), random({4, 5}));
  const auto work = base::take_work();
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work[0].matmul_bytes, 2 * (3 * 4 + 4 * 5) + 2 * 4 * 3 * 5);
}

}  // namespace
}  // namespace rematch::nn
