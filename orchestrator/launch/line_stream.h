// What a child writes to one of its streams, line by line. One thread, the one that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <functional>
#include <memory>
#include <string>

namespace rematch::launch {

class LineStream {
 public:
  explicit LineStream(boost::asio::io_context& context);
  int child_end();  // for ProcessSpec
  // Once the child has its end. on_line gets a line without its newline, on_end comes once after the last one; neither is called once
  // `owner` is gone or this was closed.
  void read(std::weak_ptr<void> owner, std::function<void(const std::string&)> on_line, std::function<void()> on_end);
  void close();

 private:
  void read_more();
  void hand_out_lines();

  boost::asio::readable_pipe read_end_;
  boost::asio::writable_pipe write_end_;
  std::string text_;  // read and not handed out yet
  std::weak_ptr<void> owner_;
  std::function<void(const std::string&)> on_line_;
  std::function<void()> on_end_;
};

}  // namespace rematch::launch
