#include "orchestrator/launch/srun_process.h"

#include <signal.h>

#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "orchestrator/launch/control_channel.h"
#include "orchestrator/launch/find_program.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::launch {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::milliseconds kStreamsGrace{2'000};  // from srun's end until its streams must have ended

// What a child writes to one of its streams, line by line.
class LineStream {
 public:
  explicit LineStream(asio::io_context& context) : read_end_(context), write_end_(context) { asio::connect_pipe(read_end_, write_end_); }
  int child_end() { return write_end_.native_handle(); }

  // Once the child has its end. Neither is called once `owner` is gone.
  void read(std::weak_ptr<bool> owner, std::function<void(const std::string&)> on_line, std::function<void()> on_end) {
    write_end_.close();
    owner_ = std::move(owner);
    on_line_ = std::move(on_line);
    on_end_ = std::move(on_end);
    read_more();
  }

 private:
  void read_more() {
    asio::async_read_until(read_end_, asio::dynamic_buffer(text_), '\n', [this, owner = owner_](error_code error, std::size_t) {
      if (owner.expired()) return;
      hand_out_lines();
      if (!error) return read_more();
      if (!text_.empty()) on_line_(std::exchange(text_, ""));
      on_end_();
    });
  }

  void hand_out_lines() {
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      on_line_(line);
    }
  }

  asio::readable_pipe read_end_;
  asio::writable_pipe write_end_;
  std::string text_;  // read and not handed out yet
  std::weak_ptr<bool> owner_;
  std::function<void(const std::string&)> on_line_;
  std::function<void()> on_end_;
};

class Srun final : public SrunProcess {
 public:
  Srun(asio::io_context& context, SrunListener listener)
      : listener_(std::move(listener)), notices_(context), words_(context), streams_timer_(context) {}

  std::optional<base::Error> start(asio::io_context& context, ProcessSpec spec) {
    spec.input_descriptor = control_.far();
    spec.output_descriptor = notices_.child_end();
    spec.error_descriptor = words_.child_end();
    spec.placement = Placement::kNewSession;
    protocol::pass_write_boundary("about to start", "job step");
    auto child = start_process(context, spec);
    protocol::pass_write_boundary("started", "job step");
    control_.close_far();
    if (!child) return child.error();
    child_ = std::move(child).value();
    watch();
    return std::nullopt;
  }

  void send(char command) override { control_.send(command); }
  bool running() const override { return child_->running(); }
  void signal(int number) override {
    if (child_->running()) ::kill(child_->pid(), number);
  }

 private:
  void watch() {
    const std::weak_ptr<bool> alive = alive_;
    const auto on_stream_end = [this] {
      --num_open_streams_;
      tell_when_ended();
    };
    const auto on_line = [this](const std::string& line) {
      if (const auto notice = parse_notice_line(line)) listener_.on_notice(*notice);
    };
    notices_.read(alive, on_line, on_stream_end);
    words_.read(
        alive, [this](const std::string& line) { listener_.on_words(line); }, on_stream_end);
    child_->wait([this](ProcessEnd end) {
      end_ = end;
      tell_when_ended();
    });
  }

  // Something that srun started may hold its streams open.
  void tell_when_ended() {
    if (!end_) return;
    if (num_open_streams_ == 0) return tell();
    streams_timer_.expires_after(kStreamsGrace);
    streams_timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const error_code& error) {
      if (!error && !alive.expired()) tell();
    });
  }

  void tell() {
    if (std::exchange(told_, true)) return;
    const auto on_end = listener_.on_end;  // the callee may drop this object
    on_end(*end_);
  }

  SrunListener listener_;
  ControlChannel control_;
  LineStream notices_;  // stdout
  LineStream words_;    // stderr
  asio::steady_timer streams_timer_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<ProcessEnd> end_;
  int num_open_streams_ = 2;
  bool told_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

base::Result<std::unique_ptr<SrunProcess>> start_srun(asio::io_context& context, const std::vector<std::string>& arguments,
                                                      const std::map<std::string, std::string>& environment, SrunListener listener) {
  const auto program = find_program("srun");
  if (!program) return base::Error{"wanted srun on PATH, found none; the launcher srun works inside a job of a Slurm cluster"};
  ProcessSpec spec;
  spec.program = *program;
  spec.arguments = arguments;
  spec.environment = environment;
  auto srun = std::make_unique<Srun>(context, std::move(listener));
  if (auto problem = srun->start(context, std::move(spec))) return *problem;
  return std::unique_ptr<SrunProcess>(std::move(srun));
}

}  // namespace rematch::launch
