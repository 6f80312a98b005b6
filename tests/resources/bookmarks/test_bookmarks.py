"""What a bookmark may lead to."""

from __future__ import annotations

HOSTILE = (
    *(
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "\x01javascript:x",
    ),
    *("data:text/html,<script>", "vbscript:x", "file:///etc/passwd", "blob:https://example.org/1", "ftp://example.org"),
    *("https:", "http:/\\x", "https:// x", "\\\\example.org\\x:y", "jar:https://example.org!/x"),
)
PLAIN = (
    "https://example.org/a?b=c#d",
    "HTTP://example.org",
    "/1/project-detail/2",
    "annotation/3?frame=4",
    "#/media",
    "?a=b:c",
)


def test_a_bookmark_leads_to_http_or_to_a_path_of_the_service(api, project):
    where = f"Bookmarks/{project}"
    for uri in PLAIN:
        number = api.made(where, {"name": "b", "uri": uri})
        assert api.get(f"Bookmark/{number}").json["uri"] == uri
    for uri in HOSTILE:
        assert api.post(where, {"name": "b", "uri": uri}).status == 400, uri
        assert api.patch(f"Bookmark/{number}", {"uri": uri}).status == 400, uri


def test_its_name_may_stand_in_the_query(api, project):
    where = f"Bookmarks/{project}"
    number = api.made(where, {"uri": "/a"}, name="reef")
    assert api.get(f"Bookmark/{number}").json["name"] == "reef"
    refused = api.post(where, {"name": "wreck", "uri": "/a"}, name="reef")
    assert (refused.status, "'wreck' in the body and 'reef' in the query" in refused.json["details"]) == (400, True)
