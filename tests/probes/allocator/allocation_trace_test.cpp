#include "probes/allocator/allocation_trace.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <csignal>
#include <fstream>
#include <system_error>
#include <vector>

#include "probes/allocator/trace_replay.h"
#include "tests/support/temp_dir.h"

namespace rematch::probes {
namespace {

using Kind = TraceEvent::Kind;

constexpr const char* kHeader = "rematch/allocation-trace/1\n";

// While it lives files of this process grow no further; a write over it fails in place of a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

class AllocationTrace : public ::testing::Test {
 protected:
  // The message that a file of this text is refused with, less its path; empty where it is not.
  std::string refusal(const std::string& text) {
    std::ofstream(path_) << text;
    try {
      read_allocation_trace(path_, [](const TraceEvent&) {});
    } catch (const TraceError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, path_.size()), path_);
      return message.substr(path_.size());
    }
    return "";
  }

  tests::TempDir folder_;
  std::string path_ = (folder_.path() / "trace.txt").string();
};

TEST_F(AllocationTrace, ReadsWhatWasWritten) {
  AllocationTraceWriter writer(path_);
  for (const TraceEvent& event : {TraceEvent{Kind::kAllocate, 3, 4096}, {Kind::kRefused, 0, INT64_MAX}, {Kind::kFree, 3, 0}})
    writer.write(event);
  writer.close();
  std::vector<std::vector<std::int64_t>> events;
  read_allocation_trace(path_, [&](const TraceEvent& event) {
    events.push_back({static_cast<std::int64_t>(event.kind), event.block, event.bytes});
  });
  EXPECT_EQ(events, (std::vector<std::vector<std::int64_t>>{{0, 3, 4096}, {2, 0, INT64_MAX}, {1, 3, 0}}));
}

TEST_F(AllocationTrace, IsNotWrittenOverAFile) {
  AllocationTraceWriter first(path_);
  EXPECT_THROW(AllocationTraceWriter second(path_), std::system_error);
}

TEST_F(AllocationTrace, SaysThatThereIsNoFile) { EXPECT_THROW(replay_trace(path_, {}), std::system_error); }

TEST_F(AllocationTrace, NamesFileLineAndWhatWasWanted) {
  const std::string header = kHeader;
  EXPECT_EQ(refusal("\n"), ":1: wanted 'rematch/allocation-trace/1', found ''");
  EXPECT_EQ(refusal(""), ":1: wanted 'rematch/allocation-trace/1', found ''");
  EXPECT_EQ(refusal("rematch/allocation-trace/2\n"), ":1: wanted 'rematch/allocation-trace/1', found 'rematch/allocation-trace/2'");
  EXPECT_EQ(refusal(header + "allocate 1 512\nmap 1 512\n"),
            ":3: wanted 'allocate BLOCK BYTES', 'free BLOCK' or 'refused BYTES', found 'map 1 512'");
  EXPECT_EQ(refusal(header + "allocate 1\n"), ":2: wanted 'allocate BLOCK BYTES', 'free BLOCK' or 'refused BYTES', found 'allocate 1'");
  EXPECT_EQ(refusal(header + "allocate 1  512\n"),
            ":2: wanted 'allocate BLOCK BYTES', 'free BLOCK' or 'refused BYTES', found 'allocate 1  512'");
  for (const char* line :
       {"allocate 1 0", "allocate 0 512", "allocate 1 5x", "allocate 1 -5", "allocate 1 9223372036854775808", "refused 0"})
    EXPECT_EQ(refusal(header + line + "\n"), std::string(":2: wanted whole numbers of 1 or more, found '") + line + "'");
}

TEST_F(AllocationTrace, RefusesBlocksThatAreNotThereOrThereTwice) {
  const std::string header = kHeader;
  EXPECT_EQ(refusal(header + "free 1\n"), ":2: wanted a block that is allocated and not yet freed, found 'free 1'");
  EXPECT_EQ(refusal(header + "allocate 1 8\nfree 1\nfree 1\n"), ":4: wanted a block that is allocated and not yet freed, found 'free 1'");
  EXPECT_EQ(refusal(header + "allocate 2 8\nallocate 2 8\n"), ":3: wanted a block over 2, the last one allocated, found 'allocate 2 8'");
}

TEST_F(AllocationTrace, RefusesATornTail) {
  EXPECT_EQ(refusal(std::string(kHeader) + "allocate 1 51"), ":2: wanted a whole line with a newline at its end, found 'allocate 1 51'");
}

TEST_F(AllocationTrace, WithoutItsEndOrWithMoreAfterItIsRefused) {
  const std::string header = kHeader;
  EXPECT_EQ(refusal(header + "end\n"), "");
  EXPECT_EQ(refusal(header + "allocate 1 512\n"), ":3: wanted 'end' as the last line; the rank did not come to its end, found ''");
  EXPECT_EQ(refusal(header + "end\nallocate 1 512\n"), ":3: wanted nothing after 'end', found 'allocate 1 512'");
  { AllocationTraceWriter((folder_.path() / "open.txt").string()).write({Kind::kAllocate, 1, 512}); }
  EXPECT_THROW(replay_trace((folder_.path() / "open.txt").string(), {}), TraceError);
}

// The events are few enough for the buffer: only closing the file shows that they did not reach it.
TEST_F(AllocationTrace, ThatTheDiskHasNoRoomForIsSaidWhenItIsClosed) {
  const FileSizeLimit limit(16);
  AllocationTraceWriter writer(path_);
  writer.write({Kind::kAllocate, 1, 512});
  EXPECT_THROW(writer.close(), std::system_error);
}

}  // namespace
}  // namespace rematch::probes
