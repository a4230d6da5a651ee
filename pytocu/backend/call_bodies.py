"""What each operation of a call does: LLVM IR with a few words of its own, which `pytocu.backend.call_code` writes out.

``%a`` is the operand of that letter (:mod:`pytocu.call_operations`).  ``need CONDITION`` leaves the call where it does not
hold, ``x = ptr of y`` makes an address of a word, ``x = i64 at y + 8`` loads one, ``set %d, x`` writes the word that the
operation gives, ``object x`` a new reference, or fails where there is none, and ``raise n, f`` raises what Python's function
`f` gives for a number.
"""

from __future__ import annotations

# What -1 stands for is a number or an exception.
_UNLESS_RAISED = """
op.unsure:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %op.done, label %failed
op.done:"""

BODIES = {
    "type": """
  %kind = i64 at %a + 8
  need icmp eq i64 %kind, %b""",
    "same": """
  need icmp eq i64 %a, %b""",
    "equal": """
  %x = ptr of %a
  %y = ptr of %b
  %answer = call i32 @PyObject_RichCompareBool(ptr %x, ptr %y, i32 2)
  need icmp eq i32 %answer, 1""",
    "true": """
  %x = ptr of %a
  %answer = call i32 @PyObject_IsTrue(ptr %x)
  need icmp eq i32 %answer, 1""",
    "global": """
  %x = ptr of %a
  %y = ptr of %b
  %found = call ptr @PyDict_GetItemWithError(ptr %x, ptr %y)
  %z = ptr of %c
  need icmp eq ptr %found, %z""",
    # Behind the head of an array of NumPy: elements, number of axes, lengths, strides, base, dtype, flags.
    # Dtypes are told apart by kind, byte order and number: an array that was pickled has a dtype of its own.
    "array": """
  %dtype = i64 at %a + 56
  %dtype.word = i64 at %dtype + 24
  need icmp eq i64 %dtype.word, %b
  %axes.word = i64 at %a + 24
  %axes = and i64 %axes.word, 4294967295
  need icmp eq i64 %axes, %n
  %lengths = i64 at %a + 32
  %lengths.at = ptr of %lengths
  %strides = i64 at %a + 40
  %strides.at = ptr of %strides
  br label %op.loop
op.loop:
  %axis = phi i64 [ 0, %op.head ], [ %axis.next, %op.same ]
  %left = icmp ult i64 %axis, %n
  br i1 %left, label %op.compare, label %op.done
op.compare:
  %wanted.at = getelementptr i64, ptr %s, i64 %axis
  %wanted = load i64, ptr %wanted.at, align 8
  %length.at = getelementptr i64, ptr %lengths.at, i64 %axis
  %length = load i64, ptr %length.at, align 8
  %same.length = icmp eq i64 %length, %wanted
  br i1 %same.length, label %op.compare.stride, label %miss
op.compare.stride:
  %behind = add i64 %axis, %n
  %wanted.stride.at = getelementptr i64, ptr %s, i64 %behind
  %wanted.stride = load i64, ptr %wanted.stride.at, align 8
  %stride.at = getelementptr i64, ptr %strides.at, i64 %axis
  %stride = load i64, ptr %stride.at, align 8
  %same.stride = icmp eq i64 %stride, %wanted.stride
  br i1 %same.stride, label %op.same, label %miss
op.same:
  %axis.next = add i64 %axis, 1
  br label %op.loop
op.done:
  %elements = i64 at %a + 16
  set %d, %elements""",
    "flags": """
  %flags.word = i64 at %a + 64
  %flags = and i64 %flags.word, %m
  need icmp eq i64 %flags, %m""",
    "attribute": """
  %x = ptr of %a
  %y = ptr of %b
  %made = call ptr @PyObject_GetAttr(ptr %x, ptr %y)
  object %made""",
    "item": """
  %x = ptr of %a
  %y = ptr of %b
  %made = call ptr @PyObject_GetItem(ptr %x, ptr %y)
  object %made""",
    "call": """
  %x = ptr of %a
  %names = ptr of %b
  %made = call ptr @PyObject_Vectorcall(ptr %x, ptr %s, i64 %n, ptr %names)
  object %made""",
    "method": """
  %x = ptr of %a
  %made = call ptr @PyObject_VectorcallMethod(ptr %x, ptr %s, i64 %n, ptr null)
  object %made""",
    "drop": """
  %x = ptr of %a
  set %d, 0
  call void @Py_DecRef(ptr %x)""",
    "tuple": """
  %made = call ptr @PyTuple_New(i64 %n)
  object %made
  br label %op.loop
op.loop:
  %place = phi i64 [ 0, %op.object ], [ %place.next, %op.fill ]
  %left = icmp ult i64 %place, %n
  br i1 %left, label %op.fill, label %op.done
op.fill:
  %member.at = getelementptr i64, ptr %s, i64 %place
  %member.word = load i64, ptr %member.at, align 8
  %member = ptr of %member.word
  call void @Py_IncRef(ptr %member)
  %ignored = call i32 @PyTuple_SetItem(ptr %made, i64 %place, ptr %member)
  %place.next = add i64 %place, 1
  br label %op.loop
op.done:""",
    "box_int": """
  %made = call ptr @PyLong_FromLongLong(i64 %a)
  object %made""",
    "box_float": """
  %number = bitcast i64 %a to double
  %made = call ptr @PyFloat_FromDouble(double %number)
  object %made""",
    "address": """
  %word = ptrtoint ptr %s to i64
  set %d, %word""",
    # What a kernel has noted is raised: nothing was found to be wrong where the word is as it was.
    "found": """
  %fine = icmp eq i64 %a, %b
  br i1 %fine, label %op.done, label %op.tell
op.tell:
  raise %c, %f
op.done:""",
    "memory": """
  %place = add i64 %a, %n
  %from = ptr of %place
  %word = load i64, ptr %from, align 8
  set %d, %word""",
    "pointer": """
  %x = ptr of %a
  %address = call ptr @PyLong_AsVoidPtr(ptr %x)
  %word = ptrtoint ptr %address to i64
  set %d, %word
  %is.error = icmp eq i64 %word, -1
  br i1 %is.error, label %op.unsure, label %op.done""" + _UNLESS_RAISED,
    "int": """
  %x = ptr of %a
  %word = call i64 @PyLong_AsLongLongAndOverflow(ptr %x, ptr %overflow)
  set %d, %word
  %over = load i32, ptr %overflow, align 4
  need icmp eq i32 %over, 0
  %is.error = icmp eq i64 %word, -1
  br i1 %is.error, label %op.unsure, label %op.done""" + _UNLESS_RAISED,
    "float": """
  %x = ptr of %a
  %number = call double @PyFloat_AsDouble(ptr %x)
  %word = bitcast double %number to i64
  set %d, %word
  %is.error = fcmp oeq double %number, -1.0
  br i1 %is.error, label %op.unsure, label %op.done""" + _UNLESS_RAISED,
    "copy": """
  set %d, %a""",
    "or": """
  %word = or i64 %a, %b
  set %d, %word""",
    "subtract": """
  %word = sub i64 %a, %b
  set %d, %word""",
    "aligned": """
  %rest = and i64 %a, %m
  need icmp eq i64 %rest, 0""",
    "at_most": """
  need icmp sle i64 %a, %b""",
    "less": """
  need icmp slt i64 %a, %b""",
    "differ": """
  need icmp ne i64 %a, %b""",
    "outside": """
  %above = icmp slt i64 %b, %a
  %below = icmp slt i64 %a, %c
  %between = and i1 %above, %below
  need icmp eq i1 %between, false""",
    **{
        name: f"""
  %first = icmp {less} i64 %a, %b
  %word = select i1 %first, i64 %a, i64 %b
  set %d, %word"""
        for name, less in (("minimum", "slt"), ("maximum", "sgt"))
    },
    # A bound of a slice as `program_values.clamped` reads it; lengths are no less than 0.
    "clamped": """
  %from.end = icmp slt i64 %a, 0
  %added = select i1 %from.end, i64 %b, i64 0
  %bound = add i64 %a, %added
  %before = icmp slt i64 %bound, 0
  %low = select i1 %before, i64 0, i64 %bound
  %in.front = icmp slt i64 %low, %b
  %word = select i1 %in.front, i64 %low, i64 %b
  set %d, %word""",
    **{
        f"int_{name}": f"""
  %pair = call {{ i64, i1 }} @llvm.s{short}.with.overflow.i64(i64 %a, i64 %b)
  %over = extractvalue {{ i64, i1 }} %pair, 1
  need icmp eq i1 %over, false
  %word = extractvalue {{ i64, i1 }} %pair, 0
  set %d, %word"""
        for name, short in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"))
    },
    "int_to_float": """
  %number = sitofp i64 %a to double
  %word = bitcast double %number to i64
  set %d, %word""",
    **{
        f"float_{name}": f"""
  %x = bitcast i64 %a to double
  %y = bitcast i64 %b to double
  %number = f{short} double %x, %y
  %word = bitcast double %number to i64
  set %d, %word"""
        for name, short in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"))
    },
    "float_divide": """
  %x = bitcast i64 %a to double
  %y = bitcast i64 %b to double
  need fcmp une double %y, 0.0
  %number = fdiv double %x, %y
  %word = bitcast double %number to i64
  set %d, %word""",
    "float_negative": """
  %word = xor i64 %a, -9223372036854775808
  set %d, %word""",
    "float_inside": """
  %x = bitcast i64 %a to double
  %low = bitcast i64 %b to double
  %high = bitcast i64 %c to double
  need fcmp ole double %low, %x
  need fcmp ole double %x, %high""",
    "float_to_single": """
  %number = bitcast i64 %a to double
  %single = fptrunc double %number to float
  %bits = bitcast float %single to i32
  %word = zext i32 %bits to i64
  set %d, %word""",
    "native": """
  %kernel = ptr of %a
  %thread = call ptr @PyEval_SaveThread()
  call void %kernel(ptr %s, i64 0, i64 %b)
  call void @PyEval_RestoreThread(ptr %thread)""",
    "commit": """
  store i1 true, ptr %committed, align 1""",
    # The operations that follow, so many words of them, are for numbers that are not 0.
    "skip": """
  %none = icmp eq i64 %a, 0
  %jump = select i1 %none, i64 %n, i64 0
  %follows = getelementptr i64, ptr %at, i64 %jump""",
    # `c` begins with the six lengths of grid and block, behind which the stream stands, attributes and how many.
    "launch": """
  br label %op.loop
op.loop:
  %number = phi i64 [ 0, %op.head ], [ %number.next, %op.one ]
  %left = icmp ult i64 %number, %n
  br i1 %left, label %op.one, label %op.lengths
op.one:
  %parameter.at = getelementptr i64, ptr %s, i64 %number
  %table.at = getelementptr ptr, ptr %table, i64 %number
  store ptr %parameter.at, ptr %table.at, align 8
  %number.next = add i64 %number, 1
  br label %op.loop
op.lengths:
  %length = phi i64 [ 0, %op.loop ], [ %length.next, %op.length ]
  %more = icmp ult i64 %length, 6
  br i1 %more, label %op.length, label %op.start
op.length:
  %length.at = getelementptr i64, ptr %c, i64 %length
  %length.word = load i64, ptr %length.at, align 8
  %length.short = trunc i64 %length.word to i32
  %length.to = getelementptr i32, ptr %configuration, i64 %length
  store i32 %length.short, ptr %length.to, align 4
  %length.next = add i64 %length, 1
  br label %op.lengths
op.start:
  %shared.to = getelementptr i32, ptr %configuration, i64 6
  store i32 0, ptr %shared.to, align 4
  %stream.at = getelementptr i64, ptr %c, i64 6
  %stream = load i64, ptr %stream.at, align 8
  %stream.to = getelementptr i64, ptr %configuration, i64 4
  store i64 %stream, ptr %stream.to, align 8
  %attributes.at = getelementptr i64, ptr %c, i64 7
  %attributes = load i64, ptr %attributes.at, align 8
  %attributes.to = getelementptr i64, ptr %configuration, i64 5
  store i64 %attributes, ptr %attributes.to, align 8
  %count.at = getelementptr i64, ptr %c, i64 8
  %count = load i64, ptr %count.at, align 8
  %count.to = getelementptr i64, ptr %configuration, i64 6
  store i64 %count, ptr %count.to, align 8
  %driver = inttoptr i64 %t to ptr
  %kernel = ptr of %a
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 %driver(ptr %configuration, ptr %kernel, ptr %table, ptr null)
  call void @PyEval_RestoreThread(ptr %thread)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %op.fine, label %op.refused
op.refused:
  %begun = load i1, ptr %committed, align 1
  br i1 %begun, label %op.late, label %miss
op.late:
  %status.long = zext i32 %status to i64
  raise %status.long, %f
op.fine:
  store i1 true, ptr %committed, align 1""",
}
"""By the names of the operations, all but ``return``."""
