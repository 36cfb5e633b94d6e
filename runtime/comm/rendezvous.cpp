#include "runtime/comm/rendezvous.h"

#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "probes/host/host_identity.h"
#include "runtime/base/errors.h"
#include "runtime/base/text.h"

namespace rematch::comm {

namespace {

enum class Role { kServer, kClient };

std::string place_of(const Rendezvous& rendezvous) { return rendezvous.host + ":" + std::to_string(rendezvous.port); }

std::string rank_key(int rank) { return "rendezvous/" + std::to_string(rank); }

[[noreturn]] void fail(const Rendezvous& rendezvous, const std::string& what) {
  throw base::CommError("rank " + std::to_string(rendezvous.rank) + ": rendezvous at " + place_of(rendezvous) + " failed: " + what);
}

c10::intrusive_ptr<c10d::Store> open_store(const Rendezvous& rendezvous, Role role) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(rendezvous.port);
  options.isServer = role == Role::kServer;
  options.numWorkers = static_cast<std::size_t>(rendezvous.world_size);
  options.waitWorkers = false;  // meet() waits for them by name
  options.timeout = rendezvous.timeout;
  return c10::make_intrusive<c10d::PrefixStore>(rendezvous.key_prefix, c10::make_intrusive<c10d::TCPStore>(rendezvous.host, options));
}

std::string advice(const Rendezvous& rendezvous, Role role) {
  if (role == Role::kServer) return "; this rank serves the store: is MASTER_ADDR an address of this host, and MASTER_PORT free?";
  const std::string server = rendezvous.store_host == StoreHost::kAgent ? "torchrun's agent" : "rank 0";
  return "; is " + server + " running there, and does a firewall let port " + std::to_string(rendezvous.port) + " through?";
}

void claim_rank(c10d::Store& store, const Rendezvous& rendezvous) {
  const std::string me = probes::host_name() + " (pid " + std::to_string(::getpid()) + ")";
  const auto holder = store.compareSet(rank_key(rendezvous.rank), std::string(), me);
  if (holder != me)
    fail(rendezvous, "RANK " + std::to_string(rendezvous.rank) + " is taken by a process on " + holder + "; give each rank its own");
}

std::string missing_ranks(c10d::Store& store, const Rendezvous& rendezvous) {
  std::string missing;
  try {
    for (int rank = 0; rank < rendezvous.world_size; ++rank)
      if (!store.check({rank_key(rank)})) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  } catch (const std::exception& error) {
    fail(rendezvous, std::string("the store is gone: its server ended before all ranks had come, and its log may say why: ") +
                         base::first_line(error.what()));
  }
  return missing;
}

void wait_for_all(c10d::Store& store, const Rendezvous& rendezvous) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < rendezvous.world_size; ++rank) keys.push_back(rank_key(rank));
  try {
    store.wait(keys, rendezvous.timeout);
  } catch (const std::exception&) {
    const auto missing = missing_ranks(store, rendezvous);
    if (missing.empty()) return;  // the last one came just now
    fail(rendezvous, "after " + std::to_string(rendezvous.timeout.count()) + " ms these ranks of " + std::to_string(rendezvous.world_size) +
                         " have not come: " + missing + "; were they started, with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT?");
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Store> meet(const Rendezvous& rendezvous) {
  const bool serves = rendezvous.rank == 0 && rendezvous.store_host == StoreHost::kRankZero;
  const auto role = serves ? Role::kServer : Role::kClient;
  try {
    const auto store = open_store(rendezvous, role);
    claim_rank(*store, rendezvous);
    wait_for_all(*store, rendezvous);
    return store;
  } catch (const base::CommError&) {
    throw;
  } catch (const std::exception& error) {
    fail(rendezvous, base::first_line(error.what()) + advice(rendezvous, role));
  }
}

c10::intrusive_ptr<c10d::Store> connect_again(const Rendezvous& rendezvous) {
  try {
    return open_store(rendezvous, Role::kClient);
  } catch (const std::exception& error) {
    fail(rendezvous, base::first_line(error.what()) + advice(rendezvous, Role::kClient));
  }
}

}  // namespace rematch::comm
