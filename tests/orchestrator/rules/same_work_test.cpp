// Which trials do the work of a published table's rows.
#include <gtest/gtest.h>

#include "orchestrator/rules/published_setting.h"
#include "tests/orchestrator/published_builder.h"

namespace rematch::rules {
namespace {

protocol::Trial a_trial() { return tests::clean_study().rows().plan.trials.front(); }

protocol::Published table_of(const protocol::Trial& trial) {
  protocol::Published table = tests::make_published();
  table.setting.preset = trial.model.preset.value_or("a_preset");
  for (const std::string& name : trial.model.overridden) table.setting.changed_fields[name] = trial.model.fields.at(name);
  table.setting.seq_length = trial.training.seq_length;
  table.setting.global_batch_size = trial.training.global_batch_size;
  return table;
}

TEST(SameWork, IsOfTheSameModelAndBatchWhateverTheLayoutIs) {
  protocol::Trial trial = a_trial();
  trial.model.preset = "a_preset";
  protocol::Published table = table_of(trial);
  table.setting.layout.world_size = 64;
  table.setting.precision = "fp8";
  EXPECT_TRUE(does_same_work(table, trial));
}

TEST(SameWork, WantsModelAndBatchStatedAndEqual) {
  protocol::Trial trial = a_trial();
  trial.model.preset = "a_preset";
  protocol::Published table = table_of(trial);
  table.setting.global_batch_size = trial.training.global_batch_size + 1;
  EXPECT_FALSE(does_same_work(table, trial));
  table.setting.global_batch_size.reset();
  EXPECT_FALSE(does_same_work(table, trial)) << "a batch that is not stated is not equal";
  table = table_of(trial);
  table.setting.seq_length = trial.training.seq_length * 2;
  EXPECT_FALSE(does_same_work(table, trial));
  table = table_of(trial);
  table.setting.preset = "another";
  EXPECT_FALSE(does_same_work(table, trial));
  table = table_of(trial);
  table.setting.changed_fields["num_layers"] = std::int64_t{1};
  EXPECT_FALSE(does_same_work(table, trial));
}

}  // namespace
}  // namespace rematch::rules
