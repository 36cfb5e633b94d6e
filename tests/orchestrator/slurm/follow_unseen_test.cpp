// A follower beside files that it does not see yet, or cannot read for a while.
#include "orchestrator/slurm/follow.h"

#include <fstream>
#include <set>

#include "schemas/protocol/document_error.h"
#include "tests/orchestrator/slurm/follow_fixture.h"

namespace rematch::slurm {
namespace {

using tests::FollowTest;

using protocol::RunnerEnd;

// What a network file system does not show before it is made to look.
class FollowUnseenTest : public FollowTest {
 protected:
  void hide() {
    for (const protocol::Trial& trial : plan_.trials)
      for (const auto& attempt : folder_.attempts(trial.trial_id)) std::filesystem::rename(done(attempt.folder), hidden(attempt.folder));
  }
  void show(const std::filesystem::path& attempt) {
    if (std::filesystem::exists(hidden(attempt))) std::filesystem::rename(hidden(attempt), done(attempt));
  }
  static std::filesystem::path done(const std::filesystem::path& attempt) { return protocol::AttemptPaths{attempt}.done(); }
  static std::filesystem::path hidden(const std::filesystem::path& attempt) { return attempt / "hidden"; }

  void end_with_hidden_files() {
    submit_all();
    finish_all();
    hide();
    write_runner("study", 1, name(), RunnerEnd::kComplete);
    slurm_.set(name(), "COMPLETED");
  }
};

TEST_F(FollowUnseenTest, LooksAfreshBeforeItSubmitsAgain) {
  end_with_hidden_files();
  std::set<std::string> looked;
  surroundings_.look_afresh = [&](const std::filesystem::path& folder) {
    show(folder);
    looked.insert(folder.lexically_relative(root_).begin()->string());
    return true;
  };
  play({});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_EQ(looked, (std::set<std::string>{".", "runners", "trials"}));
  EXPECT_LT(seconds_taken(), 30);
}

TEST_F(FollowUnseenTest, WaitsLongerWhereItCannotLookAfresh) {
  end_with_hidden_files();
  surroundings_.look_afresh = [](const std::filesystem::path&) { return false; };
  play({{60, [&] {
           for (const protocol::Trial& trial : plan_.trials)
             for (const auto& attempt : folder_.attempts(trial.trial_id)) show(attempt.folder);
         }}});
  EXPECT_TRUE(follow());
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST(FreshLook, LeavesNothingBehindAndSaysWhereItCannotWrite) {
  const tests::TempDir folder;
  EXPECT_TRUE(look_afresh(folder.path()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_TRUE(look_afresh(folder.path() / "none"));
  std::ofstream(folder.path() / "file") << "no folder";
  EXPECT_FALSE(look_afresh(folder.path() / "file"));
}

class FollowUnreadableTest : public FollowTest {
 protected:
  void spoil() { protocol::write_file_unsynced(store_.paths().submission(name()), ""); }
};

TEST_F(FollowUnreadableTest, KeepsWhatItKnowsWhileADocumentCannotBeReadAndSaysSoOnce) {
  const protocol::Submission submission = submit_all();
  play({{3, [&] { spoil(); }},
        {60, [&] { store_.put(submission); }},
        {90, [&] { finish_all(), write_runner("study", 1, name(), RunnerEnd::kComplete); }}});
  EXPECT_TRUE(follow());
  ASSERT_EQ(watcher_.remarks.size(), 1U);
  EXPECT_TRUE(watcher_.has_said(name() + ".json"));
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_TRUE(store_.open().empty());
}

TEST_F(FollowUnreadableTest, GivesUpWithTheNameOfAFileThatItNeedsAndThatStaysUnreadable) {
  submit_all();
  play({{3, [&] { spoil(); }}, {10, [&] { finish_all(), write_runner("study", 1, name(), RunnerEnd::kComplete); }}});
  try {
    follow();
    ADD_FAILURE() << "nothing was said";
  } catch (const protocol::DocumentError& problem) {
    EXPECT_NE(std::string(problem.what()).find(name() + ".json"), std::string::npos) << problem.what();
  }
  EXPECT_LT(seconds_taken(), 200);
}

}  // namespace
}  // namespace rematch::slurm
