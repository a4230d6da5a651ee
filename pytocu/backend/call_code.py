"""The native function behind calls of ready programs: LLVM IR, the same for every jitted function.

Python calls it as a builtin with positional arguments, ``PyObject *(PyObject *self, PyObject *const *args, Py_ssize_t n,
PyObject *names)``.  `self` is the address of a *state*, an int, and the words there are

=====  ===========================================================================================
0      the first record, 0 for none
1      what is called where no record holds: the function that Python runs
2, 3   the names of its parameters, a tuple, and how many there are
4, 5   how many of them may be passed by position, and the first that may be passed by name
=====  ===========================================================================================

A record (`pytocu.runtime.native_calls` writes them) is a list of operations of :mod:`pytocu.call_operations` for one exact
signature, which begins with what tells whether the arguments have it:

=====  ===========================================================================================
0      the next record, 0 for none
1      an object that keeps the record and what it names
2      arguments
3, 4   words of the frame, and what stands in them when the call begins
5      operations
6, 7   the first and the last word, plus one, that may hold new references
=====  ===========================================================================================

Where an operation finds something else than it was written for, or an object raises, the next record is tried, and at last
Python's function, which raises what there is to raise.  That ends with the operation ``commit``, or with a launch on a GPU:
from there on an exception is the call's.
"""

from __future__ import annotations

from functools import lru_cache

from pytocu.backend.call_bodies import BODIES
from pytocu.call_operations import MOST_PARAMETERS, MOST_WORDS, NAME, OPERATIONS

API = {
    "PyErr_Clear": "void ()",
    "PyErr_Occurred": "ptr ()",
    "PyErr_SetObject": "void (ptr, ptr)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyEval_RestoreThread": "void (ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyFloat_AsDouble": "double (ptr)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_AsVoidPtr": "ptr (ptr)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyObject_CallFunctionObjArgs": "ptr (ptr, ...)",
    "PyObject_GetAttr": "ptr (ptr, ptr)",
    "PyObject_GetItem": "ptr (ptr, ptr)",
    "PyObject_IsTrue": "i32 (ptr)",
    "PyObject_RichCompareBool": "i32 (ptr, ptr, i32)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyObject_VectorcallMethod": "ptr (ptr, ptr, i64, ptr)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "Py_DecRef": "void (ptr)",
    "Py_IncRef": "void (ptr)",
}
"""Functions of Python's C API that it calls."""


@lru_cache(maxsize=1)
def text() -> str:
    """The module."""
    declared = [f"declare {signature.replace('(', f'@{name}(', 1)}" for name, signature in API.items()]
    for short in ("add", "sub", "mul"):
        declared.append(f"declare {{ i64, i1 }} @llvm.s{short}.with.overflow.i64(i64, i64)")
    declared.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    declared.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    cases = " ".join(f"i64 {number}, label %do.{name}" for number, name in enumerate(OPERATIONS))
    bodies = "".join(_operation(name, operands) for name, operands in OPERATIONS.items())
    return "\n".join(declared) + "\n\n" + _HEAD.replace("CASES", cases) + bodies + _TAIL


def _operation(name: str, operands: str) -> str:
    """One operation: its operands, and what it does, with names of its own."""
    letters = operands.split()
    lines = [f"do.{name}:"]
    for place, letter in enumerate(letters, 1):
        plain = letter.lstrip("@#")
        lines.append(f"  %{plain}.operand.at = getelementptr i64, ptr %at, i64 {place}")
        lines.append(f"  %{plain}.operand = load i64, ptr %{plain}.operand.at, align 8")
        if letter[0] == "#":
            lines.append(f"  %{plain} = add i64 %{plain}.operand, 0")
        elif letter[0] == "@" or plain in "do":
            lines.append(f"  %{plain} = getelementptr i64, ptr %frame, i64 %{plain}.operand")
        else:
            lines.append(f"  %{plain}.word.at = getelementptr i64, ptr %frame, i64 %{plain}.operand")
            lines.append(f"  %{plain} = load i64, ptr %{plain}.word.at, align 8")
    lines += ["  br label %op.head", "op.head:"]
    if name == "return":
        lines.append("  store i64 %a.operand, ptr %result, align 8\n  br label %finished")
        return _own("\n".join(lines), name) + "\n"
    needs = 0
    for line in BODIES[name].strip("\n").splitlines():
        words = line.split()
        match words:
            case ["need", *condition]:
                needs += 1
                lines += [f"  %need{needs} = {' '.join(condition)}", f"  br i1 %need{needs}, label %op.met{needs}, label %miss"]
                lines.append(f"op.met{needs}:")
            case [made, "=", "ptr", "of", word]:
                lines.append(f"  {made} = inttoptr i64 {word} to ptr")
            case [made, "=", "i64", "at", base, "+", offset]:
                lines += [f"  {made}.place = add i64 {base}, {offset}", f"  {made}.from = inttoptr i64 {made}.place to ptr"]
                lines.append(f"  {made} = load i64, ptr {made}.from, align 8")
            case ["set", to, word]:
                lines.append(f"  store i64 {word}, ptr {to.strip(',')}, align 8")
            case ["object", made]:
                lines += [f"  %there = icmp ne ptr {made}, null", "  br i1 %there, label %op.object, label %failed"]
                lines += ["op.object:", f"  %object.word = ptrtoint ptr {made} to i64"]
                lines.append("  store i64 %object.word, ptr %o, align 8")
            case ["raise", number, function]:
                lines.append(_RAISE.format(number=number.strip(","), function=function))
            case _:
                lines.append(line)
    lines.append(f"  %behind.at = getelementptr i64, ptr %{'follows' if name == 'skip' else 'at'}, i64 {len(letters) + 1}")
    lines.append("  store ptr %behind.at, ptr %position, align 8\n  br label %next")
    text = "\n".join(lines)
    if name == "array":
        text = text.replace("[ 0, %op.head ]", f"[ 0, %op.met{needs} ]")
    return _own(text, name) + "\n"


_SHARED = frozenset("at frame result position committed overflow table configuration next miss failed finished".split())  # noqa: SIM905
"""Names that all operations share."""

# The function gives an exception, which has no frame of its own then.
_RAISE = """  %tell = inttoptr i64 {function} to ptr
  %told = call ptr @PyLong_FromLongLong(i64 {number})
  %error = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %tell, ptr %told, ptr null)
  call void @Py_DecRef(ptr %told)
  %is.error = icmp ne ptr %error, null
  br i1 %is.error, label %op.raise, label %failed
op.raise:
  %class.at = getelementptr i64, ptr %error, i64 1
  %class = load ptr, ptr %class.at, align 8
  call void @PyErr_SetObject(ptr %class, ptr %error)
  call void @Py_DecRef(ptr %error)
  br label %failed"""


def _own(text: str, name: str) -> str:
    """The text with names that no other operation has."""
    made: list[str] = []
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            made.append(f"{name}.{line}" if line.startswith("op.") else line)
            continue
        parts = line.split("%")
        out = [parts[0]]
        for part in parts[1:]:
            end = next((i for i, c in enumerate(part) if not (c.isalnum() or c in "._")), len(part))
            word, rest = part[:end], part[end:]
            out.append(f"%{word}{rest}" if word in _SHARED else f"%{name}.{word}{rest}")
        made.append("".join(out))
    return "\n".join(made)


_HEAD = f"""define ptr @{NAME}(ptr %self, ptr %args, i64 %given, ptr %names) nounwind {{
entry:
  %frame = alloca [{MOST_WORDS} x i64], align 16
  %table = alloca [{MOST_PARAMETERS} x ptr], align 16
  %configuration = alloca [8 x i64], align 16
  %overflow = alloca i32, align 4
  %committed = alloca i1, align 1
  %position = alloca ptr, align 8
  %result = alloca i64, align 8
  %arguments = alloca [{MOST_PARAMETERS} x ptr], align 16
  %state = call ptr @PyLong_AsVoidPtr(ptr %self)
  %fallback.at = getelementptr i64, ptr %state, i64 1
  %fallback = load ptr, ptr %fallback.at, align 8
  %first = load ptr, ptr %state, align 8
  store i1 false, ptr %committed, align 1
  %parameters.at = getelementptr i64, ptr %state, i64 2
  %parameters = load ptr, ptr %parameters.at, align 8
  %count.at = getelementptr i64, ptr %state, i64 3
  %count = load i64, ptr %count.at, align 8
  %positional.at = getelementptr i64, ptr %state, i64 4
  %positional = load i64, ptr %positional.at, align 8
  %named.at = getelementptr i64, ptr %state, i64 5
  %named = load i64, ptr %named.at, align 8
  %members.at = getelementptr i64, ptr %state, i64 6
  %members = load i64, ptr %members.at, align 8
  %parameters.first = getelementptr i8, ptr %parameters, i64 %members
  %too.many = icmp ugt i64 %given, %positional
  br i1 %too.many, label %python, label %entry.names
entry.names:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %record.first, label %name.count
name.count:
  %size.at = getelementptr i64, ptr %names, i64 2
  %size = load i64, ptr %size.at, align 8
  %all = add i64 %given, %size
  %more = icmp ugt i64 %all, %count
  br i1 %more, label %python, label %name.begin
name.begin:
  %names.first = getelementptr i8, ptr %names, i64 %members
  %all.bytes = shl i64 %count, 3
  call void @llvm.memset.p0.i64(ptr %arguments, i8 0, i64 %all.bytes, i1 false)
  %first.bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %arguments, ptr %args, i64 %first.bytes, i1 false)
  br label %name.look
name.look:
  %one = phi i64 [ 0, %name.begin ], [ %one.next, %name.put ]
  %left = icmp ult i64 %one, %size
  br i1 %left, label %name.read, label %name.gaps
name.read:
  %name.at = getelementptr ptr, ptr %names.first, i64 %one
  %name = load ptr, ptr %name.at, align 8
  br label %name.find
name.find:
  %which = phi i64 [ %named, %name.read ], [ %which.next, %name.other ]
  %inside = icmp ult i64 %which, %count
  br i1 %inside, label %name.compare, label %python
name.compare:
  %parameter.at = getelementptr ptr, ptr %parameters.first, i64 %which
  %parameter = load ptr, ptr %parameter.at, align 8
  %is.it = icmp eq ptr %parameter, %name
  br i1 %is.it, label %name.free, label %name.other
name.other:
  %which.next = add i64 %which, 1
  br label %name.find
name.free:
  %to.at = getelementptr ptr, ptr %arguments, i64 %which
  %there = load ptr, ptr %to.at, align 8
  %free = icmp eq ptr %there, null
  br i1 %free, label %name.put, label %python
name.put:
  %from.place = add i64 %given, %one
  %from.at = getelementptr ptr, ptr %args, i64 %from.place
  %from = load ptr, ptr %from.at, align 8
  store ptr %from, ptr %to.at, align 8
  %one.next = add i64 %one, 1
  br label %name.look
name.gaps:
  %gap = phi i64 [ 0, %name.look ], [ %gap.next, %name.filled ]
  %in.order = icmp ult i64 %gap, %all
  br i1 %in.order, label %name.check, label %record.first
name.check:
  %gap.at = getelementptr ptr, ptr %arguments, i64 %gap
  %gap.value = load ptr, ptr %gap.at, align 8
  %is.gap = icmp eq ptr %gap.value, null
  br i1 %is.gap, label %python, label %name.filled
name.filled:
  %gap.next = add i64 %gap, 1
  br label %name.gaps
record.first:
  %ordered = phi ptr [ %args, %entry.names ], [ %arguments, %name.gaps ]
  %passed = phi i64 [ %given, %entry.names ], [ %all, %name.gaps ]
  br label %record.look
record.look:
  %record = phi ptr [ %first, %record.first ], [ %following, %unsuitable ], [ %after, %released ]
  %none = icmp eq ptr %record, null
  br i1 %none, label %python, label %record.count
record.count:
  %wanted.at = getelementptr i64, ptr %record, i64 2
  %wanted = load i64, ptr %wanted.at, align 8
  %suits = icmp eq i64 %wanted, %passed
  br i1 %suits, label %begin, label %unsuitable
unsuitable:
  %following = load ptr, ptr %record, align 8
  br label %record.look
begin:
  %owner.at = getelementptr i64, ptr %record, i64 1
  %owner = load ptr, ptr %owner.at, align 8
  call void @Py_IncRef(ptr %owner)
  %words.at = getelementptr i64, ptr %record, i64 3
  %words = load i64, ptr %words.at, align 8
  %bytes = shl i64 %words, 3
  %initial.at = getelementptr i64, ptr %record, i64 4
  %initial = load ptr, ptr %initial.at, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr %initial, i64 %bytes, i1 false)
  %passed.bytes = shl i64 %passed, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr %ordered, i64 %passed.bytes, i1 false)
  %operations.at = getelementptr i64, ptr %record, i64 5
  %operations = load ptr, ptr %operations.at, align 8
  store ptr %operations, ptr %position, align 8
  br label %next
next:
  %at = load ptr, ptr %position, align 8
  %number = load i64, ptr %at, align 8
  switch i64 %number, label %miss [ CASES ]
"""

_TAIL = """failed:
  %begun = load i1, ptr %committed, align 1
  br i1 %begun, label %raised, label %forget
forget:
  call void @PyErr_Clear()
  br label %miss
raised:
  store i64 -1, ptr %result, align 8
  br label %release
miss:
  store i64 -2, ptr %result, align 8
  br label %release
finished:
  %place = load i64, ptr %result, align 8
  %returned.at = getelementptr i64, ptr %frame, i64 %place
  %returned.word = load i64, ptr %returned.at, align 8
  %returned.object = inttoptr i64 %returned.word to ptr
  call void @Py_IncRef(ptr %returned.object)
  br label %release
release:
  %returned = phi ptr [ null, %raised ], [ null, %miss ], [ %returned.object, %finished ]
  %low.at = getelementptr i64, ptr %record, i64 6
  %low = load i64, ptr %low.at, align 8
  %high.at = getelementptr i64, ptr %record, i64 7
  %high = load i64, ptr %high.at, align 8
  br label %release.look
release.look:
  %slot = phi i64 [ %low, %release ], [ %slot.next, %release.next ]
  %held = icmp ult i64 %slot, %high
  br i1 %held, label %release.one, label %release.done
release.one:
  %slot.at = getelementptr i64, ptr %frame, i64 %slot
  %slot.word = load i64, ptr %slot.at, align 8
  %empty = icmp eq i64 %slot.word, 0
  br i1 %empty, label %release.next, label %release.object
release.object:
  %slot.object = inttoptr i64 %slot.word to ptr
  call void @Py_DecRef(ptr %slot.object)
  br label %release.next
release.next:
  %slot.next = add i64 %slot, 1
  br label %release.look
release.done:
  %how = load i64, ptr %result, align 8
  %over = icmp ne i64 %how, -2
  br i1 %over, label %done, label %released
released:
  %after = load ptr, ptr %record, align 8
  call void @Py_DecRef(ptr %owner)
  br label %record.look
done:
  call void @Py_DecRef(ptr %owner)
  ret ptr %returned
python:
  %answer = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %args, i64 %given, ptr %names)
  ret ptr %answer
}
"""
