import io

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from chalicelib.errors import BadInput
from chalicelib.video.pictures.render import RenderOptions, Roi, parse_rois, parse_size, render_frames
from tests.video.clips import draw, read


def opened(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def frames(count, size=(160, 120)):
    return [draw(number, size) for number in range(count)]


@pytest.mark.parametrize(("form", "mime"), [("png", "image/png"), ("jpg", "image/jpeg"), ("gif", "image/gif")])
def test_one_frame_is_a_plain_picture(form, mime):
    data, kind = render_frames(frames(1), RenderOptions(format=form))
    assert kind == mime
    assert (opened(data).size, read(opened(data))) == ((160, 120), 0)


def test_three_frames_make_a_square_with_a_black_cell():
    data, _ = render_frames(frames(3, (1280, 720)), RenderOptions())
    grid = opened(data)
    assert grid.size == (2560, 1440)
    cells = [grid.crop((x, y, x + 1280, y + 720)) for y in (0, 720) for x in (0, 1280)]
    assert [read(cell) for cell in cells[:3]] == [0, 1, 2]
    assert cells[3].getextrema() == ((0, 0), (0, 0), (0, 0))


@pytest.mark.parametrize(
    ("tile", "size"), [((5, 1), (800, 120)), ((1, 5), (160, 600)), ((2, 2), (480, 240)), (None, (480, 240))]
)
def test_a_grid_too_small_is_replaced(tile, size):
    data, _ = render_frames(frames(5), RenderOptions(tile=tile))
    assert opened(data).size == size


@pytest.mark.parametrize(("count", "columns", "rows"), [(2, 2, 1), (4, 2, 2), (5, 3, 2), (9, 3, 3), (10, 4, 3)])
def test_grids_are_as_square_as_they_can_be(count, columns, rows):
    data, _ = render_frames(frames(count, (16, 16)), RenderOptions())
    assert opened(data).size == (columns * 16, rows * 16)


def test_a_roi_is_cut_and_then_scaled():
    data, _ = render_frames(frames(1), RenderOptions(rois=(Roi(0.25, 0.25, 0, 0),), force_scale=(33, 44)))
    image = opened(data)
    assert image.size == (33, 44)
    assert min(image.getpixel((16, 22))) > 250


def test_each_frame_may_have_its_own_roi():
    rois = parse_rois("0.25:0.25:0:0,0.25:0.25:0.75:0")
    data, _ = render_frames(frames(2), RenderOptions(rois=rois))
    image = opened(data)
    assert image.size == (80, 30)
    assert (min(image.getpixel((5, 5))), max(image.getpixel((75, 5)))) == (255, 0)


def test_animations_keep_order_and_rate():
    data, mime = render_frames(frames(6), RenderOptions(animate=5))
    image = Image.open(io.BytesIO(data))
    assert (mime, image.n_frames, image.info["duration"]) == ("image/gif", 6, 200)
    shown = []
    for number in range(6):
        image.seek(number)
        shown.append(read(image.convert("RGB")))
    assert shown == list(range(6))
    data, mime = render_frames(frames(6, (161, 121)), RenderOptions(format="mp4", animate=5))
    with av.open(io.BytesIO(data)) as container:
        assert (mime, container.streams.video[0].average_rate) == ("video/mp4", 5)
        assert [read(frame.to_image()) for frame in container.decode(video=0)] == list(range(6))


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (2, RenderOptions(animate=2, tile=(2, 1))),
        (3, RenderOptions(rois=parse_rois("1:1:0:0,1:1:0:0"))),
        (0, RenderOptions()),
    ],
)
def test_options_that_do_not_go_together_are_refused(count, options):
    with pytest.raises(BadInput):
        render_frames(frames(count), options)


@pytest.mark.parametrize("text", ["", "x", "640", "640x", "0x5", "99999x2", "a x b", "-1x5"])
def test_sizes_must_be_sizes(text):
    with pytest.raises(BadInput, match="force_scale"):
        parse_size(text, "force_scale")


@pytest.mark.parametrize("text", ["", "1:1:0", "a:b:c:d", "1:1:0:nan", "1:1:0:0,"])
def test_rois_must_be_rois(text):
    with pytest.raises(BadInput, match="roi"):
        parse_rois(text)


def test_values_above_one_mean_the_whole():
    assert parse_rois("640:480:0:0") == (Roi(1, 1, 0, 0),)
    assert parse_size("640x480", "tile") == (640, 480)


def gif(image):
    with Image.open(io.BytesIO(render_frames([image, image], RenderOptions(format="gif", animate=2))[0])) as made:
        return made.convert("RGB")


def test_an_animation_of_few_colours_has_exactly_these():
    image = Image.new("RGB", (300, 200), (250, 3, 7))
    for number in range(255):
        image.putpixel((7 + number, 5), (number, 255 - number, 100))
    assert gif(image).tobytes() == image.tobytes()


def test_an_animation_of_many_colours_is_close_to_them():
    channels = [Image.linear_gradient("L").rotate(turn) for turn in (0, 90, 180)]
    image = Image.merge("RGB", channels)
    difference = ImageStat.Stat(ImageChops.difference(gif(image), image))
    assert max(difference.mean) < 6
