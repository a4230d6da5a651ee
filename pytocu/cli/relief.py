"""Shaded relief of an elevation raster: the function that ``pytocu demo`` compiles, and its picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pytocu.cli.terminal import CommandError, suggestion
from pytocu.jitted import jit

LAND_COLOURS = ("#5b8a68", "#8fae7d", "#d6d2a4", "#c8ab7f", "#a17f63", "#8d7566", "#d9d2cb")
"""From valleys to summits."""

METRES_PER_DEGREE = 6_371_008.8 * math.pi / 180
"""Of latitude, on a sphere with the Earth's mean radius."""


@jit(static=("azimuth", "altitude"))
def shaded_relief(elevation, dx, dy, azimuth=315.0, altitude=45.0):
    """Brightness of each inner cell of a surface in the light of a distant sun.

    Parameters
    ----------
    elevation : array of float, shape (n, m)
        Metres; rows go from north to south, columns from west to east.
    dx, dy : float
        Size of a cell in metres.
    azimuth, altitude : float
        Where the light comes from, in degrees clockwise from north and above the horizon.

    Returns
    -------
    array of float, shape (n - 2, m - 2)
        0 for the darkest and 1 for the brightest.
    """
    sun, height = math.radians(azimuth), math.radians(altitude)
    east = (elevation[1:-1, 2:] - elevation[1:-1, :-2]) / (2 * dx)
    north = (elevation[:-2, 1:-1] - elevation[2:, 1:-1]) / (2 * dy)
    slope = np.arctan(np.hypot(east, north))
    downhill = np.arctan2(-east, -north)
    shade = math.sin(height) * np.cos(slope) + math.cos(height) * np.sin(slope) * np.cos(sun - downhill)
    return np.clip(shade, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Raster:
    """An elevation raster.

    Attributes
    ----------
    elevation : ndarray of float32, shape (n, m)
        Metres; rows go from north to south.
    dx, dy : float
        Size of a cell in metres.
    title : str
    """

    elevation: np.ndarray
    dx: float
    dy: float
    title: str


def load_raster() -> Raster:
    """The raster that matplotlib ships: the Jacksboro fault in Tennessee, from NASA's SRTM.

    Raises
    ------
    CommandError
        Matplotlib, or its sample data, is not installed.
    """
    try:
        from matplotlib.cbook import get_sample_data
    except ImportError:
        raise CommandError("the demo needs matplotlib for its data and its picture: pip install 'pytocu[demo]'") from None
    try:
        sample: Any = get_sample_data("jacksboro_fault_dem.npz")
    except FileNotFoundError as error:
        instead = "pip install --force-reinstall matplotlib"
        raise CommandError(f"matplotlib is installed without its sample data ({error}): {instead}") from None
    with sample:
        elevation = sample["elevation"].astype(np.float32)
        latitude = math.radians((float(sample["ymin"]) + float(sample["ymax"])) / 2)
        dx = float(sample["dx"]) * METRES_PER_DEGREE * math.cos(latitude)
        dy = float(sample["dy"]) * METRES_PER_DEGREE
    return Raster(elevation, dx, dy, "Jacksboro fault, Tennessee")


def check_picture(path: str) -> None:
    """Refuse a place where no picture can be before anything is computed.

    Raises
    ------
    CommandError
        The folder is missing, or the ending names no format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    place = Path(path)
    if place.is_dir():
        raise CommandError(f"--output {path} is a folder: name a picture in it")
    if not place.parent.is_dir():
        raise CommandError(f"--output {path}: there is no folder {str(place.parent)!r}")
    known = FigureCanvasAgg.get_supported_filetypes()
    ending = place.suffix[1:].lower()
    if ending not in known:
        said = f".{ending} is no ending" if ending else "it has no ending"
        raise CommandError(f"--output {path}: {said} of a picture{suggestion(ending, known)}")


def draw(raster: Raster, shade: np.ndarray, path: str) -> None:
    """Write the picture: terrain colours darkened and lightened by the shade.

    Parameters
    ----------
    shade : ndarray, shape (n - 2, m - 2)
        What :func:`shaded_relief` returned.
    path : str
        Any format matplotlib writes, by its ending.

    Raises
    ------
    CommandError
        The file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure

    elevation = raster.elevation[1:-1, 1:-1]
    land = LinearSegmentedColormap.from_list("land", LAND_COLOURS)
    norm = Normalize(float(elevation.min()), float(elevation.max()))
    kilometres = (0.0, elevation.shape[1] * raster.dx / 1000, 0.0, elevation.shape[0] * raster.dy / 1000)

    figure = Figure(figsize=(9.4, 8.3), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.075, 0.065, 0.8, 0.855))
    axes.imshow(_overlaid(land(norm(elevation))[..., :3], shade), extent=kilometres, interpolation="bilinear")
    axes.set(xlabel="east [km]", ylabel="north [km]")
    axes.set_title(f"{raster.title}\nshaded relief, light from the north-west at 45°, one fused kernel", fontsize=12)
    bar: Any = figure.colorbar(ScalarMappable(norm, land), cax=figure.add_axes((0.895, 0.2, 0.025, 0.585)))
    bar.set_label("elevation [m]")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path!r} cannot be written: {error}") from None


def _overlaid(colours: np.ndarray, shade: np.ndarray) -> np.ndarray:
    """Colours blended with the shade as painters' programs call "overlay"; level ground keeps its colour.

    ``2 c s`` below the shade of one half, ``1 - 2 (1 - c)(1 - s)`` above.
    """
    level = math.sin(math.radians(45.0))
    light = np.where(shade < level, 0.5 * shade / level, 0.5 + 0.5 * (shade - level) / (1 - level))[..., np.newaxis]
    return np.where(light < 0.5, 2 * colours * light, 1 - 2 * (1 - colours) * (1 - light))
