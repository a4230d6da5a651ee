"""pytocu demo: shaded relief of a real elevation raster, compared with NumPy and drawn.

Shows the fused kernel, the largest difference from NumPy, and both times, on the CPU and on the GPU if
there is one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.cli import relief
from pytocu.cli.relief import Raster, check_picture, draw, load_raster, shaded_relief
from pytocu.cli.terminal import CommandError, show, suggestion, table
from pytocu.runtime import cuda, device_array, threads
from pytocu.testing.compare import ulp_distance

EPILOG = "the picture's data comes with matplotlib: pip install 'pytocu[demo]'"

DEVICES = ("auto", "cpu", "cuda")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--output", default="relief.png", metavar="FILE", help="the picture (default: relief.png)")
    parser.add_argument("--device", default="auto", metavar="|".join(DEVICES), help="auto (default): the CPU and any GPU")
    parser.add_argument("--size", default=1500, type=_size, metavar="N", help="side of the larger raster that is timed (1500)")


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 3 <= int(text) <= 30000:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write a number from 3 to 30000")
    return int(text)


def run(options: argparse.Namespace) -> None:
    """Run the demo."""
    if options.device not in DEVICES:
        raise CommandError(f"--device {options.device}{suggestion(options.device, DEVICES)}")
    there, reason = (False, "") if options.device == "cpu" else cuda.available()
    if options.device == "cuda" and not there:
        raise CommandError(f"--device cuda: {reason}")
    raster = load_raster()
    check_picture(options.output)
    rows, columns = raster.elevation.shape
    show(f"{raster.title}: {rows} x {columns} cells of {raster.dx:.1f} m x {raster.dy:.1f} m, elevation in float32\n")
    _show_kernel()
    expected = shaded_relief.__wrapped__(raster.elevation, raster.dx, raster.dy)
    shade = _compare("CPU", expected, shaded_relief(raster.elevation, raster.dx, raster.dy))
    if there:
        copied = device_array.to_device(raster.elevation, cuda.current_device())
        shade = _compare("GPU", expected, shaded_relief(copied, raster.dx, raster.dy).copy_to_host())
    show("")
    _show_times(raster, options.size, there)
    if options.device == "auto" and not there:
        show(f"\nNo GPU: {reason}")
    draw(raster, shade, options.output)
    show(f"\nwrote {options.output}")


def _show_kernel() -> None:
    types = ("f32[n, m]", "weak float", "weak float")
    lowered = shaded_relief.lower(*types)
    text = lowered.ir("fuse")
    number = text.count(" = kernel ")
    show(f"The function becomes {'one kernel' if number == 1 else f'{number} kernels'}. As IR:", "header")
    show(text, "ir")
    source = lowered.compile("cuda:sm_90", "cuda_c").source
    show(f"\nCUDA C of it has {len(source.splitlines())} lines, and needs no GPU to be looked at:", "header")
    place = f"{relief.__file__}:{shaded_relief.__name__}"
    show(f'  pytocu dump {place} --args "{", ".join(types)}" --emit cuda\n')


def _compare(where: str, expected: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Print how far the result is from NumPy's, and return it."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise CommandError(f"{where}: NumPy gives {expected.dtype}{expected.shape} and pytocu {found.dtype}{found.shape}")
    ulp = int(ulp_distance(found, expected).max())
    largest = float(np.abs(found.astype(np.float64) - expected).max())
    show(
        f"{where} against NumPy: both {found.dtype} of shape {found.shape}; "
        f"largest difference {largest:.2g} (at most {ulp} ulp)"
    )
    return found


def _show_times(raster: Raster, size: int, on_gpu: bool) -> None:
    rows, columns = raster.elevation.shape
    tiled = np.tile(raster.elevation, (-(-size // rows), -(-size // columns)))[:size, :size]
    show("Median time of a call:", "header")
    for elevation in (raster.elevation, np.ascontiguousarray(tiled)):
        arguments = (elevation, raster.dx, raster.dy)
        numpy_time = _median(lambda a=arguments: shaded_relief.__wrapped__(*a))
        times = [("NumPy", numpy_time)]
        times.append((f"pytocu, CPU, {threads.thread_count()} threads", _median(lambda a=arguments: shaded_relief(*a))))
        if on_gpu:
            times.extend(_gpu_times(arguments))
        show(f"  {elevation.shape[0]} x {elevation.shape[1]}")
        show(table([(name, f"{t * 1e3:9.3f} ms {numpy_time / t:8.1f} x NumPy") for name, t in times], indent="    "))


def _gpu_times(arguments: tuple[Any, ...]) -> list[tuple[str, float]]:
    """On an array that is on the GPU already, many launches in a row; and with the copies there and back."""
    elevation, dx, dy = arguments
    device = cuda.current_device()
    copied = device_array.to_device(elevation, device)

    def launches() -> None:
        for _ in range(20):
            shaded_relief(copied, dx, dy)
        cuda.synchronize(0, device)

    def with_copies() -> None:
        shaded_relief(device_array.to_device(elevation, device), dx, dy).copy_to_host()

    return [
        (f"pytocu, {cuda.device_name(device)}", _median(launches) / 20),
        ("the same with copies to the GPU and back", _median(with_copies)),
    ]


def _median(call: Callable[[], Any], seconds: float = 0.06) -> float:
    """Seconds of a call: the median of as many as fit the time, and of three at least."""
    call()
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < 3 or (len(times) < 200 and time.perf_counter() - started < seconds):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return statistics.median(times)
