#!/usr/bin/env python3
"""Builds labelled sets from public repositories, each at a fixed commit, in the form that benchsearch reads.

    scripts/benchsearch/fetchsets.py FOLDER [SET ...]

FOLDER/SET gets corpus.jsonl, queries.jsonl and qrels.tsv. Repositories are fetched with git into
FOLDER/.repositories, only the files that a set needs. A set that is complete is left as it is. Nothing that is
fetched belongs into this repository: each source has its own licence, named below.
"""
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

QUESTIONS = Path(__file__).parent / "questions"


class Source:
    """A public repository at one commit."""

    def __init__(self, folder, repository, commit):
        self.commit = commit
        self.path = folder / ".repositories" / repository.replace("/", "+")
        if not self.path.is_dir():
            self.path.mkdir(parents=True)
            self.git("init", "-q")
            self.git("remote", "add", "origin", "https://github.com/" + repository)
        self.git("fetch", "-q", "--depth", "1", "--filter=blob:none", "origin", commit)

    def git(self, *arguments):
        done = subprocess.run(["git", "-c", "gc.auto=0", "-C", self.path, *arguments], check=True, stdout=subprocess.PIPE)
        return done.stdout.decode()

    def read(self, path):
        return self.git("show", f"{self.commit}:{path}")

    def list(self, prefix, suffix):
        names = self.git("ls-tree", "-r", "-z", "--name-only", self.commit, prefix).split("\0")
        return [n for n in names if n.endswith(suffix)]


class Set:
    """The documents, questions and judgements of one set."""

    def __init__(self):
        self.documents, self.questions, self.relevant = [], [], []

    def document(self, key, title, text):
        self.documents.append({"id": str(key), "title": title, "text": text})

    def question(self, key, text, documents):
        self.questions.append({"id": str(key), "text": text})
        self.relevant += [(str(key), str(d)) for d in documents]

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus.jsonl", self.documents), ("queries.jsonl", self.questions)):
            text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
            (folder / name).write_text(text, encoding="utf-8")
        lines = "".join(f"{q}\t{d}\t1\n" for q, d in self.relevant)
        (folder / "qrels.tsv").write_text(lines, encoding="utf-8")


def cranfield(source):
    """Abstracts of aerodynamics and questions of researchers, graded; every grade but the lowest is relevant. Public test data."""
    out = Set()
    pages = re.findall(r"<doc>(.*?)</doc>", source.read("cran.all.1400.xml"), re.S)
    field = lambda page, name: " ".join("".join(re.findall(rf"<{name}>(.*?)</{name}>", page, re.S)).split())
    for page in pages:
        title, text = field(page, "title"), field(page, "text")
        out.document(field(page, "docno"), title, text.removeprefix(title).strip())
    relevant = {}
    for line in source.read("cranqrel.trec.txt").splitlines():
        question, _, document, grade = line.split()
        if int(grade) > 0:
            relevant.setdefault(int(question), []).append(document)
    texts = re.findall(r"<title>\s*(.*?)\s*</title>", source.read("cran.qry.xml"), re.S)
    for number, text in enumerate(texts, 1):
        if number in relevant:
            out.question(f"q{number}", " ".join(text.split()), relevant[number])
    return out


def seamonkey(source):
    """Bug reports; the summary of a report asks for its duplicates. CC BY 4.0."""
    csv.field_size_limit(1 << 30)
    out, titles = Set(), {}
    for row in csv.DictReader(io.StringIO(source.read("seamonkey/SeaMonkey_bugs.csv"))):
        titles[row["Issue id"]] = row["Summary"]
        out.document(row["Issue id"], row["Summary"], row["Description"])
    duplicates = {}
    for row in csv.DictReader(io.StringIO(source.read("seamonkey/SeaMonkey_bugs-combined.csv"))):
        found = [d.strip() for d in re.split(r"[,;\s]+", row["Duplicate id"]) if d.strip() in titles]
        if row["Issue id"] in titles and found:
            duplicates.setdefault(row["Issue id"], []).extend(found)
    for report, found in duplicates.items():
        out.question(report, titles[report], sorted(set(found) - {report}))
    return out


def cosqa(source):
    """Web queries for Python functions, the half that the set cosqa does not use. C-UDA 1.0."""
    out = Set()
    for code, number in json.loads(source.read("data/search/code_idx_map.txt")).items():
        name = re.search(r"def\s+(\w+)", code)
        out.document(number, name.group(1) if name else "", code)
    for row in json.loads(source.read("data/search/cosqa-retrieval-dev-500.json")):
        out.question(row["idx"], row["doc"], [row["retrieval_idx"]])
    return out


def javascript(source):
    """Questions of interviews, and their answers in Markdown without the question. MIT."""
    out = Set()
    body = source.read("README.md")
    parts = re.split(r"^\d+\. ### (.*)$", body, flags=re.M)[1:]
    for number, (question, answer) in enumerate(zip(parts[::2], parts[1::2]), 1):
        answer = re.sub(r"\*\*\[.*?Back to Top.*?\]\(.*?\)\*\*", "", answer)
        text = "\n".join(line.removeprefix("    ") for line in answer.splitlines()).strip()
        if text:
            out.document(number, "", text)
            out.question(f"q{number}", question.strip(), [number])
    return out


def wikipedia(source):
    """Questions that people asked a search engine, and the paragraphs that answer them (QED). CC BY-SA 3.0 and the data's terms."""
    out, known = Set(), {}
    for line in source.read("qed-dev.jsonlines").splitlines():
        row = json.loads(line)
        text = row["paragraph_text"]
        if text not in known:
            known[text] = len(known)
            out.document(known[text], "", text)
        out.question(f"q{row['example_id']}", row["question_text"], [known[text]])
    return out


def reports(source):
    """Long documents, cut at blank lines into pieces of about 1,500 characters, and questions with the places of their answers. MIT."""
    base = "chunking_evaluation/evaluation_framework/general_evaluation_data/"
    out, pieces = Set(), {}
    for path in source.list(base + "corpora/", ".md"):
        body, name, start = source.read(path), Path(path).stem, 0
        while start < len(body):
            end = len(body)
            if end - start > 1500:
                blank = body.find("\n\n", start + 1200, start + 2400)
                space = body.rfind(" ", start, start + 2400)
                end = blank if blank >= 0 else space if space > start else start + 2400
            pieces.setdefault(name, []).append((start, end))
            out.document(f"{name}-{start}", "", body[start:end].strip())
            start = end
    for number, row in enumerate(csv.DictReader(io.StringIO(source.read(base + "questions_df.csv")))):
        found = []
        for r in json.loads(row["references"]):
            for start, end in pieces[row["corpus_id"]]:
                shared = min(end, r["end_index"]) - max(start, r["start_index"])
                if shared * 2 > r["end_index"] - r["start_index"]:
                    found.append(f"{row['corpus_id']}-{start}")
        if found:
            out.question(f"q{number}", row["question"], sorted(set(found)))
    return out


def documentation(name, prefix):
    """A product's documentation, one document a page, and the questions in other words of the folder questions."""
    def build(source):
        out = Set()
        for path in source.list(prefix, ".md"):
            front, body = re.match(r"(?s)(?:---\s*\n(.*?)\n---\s*(?:\n|$))?(.*)", source.read(path)).groups()
            heading = re.search(r"^# +(.+?)\s*#*\s*$", body, re.M)
            named = re.search(r"^title: *[\"']?(.+?)[\"']?\s*$", front or "", re.M)
            title = heading or named
            out.document(path, title.group(1) if title else Path(path).stem, body)
        for line in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            q = json.loads(line)
            out.question(q["id"], q["text"], q["pages"])
        return out
    return build


SETS = {
    "cranfield": ("oussbenk/cranfield-trec-dataset", "1208e6edfb6cb2527b2c44398d3d8fefd3249144", cranfield),
    "seamonkey": ("av9ash/gitbugs", "eadf2d6794990a1aaa26d0ae15391f29f8969301", seamonkey),
    "cosqa-others": ("Jun-jie-Huang/CoCLR", "14ebcacf9e9bc3e7109102632bc63047876f27d2", cosqa),
    "javascript": ("sudheerj/javascript-interview-questions", "997037d44b45d5320626ade1d765eb4341b4ad3f", javascript),
    "wikipedia": ("google-research-datasets/QED", "2492920337122918bbfc7d12c1268b9af796c6cf", wikipedia),
    "reports": ("brandonstarxel/chunking_evaluation", "d451fc4cf56e417b755994b4ca5212fd5057c0d2", reports),
    "other-caddy": ("caddyserver/website", "1a6bbd7d92ea03da4fc4864a096dbbb290ffc1fc", documentation("caddy", "src/docs/markdown/")),
    "other-obsidian": ("obsidianmd/obsidian-help", "fa179e91e86eaff5859226cc045c81000d64e3cd", documentation("obsidian", "en/")),
    "other-uv": ("astral-sh/uv", "26a9dd4b2125bc271b47855e1fa0c49af3365db5", documentation("uv", "docs/")),
}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or SETS:
        repository, commit, build = SETS[name]
        if (folder / name / "qrels.tsv").exists():
            continue
        out = build(Source(folder, repository, commit))
        out.save(folder / name)
        print(f"{name}: {len(out.documents)} documents, {len(out.questions)} questions, {len(out.relevant)} judgements")


if __name__ == "__main__":
    main()
