#include "orchestrator/base/study_plan.h"
#include "tests/support/example_files.h"

namespace rematch::base {
namespace {

TEST(Examples, OfStudiesAreReadOrRefused) {
  protocol::expect_examples_read_right("study",
                                       [](const std::string& text) { return to_json(parse_study_plan(nlohmann::json::parse(text))); });
}

}  // namespace
}  // namespace rematch::base
