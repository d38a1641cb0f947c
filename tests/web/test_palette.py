"""Colours of curves are told apart, on either theme, also by whoever lacks one of the three kinds of cones, and are read on what is behind them."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

STYLE = Path(__file__).parents[2] / "web" / "src" / "style.css"
# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009), of severity 1.
EYES = {
    "three kinds of cones": np.eye(3),
    "no long ones": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no medium ones": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "no short ones": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
WHITE = np.array([0.9505, 1.0, 1.089])
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART, READ = 10.0, 4.5
"""Least distance in CIELAB, chosen when the colours were (those before had 4 and 2), and the least contrast of WCAG's level AA."""


def tokens(theme: int) -> dict[str, np.ndarray]:
    """The linear light of each colour of a theme: 0 is the light one."""
    found: dict[str, np.ndarray] = {}
    for name, *both in re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", STYLE.read_text()):
        value = np.array([int(both[theme][at : at + 2], 16) for at in (0, 2, 4)]) / 255
        found[name] = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return found


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(np.maximum(XYZ @ np.clip(light, 0, 1) / WHITE, 216 / 24389))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    least, most = sorted(float(XYZ[1] @ each) for each in (one, other))
    return (most + 0.05) / (least + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_no_two_curves_look_alike(theme: int, eyes: str) -> None:
    colours = {name: lab(EYES[eyes] @ light) for name, light in tokens(theme).items() if re.fullmatch(r"c\d", name)}
    assert len(colours) == 8
    near = {(one, other): float(np.linalg.norm(colours[one] - colours[other])) for one, other in itertools.combinations(colours, 2)}
    assert {pair: distance for pair, distance in near.items() if distance < APART} == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_each_is_read_on_the_page_and_on_panels(theme: int) -> None:
    colours = tokens(theme)
    for name in [each for each in colours if re.fullmatch(r"c\d", each)]:
        assert min(contrast(colours[name], colours[behind]) for behind in ("paper", "panel")) >= READ, name
