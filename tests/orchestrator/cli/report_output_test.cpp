#include "orchestrator/cli/report_output.h"

#include <gtest/gtest.h>

namespace rematch::cli {
namespace {

report::ReportModel with_commands() {
  report::ReportModel model;
  model.header = {{"run_command", "carried out by", std::string("rematch run a.yaml")},
                  {"report_command", "this report by", std::string("rematch report 0000000000005eed")},
                  {"note", "note", std::string("rematch is a word")}};
  return model;
}

std::string value_of(const report::ReportModel& model, std::size_t index) { return std::get<std::string>(model.header.at(index).value); }

TEST(ReportOutput, CommandsNameAWorkspaceThatIsNotTheDefault) {
  GlobalOptions options;
  EXPECT_EQ(value_of(with_workspace(with_commands(), options), 1), "rematch report 0000000000005eed");
  options.workspace = "/data/my runs";
  const report::ReportModel model = with_workspace(with_commands(), options);
  EXPECT_EQ(value_of(model, 0), "rematch --workspace '/data/my runs' run a.yaml");
  EXPECT_EQ(value_of(model, 1), "rematch --workspace '/data/my runs' report 0000000000005eed");
  EXPECT_EQ(value_of(model, 2), "rematch is a word");
}

TEST(ReportOutput, ACommandThatIsNotRecordedStaysSo) {
  GlobalOptions options;
  options.workspace = "elsewhere";
  report::ReportModel model = with_commands();
  model.header.front().value = report::Cell{};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(with_workspace(model, options).header.front().value));
}

}  // namespace
}  // namespace rematch::cli
