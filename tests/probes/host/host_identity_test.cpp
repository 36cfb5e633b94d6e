#include "probes/host/host_identity.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <string>

#include "schemas/protocol/record_file.h"

namespace rematch::probes {
namespace {

TEST(HostIdentity, AgreesWithTheKernel) {
  const HostIdentity host = host_identity();
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(host.hostname, name);
  EXPECT_EQ(host.cpu_model_name, cpu_model_name());
  EXPECT_FALSE(host.cpu_model_name.empty());
  // A container's /proc/meminfo may show less than the machine has.
  EXPECT_GT(host.total_memory_bytes, std::int64_t{1} << 20);
  EXPECT_LE(host.total_memory_bytes, std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE));
}

TEST(HostIdentity, CountsOnlyTheCoresThatThisProcessMayUse) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(host_identity().num_usable_cores, CPU_COUNT(&all));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(host_identity().num_usable_cores, 1);
  EXPECT_EQ(cpu_affinity().find_first_not_of("0123456789"), std::string::npos) << cpu_affinity() << " is not one CPU";
  ASSERT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(HostIdentity, ListsTheCpusOfThisProcessAsTheKernelDoes) {
  const std::string status = protocol::read_whole_file("/proc/self/status").value_or("");
  EXPECT_EQ(cpu_affinity(), value_of_key(status, "Cpus_allowed_list"));
}

TEST(ValueOfKey, FindsTheFirstLineWithTheWholeKey) {
  const std::string text = "model\t\t: 1\nmodel name\t: Some CPU @ 2.0:GHz\nmodel name\t: Another\n";
  EXPECT_EQ(value_of_key(text, "model name"), "Some CPU @ 2.0:GHz");
  EXPECT_EQ(value_of_key(text, "name"), std::nullopt);
  EXPECT_EQ(value_of_key("flags :\n", "flags"), "");
}

}  // namespace
}  // namespace rematch::probes
