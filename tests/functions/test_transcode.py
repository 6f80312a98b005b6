"""The transcode queue's function: an image whose media is not stored yet is waited for, once."""

from chalicelib.resources.media.messages import ImportImage
from chalicelib.settings import settings
from tests.queue_runner import deliver


def failed(count):
    message = ImportImage(media=10**12 + count, url="https://example.org/a.jpg")
    return deliver(settings().transcode_queue_url, message, count=count)["batchItemFailures"]


def test_an_image_whose_media_is_not_there_yet_is_tried_again():
    assert len(failed(1)) == 1


def test_one_that_never_came_is_given_up():
    assert failed(2) == []
