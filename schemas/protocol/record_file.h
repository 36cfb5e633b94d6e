// Appending lines to a record file, finishing a file by rename, and reading both back with tolerance for a torn tail.
// Threads: one writer per file. Failure: std::system_error with the path on a failed write; reading never throws on bad content.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/rank_record.h"

namespace rematch::protocol {

// One write(2) a line with O_APPEND: whoever dies leaves whole lines and at most one torn tail.
class RecordWriter {
 public:
  explicit RecordWriter(const std::filesystem::path& path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  void append(const RankRecord& record);

 private:
  int descriptor_;
  std::filesystem::path path_;
};

// A longer line is a bad line: no record comes near it.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

struct RecordFile {
  std::vector<RankRecord> records;
  std::vector<std::size_t> line_numbers;  // of each of `records`, from 1
  bool torn_tail = false;                 // the last line had no newline; it was not used
  std::vector<std::string> bad_lines;     // "line 7: why"; such lines were not used
};

// A missing file is an empty RecordFile.
RecordFile read_record_file(const std::filesystem::path& path);

// Writes path + ".tmp", syncs, renames. The file is either absent or whole.
void write_file_by_rename(const std::filesystem::path& path, std::string_view content);

// The same without waiting for the disk: whole or absent whoever is killed, but a power cut may undo it until sync_file_system() returned.
void write_file_unsynced(const std::filesystem::path& path, std::string_view content);

// One barrier for any number of files: what was written so far on the file system of `path` is on disk when this returns.
void sync_file_system(const std::filesystem::path& path);

std::optional<std::string> read_whole_file(const std::filesystem::path& path);

}  // namespace rematch::protocol
