import pytest

from eval_tasks import documents
from eval_tasks.errors import ExperimentStopped

CORPUS = """\
schemaVersion: context-eval.corpus.v1
id: mine@1
sampling: Chosen by hand.
minimumCases: 30
minimumProbes: 30
marginPoints: 5
"""


def refused(tmp_path, text, schema="corpus"):
    path = tmp_path / "corpus.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ExperimentStopped) as caught:
        documents.read(path, "corpus/corpus.yaml", schema)
    return str(caught.value)


def test_a_good_document_is_read_with_the_line_of_each_key(tmp_path):
    path = tmp_path / "corpus.yaml"
    path.write_text(CORPUS)
    document = documents.read(path, "corpus.yaml", "corpus")
    assert document.value["minimumCases"] == 30
    assert document.line(("minimumProbes",)) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CORPUS + "surprise: 1\n", "corpus/corpus.yaml:1: unknown key 'surprise'"),
        (
            CORPUS.replace("30\nminimumProbes", "29\nminimumProbes"),
            "corpus/corpus.yaml:4: minimumCases: breaks minimum 30",
        ),
        (
            CORPUS.replace("marginPoints: 5", "marginPoints: 11"),
            "corpus/corpus.yaml:6: marginPoints: breaks maximum 10",
        ),
        (
            CORPUS.replace("marginPoints: 5", "marginPoints: 0"),
            "corpus/corpus.yaml:6: marginPoints: breaks exclusiveMin",
        ),
        (CORPUS + "id: other@2\n", "corpus/corpus.yaml:7: the key 'id' stands twice"),
        (CORPUS + "x: [1,\n", "corpus/corpus.yaml:8: not valid YAML"),
        (
            CORPUS + "x: &a [1]\ny: *a\n",
            "corpus/corpus.yaml:7: not valid YAML: what stands here is used again by an alias",
        ),
        (CORPUS + "x: !!python/name:os.system\n", "corpus/corpus.yaml:7: not valid YAML"),
        (b"id: \xff\n", "corpus/corpus.yaml: not valid UTF-8 at byte 4"),
        ("", "corpus/corpus.yaml:1: must be of type object"),
    ],
)
def test_a_malformed_document_gets_one_line_with_file_line_and_reason(tmp_path, text, message):
    said = refused(tmp_path, text)
    assert said.startswith(message)
    assert "\n" not in said


def test_a_missing_document_is_named(tmp_path):
    with pytest.raises(ExperimentStopped, match=r"^eval\.yaml: there is no such file"):
        documents.read(tmp_path / "eval.yaml", "eval.yaml")
