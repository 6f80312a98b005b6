"""Search strings: of what is listed, of the annotations of media, and of the media of annotations."""

from __future__ import annotations

import pytest

from tests.rules.rulebook import ANNOTATIONS, EVERY, MEDIA, rule
from tests.rules.worlds import ANNOTATIONS as ANNOTATION_KINDS
from tests.rules.worlds import KINDS, World

ROWS = [
    ("Foo", "A"),
    ("fOO", "A"),
    ('"Foo"', "A"),
    ("blob", "AB"),
    ("Foo bar", "AB"),
    ("Foo AND bar", ""),
    ("Foo OR bar", "AB"),
    ("n:1", "A"),
    ("n:1 n:5", "AE"),
    ("n:(1 OR 2)", "AB"),
    ("n:1 AND s:Foo", "A"),
    ("(n:1 OR n:2) AND b:false", "B"),
    ("NOT n:1", "BCDE"),
    ("n:>0 AND NOT s:Foo", "BE"),
    ("+n:>0 -s:Foo", "BE"),
    ("n:>1", "BE"),
    ("n:>=2", "BE"),
    ("n:<2", "A"),
    ("n:<=2", "AB"),
    ("n:[1 TO 2]", "AB"),
    ("n:{1 TO 5}", "B"),
    ("n:[2 TO *]", "BE"),
    ("n:[* TO 1]", "A"),
    ("f:[0 TO 1]", "A"),
    ("f:1.5", "B"),
    ("b:true", "A"),
    ("s:Foo", "A"),
    ("s:foo", "A"),
    ("s:Fo", ""),
    ("s:F*", "A"),
    ("s:?ar", "B"),
    ("s:*o*", "A"),
    ("s:/F.o/", ""),
    ("s:fop~1", "A"),
    ("s:zzz~", ""),
    ("s:Foo^3", "A"),
    ('e:"Dark Red"', "B"),
    (r"e:Dark\ Red", "B"),
    ("e:*red", "AB"),
    ("o:blob*", "AB"),
    ("t:2021-06-01", "B"),
    ("t:2020", "A"),
    ("t:>2020-12-31", "B"),
    ("t:[2020-01-01 TO 2020-12-31]", "A"),
    ("_exists_:n", "ABE"),
    ("NOT _exists_:n", "CD"),
    ("_exists_:extra", "E"),
    ("extra:x", "E"),
    ("*", "ABCDE"),
    ("_created_datetime:>2020-01-01", "ABCDE"),
    ("_created_datetime:<2020-01-01", ""),
    ("_modified_datetime:[2020-01-01 TO *]", "ABCDE"),
]
WRONG = ["n:x", "n:[1 TO", "(n:1", "nowhere:1", "b:[1 TO 2", "g:1"]


@rule(
    "QP",
    "`search` finds by the words, fields, phrases, wildcards, ranges and signs of search engines.",
    takes="search",
    of=EVERY,
)
@pytest.mark.parametrize(("text", "letters"), ROWS, ids=[row[0] for row in ROWS])
def test_search(world: World, text, letters):
    for kind in KINDS:
        assert world.found(kind, search=text) == letters, kind


@rule("QP", "`annotation_search` is about the annotations of the media listed.", takes="annotation_search", of=[MEDIA])
@rule("QA", "`media_search` is about the media of the annotations listed.", takes="media_search", of=ANNOTATIONS)
def test_searches_of_the_other_side(world: World):
    for text, letters in ROWS[::2]:
        assert world.found("media", annotation_search=text) == letters, text
        for kind in ANNOTATION_KINDS:
            assert world.found(kind, media_search=text) == letters, text


@rule("QP", "What cannot be read, names nothing known or compares what cannot be compared, is 400.")
@pytest.mark.parametrize("text", WRONG)
def test_wrong_searches_are_refused(world: World, text):
    for kind in KINDS:
        assert world.refuses(kind, search=text)
    world.refuses("media", annotation_search=text)
    for kind in ANNOTATION_KINDS:
        world.refuses(kind, media_search=text)


@rule("Older clients", "Built-in fields have underscored names in search strings, of each kind its own.")
def test_underscored_names(world: World):
    media, user = world.ids["media"], world.api.user
    for kind in KINDS:
        ids = world.ids[kind]
        assert world.found(kind, search=f"_postgres_id:{ids['B']}") == "B"
        assert world.found(kind, search=f"_meta:{world.types[kind]}") == "ABCD"
        assert world.found(kind, search=f"_created_by:{user.id} AND _modified_by:{user.id}") == "ABCDE"
    said = world.api.patch(
        f"Media/{media['B']}", {"num_frames": 50, "fps": 25, "codec": "h264", "width": 64, "height": 48}
    )
    assert said.status == 200
    for text, letters in {
        "filename:B": "B",
        "_exact_name:b": "B",
        "_exact_name:(b OR c)": "BC",
        "_md5:md5C": "C",
        "_num_frames:[1 TO 50]": "B",
        "_fps:25": "B",
        "_codec:h264": "B",
        "_rows:48": "B",
        "_columns:64": "B",
        "_duration:2": "B",
        "_archive_state:live": "ABCDE",
        "_dtype:video": "ABCDE",
        "_dtype:image": "",
        "_exists_:_gid": "",
        "tator_user_sections:x": "",
    }.items():
        assert world.found("media", search=text) == letters, text
    for kind in ANNOTATION_KINDS:
        assert world.found(kind, search=f"_annotation_version:{world.version}") == "ABCDE"
        assert world.found(kind, search=f"_user:{user.id}") == "ABCDE"
        assert world.found(kind, search=f"_email:{user.email}") == "ABCDE"
        assert world.found(kind, search='_email:"somebody@else.org"') == ""
        assert world.found(kind, search="_frame:[2 TO 3]") == "CD"
    for text, letters in {
        "_x:0.1": "B",
        "_y:<0.25": "DE",
        "_width:0.1": "ABCDE",
        "_height:>1": "",
        "_exists_:_u": "",
        "_exists_:_v": "",
        "_dtype:box": "ABCDE",
    }.items():
        assert world.found("localization", search=text) == letters, text
    path = world.one("leaf", world.ids["leaf"]["C"])["path"]
    for text, letters in {
        "_exact_treeleaf_name:c": "C",
        "_treeleaf_depth:0": "ABCDE",
        f"_treeleaf_path:{path}": "C",
    }.items():
        assert world.found("leaf", search=text) == letters, text


@rule("Older clients", "A slash in a search is a slash; blanks in names are escaped.")
def test_marks_in_searches(world: World):
    number = world.ids["localization"]["D"]
    assert world.api.patch(f"Localization/{number}", {"attributes": {"s": "a/b c"}}).status == 200
    for text in ('s:"a/b c"', r"s:a/b\ c", "s:a/*", r"s:a\/b\ c", '"a/b"'):
        assert world.found("localization", search=text) == "D", text
    assert world.api.patch(f"Localization/{number}", {"null_attributes": ["s"]}).status == 200
