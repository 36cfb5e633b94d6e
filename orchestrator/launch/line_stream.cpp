#include "orchestrator/launch/line_stream.h"

#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/read_until.hpp>
#include <utility>

namespace rematch::launch {

namespace asio = boost::asio;
using boost::system::error_code;

LineStream::LineStream(asio::io_context& context) : read_end_(context), write_end_(context) { asio::connect_pipe(read_end_, write_end_); }

int LineStream::child_end() { return write_end_.native_handle(); }

void LineStream::read(std::weak_ptr<void> owner, std::function<void(const std::string&)> on_line, std::function<void()> on_end) {
  write_end_.close();
  owner_ = std::move(owner);
  on_line_ = std::move(on_line);
  on_end_ = std::move(on_end);
  read_more();
}

void LineStream::close() { read_end_.close(); }

void LineStream::read_more() {
  asio::async_read_until(read_end_, asio::dynamic_buffer(text_), '\n', [this, owner = owner_](error_code error, std::size_t) {
    const auto alive = owner.lock();
    if (!alive || error == asio::error::operation_aborted) return;
    hand_out_lines();
    if (!error) return read_more();
    if (!text_.empty()) on_line_(std::exchange(text_, ""));
    on_end_();
  });
}

void LineStream::hand_out_lines() {
  for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    on_line_(line);
  }
}

}  // namespace rematch::launch
