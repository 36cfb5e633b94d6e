#include "schemas/protocol/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::protocol {

namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string("cannot ") + action + " " + path.string());
}

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return value_ >= 0; }
  int value() const { return value_; }

 private:
  int value_;
};

void write_all(int descriptor, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A rename is on disk when its folder is.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor.is_open() || ::fsync(descriptor.value()) != 0) fail("sync the folder", folder);
}

enum class Sync { kNow, kLater };

void write_and_rename(const std::filesystem::path& path, std::string_view content, Sync sync) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  const std::string name = path.filename();
  {
    const Descriptor descriptor(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!descriptor.is_open()) fail("open", temporary);
    pass_write_boundary("opened", name);
    write_all(descriptor.value(), content, temporary);
    pass_write_boundary("written", name);
    if (sync == Sync::kNow && ::fsync(descriptor.value()) != 0) fail("sync", temporary);
  }
  if (sync == Sync::kNow) pass_write_boundary("synced", name);
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("rename into place", path);
  pass_write_boundary("renamed", name);
}

// Cuts a file's bytes into lines without holding more than one line of at most kMaxLineBytes.
class LineCutter {
 public:
  explicit LineCutter(RecordFile& file) : file_(file) {}

  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      finish_line();
      bytes.remove_prefix(end + 1);
    }
  }

  void finish_file() { file_.torn_tail = num_line_bytes_ > 0; }

 private:
  void keep(std::string_view part) {
    num_line_bytes_ += part.size();
    if (num_line_bytes_ <= kMaxLineBytes) line_ += part;
  }

  void finish_line() {
    ++line_number_;
    if (num_line_bytes_ > kMaxLineBytes) {
      refuse("wanted at most " + std::to_string(kMaxLineBytes) + " bytes, found " + std::to_string(num_line_bytes_));
    } else {
      parse();
    }
    line_.clear();
    num_line_bytes_ = 0;
  }

  void parse() {
    try {
      file_.records.push_back(parse_line(line_));
      file_.line_numbers.push_back(line_number_);
    } catch (const DocumentError& error) {
      refuse(error.what());
    }
  }

  void refuse(const std::string& why) { file_.bad_lines.push_back("line " + std::to_string(line_number_) + ": " + why); }

  RecordFile& file_;
  std::string line_;
  std::size_t num_line_bytes_ = 0;
  std::size_t line_number_ = 0;
};

// Calls take(bytes) until the end of the file. False when there is no such file.
template <typename Take>
bool read_blocks(const std::filesystem::path& path, Take take) {
  const Descriptor descriptor(path, O_RDONLY);
  if (!descriptor.is_open() && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (!descriptor.is_open()) fail("open", path);
  std::array<char, 1 << 16> block;
  for (;;) {
    const ssize_t num_bytes = ::read(descriptor.value(), block.data(), block.size());
    if (num_bytes < 0 && errno == EINTR) continue;
    if (num_bytes < 0) fail("read", path);
    if (num_bytes == 0) return true;
    take(std::string_view(block.data(), static_cast<std::size_t>(num_bytes)));
  }
}

}  // namespace

RecordWriter::RecordWriter(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)), path_(path) {
  if (descriptor_ < 0) fail("open", path);
}

RecordWriter::~RecordWriter() { ::close(descriptor_); }

void RecordWriter::append(const RankRecord& record) { write_all(descriptor_, to_line(record) + "\n", path_); }

RecordFile read_record_file(const std::filesystem::path& path) {
  RecordFile file;
  LineCutter cutter(file);
  read_blocks(path, [&cutter](std::string_view bytes) { cutter.take(bytes); });
  cutter.finish_file();
  return file;
}

void write_file_by_rename(const std::filesystem::path& path, std::string_view content) {
  write_and_rename(path, content, Sync::kNow);
  sync_folder(path.parent_path());
  pass_write_boundary("its folder synced", path.filename().string());
}

void write_file_unsynced(const std::filesystem::path& path, std::string_view content) { write_and_rename(path, content, Sync::kLater); }

void sync_file_system(const std::filesystem::path& path) {
  const Descriptor descriptor(path, O_RDONLY);
  if (!descriptor.is_open() || ::syncfs(descriptor.value()) != 0) fail("sync the file system of", path);
  pass_write_boundary("file system synced", path.filename().string());
}

std::optional<std::string> read_whole_file(const std::filesystem::path& path) {
  std::string content;
  if (!read_blocks(path, [&content](std::string_view bytes) { content += bytes; })) return std::nullopt;
  return content;
}

}  // namespace rematch::protocol
