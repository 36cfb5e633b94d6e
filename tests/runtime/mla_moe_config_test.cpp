// The family's configuration: work per step against the published figure, and what is refused.
#include <gtest/gtest.h>

#include "runtime/base/errors.h"
#include "runtime/models/mla_moe_config.h"
#include "runtime/models/presets.h"

namespace rematch::models {
namespace {

protocol::FieldMap moonlight() { return presets().at(0).fields; }

TEST(MlaMoeConfig, MoonlightDoesThePublishedWorkPerIteration) {
  const protocol::TrainingSpec training{.seq_length = 4096, .micro_batch_size = 1, .global_batch_size = 4, .train_iters = 20};
  EXPECT_NEAR(mla_moe_flops(mla_moe_config(moonlight()), training) / 1e12, 281.03, 0.005);
}

TEST(MlaMoeConfig, CutsALongLayerPatternAndRefusesAShortOne) {
  auto fields = moonlight();
  fields["num_layers"] = std::int64_t{4};
  EXPECT_EQ(mla_moe_config(fields).layer_is_moe, (std::vector<bool>{false, true, true, true}));
  fields["num_layers"] = std::int64_t{28};
  EXPECT_THROW(mla_moe_config(fields), base::BadTrial);
}

TEST(MlaMoeConfig, NamesTheFieldAndWhatIsAllowed) {
  auto fields = moonlight();
  fields["moe_router_score_function"] = std::string("tanh");
  try {
    mla_moe_config(fields);
    FAIL() << "an unknown score function was accepted";
  } catch (const base::BadTrial& error) {
    EXPECT_EQ(std::string(error.what()), "model.moe_router_score_function: wanted one of sigmoid, softmax, found 'tanh'");
  }
}

}  // namespace
}  // namespace rematch::models
