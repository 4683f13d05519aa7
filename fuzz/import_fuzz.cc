// Any text is a table that a manifest with every kind of column imports, or an hgt::Error. The
// manifest takes what the table has: columns a to f.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/fuzz_input.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "hgt/tables/table_import.h"

namespace {

const std::string kManifest =
    "time_unit = 'day'\n[[nodes]]\ntype = 'n'\nfiles = 'x.tsv'\nid = ['a', 'b']\nname = 'c'\n"
    "time = 'd'\ntime_format = '%d.%m.%Y %H:%M'\nmissing_time = 'keep'\nnull = ['NA', '\\N']\n"
    "labels = { k = 'c' }\nlabel_separator = ';'\n"
    "features = { columns = ['e', 'f'], missing = 'flag' }\n"
    "[[edges]]\ntype = 'to'\nfiles = 'x.tsv'\nsource = { type = 'n', column = ['a', 'b'] }\n"
    "target = { type = 'n', column = ['b', 'a'] }\nweight = 'e'\nmissing_weight = 1\n"
    "by_order = { column = 'f' }\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hgt::fuzz::FuzzFolder folder;
  static const bool written = (folder.write("m.toml", kManifest), true);
  if (!written) return 0;
  folder.write("x.tsv", hgt::fuzz::text_of(data, size));
  hgt::fuzz::read_or_refuse([&] {
    const hgt::Path graph = folder.path() / "graph";
    hgt::import_tables(hgt::read_manifest(folder.path() / "m.toml"), graph,
                       {.max_dropped = 1, .build = {.replace = true}});
    hgt::verify(hgt::HeteroGraph::open(graph));
  });
  return 0;
}
