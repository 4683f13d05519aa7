// Runs the hgt program as a user would and keeps what it said.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hgt/disk/temporary_test_folder.h"

namespace hgt {

struct Outcome {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out;
  std::string err;
  uint64_t peak_bytes = 0;  // largest resident memory
};

constexpr unsigned kProgramSeconds = 300;  // whatever takes longer hangs: SIGALRM ends it

// `while_running` is called with the process id after the start. `file_bytes`: no file becomes
// larger, as on a disk that is full; 0: no limit. `before_start` is called in the new process.
inline Outcome run_program(const std::filesystem::path& scratch,
                           const std::vector<std::string>& words,
                           const std::function<void(pid_t)>& while_running = {},
                           uint64_t file_bytes = 0,
                           const std::function<void()>& before_start = {}) {
  const auto out = scratch / "stdout";
  const auto err = scratch / "stderr";
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);  // a group of its own, to which a test can send what Ctrl-C sends
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    if (file_bytes > 0) {
      const rlimit limit{.rlim_cur = file_bytes, .rlim_max = file_bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    }
    ::alarm(kProgramSeconds);
    if (before_start) before_start();
    std::vector<char*> arguments = {const_cast<char*>(HGT_PROGRAM)};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(HGT_PROGRAM, arguments.data());
    ::_exit(127);
  }
  if (while_running) while_running(child);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read_bytes(out),
          .err = read_bytes(err),
          .peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

}  // namespace hgt
