#include "probes/allocator/allocation_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <system_error>
#include <vector>

#include "probes/allocator/trace_replay.h"
#include "tests/support/temp_dir.h"

namespace rematch::probes {
namespace {

using Kind = TraceEvent::Kind;

constexpr const char* kHeader = "rematch/allocation-trace/1\n";

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
  {
    AllocationTraceWriter writer(path_);
    for (const TraceEvent& event : {TraceEvent{Kind::kAllocate, 3, 4096}, {Kind::kRefused, 0, INT64_MAX}, {Kind::kFree, 3, 0}})
      writer.write(event);
  }
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

}  // namespace
}  // namespace rematch::probes
