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

TEST(RequestTarget, IsAPathAndDecodedParameters) {
  const RequestTarget target = parse_target("/a%20b?x=1+2%263&name=%C3%BC&flag&=e&&empty=");
  EXPECT_EQ(target.path, "/a%20b");
  EXPECT_EQ(target.query.size(), 5U);
  EXPECT_EQ(target.query.at("x"), "1 2&3");
  EXPECT_EQ(target.query.at("name"), "\xc3\xbc");
  EXPECT_EQ(target.query.at("flag"), "");
  EXPECT_EQ(target.query.at(""), "e");
  EXPECT_EQ(target.query.at("empty"), "");
  EXPECT_EQ(parse_target("/a?x=1%3F").query.at("x"), "1?");
  EXPECT_EQ(parse_target("/a?x=b=c").query.at("x"), "b=c");
  EXPECT_TRUE(parse_target("").path.empty());
  EXPECT_TRUE(parse_target("/?").query.empty());
}

TEST(RequestTarget, IsRefusedWhenAParameterIsWronglyEncoded) {
  for (const char* query : {"x=%", "x=%2", "x=%2g", "x=%g2", "%=1", "?x=1", "x=1?y=2"}) {
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

RequestHead posted(const std::string& origin, const std::string& site = "") {
  return {.method = "POST",
          .target = "/",
          .hosts = {"LocalHost:80"},
          .origin = origin,
          .fetch_site = site,
          .fetch_mode = "navigate",
          .fetch_destination = "document"};
}

TEST(CrossSite, IsNoRequestOfOwnPagesAndOfPrograms) {
  EXPECT_FALSE(is_cross_site(posted("")));
  EXPECT_FALSE(is_cross_site(posted("http://localhost:80")));
  EXPECT_FALSE(is_cross_site(posted("https://LOCALHOST:80")));
  EXPECT_FALSE(is_cross_site(posted("http://localhost:80", "same-origin")));
  RequestHead led = posted("null", "cross-site");
  led.method = "GET";
  EXPECT_FALSE(is_cross_site(led)) << "a link to the page";
}

TEST(CrossSite, IsWhatCouldChangeSomethingForAnotherOrigin) {
  for (const char* origin : {"null", "http://evil.example", "http://localhost",
                             "http://localhost:81", "ftp://localhost:80", "localhost:80"}) {
    EXPECT_TRUE(is_cross_site(posted(origin))) << origin;
  }
  EXPECT_TRUE(is_cross_site(posted("", "cross-site"))) << "a form that is sent to the page";
  EXPECT_TRUE(is_cross_site(posted("http://localhost:80", "same-site")));
}

}  // namespace
}  // namespace hgt
