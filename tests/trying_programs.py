"""Programs with ``try``: in a module of their own, since pytest writes other texts into the assertions of tests."""

from __future__ import annotations

import numpy as np


class OfItsOwn(Exception):
    """An exception of the program's own."""


def by_rank(x):
    try:
        rows, columns = np.shape(x)
        x = np.array(x)
    except:  # noqa: E722
        columns = np.shape(x)[0]
        rows = 1
        x = np.array([x])
    return x * 2, rows, columns


def by_attribute(x):
    try:
        return x.nothing + 1
    except AttributeError:
        return x - 1


def by_dtype(x):
    y = x
    try:
        y = x + 1
        y = y & 3
    except (KeyError, TypeError):
        y = y * 2
    else:
        y = y * 100
    return y


def by_key(x):
    scales = {"one": 1.0, "two": 2.0}
    try:
        scale = scales["three"]
    except LookupError:
        scale = scales["two"]
    return x * scale


def of_another_class(x):
    try:
        return x & 3
    except ValueError:
        return x


def by_lengths(x, y):
    try:
        return x + y
    except ValueError:
        return x[:1] * y[:1]


def by_lengths_in_a_helper(x, y):
    try:
        made = _scaled(x, y)
    except Exception:
        made = -x
    return made + 1


def _scaled(x, y):
    return (x * y).sum() * x


def by_position(x):
    try:
        return x[3]
    except IndexError:
        return x[0] * 10


def by_no_elements(x):
    try:
        return x.max()
    except ValueError:
        return 0.5


def by_axis(x):
    try:
        return x.sum(axis=1)
    except np.exceptions.AxisError:
        return x + 1


def by_a_product(x, y):
    try:
        made = np.dot(x, y)
    except ValueError:
        made = np.dot(x, y.T)
    return made


def by_number(x, n):
    try:
        if n > 3:
            raise ValueError("large")
        y = x + n
        if n < 0:
            raise KeyError("negative")
        y = y * 2
    except ValueError:
        y = x - 1
    except KeyError:
        y = x - 100
    else:
        y = y + 0.5
    return y + 1


def by_data(x, n):
    try:
        total = x.sum()
        if total > n:
            raise ArithmeticError(f"{total} of {n}")
        x = x * total
    except ArithmeticError:
        x = x - n
    return x


def asserted(x, n):
    try:
        assert n > 2, f"{n}"
        x = x + 1
    except AssertionError:
        x = x - 1
    return x


def finished(x, n):
    count = 0
    try:
        if n > 3:
            return x, count
        count = 1
    finally:
        count = count + 5
    return x + 1, count


def finished_behind_an_exception(x, n):
    out = np.zeros(3)
    try:
        try:
            out[0] = n
            if n > 3:
                raise ValueError
            out[1] = n
        finally:
            out[2] = out[1] + 1
    except ValueError:
        out[1] = -1
    return out, x


def stored(x):
    out = np.zeros(3)
    seen = []
    try:
        out[0] = x[0]
        seen.append(1)
        first, second = x.shape
        seen.append(2)
        out[1] = first * second
    except ValueError:
        out[2] = 7
    return out, seen


def stored_in_the_argument(x, n):
    try:
        if n > 3:
            raise ValueError
        x[0] = n
    except ValueError:
        x[1] = n
    return x


def raised_again(x, n):
    try:
        try:
            if n > 2:
                raise ValueError("two")
            return x + 1
        except ValueError:
            raise
    except Exception:
        return x - 1


def raised_to_the_caller(x, n):
    try:
        if n > 2:
            raise ValueError(f"n is {n}")
    except ValueError:
        raise
    return x


def raised_as_another(x, n):
    try:
        if n > 2:
            raise ValueError("two")
        x = x + 1
    except ValueError as error:
        raise TypeError(f"not {error}") from error
    return x


def named(x):
    try:
        _two_axes(x)
        text = ""
    except ValueError as error:
        text = str(error)
        x = x + len(f"{error}!")
    return x, text


def _two_axes(x):
    if x.ndim != 2:
        raise ValueError("two axes")
    return x.sum()


def in_a_loop(x, n):
    total = 0
    for k in range(n):
        try:
            if k == 3:
                raise ValueError
            total = total + 1
        except ValueError:
            total = total + 100
            continue
        total = total + 1000
    return total * x


def out_of_a_loop(x, n):
    k = 0
    while True:
        try:
            k += 1
            if k > n:
                break
            if k == 2:
                raise KeyError(k)
            x = x + 1
        except KeyError:
            x = x * 2
        finally:
            x = x + 10
    return x, k


def over_known_values(x):
    total = x * 0
    for scale in (1, "two", 3.0):
        try:
            total = total + x * scale
        except TypeError:
            total = total - 1
    return total


def a_loop_inside(x):
    count = 0
    try:
        for scale in (1, 2, "three", 4):
            x = x * scale
            count += 1
    except TypeError:
        x = x + count
    return x


def nested(x, n):
    try:
        try:
            if n > 3:
                raise KeyError
            if n < 0:
                raise ValueError
        except KeyError:
            x = x + 1
        x = x * 2
    except ValueError:
        x = x * 5
    return x


def returned_by_a_clause(x, n):
    try:
        if n > 3:
            raise ValueError
    except ValueError:
        return x - 1
    finally:
        x = x * 7
    return x


def of_its_own(x):
    try:
        raise OfItsOwn("own")
    except ValueError:
        x = x + 1
    except OfItsOwn as error:
        x = x + len(error.args[0])
    return x


def the_name_is_gone(x):
    error = 1
    try:
        x.nothing  # noqa: B018
    except AttributeError as error:  # noqa: F841
        x = x + 1
    return x + error


def no_class(x):
    try:
        x.nothing  # noqa: B018
    except 3:  # noqa: B030
        pass
    return x


def not_caught(x, n):
    try:
        if n > 3:
            raise IndexError("large")
        x = x + x[n]
    except KeyError:
        x = x - 1
    return x


def of_an_element(x):
    try:
        if x < 0:
            raise ValueError("negative")
        y = x * 2
    except ValueError:
        y = -x
    return y + 1


# Refused.


def at_positions(x, k):
    try:
        return x[k]
    except IndexError:
        return x


def divided(n, k):
    try:
        return n / k
    except ZeroDivisionError:
        return 0.0


def inverted(x):
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return x


def inverse_of(x):
    return np.linalg.inv(x)


def inverted_by_a_helper(x):
    try:
        return inverse_of(x)
    except np.linalg.LinAlgError:
        return x


def by_a_helper(x, n):
    try:
        return _not_large(x, n)
    except ValueError:
        return x


def _not_large(x, n):
    if n > 3:
        raise ValueError("large")
    return x * n


def a_raise_in_a_loop(x, n):
    try:
        for k in range(n):
            if x[k] < 0:
                raise ValueError
            x = x + 1
    except ValueError:
        x = x * 2
    return x


def seen_by_the_caller(x, k):
    try:
        y = x[k] + 1
    finally:
        x[0] = -1
    return y


def left_by_finally(x):
    try:
        x = x + 1
    finally:
        return x  # noqa: B012


def the_text_of_a_run(x, n):
    try:
        if n > 3:
            raise ValueError(f"n is {n}")
    except ValueError as error:
        return x, str(error)
    return x, ""


def wrong_in_a_clause(x, n):
    y = x & 3
    try:
        if n > 0:
            raise TypeError("positive")
    except TypeError:
        y = x & 5
        raise
    return y


def wrong_before_two_ways_that_raise(x, n):
    x = x & 3
    if n > 2:
        raise ValueError("large")
    else:
        raise KeyError("small")


def not_supported(x):
    try:
        return np.random.rand(3) + x
    except Exception:
        return x
