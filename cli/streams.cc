#include "cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace hgt::cli {

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Opened the wrong way round: using it stays an error.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    static_cast<void>(opened);
  }
}

void tell(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int with_output_written(int code) noexcept {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  const int error = errno;
  if (flushed || code != 0) return code;
  tell("hgt: cannot write to the standard output");
  if (error != 0) {  // 0: it failed when something else was printed
    tell(": ");
    tell(std::strerror(error));
  }
  tell("; what was printed is not complete\n");
  return 1;
}

}  // namespace hgt::cli
