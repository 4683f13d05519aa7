#include "hgt/http/request_head.h"

#include <gtest/gtest.h>

#include "hgt/http/refusal.h"

namespace hgt {
namespace {

template <typename Call>
int status_of(const Call& call) {
  try {
    call();
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
  return 200;
}

int target_status(std::string_view target) {
  return status_of([&] { parse_target(target); });
}

int head_status(std::string_view head) {
  return status_of([&] { clean_head(head); });
}

TEST(RequestTarget, IsAPathAndDecodedParameters) {
  const RequestTarget target = parse_target("/a%20b?x=1+2%263&name=%C3%BC&flag&=e&&empty=");
  EXPECT_EQ(target.path, "/a%20b");
  EXPECT_EQ(target.query.size(), 5U);
  EXPECT_EQ(target.query.at("x"), "1 2&3");
  EXPECT_EQ(target.query.at("name"), "\xc3\xbc");
  EXPECT_EQ(target.query.at("flag"), "");
  EXPECT_EQ(target.query.at(""), "e");
  EXPECT_EQ(target.query.at("empty"), "");
  EXPECT_EQ(parse_target("/a?x=b=c").query.at("x"), "b=c");
  EXPECT_TRUE(parse_target("").path.empty());
  EXPECT_TRUE(parse_target("/?").query.empty());
}

TEST(RequestTarget, IsRefusedWhenAParameterIsWronglyEncoded) {
  for (const char* query : {"x=%", "x=%2", "x=%2g", "x=%g2", "%=1"}) {
    EXPECT_EQ(target_status(std::string("/?") + query), 400) << query;
  }
}

TEST(RequestTarget, IsRefusedWhenAParameterIsNoTextOrHasControlCharacters) {
  for (const char* value : {"%ff", "%c3", "%c3%28", "%c0%80", "%ed%a0%80", "%f5%80%80%80", "%00",
                            "a%0ab", "%0d", "%7f", "%c2%85", "%09", "\xff"}) {
    EXPECT_EQ(target_status(std::string("/?x=") + value), 400) << value;
    EXPECT_EQ(target_status(std::string("/?") + value + "=1"), 400) << value;
  }
  EXPECT_EQ(target_status("/?x=%f0%9f%98%80%e5%9b%be"), 200);
}

TEST(RequestTarget, IsRefusedWhenAParameterIsGivenTwice) {
  EXPECT_EQ(target_status("/?a=1&a=2"), 400);
  EXPECT_EQ(target_status("/?a=1&a=1"), 400);
  EXPECT_EQ(target_status("/?a=1&%61=2"), 400);
}

TEST(RequestTarget, IsRefusedWhenParametersAreTooLong) {
  EXPECT_EQ(target_status("/?a=" + std::string(kMaxQuery - 2, 'b')), 200);
  EXPECT_EQ(target_status("/?a=" + std::string(kMaxQuery - 1, 'b')), 414);
}

TEST(RequestHead, KeepsOnlyWhatTheServerLooksAt) {
  EXPECT_EQ(clean_head("GET /x HTTP/1.1\r\nhOsT: localhost\r\nRange: bytes=0-1\r\nAccept-Encoding: "
                       "br\r\nContent-Length: 0\r\n\r\n"),
            "GET /x HTTP/1.1\r\nhOsT: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(clean_head("\r\n\r\n"), "\r\n\r\n");
}

TEST(RequestHead, IsRefusedUnlessItIsMadeOfHeaders) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nHost\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"sv), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nHost: a\x1b\r\n\r\n"), 400);
  EXPECT_EQ(head_status("GET / HTTP/1.1\r\nCookie: \xc3\xbc\tb\r\n\r\n"), 200);
}

TEST(OwnHost, IsThisMachineOrTheAddressThatIsServed) {
  for (const char* host : {"localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:8765", "[::1]",
                           "[::1]:1", "localhost:"}) {
    EXPECT_TRUE(is_own_host(host, "127.0.0.1")) << host;
    EXPECT_TRUE(is_own_host(host, "10.1.2.3")) << host;
  }
  EXPECT_TRUE(is_own_host("10.1.2.3:80", "10.1.2.3"));
  EXPECT_TRUE(is_own_host("[fe80::1]:80", "fe80::1"));
}

TEST(OwnHost, IsNoForeignName) {
  for (const char* host :
       {"", "evil.example", "evil.example:80", "localhost.evil.example", "evil.localhost",
        "127.0.0.1.evil.example", "localhost:80a", "localhost:80:80", "[::1", "[::1]x", "::1",
        "127.0.0.2", " localhost", "localhost@evil", "10.1.2.3"}) {
    EXPECT_FALSE(is_own_host(host, "127.0.0.1")) << host;
  }
}

TEST(OwnHost, IsEveryNumberButNoNameWhereAllAddressesAreServed) {
  for (const char* everywhere : {"0.0.0.0", "::"}) {
    EXPECT_TRUE(is_own_host("192.168.1.5:80", everywhere));
    EXPECT_TRUE(is_own_host("[fe80::1]:80", everywhere));
    EXPECT_FALSE(is_own_host("evil.example:80", everywhere));
  }
}

}  // namespace
}  // namespace hgt
