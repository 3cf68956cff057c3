// einkorn_jit_worker: compiles what it is sent through its standard input, a socket, and ends with
// the process at the other end. Started by src/jit/worker_pool.h; there is nothing to run by hand.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <thread>

#include <einkorn/error.h>

#include "src/jit/compiler.h"
#include "src/jit/worker_protocol.h"

namespace einkorn::jit {
namespace {

// A child that the parent forked may hold the other end open after the parent's death: then only
// our new parent tells.
constexpr int kLookInterval = 2000;  // milliseconds

/// Ends this process when its parent is gone, in the middle of a compilation as well. PDEATHSIG
/// will not do: it comes when the thread ends that started us.
[[noreturn]] void watch(int socket, pid_t parent) {
  for (;;) {
    pollfd file{socket, POLLRDHUP, 0};
    poll(&file, 1, kLookInterval);
    const bool closed = (file.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
    if (closed || getppid() != parent) _exit(0);
  }
}

Message answer(const Message& request) {
  try {
    const std::optional<CompileInputs> inputs = decode_request(request);
    EK_CHECK(inputs.has_value(), ErrorKind::kRuntime,
             "jit: compile worker: the request is of another version\n"
             "  hint: program and einkorn_jit_worker have to be of one build");
    return encode_reply(nvrtc_compile(*inputs));
  } catch (const Error& error) {
    return encode_reply(error);
  } catch (const std::exception& error) {  // out of memory
    return encode_reply(
        Error(ErrorKind::kRuntime, std::string("jit: compile worker: ") + error.what()));
  }
}

int serve(int socket) {
  Message message;
  while (receive_message(socket, message) == Talk::kDone) {
    if (send_message(socket, answer(message)) != Talk::kDone) break;
  }
  return 0;
}

}  // namespace
}  // namespace einkorn::jit

int main() {
  // Of a terminal or a file there is nothing to serve.
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fputs("einkorn_jit_worker: started by einkorn itself, with a socket as its input\n",
               stderr);
    return 2;
  }
  const int socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  std::thread(einkorn::jit::watch, socket, getppid()).detach();
  _exit(einkorn::jit::serve(socket));  // past the exit handlers of libraries that still run
}
