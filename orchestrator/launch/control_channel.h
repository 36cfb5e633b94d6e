// The near end of a supervisor's control channel: its stdin is the far end. Closing it tells the supervisor that its controller is gone.
#pragma once

namespace rematch::launch {

class ControlChannel {
 public:
  ControlChannel();  // throws std::system_error
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  int far() const { return far_; }
  void close_far();  // once the child has it
  // A supervisor that is gone needs no command: a failed send is no error.
  void send(char command) const;

 private:
  int near_ = -1;
  int far_ = -1;
};

}  // namespace rematch::launch
