"""The transcode queue's function: an image whose media is not stored yet is waited for, soon and then longer."""

import pytest

from chalicelib.resources.media.messages import ImportImage
from chalicelib.settings import settings
from functions import worker
from tests.queue_runner import deliver


def failed(count):
    message = ImportImage(media=10**12 + count, url="https://example.org/a.jpg")
    return deliver(settings().transcode_queue_url, message, count=count)["batchItemFailures"]


@pytest.mark.slow
def test_an_image_whose_media_is_not_there_yet_is_tried_again():
    for count in range(1, len(worker.STORED) + 1):
        assert len(failed(count)) == 1


def test_it_is_there_within_seconds_and_waited_for_as_long_as_a_request_may_take():
    assert worker.STORED[0] <= 1
    assert worker.STORED[0] + worker.STORED[1] <= 5
    assert sum(worker.STORED) > 29
    assert len(worker.STORED) < worker.RECEIVES


def test_one_that_never_came_is_given_up():
    assert failed(worker.RECEIVES) == []
