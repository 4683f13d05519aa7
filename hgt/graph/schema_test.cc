#include "hgt/graph/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/random.h"

namespace hgt {
namespace {

Schema people_and_papers() {
  Schema schema;
  schema.add_node_type("paper", NodeKind::event);
  schema.add_node_type("author", NodeKind::plain);
  return schema;
}

// --- declaring ---

TEST(Schema, NumbersNodeTypesInTheOrderOfTheirDeclaration) {
  const Schema schema = people_and_papers();
  EXPECT_EQ(index(schema.node_type("paper")), 0U);
  EXPECT_EQ(index(schema.node_type("author")), 1U);
  EXPECT_EQ(schema.at(NodeType(0)).kind, NodeKind::event);
  EXPECT_EQ(schema.at(NodeType(1)).kind, NodeKind::plain);
}

TEST(Schema, RefusesANodeTypeDeclaredTwice) {
  Schema schema = people_and_papers();
  const auto again = [&] { schema.add_node_type("paper", NodeKind::plain); };
  EXPECT_TRUE(contains(error_of(again), "'paper'"));
  EXPECT_EQ(schema.node_types().size(), 2U);
}

TEST(Schema, ListsTheKnownTypesWhenOneIsUnknown) {
  const std::string error = error_of([] { people_and_papers().node_type("venue"); });
  for (const char* part : {"venue", "paper", "author"}) EXPECT_TRUE(contains(error, part)) << error;
  EXPECT_NE(error_of([] { Schema().node_type("x"); }), "");
}

TEST(Schema, ListsTheKnownRelationsWhenOneIsUnknown) {
  const Schema schema = small_schema();
  const std::string error = error_of([&] { schema.relation("paper", "writes", "author"); });
  EXPECT_TRUE(contains(error, "author -writes-> paper")) << error;
  EXPECT_TRUE(contains(error, "paper -appears_in-> venue")) << error;
  EXPECT_NE(error_of([&] { schema.relation("paper", "cites", "nothing"); }), "");
}

TEST(Schema, AcceptsTheNamesItPromisesAndNoOthers) {
  for (const std::string name : {"a", "Paper", "p_1", "a-b", "a.b", "9", "_", "-"}) {
    EXPECT_TRUE(is_valid_name(name)) << name;
  }
  EXPECT_TRUE(is_valid_name(std::string(100, 'x')));
  EXPECT_FALSE(is_valid_name(std::string(101, 'x')));
  for (const std::string name :
       {"", ".", "..", ".a", "a b", "a/b", "a\n", "\xc3\xa9", "a\\", "*"}) {
    EXPECT_FALSE(is_valid_name(name)) << name;
    Schema schema = people_and_papers();
    EXPECT_THROW(schema.add_node_type(name, NodeKind::plain), Error) << name;
    EXPECT_THROW(schema.add_relation({.source = "paper", .edge = name, .target = "author"}), Error);
    if (name.empty()) continue;  // an empty reverse asks for the default
    EXPECT_THROW(
        schema.add_relation({.source = "paper", .edge = "e", .target = "author", .reverse = name}),
        Error)
        << name;
  }
  EXPECT_FALSE(is_valid_name(std::string_view("a\0", 2)));
}

TEST(Schema, AddsTheReverseOfEveryRelation) {
  Schema schema = people_and_papers();
  schema.add_relation({.source = "author",
                       .edge = "writes",
                       .target = "paper",
                       .times = true,
                       .weights = true,
                       .unique = true});
  schema.number_relations();
  ASSERT_EQ(schema.relations().size(), 2U);
  const Relation writes = schema.relation("author", "writes", "paper");
  const Relation reverse = schema.relation("paper", "rev_writes", "author");
  EXPECT_EQ(schema.reverse(writes), reverse);
  EXPECT_EQ(schema.reverse(reverse), writes);
  EXPECT_FALSE(schema.at(writes).reverse);
  EXPECT_TRUE(schema.at(reverse).reverse);
  for (const RelationSpec& spec : schema.relations()) {
    EXPECT_TRUE(spec.times && spec.weights && spec.unique);
  }
  EXPECT_EQ(schema.describe(reverse), "paper -rev_writes-> author");
}

TEST(Schema, TakesAReverseOfTheUsersChoice) {
  Schema schema = people_and_papers();
  schema.add_relation(
      {.source = "author", .edge = "writes", .target = "paper", .reverse = "written_by"});
  schema.number_relations();
  EXPECT_EQ(schema.reverse(schema.relation("author", "writes", "paper")),
            schema.relation("paper", "written_by", "author"));
}

TEST(Schema, StoresASymmetricRelationOnceAsItsOwnReverse) {
  Schema schema = people_and_papers();
  schema.add_relation({.source = "author", .edge = "knows", .target = "author", .symmetric = true});
  schema.number_relations();
  ASSERT_EQ(schema.relations().size(), 1U);
  EXPECT_EQ(schema.reverse(Relation(0)), Relation(0));
  EXPECT_FALSE(schema.at(Relation(0)).reverse);
}

TEST(Schema, KeepsTheDirectionsOfARelationWithinOneTypeApart) {
  Schema schema = people_and_papers();
  schema.add_relation({.source = "paper", .edge = "cites", .target = "paper"});
  schema.number_relations();
  const Relation cites = schema.relation("paper", "cites", "paper");
  EXPECT_NE(schema.reverse(cites), cites);
  EXPECT_EQ(schema.reverse(schema.reverse(cites)), cites);
}

TEST(Schema, LetsOneEdgeTypeJoinSeveralPairsOfTypes) {
  Schema schema = people_and_papers();
  schema.add_relation({.source = "author", .edge = "likes", .target = "paper"});
  schema.add_relation({.source = "author", .edge = "likes", .target = "author"});
  schema.number_relations();
  EXPECT_EQ(schema.edge_types().size(), 2U);
  EXPECT_EQ(schema.reverse(schema.relation("author", "likes", "author")),
            schema.relation("author", "rev_likes", "author"));
  EXPECT_EQ(schema.reverse(schema.relation("author", "likes", "paper")),
            schema.relation("paper", "rev_likes", "author"));
}

TEST(Schema, RefusesRelationsThatMakeNoSense) {
  const auto refused = [](const RelationDeclaration& declaration, const std::string& part) {
    Schema schema = people_and_papers();
    schema.add_relation({.source = "author", .edge = "writes", .target = "paper"});
    const std::string error = error_of([&] { schema.add_relation(declaration); });
    EXPECT_TRUE(error != "" && contains(error, part)) << declaration.edge << ": " << error;
  };
  refused({.source = "author", .edge = "self", .target = "paper"}, "self");
  refused({.source = "author", .edge = "likes", .target = "paper", .reverse = "self"}, "self");
  refused({.source = "nobody", .edge = "likes", .target = "paper"}, "nobody");
  refused({.source = "author", .edge = "likes", .target = "nothing"}, "nothing");
  refused({.source = "author", .edge = "likes", .target = "paper", .symmetric = true}, "symmetric");
  refused({.source = "author", .edge = "likes", .target = "paper", .reverse = "likes"}, "likes");
  refused({.source = "author", .edge = "writes", .target = "paper"}, "writes");
  refused({.source = "paper", .edge = "rev_writes", .target = "author", .reverse = "writes"},
          "rev_writes");
  refused({.source = "paper", .edge = "x", .target = "author", .reverse = "writes"}, "writes");
  refused({.source = "author", .edge = "writes", .target = "author", .reverse = "y"}, "reverse");
}

TEST(Schema, NumbersRelationsByTargetTypeThenEdgeName) {
  const Schema schema = small_schema();
  uint32_t last = 0;
  uint32_t expected_slot = 0;
  std::vector<std::string> described;
  for (size_t i = 0; i < schema.relations().size(); ++i) {
    const RelationSpec& spec = schema.at(Relation(i));
    ASSERT_GE(index(spec.target), last);
    expected_slot = index(spec.target) == last ? expected_slot : 0;
    last = index(spec.target);
    EXPECT_EQ(spec.slot, expected_slot);
    EXPECT_EQ(schema.incoming(spec.target)[expected_slot++], Relation(i));
    described.push_back(schema.describe(Relation(i)));
  }
  EXPECT_EQ(described,
            (std::vector<std::string>{"paper -cites-> paper", "paper -is_cited_by-> paper",
                                      "venue -rev_appears_in-> paper", "author -writes-> paper",
                                      "author -knows-> author", "paper -rev_writes-> author",
                                      "paper -appears_in-> venue"}));
  size_t total = 0;
  for (size_t type = 0; type < 3; ++type) total += schema.incoming(NodeType(type)).size();
  EXPECT_EQ(total, schema.relations().size());
}

TEST(Schema, NumbersRelationsTheSameInWhateverOrderTheyAreDeclared) {
  const std::vector<RelationDeclaration> declarations = {
      {.source = "author", .edge = "likes", .target = "paper"},
      {.source = "paper", .edge = "cites", .target = "paper"},
      {.source = "author", .edge = "likes", .target = "author"},
      {.source = "author", .edge = "knows", .target = "author", .symmetric = true}};
  std::vector<size_t> order = {0, 1, 2, 3};
  std::string expected;
  do {
    Schema schema = people_and_papers();
    for (const size_t i : order) schema.add_relation(declarations[i]);
    schema.number_relations();
    if (expected.empty()) expected = schema.to_json();
    EXPECT_EQ(schema.to_json(), expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Schema, ReadsBackTheNamesOfItsChoices) {
  for (const TimeUnit unit : {TimeUnit::year, TimeUnit::month, TimeUnit::day, TimeUnit::hour,
                              TimeUnit::minute, TimeUnit::second}) {
    EXPECT_EQ(from_word<TimeUnit>(to_string(unit)), unit);
  }
  EXPECT_EQ(from_word<FeatureType>("float16"), FeatureType::float16);
  EXPECT_EQ(from_word<FeatureType>(to_string(FeatureType::float32)), FeatureType::float32);
  EXPECT_TRUE(contains(error_of([] { from_word<TimeUnit>("week"); }), "week"));
  EXPECT_TRUE(contains(error_of([] { from_word<FeatureType>("double"); }), "double"));
}

// --- schema.json ---

// A schema in which no field has its default value.
Schema full_schema() {
  Schema schema = small_schema();
  schema.time_unit = TimeUnit::minute;
  schema.time_range = {-2147483647, 2147483647};
  schema.origin = {{"program", "test \"quoted\" \n\xc3\xa9"}, {"", ""}};
  NodeTypeSpec& paper = schema.at(NodeType(0));
  paper.nodes = kMaxNodes;
  paper.features = {.width = 768,
                    .type = FeatureType::float16,
                    .origin = "a\\b",
                    .missing = 17,
                    .flagged = true,
                    .until = -3,
                    .key = "0123456789abcdef",
                    .file = "features_9.npy"};
  paper.labels = {
      {.name = "topic", .classes = {"9", "10", ""}, .class_names = {"n", "t", "e"}, .split = true},
      {.name = "second", .classes = {}, .class_names = {}, .split = false}};
  schema.at(NodeType(1)).first_id = std::numeric_limits<int64_t>::min();
  schema.at(NodeType(1)).features = {.width = 1};
  schema.at(NodeType(2)).first_id = std::numeric_limits<int64_t>::max();
  double value = 0.1;
  for (size_t i = 0; i < schema.relations().size(); ++i, value = value * 7 + 1.0 / 3) {
    RelationSpec& spec = schema.at(Relation(i));
    spec.edges = (uint64_t{1} << 47U) + i;
    spec.repeated = i + 1;
    spec.degrees = {.mean = value, .median = i + 0.5, .maximum = 40 + i, .without = 50 + i};
  }
  schema.arrays = {{.file = "paper/x.npy", .dtype = "<f2", .shape = {3, 768}, .checksum = 1},
                   {.file = "b.npy", .dtype = "|u1", .shape = {0}, .checksum = ~uint64_t{0}}};
  return schema;
}

void expect_same_types(const Schema& a, const Schema& b) {
  ASSERT_EQ(a.node_types().size(), b.node_types().size());
  for (size_t i = 0; i < a.node_types().size(); ++i) {
    const NodeTypeSpec& left = a.node_types()[i];
    const NodeTypeSpec& right = b.node_types()[i];
    EXPECT_EQ(std::tie(left.name, left.kind, left.nodes, left.first_id, left.names),
              std::tie(right.name, right.kind, right.nodes, right.first_id, right.names));
    ASSERT_EQ(left.features.has_value(), right.features.has_value());
    if (left.features) {
      EXPECT_EQ(std::tie(left.features->width, left.features->type, left.features->origin,
                         left.features->missing, left.features->flagged, left.features->until,
                         left.features->key, left.features->file),
                std::tie(right.features->width, right.features->type, right.features->origin,
                         right.features->missing, right.features->flagged, right.features->until,
                         right.features->key, right.features->file));
    }
    ASSERT_EQ(left.labels.size(), right.labels.size());
    for (size_t k = 0; k < left.labels.size(); ++k) {
      EXPECT_EQ(std::tie(left.labels[k].name, left.labels[k].classes, left.labels[k].class_names,
                         left.labels[k].split),
                std::tie(right.labels[k].name, right.labels[k].classes, right.labels[k].class_names,
                         right.labels[k].split));
    }
  }
}

void expect_same_relations(const Schema& a, const Schema& b) {
  ASSERT_EQ(a.edge_types().size(), b.edge_types().size());
  for (size_t i = 0; i < a.edge_types().size(); ++i) {
    EXPECT_EQ(a.edge_types()[i].name, b.edge_types()[i].name);
    EXPECT_EQ(a.edge_types()[i].reverse, b.edge_types()[i].reverse);
  }
  ASSERT_EQ(a.relations().size(), b.relations().size());
  for (size_t i = 0; i < a.relations().size(); ++i) {
    const auto fields = [](const RelationSpec& spec) {
      return std::tie(spec.source, spec.edge, spec.target, spec.slot, spec.reverse, spec.times,
                      spec.weights, spec.unique, spec.edges, spec.repeated, spec.degrees.mean,
                      spec.degrees.median, spec.degrees.maximum, spec.degrees.without);
    };
    EXPECT_EQ(fields(a.relations()[i]), fields(b.relations()[i])) << i;
    EXPECT_EQ(a.reverse(Relation(i)), b.reverse(Relation(i)));
  }
}

TEST(SchemaJson, KeepsEveryField) {
  const Schema schema = full_schema();
  const Schema read = Schema::from_json(schema.to_json(), "x/schema.json");
  EXPECT_EQ(read.time_unit, schema.time_unit);
  EXPECT_EQ(read.time_range, schema.time_range);
  EXPECT_EQ(read.origin, schema.origin);
  expect_same_types(schema, read);
  expect_same_relations(schema, read);
  ASSERT_EQ(read.arrays.size(), schema.arrays.size());
  for (size_t i = 0; i < read.arrays.size(); ++i) {
    const auto fields = [](const ArrayRecord& array) {
      return std::tie(array.file, array.dtype, array.shape, array.checksum);
    };
    EXPECT_EQ(fields(read.arrays[i]), fields(schema.arrays[i]));
  }
  EXPECT_EQ(read.to_json(), schema.to_json());
}

TEST(SchemaJson, KeepsASchemaWithNothingInIt) {
  Schema schema;
  schema.number_relations();
  const Schema read = Schema::from_json(schema.to_json(), "schema.json");
  EXPECT_TRUE(read.node_types().empty());
  EXPECT_EQ(read.time_range, std::nullopt);
  EXPECT_EQ(read.to_json(), schema.to_json());
}

TEST(SchemaJson, SurvivesClassesThatAreNotUtf8) {
  Schema schema = full_schema();
  schema.at(NodeType(0)).labels[0].classes = {"\xff\xfe", "ok", std::string("\0", 1)};
  const Schema read = Schema::from_json(schema.to_json(), "schema.json");
  ASSERT_EQ(read.at(NodeType(0)).labels[0].classes.size(), 3U);
  EXPECT_EQ(read.at(NodeType(0)).labels[0].classes[1], "ok");
  EXPECT_EQ(read.at(NodeType(0)).labels[0].classes[2], std::string("\0", 1));
}

// A damaged text must give an Error that names the file, or else still mean the same (white space).
void expect_refused_or_unchanged(const std::string& damaged, const std::string& good) {
  std::string read;
  const std::string error =
      error_of([&] { read = Schema::from_json(damaged, "place/schema.json").to_json(); });
  if (error.empty()) {
    EXPECT_EQ(read, good) << "a changed file was taken for good";
  } else {
    EXPECT_TRUE(contains(error, "place/schema.json")) << error;
  }
}

TEST(SchemaJson, RefusesEveryTruncation) {
  const std::string text = full_schema().to_json();
  for (size_t length = 0; length + 1 < text.size(); length += 50) {
    EXPECT_NE(error_of([&] { Schema::from_json(text.substr(0, length), "schema.json"); }), "")
        << length;
  }
  const std::string but_two = text.substr(0, text.size() - 2);  // the last brace is gone
  EXPECT_NE(error_of([&] { Schema::from_json(but_two, "schema.json"); }), "");
}

TEST(SchemaJson, NeverAcceptsAFlippedCharacterThatChangesItsMeaning) {
  const std::string text = full_schema().to_json();
  Draws draws(101);
  for (size_t at = 0; at < text.size(); at += 2) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1U << draws.below(8)));
    expect_refused_or_unchanged(damaged, text);
  }
  for (size_t at = 1; at < text.size(); at += 4) {
    std::string damaged = text;
    damaged[at] = "0123456789-.eE\"{}[],: x\\\0\xff"[draws.below(26)];
    expect_refused_or_unchanged(damaged, text);
  }
}

TEST(SchemaJson, RefusesRemovedAndRepeatedLines) {
  const std::string text = small_schema().to_json();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    expect_refused_or_unchanged(text.substr(0, begin) + text.substr(end), text);
    expect_refused_or_unchanged(text.substr(0, end) + line + text.substr(end), text);
    begin = end;
  }
}

TEST(SchemaJson, RefusesTextThatIsNoSchema) {
  for (const std::string text : {"", "{}", "[]", "null", "1", "\"hgt-graph\"", "{\"format\": 1}",
                                 "{\"format\": \"hgt-graph\"}", "{\"format\": \"other\"}",
                                 "{\"format\": \"hgt-graph\", \"version\": 1}", "\xff\xfe"}) {
    const std::string error = error_of([&] { Schema::from_json(text, "place/schema.json"); });
    EXPECT_TRUE(contains(error, "place/schema.json")) << text;
  }
  EXPECT_NE(error_of([] { Schema::from_json(std::string(100'000, '['), "schema.json"); }), "");
}

// --- a schema.json whose checksum fits but whose content does not ---

using OrderedJson = nlohmann::ordered_json;

template <typename Change>
std::string forged(const Change& change) {
  OrderedJson json = OrderedJson::parse(full_schema().to_json());
  json.erase("checksum");
  change(json);
  const std::string dump = json.dump();
  json["checksum"] = fmt::format("{:016x}", checksum(std::as_bytes(std::span(dump))));
  return json.dump(1);
}

template <typename Change>
std::string error_of_forged(const Change& change) {
  return error_of([&] { Schema::from_json(forged(change), "schema.json"); });
}

TEST(ForgedSchema, WithoutAChangeIsAccepted) {
  EXPECT_EQ(error_of_forged([](OrderedJson&) {}), "");
}

TEST(ForgedSchema, OfAnotherVersionNamesBothVersions) {
  const std::string error = error_of_forged([](OrderedJson& json) { json["version"] = 3; });
  EXPECT_TRUE(contains(error, "version 3") && contains(error, "versions 1 to 2")) << error;
}

TEST(ForgedSchema, WithoutAFieldIsRefused) {
  for (const char* field :
       {"origin", "time_unit", "node_types", "edge_types", "relations", "arrays"}) {
    EXPECT_NE(error_of_forged([&](OrderedJson& json) { json.erase(field); }), "") << field;
  }
  const OrderedJson good = OrderedJson::parse(full_schema().to_json());
  for (const char* list : {"node_types", "edge_types", "relations", "arrays"}) {
    for (const auto& item : good.at(list)[0].items()) {
      if (item.key() == "features") continue;  // may be absent
      EXPECT_NE(error_of_forged([&](OrderedJson& json) { json[list][0].erase(item.key()); }), "")
          << list << " " << item.key();
    }
  }
}

TEST(ForgedSchema, WithAnImpossibleValueIsRefused) {
  const auto refuse = [](const std::string& pointer, const OrderedJson& value) {
    EXPECT_NE(error_of_forged(
                  [&](OrderedJson& json) { json.at(OrderedJson::json_pointer(pointer)) = value; }),
              "")
        << pointer << " = " << value;
  };
  refuse("/time_unit", "week");
  refuse("/time_unit", 3);
  refuse("/time_range", {1});
  refuse("/node_types/0/kind", "none");
  refuse("/node_types/0/name", "author");
  refuse("/node_types/0/name", "../x");
  refuse("/node_types/0/nodes", kMaxNodes + 1);
  refuse("/node_types/0/nodes", -1);
  refuse("/node_types/0/nodes", "many");
  refuse("/node_types/0/features/type", "float64");
  refuse("/node_types/0/features/width", 1);  // the column that flags and nothing else
  refuse("/node_types/0/features/flagged", "yes");
  refuse("/node_types/0/features/until", "2014");
  refuse("/node_types/0/features/key", 5);
  refuse("/node_types/0/features/file", "../x.npy");
  refuse("/node_types/0/features/file", "");
  refuse("/node_types/0/labels/0/name", "a/b");
  refuse("/edge_types/0/reverse", "nothing");
  refuse("/relations/0/source", "nobody");
  refuse("/relations/0/edge", "a b");
  refuse("/relations/0/times", 1);
  refuse("/arrays/0/dtype", "<f8");
  refuse("/arrays/0/checksum", "zz");
  refuse("/arrays/0/file", "../outside.npy");
  refuse("/arrays/0/file", "paper/../../outside.npy");
  refuse("/arrays/0/file", "/etc/passwd");
  refuse("/arrays/0/shape", {uint64_t{1} << 40U, uint64_t{1} << 40U});
  refuse("/arrays/0/shape", {uint64_t{1} << 32U, uint64_t{1} << 32U});
}

TEST(ForgedSchema, WithTwoReversesForOneEdgeTypeIsRefused) {
  const std::string error = error_of_forged([](OrderedJson& json) {
    OrderedJson astray = json["edge_types"][0];
    astray["reverse"] = "nothing";
    json["edge_types"].insert(json["edge_types"].begin(), astray);
  });
  EXPECT_NE(error, "") << "Schema::reverse would look for a relation that is not there";
}

TEST(ForgedSchema, WithARelationTwiceIsRefused) {
  EXPECT_NE(
      error_of_forged([](OrderedJson& json) { json["relations"].push_back(json["relations"][0]); }),
      "");
}

}  // namespace
}  // namespace hgt
