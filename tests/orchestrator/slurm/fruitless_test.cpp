#include "orchestrator/slurm/fruitless.h"

#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::slurm {
namespace {

using protocol::RunnerEnd;
using Counts = std::pair<std::int64_t, std::int64_t>;  // requeued, died

constexpr std::int64_t kLater = (std::int64_t{1} << 62) + 1;  // than the end of every trial of the fixture

class Fruitless : public tests::ClusterFixture {
 protected:
  static protocol::RunnerRecord runner(std::int64_t epoch, std::optional<RunnerEnd> end, std::int64_t start_unix_ns) {
    protocol::RunnerRecord record;
    record.scope = "study";
    record.epoch = epoch;
    record.runner_id = "00000000000000dd";
    record.submission = "s";
    record.start_unix_ns = start_unix_ns;
    record.end = end;
    return record;
  }
  void write(const protocol::RunnerRecord& record) const {
    const auto path = store_.paths().runner(record.scope, record.epoch);
    std::filesystem::create_directories(path.parent_path());
    protocol::write_file_unsynced(path, protocol::to_json(record).dump());
  }
  Counts count(std::int64_t own_epoch) {
    const FruitlessRunners found = fruitless_runners(root_, runner(own_epoch, std::nullopt, 0), trials_, {});
    return {found.num_requeued, found.num_died};
  }
};

TEST_F(Fruitless, RunnersAreThoseThatWerePutBackOrDiedBeforeABlockWasDone) {
  EXPECT_EQ(count(1), Counts(0, 0));
  write(runner(1, RunnerEnd::kRequeued, 10));
  write(runner(2, std::nullopt, 20));
  write(runner(3, RunnerEnd::kInterrupted, 30));
  write(runner(4, RunnerEnd::kRequeued, 40));
  EXPECT_EQ(count(5), Counts(2, 1));
  EXPECT_EQ(count(3), Counts(1, 1)) << "those before it";
}

TEST_F(Fruitless, RunnersAreNoneOfThoseBeforeTheLastBlockThatWasDone) {
  for (std::int64_t epoch = 1; epoch <= 5; ++epoch) write(runner(epoch, RunnerEnd::kRequeued, epoch));
  finish(plan_.trials.front());
  EXPECT_EQ(count(6), Counts(5, 0)) << "a trial is no block";
  finish(plan_.trials[1]);
  EXPECT_EQ(count(6), Counts(0, 0));
  write(runner(6, std::nullopt, kLater));
  EXPECT_EQ(count(7), Counts(0, 1));
}

TEST_F(Fruitless, RunnersOfOtherSubmissionsAndPartsDoNotCount) {
  protocol::RunnerRecord other = runner(1, std::nullopt, 10);
  other.submission = "before";
  write(other);
  other = runner(2, std::nullopt, 20);
  other.scope = "block-1";
  write(other);
  EXPECT_EQ(count(3), Counts(0, 0));
}

}  // namespace
}  // namespace rematch::slurm
