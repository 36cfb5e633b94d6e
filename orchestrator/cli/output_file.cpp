#include "orchestrator/cli/output_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <system_error>

#include "schemas/protocol/record_file.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

// A pipe or a device takes the text; it must not become a file.
void write_into(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  stream << text << std::flush;
  if (!stream) throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

// What a link leads to in the end, which need not be there yet.
fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path)); ++i) path = path.parent_path() / fs::read_symlink(path);
  return path;
}

}  // namespace

void write_whole_output(const fs::path& path, const std::string& text) {
  const fs::file_status status = fs::status(path);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    write_into(path, text);
  else
    protocol::write_file_by_rename(behind_links(path), text);
}

Exit write_output(const std::string& text, const std::string& file, Streams streams) {
  if (file == "-") {
    streams.out << text;
    return Exit::kOk;
  }
  try {
    write_whole_output(file, text);
  } catch (const std::system_error& error) {
    streams.err << "rematch: not written: " << error.what() << "\n";
    return Exit::kEnvironment;
  }
  return Exit::kOk;
}

}  // namespace rematch::cli
