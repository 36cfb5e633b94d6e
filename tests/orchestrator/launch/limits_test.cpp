// Ports, limits of open files, the kernel's memory killer, and what a supervisor writes for a rank that it ended.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "orchestrator/launch/descriptor_limit.h"
#include "orchestrator/launch/full_disk.h"
#include "orchestrator/launch/kernel_oom.h"
#include "orchestrator/launch/last_words.h"
#include "orchestrator/launch/reserved_port.h"
#include "schemas/protocol/record_file.h"
#include "tests/support/temp_dir.h"

namespace rematch::launch {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// As a rank's store does it. Returns the descriptor, -1 when the port cannot be listened on.
int listen_on(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, kLoopback, &address.sin_addr);
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(descriptor, 8) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

TEST(ReservedPort, IsGivenToNobodyElseAndARankCanListenOnIt) {
  const auto reserved = ReservedPort::take();
  ASSERT_TRUE(reserved.ok());
  const std::uint16_t number = reserved.value().number();
  EXPECT_GT(number, 0);
  for (int i = 0; i < 200; ++i) EXPECT_NE(ReservedPort::take().value().number(), number);
  const int listener = listen_on(number);
  EXPECT_GE(listener, 0);
  ::close(listener);
}

TEST(FullDisk, IsOneWhoseUserHasUsedUpTheQuotaThoughThereIsRoom) {
  const tests::TempDir folder;
  const auto refuses = [](int error) { return [error](const fs::path&) { return std::error_code(error, std::generic_category()); }; };
  const auto text = full_disk(folder.path(), refuses(EDQUOT));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("is full for this user (Disk quota exceeded, with "), std::string::npos) << *text;
  EXPECT_NE(text->find("Free space, then run again"), std::string::npos) << *text;
  EXPECT_TRUE(full_disk(folder.path(), refuses(ENOSPC)));
  EXPECT_FALSE(full_disk(folder.path(), refuses(EIO))) << "says nothing of room";
  EXPECT_FALSE(full_disk(folder.path(), refuses(0)));
}

TEST(FullDisk, IsAskedByAFileThatLeavesNothing) {
  const tests::TempDir folder;
  EXPECT_FALSE(try_to_write(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(try_to_write(folder.path() / "missing"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(try_to_write("/dev/full"), std::errc::not_a_directory);
}

TEST(FullDisk, IsMeantByErrorsOfSpaceAndOfQuota) {
  for (const int error : {ENOSPC, EDQUOT}) {
    EXPECT_TRUE(is_full_disk({error, std::generic_category()}));
    EXPECT_TRUE(is_full_disk({error, std::system_category()}));
  }
  EXPECT_FALSE(is_full_disk({EROFS, std::generic_category()}));
  EXPECT_FALSE(is_full_disk({ENOSPC, std::iostream_category()}));
}

TEST(DescriptorLimit, IsRaisedAsFarAsWantedAndNoFurtherThanTheHardLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_FALSE(allow_ranks(136));
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, 200U);
  EXPECT_FALSE(allow_ranks(2));
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, 200U) << "it is never lowered";
  ::setrlimit(RLIMIT_NOFILE, &before);
  const auto refused = allow_ranks(static_cast<std::int64_t>(1) << 40);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("want " + std::to_string((std::int64_t{1} << 40) + 64) + " open files"), std::string::npos)
      << refused->message;
}

TEST(OomKills, AreReadOfTheProcessesOwnGroup) {
  const tests::TempDir folder;
  const fs::path groups = folder.path() / "cgroup";
  const fs::path mount = folder.path() / "mount";
  write(groups, "12:cpu:/x\n4:memory:/a/b\n0::/\n");
  EXPECT_EQ(num_oom_kills(groups, mount), std::nullopt);
  write(mount / "memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(num_oom_kills(groups, mount), 3) << "in a container its own group is the mount's root";
  write(mount / "memory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(num_oom_kills(groups, mount), 5);
  write(groups, "0::/user.slice/x\n");
  EXPECT_EQ(num_oom_kills(groups, mount), std::nullopt);
  write(mount / "user.slice/x/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n");
  EXPECT_EQ(num_oom_kills(groups, mount), 2);
  EXPECT_EQ(num_oom_kills(folder.path() / "none", mount), std::nullopt);
}

TEST(LastWords, StandAtTheStageThatTheRankHadReachedOnALineOfTheirOwn) {
  const tests::TempDir folder;
  const fs::path path = folder.path() / "rank-00000.jsonl";
  {
    protocol::RecordWriter writer(path);
    writer.append(protocol::StageRecord{protocol::Stage::kSpawned, protocol::StageEvent::kEnter, std::nullopt, 1, 1});
    writer.append(protocol::StageRecord{protocol::Stage::kSteady, protocol::StageEvent::kEnter, 7, 2, 2});
  }
  std::ofstream(path, std::ios::app) << R"({"t":"step","st)";
  write_host_oom(path, "what is known", 99);
  const protocol::RecordFile file = protocol::read_record_file(path);
  EXPECT_FALSE(file.torn_tail);
  EXPECT_EQ(file.bad_lines.size(), 1U);
  ASSERT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.line_numbers, (std::vector<std::size_t>{1, 2, 4}));
  const auto& error = std::get<protocol::ErrorRecord>(file.records.back());
  EXPECT_EQ(error.kind, protocol::FailureKind::kHostOom);
  EXPECT_EQ(error.stage, protocol::Stage::kSteady);
  EXPECT_EQ(error.step, 7);
  EXPECT_EQ(error.mono_ns, 99);
  EXPECT_EQ(error.message, "what is known");
}

}  // namespace
}  // namespace rematch::launch
