// A database in a folder of its own, and studies put into it as a run puts them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {

class StoreFixture : public ::testing::Test {
 protected:
  Store open() { return Store::open(path_).value(); }

  static void put(Store& store, const base::StudyRows& study) {
    store.put_plan(study.plan);
    for (const base::AttemptRows& attempt : study.attempts) store.put_attempt(attempt);
    store.put_verdicts(study.plan.study_id, rules::judge_study(study));
  }

  tests::TempDir temp_;
  std::filesystem::path path_ = temp_.path() / "rematch.db";
};

}  // namespace rematch::store
