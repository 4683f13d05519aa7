// HttpServer with bodies, with connections that are kept alive, and what it counts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "hgt/http/raw_client_test.h"

namespace hgt {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kRequestHead = " HTTP/1.1\r\nHost: localhost\r\n";
constexpr size_t kMostBody = 1000;

void add_writing_routes(HttpServer& server) {
  server.route({.path = "/read"}, [](const HttpRequest&) { return Answer{"text/plain", "read"}; });
  const auto echo = [](const HttpRequest& request) {
    const char* method = request.method == HttpMethod::post ? "post " : "get ";
    return Answer{"text/plain", method + request.type + ":" + request.body};
  };
  server.route({.path = "/write", .methods = {HttpMethod::post}, .most_body = kMostBody}, echo);
  server.route({.path = "/both",
                .parameters = {"a"},
                .methods = {HttpMethod::get, HttpMethod::post},
                .most_body = kMostBody},
               echo);
  server.heavy_route({.path = "/heavy", .methods = {HttpMethod::post}, .most_body = kMostBody},
                     [](const HttpRequest& request, const Unwanted&) {
                       return Answer{"text/plain", "heavy " + request.body};
                     });
  server.route({.path = "/broken"}, [](const HttpRequest&) -> Answer { throw Error("broken"); });
}

std::string request(const std::string& start, const std::string& lines = "",
                    const std::string& body = "") {
  const std::string length =
      body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return start + kRequestHead + lines + length + "\r\n" + body;
}

TEST(HttpBody, ReachesTheResponderOfARouteThatTakesIt) {
  const RunningServer running(add_writing_routes);
  const RawAnswer answer =
      ask(running.port(), request("POST /write", "Content-Type: application/json\r\n", "{}"));
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body(), "post application/json:{}");
  EXPECT_TRUE(answer.has("Connection: close\r\n"));
  EXPECT_EQ(ask(running.port(), request("POST /write")).body(), "post :");
  EXPECT_EQ(ask(running.port(), request("POST /both?a=1", "", "x")).body(), "post :x");
  EXPECT_EQ(ask(running.port(), request("GET /both")).body(), "get :");
  EXPECT_EQ(ask(running.port(), request("POST /heavy", "", "x")).body(), "heavy x");
  const std::string zeros("\0\r\n\0", 4);
  EXPECT_EQ(ask(running.port(), request("POST /write", "", zeros)).body(), "post :" + zeros);
}

TEST(HttpBody, MayComeInPiecesAndInChunks) {
  const RunningServer running(add_writing_routes);
  const RawClient slow(running.port());
  for (const char c : request("POST /write", "", "slowly")) {
    slow.send({&c, 1});
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(RawAnswer{slow.receive()}.body(), "post :slowly");
  const std::string chunked = request("POST /write", "Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(ask(running.port(), chunked + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n").body(),
            "post :hello!");
  EXPECT_EQ(ask(running.port(), chunked + "nonsense\r\n").status(), 400);
  EXPECT_EQ(ask(running.port(), request("POST /write", "Transfer-Encoding: gzip\r\n")).status(),
            501);
}

TEST(HttpBody, IsAskedForWhereTheClientWaits) {
  const RunningServer running(add_writing_routes);
  const RawClient client(running.port());
  client.send(std::string("POST /write") + kRequestHead +
              "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(RawAnswer{client.receive_one()}.status(), 100);
  client.send("hello");
  EXPECT_EQ(RawAnswer{client.receive()}.body(), "post :hello");
  EXPECT_EQ(ask(running.port(), std::string("POST /write") + kRequestHead +
                                    "Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
                .status(),
            413);
}

TEST(HttpBody, IsRefusedWhereItIsTooLong) {
  const RunningServer running(add_writing_routes);
  const std::string most(kMostBody, 'x');
  EXPECT_EQ(ask(running.port(), request("POST /write", "", most)).body(), "post :" + most);
  const RawAnswer refused = ask(running.port(), request("POST /write", "", most + "x"));
  EXPECT_EQ(refused.status(), 413);
  EXPECT_NE(refused.error().find("1000 bytes"), std::string::npos);
  EXPECT_EQ(
      ask(running.port(), request("POST /write", "", std::string(size_t{1} << 19U, 'x'))).status(),
      413);
  EXPECT_EQ(ask(running.port(), std::string("POST /write") + kRequestHead +
                                    "Content-Length: 18446744073709551615\r\n\r\n")
                .status(),
            413);
  std::string chunks = request("POST /write", "Transfer-Encoding: chunked\r\n");
  for (int i = 0; i < 11; ++i) chunks += "64\r\n" + std::string(100, 'x') + "\r\n";
  EXPECT_EQ(ask(running.port(), chunks + "0\r\n\r\n").status(), 413);
}

TEST(HttpBody, HasToArriveInTime) {
  const RunningServer running(add_writing_routes, {.read_time = milliseconds(200)});
  const RawAnswer answer = ask(
      running.port(), std::string("POST /write") + kRequestHead + "Content-Length: 5\r\n\r\nhe");
  EXPECT_EQ(answer.status(), 408);
  EXPECT_TRUE(answer.has("Connection: close\r\n"));
}

TEST(HttpBody, IsRefusedByRoutesThatTakeNone) {
  const RunningServer running(add_writing_routes);
  EXPECT_EQ(ask(running.port(), request("GET /read", "", "x")).status(), 413);
  const RawAnswer read_only = ask(running.port(), request("POST /read", "", "x"));
  EXPECT_EQ(read_only.status(), 405);
  EXPECT_TRUE(read_only.has("Allow: GET, HEAD\r\n"));
  const RawAnswer write_only = ask(running.port(), request("GET /write"));
  EXPECT_EQ(write_only.status(), 405);
  EXPECT_TRUE(write_only.has("Allow: POST\r\n"));
  EXPECT_TRUE(ask(running.port(), request("PUT /both")).has("Allow: GET, HEAD, POST\r\n"));
  EXPECT_EQ(ask(running.port(), request("POST /nothing", "", "x")).status(), 404);
}

TEST(HttpBody, IsNotTakenFromPagesOfOtherSites) {
  const RunningServer running(add_writing_routes);
  const auto from = [&](const std::string& line) {
    return ask(running.port(), request("POST /write", line + "\r\n", "x")).status();
  };
  EXPECT_EQ(from("Origin: http://localhost"), 200);
  EXPECT_EQ(from("Origin: http://evil.example"), 403);
  EXPECT_EQ(from("Origin: null"), 403);
  EXPECT_EQ(from("Sec-Fetch-Site: cross-site"), 403);
}

HttpOptions kept_alive() { return {.requests_per_connection = 3}; }

TEST(HttpConnection, IsKeptForAFewRequests) {
  const RunningServer running(add_writing_routes, kept_alive());
  const RawClient client(running.port());
  client.send(request("GET /read"));
  const RawAnswer first{client.receive_one()};
  EXPECT_EQ(first.body(), "read");
  EXPECT_FALSE(first.has("Connection: close"));
  client.send(request("POST /write", "", "x"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "post :x");
  client.send(request("GET /read"));
  const RawAnswer last{client.receive()};
  EXPECT_EQ(last.body(), "read");
  EXPECT_TRUE(last.has("Connection: close\r\n"));
}

TEST(HttpConnection, IsKeptAfterARefusalOfAWholeRequest) {
  const RunningServer running(add_writing_routes, kept_alive());
  const RawClient client(running.port());
  client.send(request("GET /nothing"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.status(), 404);
  client.send(request("GET /broken"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.error(), "broken");
  client.send(request("GET /read"));
  EXPECT_EQ(RawAnswer{client.receive()}.body(), "read");
}

TEST(HttpConnection, IsKeptAfterAnAnswerWithoutItsBody) {
  const RunningServer running(add_writing_routes, kept_alive());
  const RawAnswer both =
      ask(running.port(), request("HEAD /read") + request("GET /read", "Connection: close\r\n"));
  EXPECT_TRUE(both.has("Content-Length: 4\r\n"));
  EXPECT_TRUE(both.body().starts_with("HTTP/1.1 200 OK\r\n")) << both.text;
  EXPECT_TRUE(both.text.ends_with("\r\n\r\nread"));
}

TEST(HttpConnection, AnswersRequestsThatWereSentAtOnceInOrder) {
  const RunningServer running(add_writing_routes, kept_alive());
  const RawClient client(running.port());
  std::string all;
  for (const char* body : {"1", "2", "3", "4"}) all += request("POST /write", "", body);
  client.send(all);
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "post :1");
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "post :2");
  EXPECT_EQ(RawAnswer{client.receive()}.body(), "post :3");
}

TEST(HttpConnection, EndsWhereTheClientWishesOrItsRequestIsNotWhole) {
  const RunningServer running(add_writing_routes, kept_alive());
  for (const std::string& bytes :
       {request("GET /read", "Connection: close\r\n"), request("GET /read", "", "body"),
        std::string("nonsense\r\n\r\n"),
        std::string("GET /read HTTP/1.0\r\nHost: localhost\r\n\r\n"),
        request("GET /" + std::string(100000, 'a'))}) {
    const RawAnswer answer = ask(running.port(), bytes);
    EXPECT_NE(answer.status(), 0) << bytes.substr(0, 100);
    EXPECT_TRUE(answer.has("Connection: close\r\n") || answer.has("HTTP/1.0 200"))
        << bytes.substr(0, 100);
  }
}

TEST(HttpConnection, EndsWhenItIsIdleForTooLong) {
  const RunningServer running(add_writing_routes,
                              {.requests_per_connection = 3, .idle_time = milliseconds(200)});
  const RawClient client(running.port());
  client.send(request("GET /read"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "read");
  EXPECT_EQ(client.receive(), "");
}

TEST(HttpConnection, EndsWithTheServerThoughItIsIdle) {
  HttpOptions options = kept_alive();
  options.idle_time = milliseconds(60000);
  RunningServer running(add_writing_routes, options);
  const RawClient client(running.port());
  client.send(request("GET /read"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "read");
  const auto begin = Clock::now();
  running.end();
  EXPECT_LT(Clock::now() - begin, milliseconds(20000));
  EXPECT_EQ(client.receive(), "");
}

TEST(HttpConnection, HasItsTimeForEachRequestAnew) {
  const RunningServer running(add_writing_routes, {.read_time = milliseconds(300),
                                                   .requests_per_connection = 3,
                                                   .idle_time = milliseconds(20000)});
  const RawClient client(running.port());
  client.send(request("GET /read"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "read");
  std::this_thread::sleep_for(milliseconds(500));
  client.send(request("GET /read"));
  EXPECT_EQ(RawAnswer{client.receive_one()}.body(), "read");
  client.send("GET /re");
  EXPECT_EQ(RawAnswer{client.receive()}.status(), 408);
}

TEST(HttpStatistics, CountsRequestsByWhatBecameOfThem) {
  RunningServer running(add_writing_routes);
  EXPECT_EQ(running.server().statistics().requests(), 0U);
  for (int i = 0; i < 3; ++i) ask(running.port(), request("POST /write", "", "x"));
  for (const char* bytes : {"nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: evil\r\n\r\n"}) {
    ask(running.port(), bytes);
  }
  get(running.port(), "/broken");
  const HttpStatistics found = running.server().statistics();
  EXPECT_EQ(found.succeeded, 3U);
  EXPECT_EQ(found.client_errors, 2U);
  EXPECT_EQ(found.server_errors, 1U);
  EXPECT_EQ(found.requests(), 6U);
  EXPECT_EQ(found.refused, 0U);
  EXPECT_GT(found.seconds, 0);
}

TEST(HttpStatistics, KnowsWhoIsConnectedAndWhoWasRefused) {
  RunningServer running(add_writing_routes, {.connections = 2, .requests_per_connection = 3});
  {
    const RawClient first(running.port());
    const RawClient second(running.port());
    for (const RawClient* client : {&first, &second}) {
      client->send(request("GET /read"));
      EXPECT_EQ(RawAnswer{client->receive_one()}.body(), "read");
    }
    EXPECT_EQ(running.server().statistics().open, 2U);
    const RawClient third(running.port());
    EXPECT_EQ(RawAnswer{third.receive()}.status(), 503);
    EXPECT_EQ(running.server().statistics().refused, 1U);
    EXPECT_EQ(running.server().statistics().server_errors, 0U);
  }
  const auto end = Clock::now() + milliseconds(20000);
  while (running.server().statistics().open > 0 && Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(running.server().statistics().open, 0U);
}

}  // namespace
}  // namespace hgt
