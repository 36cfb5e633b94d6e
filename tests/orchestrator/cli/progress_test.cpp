#include "orchestrator/cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "orchestrator/cli/display_width.h"
#include "orchestrator/cli/terminal.h"
#include "tests/support/make_trial.h"

namespace rematch::cli {
namespace {

TerminalFacts a_terminal() { return {true, "xterm", false, 80}; }

TEST(Terminal, RewritesAndColoursOnACapableTerminalOnly) {
  EXPECT_TRUE(decide_terminal(a_terminal(), "auto").rewrites_lines);
  EXPECT_TRUE(decide_terminal(a_terminal(), "auto").has_color);
  EXPECT_FALSE(decide_terminal({false, "xterm", false, 80}, "auto").rewrites_lines);
  EXPECT_FALSE(decide_terminal({false, "xterm", false, 80}, "auto").has_color);
}

TEST(Terminal, HonoursNoColorAndDumbTerminals) {
  TerminalFacts no_color = a_terminal();
  no_color.no_color = true;
  EXPECT_FALSE(decide_terminal(no_color, "auto").has_color);
  EXPECT_TRUE(decide_terminal(no_color, "auto").rewrites_lines);
  TerminalFacts dumb = a_terminal();
  dumb.term = "dumb";
  EXPECT_FALSE(decide_terminal(dumb, "auto").has_color);
  EXPECT_FALSE(decide_terminal(dumb, "auto").rewrites_lines);
}

TEST(Terminal, LetsTheOptionOutrankWhatItFinds) {
  EXPECT_TRUE(decide_terminal({false, "", true, 80}, "always").has_color);
  EXPECT_FALSE(decide_terminal(a_terminal(), "never").has_color);
}

class ProgressPrinterTest : public ::testing::Test {
 protected:
  protocol::Trial trial_ = tests::make_trial();
  engine::TrialPlace place_{trial_, 1, 3, 14};
  std::ostringstream err_;
};

// One rank of two was started, and the wall clock went back by an hour while it ran.
base::AttemptRows attempt_across_a_clock_step(const protocol::Trial& trial) {
  base::AttemptRows attempt;
  attempt.trial = trial;
  attempt.launch.start_unix_ns = 7'200'000'000'000;
  attempt.launch.end_unix_ns = 3'600'000'000'000;
  attempt.launch.supervisor_pid = 16;
  protocol::RankExit exit;
  exit.pid = 17;
  exit.signal = 11;
  exit.start_mono_ns = 1'000'000'000;
  exit.end_mono_ns = 3'500'000'000;
  attempt.launch.ranks = {exit, {.rank = 1}};
  attempt.ranks.resize(2);
  attempt.ranks[0].exit = exit;
  attempt.ranks[0].record_problems = {"line 7: garbage"};
  attempt.ranks[1].rank = 1;
  return attempt;
}

TEST_F(ProgressPrinterTest, SaysHowLongATrialTookByTheMonotonicClock) {
  const base::AttemptRows attempt = attempt_across_a_clock_step(trial_);
  EXPECT_EQ(seconds_of(attempt), 2.5);
  ProgressPrinter(err_, decide_terminal({false, "", false, 80}, "never"), Chatter::kNormal).trial_ended(place_, attempt);
  EXPECT_NE(err_.str().find("(2.5 s)"), std::string::npos) << err_.str();
  EXPECT_EQ(seconds_of(base::AttemptRows{}), std::nullopt) << "nothing was started";
}

TEST_F(ProgressPrinterTest, SaysUnderVerboseHowEachRankEnded) {
  ProgressPrinter(err_, decide_terminal({false, "", false, 80}, "never"), Chatter::kVerbose)
      .trial_ended(place_, attempt_across_a_clock_step(trial_));
  EXPECT_NE(err_.str().find("supervisor pid 16, other processes ended: 0\n"
                            "  rank 0: pid 17, signal 11, 2.5 s, record incomplete; line 7: garbage\n"
                            "  rank 1: never started\n"),
            std::string::npos)
      << err_.str();
}

TEST_F(ProgressPrinterTest, PrintsOnePlainLineATrialOutsideOfATerminal) {
  ProgressPrinter printer(err_, Terminal{false, false, 80}, Chatter::kNormal);
  printer.trial_started(place_);
  printer.trial_progressed(place_, {4, 1'500'000, 130.0});
  EXPECT_EQ(err_.str(), "");
  base::AttemptRows attempt;
  attempt.launch.ranks = {{.pid = 17, .exit_code = 0, .start_mono_ns = 1, .end_mono_ns = 1'500'000'001}};
  printer.trial_ended(place_, attempt);
  EXPECT_EQ(err_.str(), "3/14 [], block 0, slot 0: all ranks ended well (1.5 s)\n");
}

TEST_F(ProgressPrinterTest, PrintsALineEveryHalfMinuteOutsideOfATerminal) {
  std::chrono::steady_clock::time_point now{};
  ProgressPrinter printer(err_, Terminal{false, false, 40}, Chatter::kNormal, {}, [&] { return now; });
  printer.trial_started(place_);
  for (int second = 1; second <= 61; ++second) {
    now += std::chrono::seconds(1);
    printer.trial_progressed(place_, {second, 1'500'000, 130.0});
  }
  EXPECT_EQ(err_.str(),
            "3/14 [], block 0, slot 0: step 30 of 8, hot rank's peak 1.5 MB, 2 min 10 s left\n"
            "3/14 [], block 0, slot 0: step 60 of 8, hot rank's peak 1.5 MB, 2 min 10 s left\n");
}

// A trial of an arm with a long name, after one that ended well.
std::string line_at(const engine::TrialPlace& place, int num_columns) {
  const BestTrial best{"moe_act", 880'000'000, 10.2e6};
  return fitted_line(progress_line(place, {4, 123'400'000, 130.0}, best), num_columns, {});
}

TEST_F(ProgressPrinterTest, DropsWhatMattersLeastUntilTheLineFits) {
  trial_.arm = "full:uniform:1";
  EXPECT_EQ(line_at(place_, 199),
            "3/14 full:uniform:1, block 0, slot 0: step 4 of 8, hot rank's peak 123.4 MB, 2 min 10 s left, "
            "best so far moe_act with 880.0 MB and 10.2 ms a step");
  EXPECT_EQ(line_at(place_, 79), "3/14 full:uniform:1: step 4/8, peak 123.4 MB, 2m10s left, best moe_act 880.0 MB");
  EXPECT_EQ(line_at(place_, 59), "3/14 full:uniform:1: step 4/8, peak 123.4 MB, 2m10s left");
  EXPECT_EQ(line_at(place_, 30), "3/14 full:uniform:1: step 4/8");
  EXPECT_EQ(line_at(place_, 12), "3/14 full...");
  for (int num_columns = 1; num_columns < 160; ++num_columns) EXPECT_LE(display_width(line_at(place_, num_columns)), num_columns);
}

TEST_F(ProgressPrinterTest, AsksForTheWidthAnewAndClearsALineThatBecameSeveral) {
  int num_columns = 81;
  ProgressPrinter printer(err_, Terminal{true, false, 80}, Chatter::kNormal, [&] { return num_columns; });
  printer.trial_progressed(place_, {4, 1'500'000, 130.0});
  const std::string wide = "3/14 [], block 0, slot 0: step 4 of 8, hot rank's peak 1.5 MB, 2 min 10 s left";
  EXPECT_EQ(err_.str(), wide);
  num_columns = 30;
  printer.trial_progressed(place_, {5, 1'500'000, 130.0});
  EXPECT_EQ(err_.str().substr(wide.size()), "\r\x1b[2A\x1b[J3/14 []: step 5/8, 2m10s left");
}

TEST_F(ProgressPrinterTest, FitsTheEndOfATrialIntoTheTerminalAndCutsItsMessageFirst) {
  base::AttemptRows attempt;
  attempt.failure = base::Failure{};
  attempt.failure->kind = protocol::FailureKind::kOom;
  attempt.failure->stage = protocol::Stage::kWarm;
  attempt.failure->message = "out of memory: 64000000 bytes\nwere requested for the activations of a layer";
  const auto ending = [&](int num_columns) { return fitted_line(ending_line(place_, attempt), num_columns, {}); };
  EXPECT_EQ(ending(79), "3/14 [], block 0, slot 0: oom at warm, rank 0: out of memory: 64000000 bytes...");
  EXPECT_EQ(ending(40), "3/14 [], block 0: oom at warm, rank 0");
  EXPECT_EQ(whole_line(ending_line(place_, attempt), {}),
            "3/14 [], block 0, slot 0: oom at warm, rank 0: out of memory: 64000000 bytes were requested for the activations of a layer");
}

TEST_F(ProgressPrinterTest, SaysNothingButRemarksWhenQuiet) {
  ProgressPrinter printer(err_, Terminal{true, false, 80}, Chatter::kQuiet);
  printer.trial_started(place_);
  printer.trial_ended(place_, {});
  EXPECT_EQ(err_.str(), "");
  printer.remarked("something happened");
  EXPECT_EQ(err_.str(), "rematch: something happened\n");
}

TEST(ProgressText, LeavesOutWhatIsNotKnown) {
  const protocol::Trial trial = tests::make_trial();
  EXPECT_EQ(whole_line(progress_line({trial, 1, 3, 14}, {0, std::nullopt, std::nullopt}, std::nullopt), {}),
            "3/14 [], block 0, slot 0: step 0 of 8");
}

TEST(ProgressText, PlacesAFailure) {
  base::AttemptRows attempt;
  attempt.failure = base::Failure{};
  attempt.failure->kind = protocol::FailureKind::kOom;
  attempt.failure->stage = protocol::Stage::kFirstBackward;
  attempt.failure->step = 0;
  attempt.failure->rank = 1;
  EXPECT_EQ(ending_text(attempt), "oom at first_backward, step 0, rank 1");
}

}  // namespace
}  // namespace rematch::cli
