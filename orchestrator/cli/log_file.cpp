#include "orchestrator/cli/log_file.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace rematch::cli {

namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMostBytes = std::int64_t{4} << 20;  // of one read

std::int64_t length_of(const std::filesystem::path& path) {
  std::error_code none;
  const auto length = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<std::int64_t>(length);
}

std::string read_at(const std::filesystem::path& path, std::int64_t begin, std::int64_t end) {
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)), '\0');
  file.seekg(begin);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

// Where the last `num_lines` lines begin; npos: further back.
std::size_t begin_of_last(const std::string& text, std::int64_t num_lines) {
  std::size_t place = text.ends_with('\n') ? text.size() - 1 : text.size();
  for (std::int64_t line = 0; line < num_lines; ++line) {
    place = place == 0 ? std::string::npos : text.rfind('\n', place - 1);
    if (place == std::string::npos) return place;
  }
  return place + 1;
}

}  // namespace

bool LogFile::exists() const {
  std::error_code none;
  return std::filesystem::exists(path_, none);
}

std::string LogFile::last_lines(std::int64_t num_lines) {
  const std::int64_t length = offset_ = length_of(path_);
  if (num_lines == 0) return "";
  for (std::int64_t wanted = kBlockBytes;; wanted *= 4) {
    const std::int64_t begin = std::max<std::int64_t>(length - std::min(wanted, kMostBytes), 0);
    std::string text = read_at(path_, begin, length);
    const std::size_t first = begin_of_last(text, num_lines);
    if (first != std::string::npos) return text.substr(first);
    if (begin == 0 || wanted >= kMostBytes) return text;
  }
}

std::string LogFile::more_lines() {
  const std::int64_t length = length_of(path_);
  if (length < offset_) offset_ = 0;
  if (length == offset_) return "";
  std::string text = read_at(path_, offset_, std::min(length, offset_ + kMostBytes));
  const std::size_t line_end = text.rfind('\n');
  if (line_end != std::string::npos)
    text.resize(line_end + 1);
  else if (static_cast<std::int64_t>(text.size()) < kMostBytes)
    return "";
  offset_ += static_cast<std::int64_t>(text.size());
  return text;
}

std::string LogFile::rest() {
  std::string text = read_at(path_, offset_, std::min(length_of(path_), offset_ + kMostBytes));
  offset_ += static_cast<std::int64_t>(text.size());
  return text;
}

std::string printable(std::string text) {
  for (char& character : text) {
    const auto code = static_cast<unsigned char>(character);
    const bool is_kept = code >= 0x20 || character == '\t' || character == '\n' || character == '\r' || character == '\x1b';
    if (!is_kept || code == 0x7f) character = '?';
  }
  return text;
}

}  // namespace rematch::cli
