#include "orchestrator/launch/rank_environment.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace rematch::launch {

namespace {

constexpr const char* kLoopback = "127.0.0.1";

base::Result<std::uint16_t> free_port() {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  boost::system::error_code error;
  acceptor.open(asio::ip::tcp::v4(), error);
  if (!error) acceptor.bind({asio::ip::make_address_v4(kLoopback), 0}, error);
  const auto endpoint = error ? asio::ip::tcp::endpoint() : acceptor.local_endpoint(error);
  if (error) return base::Error{std::string("no free port on ") + kLoopback + " for MASTER_PORT: " + error.message()};
  return endpoint.port();
}

}  // namespace

base::Result<std::map<std::string, std::string>> shared_environment(const protocol::Trial& trial) {
  const auto port = free_port();
  if (!port) return port.error();
  const std::string world = std::to_string(trial.parallel.world_size);
  return std::map<std::string, std::string>{{"WORLD_SIZE", world},
                                            {"LOCAL_WORLD_SIZE", world},
                                            {"MASTER_ADDR", kLoopback},
                                            {"MASTER_PORT", std::to_string(port.value())},
                                            {"OMP_NUM_THREADS", std::to_string(trial.omp_num_threads)}};
}

std::map<std::string, std::string> rank_environment(const std::map<std::string, std::string>& shared, std::int64_t rank) {
  std::map<std::string, std::string> environment = shared;
  environment["RANK"] = std::to_string(rank);
  environment["LOCAL_RANK"] = std::to_string(rank);
  return environment;
}

}  // namespace rematch::launch
