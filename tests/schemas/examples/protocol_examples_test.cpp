#include "schemas/protocol/describe.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/published.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/runner_record.h"
#include "schemas/protocol/submission.h"
#include "schemas/protocol/trial.h"
#include "tests/support/example_files.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

TEST(Examples, OfTrialsAreReadOrRefused) {
  expect_examples_read_right("trial", [](const std::string& text) { return to_json(parse_trial(json::parse(text))); });
}

TEST(Examples, OfRankRecordsAreReadOrRefused) {
  expect_examples_read_right("rank-record", [](const std::string& text) { return json::parse(to_line(parse_line(text))); });
}

TEST(Examples, OfLaunchRecordsAreReadOrRefused) {
  expect_examples_read_right("launch", [](const std::string& text) { return to_json(parse_launch_record(json::parse(text))); });
}

TEST(Examples, OfRunnerRecordsAreReadOrRefused) {
  expect_examples_read_right("runner", [](const std::string& text) { return to_json(parse_runner_record(json::parse(text))); });
}

TEST(Examples, OfSubmissionsAreReadOrRefused) {
  expect_examples_read_right("submission", [](const std::string& text) { return to_json(parse_submission(json::parse(text))); });
}

TEST(Examples, OfPublishedTablesAreReadOrRefused) {
  expect_examples_read_right("published", [](const std::string& text) { return to_json(parse_published(json::parse(text))); });
}

TEST(Examples, OfDescribeDocumentsAreReadOrRefused) {
  expect_examples_read_right("describe", [](const std::string& text) { return to_json(parse_describe(json::parse(text))); });
}

}  // namespace
}  // namespace rematch::protocol
