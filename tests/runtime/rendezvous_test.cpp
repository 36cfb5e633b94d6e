#include "runtime/comm/rendezvous.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "runtime/base/errors.h"
#include "runtime/comm/network_device.h"

namespace rematch::comm {
namespace {

using std::chrono::milliseconds;

// A store as torchrun's agent serves it, on a free port.
class AgentStore {
 public:
  AgentStore() : store_(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options())) {}
  Rendezvous place(int rank, int world_size, milliseconds timeout) const {
    return {"127.0.0.1", store_->getPort(), rank, world_size, timeout, StoreHost::kAgent, "start-0"};
  }

 private:
  static c10d::TCPStoreOptions options() {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    return options;
  }
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

std::string refusal_of(const Rendezvous& rendezvous) {
  try {
    meet(rendezvous);
  } catch (const base::CommError& error) {
    return error.what();
  }
  return "";
}

TEST(Rendezvous, RanksMeetAtTheStoreOfAnAgent) {
  const AgentStore agent;
  const auto other = std::async(std::launch::async, [&] { meet(agent.place(1, 2, milliseconds(20'000)))->set("greeting", "hello"); });
  const auto store = meet(agent.place(0, 2, milliseconds(20'000)));
  other.wait();
  EXPECT_EQ(connect_again(agent.place(0, 2, milliseconds(20'000)))->get_to_str("greeting"), "hello");
}

TEST(Rendezvous, AtTheDeadlineTheRanksThatHaveNotComeAreNamed) {
  const AgentStore agent;
  const auto message = refusal_of(agent.place(1, 4, milliseconds(200)));
  EXPECT_NE(message.find("have not come: 0, 2, 3;"), std::string::npos) << message;
  EXPECT_NE(message.find("MASTER_ADDR"), std::string::npos) << message;
}

TEST(Rendezvous, ASecondProcessWithTheSameRankIsRefused) {
  const AgentStore agent;
  auto elsewhere = agent.place(0, 1, milliseconds(20'000));
  connect_again(elsewhere)->set("rendezvous/0", "node-b (pid 17)");
  const auto message = refusal_of(elsewhere);
  EXPECT_NE(message.find("RANK 0 is taken by a process on node-b (pid 17)"), std::string::npos) << message;
}

TEST(Rendezvous, AStoreThatNobodyServesIsNamedWithWhatToCheck) {
  const auto place = [] {
    const AgentStore closed;  // its port is free again when this returns
    return closed.place(1, 2, milliseconds(200));
  }();
  const auto message = refusal_of(place);
  EXPECT_NE(message.find("127.0.0.1:" + std::to_string(place.port)), std::string::npos) << message;
  EXPECT_NE(message.find("torchrun's agent"), std::string::npos) << message;
}

TEST(NetworkDevice, IsTheAddressFromWhichTheMasterIsReached) {
  EXPECT_EQ(network_device_towards("127.0.0.1", 29500, Span::kOneHost).address, "127.0.0.1");
}

TEST(NetworkDevice, IsNoLoopbackDeviceBetweenHosts) {
  EXPECT_THROW(network_device_towards("127.0.0.1", 29500, Span::kSeveralHosts), base::CommError);
}

TEST(NetworkDevice, AMasterWithoutAnAddressIsNamed) {
  try {
    network_device_towards("no-such-host.invalid", 29500, Span::kOneHost);
    FAIL() << "resolved";
  } catch (const base::CommError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-host.invalid"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rematch::comm
