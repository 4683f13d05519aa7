#include "hgt/http/http_server.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <stdexcept>

#include "hgt/http/raw_client_test.h"
#include "hgt/limited_threads_test.h"

namespace hgt {
namespace {

constexpr const char* kHead = "HTTP/1.1\r\nHost: localhost\r\n";

void add_routes(HttpServer& server) {
  server.route({.path = "/"}, [](const HttpRequest&) {
    return Answer{"text/html", "<p>", "img-src 'self'"};
  });
  server.route({.path = "/free"}, [](const HttpRequest&) {
    return Answer{"text/plain", "free", ""};
  });
  server.route({.path = "/echo", .parameters = {"a", "b"}}, [](const HttpRequest& request) {
    std::string body;
    for (const auto& [name, value] : request.query) body += name + "=" + value + ";";
    return Answer{.type = "text/plain; charset=utf-8", .body = body};
  });
  server.route({.path = "/bad"},
               [](const HttpRequest&) -> Answer { throw BadRequest("bad \"one\" \xff"); });
  server.route({.path = "/lost"},
               [](const HttpRequest&) -> Answer { throw NotFound("no such node"); });
  server.route({.path = "/busy"}, [](const HttpRequest&) -> Answer { throw Busy("later"); });
  server.route({.path = "/error"},
               [](const HttpRequest&) -> Answer { throw Error("the run is damaged"); });
  server.route({.path = "/stop"}, [](const HttpRequest&) -> Answer { throw Interrupted(); });
  server.route({.path = "/bug"},
               [](const HttpRequest&) -> Answer { throw std::logic_error("secret"); });
  server.route({.path = "/odd"}, [](const HttpRequest&) -> Answer { throw 17; });
}

class HttpServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { running_ = std::make_unique<RunningServer>(add_routes); }
  static void TearDownTestSuite() { running_.reset(); }

  RawAnswer get_from(const std::string& target) { return get(running_->port(), target); }
  RawAnswer send(const std::string& bytes) { return ask(running_->port(), bytes); }
  // GET / with one more line.
  RawAnswer with_line(const std::string& line) {
    return send(std::string("GET / ") + kHead + line + "\r\n\r\n");
  }
  RawAnswer for_host(const std::string& line) { return send("GET / HTTP/1.1\r\n" + line + "\r\n"); }

  static inline std::unique_ptr<RunningServer> running_;
};

TEST_F(HttpServerTest, AnswersRoutesWithDecodedParameters) {
  const RawAnswer answer = get_from("/echo?b=x+y&a=%C3%BC%26");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body(), "a=\xc3\xbc&;b=x y;");
  EXPECT_TRUE(answer.has("Content-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_EQ(get_from("/").body(), "<p>");
  EXPECT_EQ(get_from("/echo").body(), "");
  EXPECT_EQ(get_from("/echo").status(), 200);
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  const RawAnswer answer = send(std::string("HEAD /echo?a=1 ") + kHead + "\r\n");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_TRUE(answer.has("Content-Length: 4\r\n"));
  EXPECT_EQ(answer.body(), "");
}

TEST_F(HttpServerTest, TurnsWhatRespondersThrowIntoStatusAndSentence) {
  EXPECT_EQ(get_from("/bad").status(), 400);
  EXPECT_EQ(get_from("/bad").error(), "bad \"one\" \xef\xbf\xbd");
  EXPECT_EQ(get_from("/lost").status(), 404);
  EXPECT_EQ(get_from("/lost").error(), "no such node");
  EXPECT_EQ(get_from("/busy").status(), 503);
  EXPECT_EQ(get_from("/error").status(), 500);
  EXPECT_EQ(get_from("/error").error(), "the run is damaged");
  EXPECT_EQ(get_from("/stop").status(), 503);
  for (const char* target : {"/bug", "/odd"}) {
    const RawAnswer answer = get_from(target);
    EXPECT_EQ(answer.status(), 500);
    EXPECT_EQ(answer.error(), "something went wrong");
    EXPECT_FALSE(answer.has("secret"));
  }
}

TEST_F(HttpServerTest, PutsSecurityHeadersOnEveryAnswer) {
  const std::string long_line(20000, 'a');
  for (const RawAnswer& answer :
       {get_from("/"), get_from("/nothing"), get_from("/bug"), get_from("/" + long_line),
        send("nonsense\r\n\r\n"), send("GET /\x01 HTTP/1.1\r\n\r\n"), for_host("Host: evil\r\n"),
        send(std::string("POST / ") + kHead + "\r\n")}) {
    for (const char* header :
         {"X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
          "Cache-Control: no-store\r\n", "Cross-Origin-Resource-Policy: same-origin\r\n",
          "Connection: close\r\n", "Content-Security-Policy: "}) {
      EXPECT_TRUE(answer.has(header)) << header << answer.text;
    }
    EXPECT_FALSE(answer.has("\r\nServer:"));
    EXPECT_FALSE(answer.has("Access-Control"));
  }
}

TEST_F(HttpServerTest, LetsAnAnswerSetItsPolicy) {
  EXPECT_TRUE(get_from("/").has("Content-Security-Policy: img-src 'self'\r\n"));
  EXPECT_FALSE(get_from("/").has("default-src"));
  EXPECT_TRUE(get_from("/echo").has("Content-Security-Policy: default-src 'none'; "));
  EXPECT_FALSE(get_from("/free").has("Content-Security-Policy"));
}

TEST_F(HttpServerTest, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}) {
    const RawAnswer answer = send(std::string(method) + " / " + kHead + "\r\n");
    EXPECT_EQ(answer.status(), 405) << method;
    EXPECT_TRUE(answer.has("Allow: GET, HEAD\r\n"));
    EXPECT_FALSE(answer.error().empty());
  }
  EXPECT_EQ(send(std::string("BREW / ") + kHead + "\r\n").status(), 400);
  EXPECT_EQ(send(std::string("get / ") + kHead + "\r\n").status(), 400);
}

TEST_F(HttpServerTest, RefusesForeignHosts) {
  EXPECT_EQ(for_host("Host: 127.0.0.1:1234\r\n").status(), 200);
  EXPECT_EQ(for_host("host: LOCALHOST\r\n").status(), 200);
  EXPECT_EQ(for_host("Host: [::1]:80\r\n").status(), 200);
  for (const char* lines :
       {"Host: evil.example\r\n", "Host: localhost.evil.example\r\n", "Host:\r\n", "",
        "Host: localhost\r\nHost: evil.example\r\n", "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost/evil\r\n", "X-Forwarded-Host: localhost\r\nHost: evil\r\n"}) {
    EXPECT_EQ(for_host(lines).status(), 403) << lines;
  }
}

TEST_F(HttpServerTest, RefusesRequestsThatPagesOfOtherSitesMake) {
  EXPECT_EQ(with_line("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors").status(), 403);
  EXPECT_EQ(with_line("Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors").status(), 403);
  EXPECT_EQ(with_line("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors").status(), 200);
  EXPECT_EQ(with_line("Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate").status(), 200);
}

// Opened in a tab or a frame by another site's page: the page alone, and in no frame.
TEST_F(HttpServerTest, LetsOtherSitesLeadToThePageAlone) {
  const auto opened = [&](const char* target, const char* destination) {
    return send(std::string("GET ") + target + " " + kHead +
                "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: " +
                destination + "\r\n\r\n")
        .status();
  };
  EXPECT_EQ(opened("/", "document"), 200);
  EXPECT_EQ(opened("/", "iframe"), 403);
  EXPECT_EQ(opened("/echo?a=1", "document"), 403);
  EXPECT_EQ(opened("/free", "iframe"), 403);
  EXPECT_EQ(with_line("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate").status(), 403);
}

TEST_F(HttpServerTest, RefusesBodies) {
  EXPECT_EQ(with_line("Content-Length: 0").status(), 200);
  EXPECT_EQ(with_line("Content-Length: 5\r\n\r\nhello").status(), 413);
  EXPECT_EQ(with_line("Content-Length: 18446744073709551615").status(), 413);
  for (const char* length : {"99999999999999999999", "-1", "+1", "1 1", "0x1", "", "1,2"}) {
    EXPECT_EQ(with_line(std::string("Content-Length: ") + length).status(), 400) << length;
  }
  EXPECT_EQ(with_line("Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello").status(), 400);
  EXPECT_EQ(with_line("Content-Length: 5\r\nTransfer-Encoding: chunked").status(), 400);
  EXPECT_EQ(with_line("Transfer-Encoding: gzip").status(), 413);
  EXPECT_EQ(with_line("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0").status(), 413);
  EXPECT_EQ(with_line("Content-Length: 300000\r\n\r\n" + std::string(300000, 'x')).status(), 413);
}

TEST_F(HttpServerTest, RefusesUnknownRepeatedAndBrokenParameters) {
  for (const char* target :
       {"/echo?c=1", "/?a=1", "/echo?a=1&a=1", "/echo?a=1&a=2", "/echo?a=%ff", "/echo?a=%00",
        "/echo?a=%0d%0aX:y", "/echo?a=%", "/echo?a=\xff", "/echo?=1", "/echo?a=1?b=2"}) {
    const RawAnswer answer = get_from(target);
    EXPECT_EQ(answer.status(), 400) << target;
    EXPECT_FALSE(answer.error().empty()) << target;
  }
  EXPECT_NE(get_from("/echo?c=1").error().find("a, b"), std::string::npos);
}

TEST_F(HttpServerTest, ServesExactRoutesAndNoFiles) {
  for (const char* target :
       {"/../etc/passwd", "/../../../../etc/passwd", "/%2e%2e/etc/passwd", "/..%2fetc%2fpasswd",
        "/etc/passwd", "//", "//echo", "/echo/", "/./echo", "/ECHO", "/%65cho", "/echo%00",
        "/echo%2500", "/.", "*", "echo", "http://localhost/echo", "/echo;a=1", "/echo\\"}) {
    EXPECT_EQ(get_from(target).status(), 404) << target;
  }
  EXPECT_EQ(get_from(std::string("/echo\0", 6)).status(), 400);
  EXPECT_EQ(get_from(std::string("/echo\0.txt?a=1", 14)).status(), 400);
}

TEST_F(HttpServerTest, RefusesMalformedRequests) {
  for (const char* request :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1 x\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", "  \r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\nHost: localhost\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n: localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\x1b\r\n\r\n"}) {
    EXPECT_EQ(send(request).status(), 400) << request;
  }
  EXPECT_EQ(with_line("Cookie: \xc3\xbc\tb").status(), 200);
  EXPECT_EQ(get_from("/").status(), 200);
}

// A line that begins with a space belongs to the one before, and makes no host of two.
TEST_F(HttpServerTest, JoinsHeadersOverSeveralLines) {
  EXPECT_EQ(for_host("Host: localhost\r\n folded: x\r\n").status(), 403);
  EXPECT_EQ(for_host("Host: evil\r\n localhost\r\n").status(), 403);
  EXPECT_EQ(with_line("Sec-Fetch-Mode: cors\r\nSec-Fetch-Site:\r\n cross-site").status(), 403);
}

TEST_F(HttpServerTest, RefusesLongRequests) {
  const std::string longest(100000, 'a');
  EXPECT_EQ(get_from("/" + longest).status(), 431);
  EXPECT_EQ(get_from("/echo?a=" + longest).status(), 431);
  EXPECT_EQ(get_from("/echo?a=" + longest.substr(0, 5000)).status(), 414);
  EXPECT_EQ(get_from("/echo?a=" + longest.substr(0, 12000)).status(), 414);
  EXPECT_EQ(get_from("/echo?a=" + longest.substr(0, 4000)).status(), 200);
  EXPECT_EQ(get_from("/" + longest.substr(0, 5000)).status(), 404);
  EXPECT_EQ(with_line("Cookie: " + longest).status(), 431);
  EXPECT_EQ(with_line("Cookie: " + longest.substr(0, 10000)).status(), 200);
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(with_line(many).status(), 431);
  EXPECT_EQ(send(longest + longest).status(), 431);
}

TEST_F(HttpServerTest, IgnoresWhatAClientWishesAboutTheAnswer) {
  std::string ranges = "Range: bytes=0-0";
  for (int i = 0; i < 3000; ++i) ranges += ",0-0";
  for (const std::string& line :
       {std::string("Range: bytes=0-0"), std::string("Range: nonsense"), ranges,
        std::string("Accept-Encoding: gzip, br"), std::string("Expect: 100-continue"),
        std::string("Connection: keep-alive"), std::string("If-None-Match: *")}) {
    const RawAnswer answer = with_line(line);
    EXPECT_EQ(answer.status(), 200) << line;
    EXPECT_EQ(answer.body(), "<p>") << line;
  }
}

TEST_F(HttpServerTest, ClosesAfterOneAnswer) {
  const std::string request = std::string("GET /echo?a=1 ") + kHead + "\r\n";
  EXPECT_EQ(send(request + request).body(), "a=1;");
}

TEST(HttpServer, SaysWhichPortIsTakenAndWhatToDo) {
  RunningServer first(add_routes);
  HttpServer second({.port = first.port()});
  try {
    second.bind();
    FAIL() << "two servers share a port";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "port " + std::to_string(first.port()) +
                  " of 127.0.0.1 is already in use; choose another port, or 0 for any free one");
  }
  EXPECT_EQ(get(first.port(), "/").status(), 200);
}

TEST(HttpServer, RefusesAnAddressThatIsNone) {
  HttpServer name({.address = "example.org"});
  EXPECT_THROW(name.bind(), Error);
  HttpServer elsewhere({.address = "192.0.2.1"});
  EXPECT_THROW(elsewhere.bind(), Error);
}

TEST(HttpServer, TakesAFreePortBesideAnother) {
  RunningServer first(add_routes);
  RunningServer second(add_routes);
  EXPECT_NE(first.port(), second.port());
  EXPECT_EQ(get(first.port(), "/").status(), 200);
  EXPECT_EQ(get(second.port(), "/").status(), 200);
  EXPECT_EQ(second.server().url(), "http://127.0.0.1:" + std::to_string(second.port()) + "/");
  first.end();
  EXPECT_FALSE(RawClient(first.port()).connected());
  EXPECT_EQ(get(second.port(), "/").status(), 200);
}

TEST(HttpServer, SaysUnderWhichNameItCanBeOpened) {
  const std::string foreign = "GET / HTTP/1.1\r\nHost: evil\r\n\r\n";
  RunningServer named(add_routes, {.address = "localhost"});
  EXPECT_TRUE(ask(named.port(), foreign).error().starts_with("open " + named.server().url()));
  RunningServer everywhere(add_routes, {.address = "0.0.0.0"});
  EXPECT_TRUE(ask(everywhere.port(), foreign)
                  .error()
                  .starts_with("open the numeric address of this machine instead"));
}

TEST(HttpServer, CanHaveThePortAgainAtOnce) {
  uint16_t port = 0;
  {
    RunningServer first(add_routes);
    port = first.port();
    EXPECT_EQ(get(port, "/").status(), 200);
  }
  RunningServer second(add_routes, {.port = port});
  EXPECT_EQ(get(port, "/").status(), 200);
}

TEST(HttpServer, AnswersWhoConnectedBeforeItServed) {
  HttpServer server;
  add_routes(server);
  server.bind();
  const RawClient early(server.port());
  early.send(std::string("GET /free ") + kHead + "\r\n");
  std::thread thread([&] { server.serve(); });
  EXPECT_EQ(RawAnswer{early.receive()}.body(), "free");
  server.stop();
  thread.join();
}

TEST(HttpServer, EndsWhenItIsToldBeforeItServes) {
  HttpServer server;
  server.bind();
  server.stop();
  server.serve();
  EXPECT_TRUE(server.stopping());
}

TEST(HttpServer, EndsWhenTheQuestionIsAnsweredYes) {
  HttpServer server;
  server.bind();
  int asked = 0;
  server.serve([&] { return ++asked == 3; });
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(server.stopping());
}

TEST(HttpServer, SaysThatItsThreadsCannotBeStarted) {
  if (!kThreadsCanBeLimited) GTEST_SKIP() << "under the thread sanitizer";
  for (const int started : {0, 2}) {
    HttpServer server({.workers = 4});
    server.bind();
    const ThreadLimit limit(started);
    try {
      server.serve([] { return true; });
      FAIL() << "served";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cannot start a thread"), std::string::npos);
    }
  }
}

TEST(HttpServer, PassesOnWhatTheQuestionThrows) {
  HttpServer server;
  server.bind();
  EXPECT_THROW(server.serve([]() -> bool { throw Interrupted(); }), Interrupted);
  EXPECT_FALSE(RawClient(server.port()).connected());
}

TEST(HttpServer, ServesOverTheNextProtocol) {
  HttpServer server({.address = "::1"});
  add_routes(server);
  try {
    server.bind();
  } catch (const Error&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  EXPECT_EQ(server.url(), "http://[::1]:" + std::to_string(server.port()) + "/");
  std::thread thread([&] { server.serve(); });
  const RawClient client(server.port(), AF_INET6);
  client.send("GET /free HTTP/1.1\r\nHost: [::1]:" + std::to_string(server.port()) + "\r\n\r\n");
  EXPECT_EQ(RawAnswer{client.receive()}.body(), "free");
  server.stop();
  thread.join();
}

HttpServer* signaled = nullptr;

TEST(HttpServer, CanBeStoppedByASignal) {
  HttpServer server;
  server.bind();
  signaled = &server;
  const auto before = std::signal(SIGUSR1, [](int) { signaled->stop(); });
  std::raise(SIGUSR1);
  server.serve();
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace hgt
