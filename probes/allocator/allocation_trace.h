// A rank's allocations in the order in which they were made, as a text file: schemas/FORMAT.md, "Allocation traces". AllocationTraceWriter
// writes one while the rank trains, read_allocation_trace checks one and hands its events on. Torch-free.
// Threads: one at a time; the caller locks. Failure: std::system_error for a file that cannot be written or read, TraceError for a bad
// line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace rematch::probes {

// Its message begins with file and line.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TraceEvent {
  enum class Kind {
    kAllocate,
    kFree,
    kRefused,  // a request for which there was no memory
  };
  Kind kind = Kind::kAllocate;
  std::int64_t block = 0;  // 1 and up; of kRefused 0
  std::int64_t bytes = 0;  // as asked for, at least 1; of kFree 0
};

// Buffered: without close() what was written last may be missing, and readers refuse the file. A file that is there already is not
// overwritten, since each rank writes its own.
class AllocationTraceWriter {
 public:
  explicit AllocationTraceWriter(const std::string& path);
  // Throws std::system_error when this or an earlier event was not written, but not at a free: blocks are freed by destructors.
  void write(const TraceEvent& event);
  // Writes the end of the trace and closes the file; nothing may be written after it. Throws std::system_error when this or an earlier
  // event was not written.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Calls `event` once a line, in order. A block is allocated once and freed once at most. A trace that was not closed is refused at its end.
void read_allocation_trace(const std::string& path, const std::function<void(const TraceEvent&)>& event);

}  // namespace rematch::probes
