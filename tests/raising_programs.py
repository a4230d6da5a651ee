"""Programs that raise: in a module of their own, since pytest writes other texts into the assertions of tests."""

from __future__ import annotations

import numpy as np


def by_length(x, y):
    if len(x) < 2:
        raise ValueError("too short")
    return x + y[0]


def by_shapes(x, y):
    if x.shape != y.shape:
        raise ValueError(f"shapes {x.shape} and {y.shape} {{differ}}")
    return x * y


def asserted(x, y):
    assert x.shape == y.shape, "shapes %s and %s" % (x.shape, y.shape)  # noqa: UP031
    assert x.ndim == 1 and len(y) > 0, f"no elements, but {len(y)}"
    return x - y


def by_number(x, k):
    if k < 0:
        raise ValueError(f"k must not be negative, it is {k}")
    elif k > 5:
        raise IndexError(f"{k} of {len(x)}")
    return x * k


def by_data(x, k):
    if np.any(x < 0):
        raise ArithmeticError("negative")
    assert not np.isnan(x).any(), "NaN"
    total = x.sum()
    if total > 100:
        raise OverflowError("large")
    return x / (total + k)


def _checked(value, name):
    if value < 1:
        raise TypeError(f"{name} is {value}")
    return value * 2


def in_a_helper(x, k):
    return x * _checked(k, "k") + _checked(len(x), "the length")


def otherwise(x, k):
    if k == 0:
        made = x + 1
    elif k == 1:
        made = x * 2
    else:
        raise KeyError("mode")
    return made


def in_a_loop(x, k):
    x = x.copy()
    for i in range(k):
        if i > 3:
            raise RuntimeError(f"step {i}")
        x[1:] += x[:-1]
    return x


def by_data_in_a_loop(x, k):
    for i in range(k):
        x = x * 2
        if x.max() > 30:
            raise RuntimeError(f"step {i}")
    return x


def no_end(x, k):
    for _ in range(k):
        x = x / 2
        if x.max() < 0.5:
            break
    else:
        raise RuntimeError("no end")
    return x


def nested(x, k):
    if k > 0:
        if len(x) > 3:
            raise ValueError("long")
        x = x + k
    return x


def behind_a_return(x, k):
    if k == 0:
        return x
    if k == 1:
        raise ValueError("one")
    return x * 2


class Odd(Exception):
    """No exception of Python's own."""


def of_its_own(x, k):
    if k > 2:
        raise Odd("no")
    return x


def two_at_once(x, k):
    if k > 2:
        if len(x) > 2:
            raise ValueError("a")
        raise TypeError("b")
    return x


def behind_data(x, k):
    if x.sum() > 4:
        raise TypeError("a")
    raise ValueError("b")


def by_a_number_behind_data(x, k):
    if x.sum() > 4:
        raise TypeError("a")
    if k > 1:
        raise ValueError("b")
    return x


def certain_in_steps(x, k):
    found = []
    for v in x:
        if v > 1:
            found.append(int(found))
        t = found[-1]
    return t


def certain_behind_an_empty_list(x, k):
    parts = []
    for i in range(k):
        parts.append(x.astype(np.uint8) + np.uint8(i))
    return np.array(parts) + -1


def on_the_last_of_three_ways(x, k):
    t = 0
    found = [t % 97 for v in x if 0 < v < 8 if k]
    for each in found:
        t = (t + each) % 97
    a = np.array(found, np.int64)
    if k < 2:
        a = [a, a][5]
    elif k > 4:
        a = a - a
    else:
        a = np.array([1, 2])[7]
    return a


def of_python(n, h, z, yes):
    """Python's own numbers, by every way to write a text."""
    if n == 1:
        raise ValueError(f"{n} {h} {z} {yes} {h * n:.3f} {h!r:>10} {n:>5} {h:{n}.2f} {yes!s:>6} {n:+d} {n:#x} {h:e} {{}}")
    if n == 2:
        raise ValueError("{} {:.2f} {n!r} {:>8} {z}".format(h, h * 2, n, n=n, z=z))  # noqa: UP032
    if n == 3:
        raise ValueError("%s %5.1f %d %i %r %%, %-8d|%x" % (h, h, n, h, z, n, n))  # noqa: UP031
    if n == 4:
        raise ValueError("%(h).1f of %(n)04d" % {"n": n, "h": h})  # noqa: UP031
    if n == 5:
        raise ValueError(str(h) + " " + repr(n) + format(h, ".1f") + format(yes) + ", ".join([str(n), str(yes)]))
    if n == 6:
        raise ValueError("%*d|%.*f" % (4, n, 2, h))  # noqa: UP031
    if n == 7:
        raise KeyError(n, h, "a:b!{}")
    if n == 8:
        raise ValueError(n)
    if n == 9:
        raise ValueError((n, h), [yes, None], {"n": n})
    assert n != 10, n
    assert n != 11, (n, h)
    assert n != 12, f"{h}"
    if n == 13:
        message = "h is {}"
        message = message.format(h)
        raise RuntimeError(message + f", n is {n}")
    if n == 14:
        raise ValueError(f"{n:.2q}")
    if n == 15:
        raise ValueError("{} {0}".format(n))  # noqa: F525
    if n == 16:
        raise ValueError("{} {}".format(n))  # noqa: F524
    if n == 17:
        raise ValueError("%d %d" % n)  # noqa: UP031
    if n == 18:
        raise ValueError("%d" % (n, h))  # noqa: F507, UP031
    return n


def index_behind_an_assertion(x, i):
    assert x[0] > 100, "small"
    return x[i]


def assertion_behind_an_index(x, i):
    y = x[i]
    assert x[0] > 100, "small"
    return y


def index_behind_a_raise(x, i):
    if x[0] < 100:
        raise ValueError("small")
    return x[i[1]]


def one_after_the_other(x, i):
    assert i[0] > 0, "no position"
    v = x[i[0]]
    assert v > 100, "small"
    return x[i[1] + 100]


def change_behind_an_assertion(x, i):
    assert x.sum() > 100, "small"
    x[i] = 1
    return x


def second_change_behind_an_assertion(x, i):
    x[i] = x[0]
    assert x.sum() > 1000, "small"
    x += 1
    return x


def largest_of_none(x, i):
    assert x[0] > 50, "small"
    y = x[x > 10]
    return y.max()


def library_behind_an_assertion(x, i):
    assert x[0] > 10, "small"
    return np.linalg.inv(np.array([[x[0], 1], [x[0], 1]]))


def counts_behind_an_assertion(x, i):
    assert x[0] > 10, "small"
    return np.bincount(i - 1)


def stopped_by_an_element_or_a_number(x, n):
    s = 0.0
    for v in x:
        if v > 3:
            raise ValueError("an element")
        s += v
    if n > 2:
        raise ValueError("a number")
    return s


def position_behind_a_raise_in_a_step(x, positions):
    total = 0.0
    for k in range(len(x) + 2):
        if x[k] > 2:
            raise ValueError("large")
        total += x[positions[k % 2]]
    return total


def position_in_front_of_a_raise_in_a_step(x, positions):
    total = 0.0
    for k in range(len(x) + 2):
        total += x[positions[2 * k]]
        assert total < 20, total
    return total
