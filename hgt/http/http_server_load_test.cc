// HttpServer under clients that are many, slow or gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "hgt/http/raw_client_test.h"

namespace hgt {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Responders wait here until the test opens it.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Blocks until so many have come.
  void await(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= count; });
  }
  int inside() {
    const std::lock_guard lock(mutex_);
    return inside_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int inside_ = 0;
};

Answer text(std::string body) { return {.type = "text/plain", .body = std::move(body)}; }

void add_light(HttpServer& server) {
  server.route({.path = "/light", .parameters = {"n"}},
               [](const HttpRequest& request) { return text("light " + request.query.at("n")); });
}

// A heavy route, "/heavy", that waits at the gate.
void add_gated(HttpServer& server, Gate& gate) {
  server.heavy_route({.path = "/heavy"}, [&](const HttpRequest&, const Unwanted&) {
    gate.pass();
    return text("heavy");
  });
}

// The statuses of `count` requests at once, sorted.
std::vector<int> statuses(uint16_t port, const std::string& target, int count) {
  std::vector<int> found(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int& status : found) {
    threads.emplace_back([&status, port, target] { status = get(port, target).status(); });
  }
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(found);
  return found;
}

TEST(HttpServerLoad, AnswersManyParallelRequests) {
  RunningServer running(add_light);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string n = std::to_string(t * 100 + i);
        const RawAnswer answer = get(running.port(), "/light?n=" + n);
        if (answer.status() == 200 && answer.body() == "light " + n) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
}

TEST(HttpServerLoad, RefusesConnectionsThatNobodyHasTimeFor) {
  Gate gate;
  const auto add = [&](HttpServer& server) {
    server.route({.path = "/wait"}, [&](const HttpRequest&) {
      gate.pass();
      return text("waited");
    });
  };
  RunningServer running(add, {.workers = 2, .connections = 4, .heavy_waiting = 0});
  std::vector<std::thread> held;
  std::atomic<int> answered = 0;
  const auto hold = [&] { answered += get(running.port(), "/wait").status() == 200 ? 1 : 0; };
  held.emplace_back(hold);
  held.emplace_back(hold);
  gate.await(2);
  const std::vector<int> found = [&] {
    std::vector<int> refused;
    std::vector<std::unique_ptr<RawClient>> waiting;
    for (int i = 0; i < 2; ++i) waiting.push_back(std::make_unique<RawClient>(running.port()));
    const auto begin = Clock::now();
    for (int i = 0; i < 20; ++i) refused.push_back(get(running.port(), "/wait").status());
    EXPECT_LT(Clock::now() - begin, milliseconds(20000));
    return refused;
  }();
  gate.open();
  for (std::thread& thread : held) thread.join();
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(gate.inside(), 2) << "a refused request was answered";
  for (const int status : found) EXPECT_TRUE(status == 503 || status == 0) << status;
  EXPECT_EQ(get(running.port(), "/wait").status(), 200);
}

TEST(HttpServerLoad, IsNotHeldUpBySlowOrSilentClients) {
  RunningServer running(add_light, {.workers = 2, .read_time = milliseconds(60000)});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(std::make_unique<RawClient>(running.port()));
    if (i % 2 == 0) slow.back()->send("G");
  }
  const auto begin = Clock::now();
  EXPECT_EQ(get(running.port(), "/light?n=1").body(), "light 1");
  running.end();
  EXPECT_LT(Clock::now() - begin, milliseconds(20000));
  for (const auto& client : slow) EXPECT_EQ(client->receive(), "");
}

TEST(HttpServerLoad, GivesARequestInDropsNoMoreTime) {
  RunningServer running(add_light, {.read_time = milliseconds(200)});
  const RawClient client(running.port());
  std::atomic<bool> over = false;
  std::thread drops([&] {
    for (int i = 0; i < 1000 && !over; ++i) {
      client.send("x");
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  EXPECT_EQ(RawAnswer{client.receive()}.status(), 408);
  EXPECT_FALSE(over.exchange(true));
  drops.join();
}

TEST(HttpServerLoad, AnswersARequestThatComesInPieces) {
  RunningServer running(add_light);
  const RawClient client(running.port());
  for (const char c : std::string("GET /light?n=7 HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
    client.send({&c, 1});
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(RawAnswer{client.receive()}.body(), "light 7");
}

void add_large(HttpServer& server) {
  add_light(server);
  server.route({.path = "/large"},
               [](const HttpRequest&) { return text(std::string(20 << 20, 'x')); });
}

TEST(HttpServerLoad, SurvivesClientsThatGoAway) {
  RunningServer running(add_large);
  for (int i = 0; i < 40; ++i) {
    const RawClient client(running.port());
    if (i % 4 != 0) client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n");
    if (i % 4 > 1) client.send("\r\n");
  }
  EXPECT_EQ(get(running.port(), "/light?n=1").status(), 200);
  EXPECT_EQ(get(running.port(), "/large").body().size(), size_t{20} << 20U);
}

TEST(HttpServerLoad, GivesUpOnAClientThatDoesNotRead) {
  RunningServer running(add_large,
                        {.workers = 1, .write_time = milliseconds(200), .heavy_waiting = 0});
  const std::string request = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const RawClient first(running.port());
  const RawClient second(running.port());
  first.send(request);
  second.send(request);
  EXPECT_EQ(get(running.port(), "/light?n=1").status(), 200) << "a thread is held";
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_LT(first.receive().size(), size_t{20} << 20U);
  EXPECT_LT(second.receive().size(), size_t{20} << 20U);
}

// A heavy route that knows how many run at once.
struct HeavyRoute {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  Answer respond(milliseconds time) {
    const int now = ++running;
    most = std::max(most.load(), now);
    std::this_thread::sleep_for(time);
    --running;
    return text("heavy");
  }
};

TEST(HttpServerLoad, RunsHeavyRoutesOneAtATime) {
  HeavyRoute heavy;
  const auto add = [&](HttpServer& server) {
    const auto respond = [&](const HttpRequest&, const Unwanted&) {
      return heavy.respond(milliseconds(10));
    };
    server.heavy_route({.path = "/one"}, respond);
    server.heavy_route({.path = "/other"}, respond);
  };
  RunningServer running(add, {.heavy_waiting = 16});
  std::vector<int> others;
  std::thread thread([&] { others = statuses(running.port(), "/other", 6); });
  EXPECT_EQ(statuses(running.port(), "/one", 6), std::vector<int>(6, 200));
  thread.join();
  EXPECT_EQ(others, std::vector<int>(6, 200));
  EXPECT_EQ(heavy.most, 1);
}

TEST(HttpServerLoad, IsBusyWhenTooManyWaitForAHeavyRouteAndStillAnswersLightOnes) {
  Gate gate;
  const auto add = [&](HttpServer& server) {
    add_light(server);
    add_gated(server, gate);
  };
  RunningServer running(add, {.workers = 1, .heavy_waiting = 2});
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      const int status = get(running.port(), "/heavy").status();
      if (status == 200) ++answered;
      if (status == 503) ++refused;
    });
  }
  while (refused < 5) std::this_thread::sleep_for(milliseconds(5));  // the others wait or run
  EXPECT_EQ(get(running.port(), "/light?n=1").status(), 200);
  gate.await(1);
  EXPECT_EQ(gate.inside(), 1);
  gate.open();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 3);
  EXPECT_EQ(refused, 5);
}

TEST(HttpServerLoad, IsBusyWhenAHeavyRouteTakesTooLong) {
  Gate gate;
  const auto add = [&](HttpServer& server) { add_gated(server, gate); };
  RunningServer running(add, {.heavy_time = milliseconds(100)});
  std::thread first([&] { EXPECT_EQ(get(running.port(), "/heavy").status(), 200); });
  gate.await(1);
  EXPECT_EQ(get(running.port(), "/heavy").status(), 503);
  gate.open();
  first.join();
  EXPECT_EQ(get(running.port(), "/heavy").status(), 200);
}

constexpr const char* kHeavyRequest = "GET /heavy HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(HttpServerLoad, ForgetsThoseWhoWentAwayWhileTheyWaitedForAHeavyRoute) {
  Gate gate;
  RunningServer running([&](HttpServer& server) { add_gated(server, gate); }, {.heavy_waiting = 8});
  std::thread first([&] { EXPECT_EQ(get(running.port(), "/heavy").status(), 200); });
  gate.await(1);
  {
    std::vector<std::unique_ptr<RawClient>> impatient;
    for (int i = 0; i < 8; ++i) {
      impatient.push_back(std::make_unique<RawClient>(running.port()));
      impatient.back()->send(kHeavyRequest);
    }
    std::this_thread::sleep_for(milliseconds(300));  // all of them wait
  }
  std::thread next([&] { EXPECT_EQ(get(running.port(), "/heavy").status(), 200); });
  std::this_thread::sleep_for(milliseconds(100));
  gate.open();
  first.join();
  next.join();
  EXPECT_EQ(gate.inside(), 2) << "something was computed for nobody";
}

TEST(HttpServerLoad, TellsAHeavyRouteThatItsClientIsGone) {
  Gate gate;
  std::atomic<bool> given_up = false;
  const auto add = [&](HttpServer& server) {
    server.heavy_route({.path = "/heavy"},
                       [&](const HttpRequest&, const Unwanted& unwanted) -> Answer {
                         EXPECT_FALSE(unwanted()) << "the client waits";
                         gate.open();
                         gate.pass();
                         while (!unwanted()) std::this_thread::sleep_for(milliseconds(5));
                         given_up = !server.stopping();
                         throw Busy("nobody waits");
                       });
  };
  RunningServer running(add);
  {
    const RawClient client(running.port());
    client.send(kHeavyRequest);
    gate.await(1);
  }
  const auto end = Clock::now() + milliseconds(20000);
  while (!given_up && Clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(given_up);
}

TEST(HttpServerLoad, FreesAHeavyRouteThatThrew) {
  const auto add = [](HttpServer& server) {
    server.heavy_route({.path = "/heavy"},
                       [](const HttpRequest&, const Unwanted&) -> Answer { throw Error("no"); });
  };
  RunningServer running(add, {.heavy_time = milliseconds(100)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get(running.port(), "/heavy").error(), "no");
}

TEST(HttpServerLoad, StopsWhileRequestsRunWaitAndArrive) {
  std::atomic<bool> stopping_seen = false;
  Gate gate;
  const auto add = [&](HttpServer& server) {
    add_light(server);
    const auto respond = [&](const HttpRequest&, const Unwanted& unwanted) {
      gate.open();
      gate.pass();
      while (!unwanted()) std::this_thread::sleep_for(milliseconds(5));
      stopping_seen = server.stopping();
      return text("whole answer");
    };
    server.heavy_route({.path = "/heavy"}, respond);
  };
  RunningServer running(add, {.read_time = milliseconds(60000)});
  const RawClient silent(running.port());
  std::vector<std::thread> clients;
  std::mutex mutex;
  std::vector<std::string> bodies;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      const RawAnswer answer = get(running.port(), "/heavy");
      const std::lock_guard lock(mutex);
      bodies.push_back(answer.status() == 200 ? answer.body() : "");
    });
  }
  std::atomic<bool> over = false;
  clients.emplace_back([&] {
    while (!over) get(running.port(), "/light?n=1");
  });
  gate.await(1);
  const auto begin = Clock::now();
  running.end();
  EXPECT_LT(Clock::now() - begin, milliseconds(20000));
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(stopping_seen);
  EXPECT_EQ(std::ranges::count(bodies, "whole answer"), 1);
}

}  // namespace
}  // namespace hgt
