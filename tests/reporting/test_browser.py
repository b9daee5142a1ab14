"""The pages in headless Chromium: no error, every image and link there, the tables complete."""

from urllib.parse import unquote

import pytest

from pipeline.reporting.labels import PAGES
from tests.reporting.browser import needs_chromium, open_page
from tests.reporting.conftest import SOME
from tests.reporting.reading import Reader

pytestmark = needs_chromium


def visit(path, profile):
    content, errors = open_page(path, profile)
    return Reader(content), errors


def test_a_broken_image_is_an_error_that_this_test_sees(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<img src="nowhere.svg"><script>console.error("x")</script>')
    assert visit(page, tmp_path / "profile")[1]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_in_the_browser(report, tmp_path, page):
    folder = report.root / "reports"
    seen, errors = visit(folder / f"{page}.html", tmp_path)
    assert errors == []
    assert len(seen.links) > len(PAGES) - 1
    for address in seen.images + seen.links:
        assert "://" not in address, f"{address} needs a network"
        assert (folder / unquote(address)).is_file(), address
    for name, rows in seen.tables.items():
        assert len({len(row) for row in rows}) == 1, name


def test_the_tables_in_the_browser_have_the_expected_cells(report, tmp_path):
    seen, _ = visit(report.root / "reports/base.html", tmp_path)
    assert len(seen.tables["table_2"]) == 1 + len(SOME)
    assert seen.tables["table_2"][1] == [
        "Frequency",
        *("0.117\n0.106", "0.150\n0.136", "0.134\n0.122"),
        *("0.396\n0.360", "0.397\n0.361", "0.372\n0.338"),
    ]
