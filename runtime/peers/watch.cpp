#include "runtime/peers/watch.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "probes/host/clock.h"
#include "runtime/base/text.h"

namespace rematch::peers {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kBeat{500};
constexpr milliseconds kStoreHangs{2'000};  // a store that answers nothing for so long
constexpr milliseconds kPatience{100};      // between two looks whether it still answers

}  // namespace

Watch::Watch(const LookoutRequest& request, c10::intrusive_ptr<c10d::Store> store, GiveUp give_up)
    : request_(request), lookout_(request, std::move(store)), give_up_(std::move(give_up)) {
  std::thread([this] { run(); }).detach();
}

Watch::Explanation Watch::explain(const std::string& error) {
  const auto state = request_.activity->state();
  // The backend's clock began a little after ours; a collective in parts has several.
  const auto limit_ns = nanoseconds(request_.collective_timeout).count() * 9 / 10;
  const bool timed_out = !state.axis.empty() && probes::mono_ns() - state.since_ns >= limit_ns;
  const auto end = timed_out ? CollectiveEnd::kTimedOut : CollectiveEnd::kConnectionLost;
  const auto failure = ask({Wish::kExplain, end, error});
  return {end, failure ? *failure : lookout_.failure_of_store("does not answer; noticed after: " + error)};
}

void Watch::report(const std::string& reason) { ask({Wish::kReport, {}, reason}); }

void Watch::leave() { ask({Wish::kLeave, {}, ""}); }

std::optional<PeerFailure> Watch::ask(const Request& request) {
  std::unique_lock lock(mutex_);
  asked_for_ = request;
  answer_.reset();
  asked_.notify_one();
  while (!answered_.wait_for(lock, kPatience, [this] { return answer_.has_value(); }))
    if (probes::mono_ns() - lookout_.store_answered_ns() > nanoseconds(kStoreHangs).count()) return std::nullopt;
  return answer_;
}

void Watch::answer(const PeerFailure& failure) {
  const std::lock_guard lock(mutex_);
  answer_ = failure;
  answered_.notify_one();
}

Watch::Request Watch::next_request() {
  std::unique_lock lock(mutex_);
  asked_.wait_for(lock, kBeat, [this] { return asked_for_.wish != Wish::kNone; });
  return std::exchange(asked_for_, {});
}

void Watch::run() {
  try {
    watch_until_left();
  } catch (const std::exception& error) {
    go_on_without_store(error.what());
  }
}

void Watch::watch_until_left() {
  for (;;) {
    const auto request = next_request();
    if (request.wish != Wish::kNone) main_ends_ = true;
    switch (request.wish) {
      case Wish::kNone:
        if (const auto failure = lookout_.beat(); failure && !main_ends_) return end_process(*failure);
        break;
      case Wish::kExplain: answer(lookout_.blame(request.end, request.text)); break;
      case Wish::kReport:
        lookout_.report(request.text);
        answer({});
        break;
      case Wish::kLeave: lookout_.leave(); return answer({});
    }
  }
}

// Who is told to end hears of it in the meantime, and who has done its work leaves.
void Watch::go_on_without_store(const std::string& error) {
  const auto failure = lookout_.failure_of_store("is gone: " + base::first_line(error));
  for (;;) {
    answer(failure);
    const auto request = next_request();
    if (request.wish == Wish::kLeave) return answer(failure);
    if (request.wish != Wish::kNone) main_ends_ = true;
    if (!main_ends_) return end_process(failure);
  }
}

void Watch::end_process(const PeerFailure& failure) {
  const int exit_code = give_up_(failure);
  try {
    lookout_.leave();
  } catch (const std::exception&) {
    // The store is gone: nobody is left to tell.
  }
  std::fflush(nullptr);
  ::_exit(exit_code);
}

}  // namespace rematch::peers
