#include "schemas/protocol/record_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <system_error>

#include "tests/schemas/protocol/sample_documents.h"
#include "tests/support/temp_dir.h"

namespace rematch::protocol {
namespace {

class RecordFileTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "rank-00000.jsonl"; }
  void append_bytes(std::string_view bytes) const { std::ofstream(file(), std::ios::app | std::ios::binary) << bytes; }

  tests::TempDir temp_dir_;
  std::filesystem::path folder_ = temp_dir_.path();
};

TEST_F(RecordFileTest, ReadsTheRecordsThatWereAppended) {
  {
    RecordWriter writer(file());
    for (const RankRecord& record : sample_records()) writer.append(record);
  }
  const RecordFile read = read_record_file(file());
  ASSERT_EQ(read.records.size(), sample_records().size());
  for (std::size_t i = 0; i < read.records.size(); ++i) EXPECT_EQ(to_line(read.records[i]), to_line(sample_records()[i]));
  EXPECT_FALSE(read.torn_tail);
  EXPECT_TRUE(read.bad_lines.empty());
}

TEST_F(RecordFileTest, GoesOnAfterWhatIsThere) {
  RecordWriter(file()).append(sample_step());
  RecordWriter(file()).append(ByeRecord{});
  EXPECT_EQ(read_record_file(file()).records.size(), 2u);
}

TEST_F(RecordFileTest, LeavesOutATornTailAtEveryPlaceItCanTear) {
  const std::string first = to_line(sample_step()) + "\n";
  const std::string second = to_line(ByeRecord{}) + "\n";
  for (std::size_t cut = 1; cut < second.size(); ++cut) {
    std::filesystem::remove(file());
    append_bytes(first + second.substr(0, cut));
    const RecordFile read = read_record_file(file());
    EXPECT_EQ(read.records.size(), 1u) << cut;
    EXPECT_TRUE(read.torn_tail) << cut;
    EXPECT_TRUE(read.bad_lines.empty()) << cut;
  }
}

TEST_F(RecordFileTest, NamesBadLinesAndReadsTheOthers) {
  append_bytes(to_line(sample_step()) + "\nnot a record\n\n" + to_line(ByeRecord{}) + "\n");
  const RecordFile read = read_record_file(file());
  EXPECT_EQ(read.records.size(), 2u);
  ASSERT_EQ(read.bad_lines.size(), 2u);
  EXPECT_EQ(read.bad_lines[0].substr(0, 8), "line 2: ");
  EXPECT_EQ(read.bad_lines[1].substr(0, 8), "line 3: ");
}

TEST_F(RecordFileTest, NamesALineWithHalfACharacterInPrintableText) {
  append_bytes("{\"t\":\"bye\xe3\x83\"}\n");
  const RecordFile read = read_record_file(file());
  ASSERT_EQ(read.bad_lines.size(), 1u);
  for (const char c : read.bad_lines[0]) EXPECT_TRUE(c >= ' ' && c <= '~') << read.bad_lines[0];
}

TEST_F(RecordFileTest, TakesAnOversizedLineAsABadLine) {
  append_bytes(std::string(kMaxLineBytes + 1, 'x') + "\n" + to_line(ByeRecord{}) + "\n");
  const RecordFile read = read_record_file(file());
  EXPECT_EQ(read.records.size(), 1u);
  ASSERT_EQ(read.bad_lines.size(), 1u);
  EXPECT_EQ(read.bad_lines[0], "line 1: wanted at most 1048576 bytes, found 1048577");
}

TEST_F(RecordFileTest, TakesAMissingFileAsAnEmptyOne) {
  const RecordFile read = read_record_file(folder_ / "none" / "rank-00001.jsonl");
  EXPECT_TRUE(read.records.empty());
  EXPECT_FALSE(read.torn_tail);
  EXPECT_EQ(read_whole_file(file()), std::nullopt);
}

TEST_F(RecordFileTest, SaysWhichFileItCannotWrite) {
  const std::filesystem::path nowhere = folder_ / "none" / "rank-00000.jsonl";
  const auto message_of = [](auto write) -> std::string {
    try {
      write();
    } catch (const std::system_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message_of([&] { RecordWriter writer(nowhere); }).find(nowhere.string()), std::string::npos);
  EXPECT_NE(message_of([&] { write_file_by_rename(nowhere, "x"); }).find(nowhere.string()), std::string::npos);
  EXPECT_NE(message_of([&] { read_whole_file(folder_); }).find(folder_.string()), std::string::npos);
}

TEST_F(RecordFileTest, ReplacesAFileWholeAndLeavesNoOther) {
  const std::filesystem::path path = folder_ / "launch.json";
  write_file_by_rename(path, std::string(100000, 'a'));
  const std::ifstream reader_of_the_old(path);
  write_file_by_rename(path, "b");
  EXPECT_EQ(read_whole_file(path), "b");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "launch.json.tmp"));
  std::stringstream old_content;
  old_content << reader_of_the_old.rdbuf();
  EXPECT_EQ(old_content.str(), std::string(100000, 'a'));
}

TEST_F(RecordFileTest, OverwritesWhatAnEarlierDeathLeftBehind) {
  std::ofstream(folder_ / "launch.json.tmp") << "half a docu";
  write_file_by_rename(folder_ / "launch.json", "{}");
  EXPECT_EQ(read_whole_file(folder_ / "launch.json"), "{}");
}

}  // namespace
}  // namespace rematch::protocol
