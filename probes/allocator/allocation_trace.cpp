#include "probes/allocator/allocation_trace.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rematch::probes {

namespace {

constexpr const char* kHeader = "rematch/allocation-trace/1";
constexpr const char* kAllocateWord = "allocate";
constexpr const char* kFreeWord = "free";
constexpr const char* kRefusedWord = "refused";
constexpr const char* kEndLine = "end";

[[noreturn]] void throw_errno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// The lines of a trace, checked one by one.
class TraceReader {
 public:
  explicit TraceReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw_errno("reading the allocation trace " + path);
  }

  void read(const std::function<void(const TraceEvent&)>& event) {
    if (!next_line() || line_ != kHeader) refuse(std::string("'") + kHeader + "'");
    while (next_line() && line_ != kEndLine) event(parse());
    if (line_ != kEndLine) refuse("'end' as the last line; the rank did not come to its end");
    if (next_line()) refuse("nothing after 'end'");
  }

 private:
  bool next_line() {
    ++line_number_;
    if (!std::getline(file_, line_)) {
      if (file_.bad()) throw_errno("reading the allocation trace " + path_);
      return false;
    }
    if (file_.eof()) refuse("a whole line with a newline at its end");
    return true;
  }

  TraceEvent parse() {
    const auto words = split();
    if (words.size() == 3 && words[0] == kAllocateWord) return allocation(number(words[1]), number(words[2]));
    if (words.size() == 2 && words[0] == kFreeWord) return deallocation(number(words[1]));
    if (words.size() == 2 && words[0] == kRefusedWord) return {TraceEvent::Kind::kRefused, 0, number(words[1])};
    refuse("'allocate BLOCK BYTES', 'free BLOCK' or 'refused BYTES'");
  }

  TraceEvent allocation(std::int64_t block, std::int64_t bytes) {
    if (block <= last_block_) refuse("a block over " + std::to_string(last_block_) + ", the last one allocated");
    last_block_ = block;
    live_.insert(block);
    return {TraceEvent::Kind::kAllocate, block, bytes};
  }

  TraceEvent deallocation(std::int64_t block) {
    if (live_.erase(block) == 0) refuse("a block that is allocated and not yet freed");
    return {TraceEvent::Kind::kFree, block, 0};
  }

  std::vector<std::string_view> split() const {
    std::vector<std::string_view> words;
    std::string_view rest = line_;
    while (true) {
      const auto end = rest.find(' ');
      words.push_back(rest.substr(0, end));
      if (end == std::string_view::npos) return words;
      rest.remove_prefix(end + 1);
    }
  }

  std::int64_t number(std::string_view word) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1) refuse("whole numbers of 1 or more");
    return value;
  }

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw TraceError(path_ + ":" + std::to_string(line_number_) + ": wanted " + wanted + ", found '" + line_.substr(0, 80) + "'");
  }

  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::int64_t line_number_ = 0;
  std::int64_t last_block_ = 0;
  std::unordered_set<std::int64_t> live_;
};

}  // namespace

AllocationTraceWriter::AllocationTraceWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wx")) {
  if (!file_) throw_errno("beginning the allocation trace " + path);
  std::fprintf(file_.get(), "%s\n", kHeader);
}

void AllocationTraceWriter::write(const TraceEvent& event) {
  const auto block = static_cast<long long>(event.block), bytes = static_cast<long long>(event.bytes);
  switch (event.kind) {
    case TraceEvent::Kind::kAllocate: std::fprintf(file_.get(), "%s %lld %lld\n", kAllocateWord, block, bytes); break;
    case TraceEvent::Kind::kFree: std::fprintf(file_.get(), "%s %lld\n", kFreeWord, block); break;
    case TraceEvent::Kind::kRefused: std::fprintf(file_.get(), "%s %lld\n", kRefusedWord, bytes); break;
  }
  if (event.kind != TraceEvent::Kind::kFree && std::ferror(file_.get()) != 0) throw_errno("writing the allocation trace " + path_);
}

void AllocationTraceWriter::close() {
  std::fprintf(file_.get(), "%s\n", kEndLine);
  const bool has_failed = std::ferror(file_.get()) != 0;
  errno = 0;
  if (std::fclose(file_.release()) == 0 && !has_failed) return;
  if (errno == 0) errno = EIO;
  throw_errno("writing the allocation trace " + path_);
}

void read_allocation_trace(const std::string& path, const std::function<void(const TraceEvent&)>& event) { TraceReader(path).read(event); }

}  // namespace rematch::probes
