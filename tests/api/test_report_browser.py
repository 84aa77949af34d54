"""The report page in a browser without network: no errors, no requests, a picture that follows the slider."""

import io
import shutil

import numpy as np
import pytest

from rodsim import report, simulate
from tests.support.reports import NASTY, model

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
]
WAIT = 120_000  # ms: drawn in software, on a machine that does other things


@pytest.fixture(scope="module")
def opened_page(tmp_path_factory):
    """The page of a cord with a box, its result, and the console messages and requests of the browser."""
    if BROWSER is None:
        pytest.skip("no browser: none of chromium, chromium-browser, google-chrome is installed")
    api = pytest.importorskip("playwright.sync_api")
    folder = tmp_path_factory.mktemp("browser")
    result = simulate(model(NASTY, f"cord {NASTY}"), 0.6, 0.02)
    path = report(result, folder / "page.html")
    console, requests = [], []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 900, "height": 760}, offline=True)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("console", lambda message: console.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: console.append(str(error)))
        page.on("dialog", lambda dialog: (console.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]", state="attached")
        yield page, result, console, requests
        browser.close()


def pixels(page):
    """Pixels of the motion view, (height, width, 3)."""
    from PIL import Image

    picture = page.locator("#motion-view").screenshot()
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)


def slide(page, k):
    """Move the slider as a user does, and wait for the picture."""
    page.evaluate(
        """async (k) => {
            const slider = document.getElementById("slider");
            slider.value = String(k);
            slider.dispatchEvent(new Event("input"));
            await rodsimReport.player.busy;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }""",
        k,
    )


def drawn_vertices(page):
    """Vertices (n, 3) of the rod drawn by plotly."""
    return np.array(
        page.evaluate("""() => {
            const { x, y, z } = document.getElementById("motion-view").data[0];
            return Array.from(x, (_, k) => [x[k], y[k], z[k]]);
        }""")
    )


def test_report_slider_moves_the_rod(opened_page):
    page, result, *_ = opened_page
    rod = result.rods[0]
    pictures = []
    for k in (0, 25):
        slide(page, k)
        vertices = drawn_vertices(page)
        station = np.array(page.evaluate("Array.from(rodsimReport.scene.meshes[0].station)"))
        for node, end in ((0, station == 0), (-1, station == station.max())):  # the first and the last ring
            assert vertices[end].mean(axis=0) == pytest.approx(result.rod(rod).r[k, node], abs=1e-5)
        pictures.append(pixels(page))
    colours = len(np.unique(pictures[1].reshape(-1, 3), axis=0))
    assert colours > 100  # not empty
    assert np.mean(np.abs(pictures[1] - pictures[0]).max(axis=2) > 20) > 0.01
    assert page.locator("#now").text_content() == f"t = {result.t[25]:.2f} s"


def test_report_play_advances_to_the_end_and_stops(opened_page):
    page, result, *_ = opened_page
    slide(page, 20)
    page.locator("#speed").select_option("4")
    page.locator("#play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_selector(f"body[data-output='{result.n_outputs - 1}']", state="attached")
    page.get_by_role("button", name="Play").wait_for()


def test_colours_are_the_values_along_the_rod(opened_page):
    page, result, *_ = opened_page
    slide(page, 20)
    page.locator("#color").select_option("N1")
    page.evaluate("rodsimReport.player.busy")
    intensity = page.evaluate("Array.from(document.getElementById('motion-view').data[0].intensity)")
    N = result.rod(result.rods[0]).along("N", [0, 1])[20, :, 0]
    assert intensity[0] == pytest.approx(N[0], rel=1e-5)
    assert intensity[-1] == pytest.approx(N[-1], rel=1e-5)
    page.locator("#color").select_option("")


def test_report_heat_map_and_profile_show_the_strains(opened_page):
    page, result, *_ = opened_page
    slide(page, 20)
    page.locator("#strain-component").select_option("K3")
    heat = page.evaluate("document.getElementById('chart-strains').data[0].z.map((row) => Array.from(row))")
    n = result.rod(result.rods[0]).K.shape[1]
    at_nodes = result.rod(result.rods[0]).along("K", np.linspace(0, 1, n + 1))[..., 2]
    assert np.array(heat) == pytest.approx(at_nodes.T, rel=1e-5, abs=1e-9)
    profile = page.evaluate("Array.from(document.getElementById('chart-profile').data[0].y)")
    assert profile == pytest.approx(at_nodes[20], rel=1e-5, abs=1e-9)


def test_every_chart_is_drawn_and_follows_the_slider(opened_page):
    page, result, *_ = opened_page
    slide(page, 11)
    charts = page.locator(".chart")
    assert charts.count() >= 8
    for k in range(charts.count()):
        chart = charts.nth(k)
        assert chart.locator("svg.main-svg").count() > 0
    energy = page.locator("#chart-energy")
    energy.scroll_into_view_if_needed()
    page.wait_for_selector("#chart-energy .shapelayer path", state="attached")
    assert page.evaluate("document.getElementById('chart-energy').layout.shapes[0].x0") == pytest.approx(
        result.t[11]
    )
    totals = page.evaluate(
        "Array.from(document.getElementById('chart-energy')._fullData.find((c) => c.name === 'total').y)"
    )
    assert totals == pytest.approx(result.energy["total"], rel=1e-5)


def test_page_makes_no_requests_and_logs_no_errors(opened_page):
    page, _, console, requests = opened_page
    slide(page, 5)
    assert console == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert sum(url.startswith("file:") for url in requests) == 1
    assert page.title().startswith(NASTY)


def test_chart_tool_bar_does_not_cover_curves_or_names(opened_page):
    """The buttons of plotly are buttons of the page: a style rule for all buttons once made them as wide as
    "Play".
    """
    page, *_ = opened_page
    charts = page.evaluate("""() => [...document.querySelectorAll(".chart")].map((div) => {
        const box = (found) => found ? ((r) => [r.left, r.top, r.right, r.bottom])(found.getBoundingClientRect()) : null;
        const [left, top] = box(div), size = div._fullLayout._size;
        return {
            curves: [left + size.l, top + size.t, left + size.l + size.w, top + size.t + size.h],
            bar: box(div.querySelector(".modebar")), names: box(div.querySelector(".legend")),
            buttons: [...div.querySelectorAll(".modebar-btn")].map(box),
        };
    })""")
    assert len(charts) >= 6
    for chart in charts:
        assert len(chart["buttons"]) > 3
        assert max(right - left for left, _, right, _ in chart["buttons"]) < 40
        assert chart["bar"][3] <= chart["curves"][1]
        if chart["names"] is not None:
            assert chart["bar"][3] <= chart["names"][1]


def test_supports_and_driven_frames_are_marked(opened_page):
    page, result, *_ = opened_page
    names = page.evaluate('() => document.getElementById("motion-view").data.map((trace) => trace.name)')
    supports = [joint for joint in result.layout.joints if 0 in joint.frames]
    assert ("supports" in names) == bool(supports)
    assert ("joints" in names) == (len(supports) < len(result.layout.joints))
