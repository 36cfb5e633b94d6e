#include "orchestrator/slurm/submission_store.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <thread>

#include "schemas/protocol/document_error.h"
#include "tests/support/temp_dir.h"

namespace rematch::slurm {
namespace {

protocol::Submission submission_named(const std::string& name) {
  protocol::Submission submission;
  submission.name = name;
  submission.study_id = "00000000000000cc";
  submission.command = {"sbatch"};
  submission.tasks = {{}};
  return submission;
}

TEST(SubmissionStore, LosesNothingThatTwoWriteAtTheSameTime) {
  const tests::TempDir folder;
  const SubmissionStore store(folder.path());
  store.put(submission_named("a"));
  const auto write = [&](char letter) {
    for (int i = 0; i < 8; ++i) store.update("a", [&](protocol::Submission& submission) { submission.message += letter; });
  };
  std::thread other(write, 'b');
  write('a');
  other.join();
  EXPECT_EQ(store.read("a").message.size(), 16U);
  EXPECT_EQ(store.all().size(), 1U) << "the lock is no document";
}

TEST(SubmissionStore, HasNoDocumentsOnlyWhereThereIsNoFolder) {
  const tests::TempDir folder;
  const SubmissionStore store(folder.path());
  EXPECT_TRUE(store.all().empty());
  std::ofstream(store.paths().submissions()) << "no folder";
  EXPECT_THROW(store.all(), std::system_error);
}

TEST(SubmissionStore, NamesADocumentThatCannotBeReadAndSaysWhatToDo) {
  const tests::TempDir folder;
  const SubmissionStore store(folder.path());
  store.put(submission_named("a"));
  std::ofstream(store.paths().submission("b")) << "";
  try {
    store.open();
    ADD_FAILURE() << "nothing was said";
  } catch (const protocol::DocumentError& problem) {
    EXPECT_NE(std::string(problem.what()).find("b.json"), std::string::npos);
    EXPECT_NE(std::string(problem.what()).find("squeue -n b"), std::string::npos);
  }
}

}  // namespace
}  // namespace rematch::slurm
