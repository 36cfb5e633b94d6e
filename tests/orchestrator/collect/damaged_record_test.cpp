// Records whose lines are torn, doubled, out of order, too long or no text at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "orchestrator/collect/collect.h"
#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::collect {
namespace {

using Lines = std::vector<std::string>;

// Without their newlines; the last is empty when the file ends in one.
Lines lines_of(const std::filesystem::path& path) {
  std::istringstream text(protocol::read_whole_file(path).value() + " ");
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  lines.back().pop_back();
  return lines;
}
void write_lines(const std::filesystem::path& path, const Lines& lines) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::size_t i = 0; i < lines.size(); ++i) file << (i == 0 ? "" : "\n") << lines[i];
}

std::size_t first_step(const Lines& lines) {
  const auto is_step = [](const std::string& line) { return line.find("\"t\":\"step\"") != std::string::npos; };
  return static_cast<std::size_t>(std::find_if(lines.begin(), lines.end(), is_step) - lines.begin());
}

auto at(Lines& lines, std::size_t index) { return lines.begin() + static_cast<std::ptrdiff_t>(index); }

std::string line_number(std::size_t index) { return "line " + std::to_string(index + 1) + ": "; }

// What is done to the lines of a record (the last is empty: the file ends in a newline), how many of its 20 steps are left, and what is
// said, with the line.
struct Damage {
  const char* name;
  std::size_t num_steps;
  std::function<std::string(Lines&)> to;
};

std::vector<Damage> all_damages() {
  return {{"torn", 20,
           [](Lines& lines) {
             lines.pop_back();
             lines.back().resize(lines.back().size() / 2);
             return std::string("the last line is torn");
           }},
          {"duplicated step", 20,
           [](Lines& lines) {
             const std::size_t step = first_step(lines);
             lines.insert(at(lines, step + 1), std::string(lines[step]));
             return line_number(step + 1) + "step 0 for the second time";
           }},
          {"reordered steps", 20,
           [](Lines& lines) {
             const std::size_t step = first_step(lines);
             std::swap(lines[step + 4], lines[step + 5]);
             return line_number(step + 5) + "step 4 stands after step 5";
           }},
          {"missing step", 2,
           [](Lines& lines) {
             lines.erase(at(lines, first_step(lines) + 2));
             return std::string("step 2 was expected, step 3 was found");
           }},
          {"a step that is no step", 2,
           [](Lines& lines) {
             const std::size_t step = first_step(lines) + 2;
             const std::string key = "\"end_allocated_bytes\":";
             lines[step].insert(lines[step].find(key) + key.size(), "-");
             return line_number(step);
           }},
          {"duplicated hello", 20,
           [](Lines& lines) {
             lines.insert(at(lines, 1), std::string(lines[0]));
             return line_number(1) + "hello for the second time";
           }},
          {"duplicated stage", 20,
           [](Lines& lines) {
             lines.insert(at(lines, 3), std::string(lines[2]));
             return line_number(3) + "a stage line for the second time";
           }},
          {"reordered stages", 20,
           [](Lines& lines) {
             std::swap(lines[3], lines[4]);
             return line_number(4) + "a stage line out of order";
           }},
          {"duplicated bye", 20,
           [](Lines& lines) {
             lines.insert(lines.end() - 1, std::string(lines[lines.size() - 2]));
             return line_number(lines.size() - 2) + "bye for the second time";
           }},
          {"line after bye", 20,
           [](Lines& lines) {
             lines.insert(lines.end() - 1, std::string(lines[first_step(lines)]));
             return line_number(lines.size() - 2) + "stands after the last line (bye)";
           }},
          {"oversized", 20,
           [](Lines& lines) {
             lines.insert(at(lines, 2), std::string(protocol::kMaxLineBytes + 1, 'x'));
             return line_number(2) + "wanted at most 1048576 bytes, found 1048577";
           }},
          {"binary", 20,
           [](Lines& lines) {
             lines.insert(at(lines, 2), std::string("\x00\xff\xfe{\x80\x01", 6));
             return line_number(2);
           }},
          {"empty line", 20,
           [](Lines& lines) {
             lines.insert(at(lines, 2), "");
             return line_number(2);
           }},
          {"nothing but a newline", 0, [](Lines& lines) {
             lines = {"", ""};
             return std::string("no hello line");
           }}};
}

TEST(DamagedRecord, IsNamedByKindAndLineKeepsTheRestAndNeverPasses) {
  const tests::TempDir folder;
  const base::AttemptRows attempt = tests::StudyBuilder("collect").run("[]");
  const auto trial_folder = folder.path() / attempt.trial.trial_id;
  for (const Damage& damage : all_damages()) {
    SCOPED_TRACE(damage.name);
    std::filesystem::remove_all(trial_folder);
    const auto attempt_folder = tests::write_attempt(trial_folder, attempt);
    const auto path = protocol::AttemptPaths{attempt_folder}.rank_record(1);
    Lines lines = lines_of(path);
    const std::string problem = damage.to(lines);
    write_lines(path, lines);
    const base::AttemptRows rows = collect_attempt(attempt_folder, "00000000000005ed");
    const base::RankRows& rank = rows.ranks[1];
    std::string said;
    for (const std::string& each : rank.record_problems) said += each + "\n";
    EXPECT_NE(said.find(problem), std::string::npos) << said;
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(said).dump())) << "what is said of binary lines is text";
    ASSERT_EQ(rank.steps.size(), damage.num_steps) << said;
    for (std::size_t step = 0; step < rank.steps.size(); ++step) EXPECT_EQ(rank.steps[step].step, static_cast<std::int64_t>(step));
    EXPECT_FALSE(rank.record_complete);
    ASSERT_TRUE(rows.failure) << "a damaged record is never a pass";
    EXPECT_EQ(rows.failure->rank, 1);
  }
}

}  // namespace
}  // namespace rematch::collect
