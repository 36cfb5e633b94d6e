// A log that is perhaps still being written: its last lines, then what comes behind them. Reads the end of a file alone, however long it
// is; a file that is not there is an empty one, and one that has become shorter is read from its beginning. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rematch::cli {

class LogFile {
 public:
  explicit LogFile(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;
  // The next read goes on behind them. Of lines that together are longer than 4 MiB the last so many bytes.
  std::string last_lines(std::int64_t num_lines);
  // Whole lines that were written since; what has no line end yet waits for it.
  std::string more_lines();
  // What more_lines() held back.
  std::string rest();

 private:
  std::filesystem::path path_;
  std::int64_t offset_ = 0;
};

// For a terminal: control characters other than tab, line ends and escape become '?'.
std::string printable(std::string text);

}  // namespace rematch::cli
