"""The native function that makes the steps of a loop on a CPU: LLVM IR, the same for every plan.

It stands in the module of every plan with such a loop.  Called like a kernel, ``void (ptr table, i64 begin, i64 end)``:
number 0 leads, and every other number, in a thread of its own, takes pieces of launches until the leader is done.
Words of 8 bytes in the table, as `pytocu.runtime.native_steps` writes them:

=====  ===============================================================================================
0      the launch that is under way, its record, and the next piece of it, in 32, 16 and 16 bits
8      finished pieces of it
16     records to go through
17     records, one a launch or a truth value of a period
18     address of ``int sched_yield(void)``
19     out: records that were gone through
20     out: 1 where a truth value ended the loop, 2 where a number is one that only Python has
21     address of ``double pow(double, double)``
22     the record to begin with; out: the one to go on with
24..   records of 8 words: kernel, slots, iterations, iterations of a piece, pieces; where the kernel is 0, the
       slots are the address of a truth value, and the loop ends where that is false; where it is below 64, it is a
       number to compute: the operation, where to, the addresses of one or two operands, and the least and most;
       of a word that is read from memory, the first operand is its address, and how many bytes behind that it lies
       stands for the least; of a jump, the first operand says whether there is one, and the least is the record; of
       a call of a C function of floats, its address stands for the least
=====  ===============================================================================================

A launch in one piece is the leader's alone.  Others take a piece by counting word 0 up, which fails when the launch is
another one by then, so nobody runs a piece of a launch that is over, and no thread has to be there.  Behind its last
piece the leader names the empty record behind all others as the launch under way, before it goes on: numbers that it
computes next may give the same record more pieces, which would be taken while the kernel's arguments are half written.
"""

from __future__ import annotations

TEXT = """define internal i64 @pytocu.steps.piece(ptr %table) nounwind {
entry:
  br label %begin.look
begin.look:
  %word = load atomic i64, ptr %table acquire, align 8
  %over = icmp eq i64 %word, -1
  br i1 %over, label %ended, label %look
look:
  %piece = and i64 %word, 65535
  %shifted = lshr i64 %word, 16
  %number = and i64 %shifted, 65535
  %places = mul i64 %number, 8
  %place = add i64 %places, 24
  %record = getelementptr i64, ptr %table, i64 %place
  %pieces.at = getelementptr i64, ptr %record, i64 4
  %pieces = load i64, ptr %pieces.at, align 8
  %more = icmp ult i64 %piece, %pieces
  br i1 %more, label %take, label %none
take:
  %next = add i64 %word, 1
  %pair = cmpxchg ptr %table, i64 %word, i64 %next acq_rel monotonic, align 8
  %taken = extractvalue { i64, i1 } %pair, 1
  br i1 %taken, label %run, label %begin.look
run:
  %kernel = load ptr, ptr %record, align 8
  %slots.at = getelementptr i64, ptr %record, i64 1
  %slots = load ptr, ptr %slots.at, align 8
  %total.at = getelementptr i64, ptr %record, i64 2
  %total = load i64, ptr %total.at, align 8
  %size.at = getelementptr i64, ptr %record, i64 3
  %size = load i64, ptr %size.at, align 8
  %begin = mul i64 %piece, %size
  %behind = add i64 %begin, %size
  %inside = icmp ult i64 %behind, %total
  %end = select i1 %inside, i64 %behind, i64 %total
  call void %kernel(ptr %slots, i64 %begin, i64 %end)
  %done = getelementptr i64, ptr %table, i64 8
  %before = atomicrmw add ptr %done, i64 1 release, align 8
  ret i64 1
none:
  ret i64 0
ended:
  ret i64 -1
}

define internal i64 @pytocu.steps.wait(ptr %table, i64 %count) nounwind {
entry:
  %next = add i64 %count, 1
  %long = icmp ugt i64 %count, 2000
  br i1 %long, label %yield, label %done
yield:
  %at = getelementptr i64, ptr %table, i64 18
  %function = load ptr, ptr %at, align 8
  %status = call i32 %function()
  ret i64 %next
done:
  ret i64 %next
}

declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

define internal i1 @pytocu.steps.number(ptr %table, ptr %record, i64 %operation) nounwind {
entry:
  %to.at = getelementptr i64, ptr %record, i64 1
  %to = load ptr, ptr %to.at, align 8
  %x.at = getelementptr i64, ptr %record, i64 2
  %x.from = load ptr, ptr %x.at, align 8
  %x = load i64, ptr %x.from, align 8
  %y.at = getelementptr i64, ptr %record, i64 3
  %y.from = load ptr, ptr %y.at, align 8
  %y = load i64, ptr %y.from, align 8
  %low.at = getelementptr i64, ptr %record, i64 4
  %low = load i64, ptr %low.at, align 8
  %high.at = getelementptr i64, ptr %record, i64 5
  %high = load i64, ptr %high.at, align 8
  %a = bitcast i64 %x to double
  %b = bitcast i64 %y to double
  switch i64 %operation, label %no [ i64 1, label %add
                                     i64 2, label %subtract
                                     i64 3, label %multiply
                                     i64 4, label %floor
                                     i64 5, label %floor
                                     i64 6, label %add.float
                                     i64 7, label %subtract.float
                                     i64 8, label %multiply.float
                                     i64 9, label %divide.float
                                     i64 10, label %to.float
                                     i64 11, label %copy
                                     i64 12, label %negative.float
                                     i64 13, label %to.single
                                     i64 14, label %to.bytes
                                     i64 15, label %to.bytes
                                     i64 16, label %to.bytes
                                     i64 17, label %to.bytes
                                     i64 18, label %most
                                     i64 19, label %least
                                     i64 20, label %less
                                     i64 21, label %less.equal
                                     i64 22, label %equal
                                     i64 23, label %less.float
                                     i64 24, label %less.equal.float
                                     i64 25, label %equal.float
                                     i64 26, label %power.float
                                     i64 27, label %word.at
                                     i64 28, label %byte.at
                                     i64 29, label %and.bits
                                     i64 30, label %or.bits
                                     i64 31, label %xor.bits
                                     i64 32, label %shift.left
                                     i64 33, label %shift.right
                                     i64 34, label %power
                                     i64 35, label %call.one
                                     i64 36, label %call.two
                                     i64 37, label %floor.float
                                     i64 38, label %floor.float
                                     i64 39, label %to.whole ]
add:
  %sum = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %x, i64 %y)
  br label %whole
subtract:
  %difference = call { i64, i1 } @llvm.ssub.with.overflow.i64(i64 %x, i64 %y)
  br label %whole
multiply:
  %product = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %x, i64 %y)
  br label %whole
whole:
  %pair = phi { i64, i1 } [ %sum, %add ], [ %difference, %subtract ], [ %product, %multiply ]
  %value = extractvalue { i64, i1 } %pair, 0
  %over = extractvalue { i64, i1 } %pair, 1
  br i1 %over, label %no, label %store
floor:
  %zero = icmp eq i64 %y, 0
  %least.of.all = icmp eq i64 %x, -9223372036854775808
  %by.minus.one = icmp eq i64 %y, -1
  %minus = and i1 %least.of.all, %by.minus.one
  %never = or i1 %zero, %minus
  br i1 %never, label %no, label %divide
divide:
  %quotient = sdiv i64 %x, %y
  %rest = srem i64 %x, %y
  %exact = icmp eq i64 %rest, 0
  %signs = xor i64 %rest, %y
  %differ = icmp slt i64 %signs, 0
  %same = xor i1 %exact, true
  %below = and i1 %same, %differ
  %lower = sub i64 %quotient, 1
  %higher = add i64 %rest, %y
  %floored = select i1 %below, i64 %lower, i64 %quotient
  %remainder = select i1 %below, i64 %higher, i64 %rest
  %wants.rest = icmp eq i64 %operation, 5
  %either = select i1 %wants.rest, i64 %remainder, i64 %floored
  br label %store
add.float:
  %sum.float = fadd double %a, %b
  br label %float
subtract.float:
  %difference.float = fsub double %a, %b
  br label %float
multiply.float:
  %product.float = fmul double %a, %b
  br label %float
divide.float:
  %zero.float = fcmp oeq double %b, 0.0
  br i1 %zero.float, label %no, label %divided
divided:
  %quotient.float = fdiv double %a, %b
  br label %float
to.float:
  %converted = sitofp i64 %x to double
  br label %float
power.float:
  %flipped = fneg double %a
  %is.negative = fcmp olt double %a, 0.0
  %is.square = fcmp oeq double %b, 2.0
  %is.flipped = and i1 %is.negative, %is.square
  %base = select i1 %is.flipped, double %flipped, double %a
  %is.positive = fcmp ogt double %base, 0.0
  %is.finite = fcmp olt double %base, 0x7FF0000000000000
  %is.base = and i1 %is.positive, %is.finite
  %is.below = fcmp olt double %b, 0x7FF0000000000000
  %is.above = fcmp ogt double %b, 0xFFF0000000000000
  %is.exponent = and i1 %is.below, %is.above
  %is.usual = and i1 %is.base, %is.exponent
  br i1 %is.usual, label %raise, label %no
raise:
  %pow.at = getelementptr i64, ptr %table, i64 21
  %pow = load ptr, ptr %pow.at, align 8
  %raised = call double %pow(double %base, double %b)
  %is.normal = fcmp oge double %raised, 0x0010000000000000
  %is.small = fcmp olt double %raised, 0x7FF0000000000000
  %is.raised = and i1 %is.normal, %is.small
  br i1 %is.raised, label %float, label %no
negative.float:
  %negated = fneg double %a
  br label %float
call.one:
  %function.one = inttoptr i64 %low to ptr
  %called.one = call double %function.one(double %a)
  br label %called
call.two:
  %function.two = inttoptr i64 %low to ptr
  %called.two = call double %function.two(double %a, double %b)
  %second = fsub double %b, %b
  br label %called
called:
  ; Python raises where the result of finite numbers is none.
  %called.float = phi double [ %called.one, %call.one ], [ %called.two, %call.two ]
  %called.second = phi double [ 0.0, %call.one ], [ %second, %call.two ]
  %called.first = fsub double %a, %a
  %called.result = fsub double %called.float, %called.float
  %called.given = fadd double %called.first, %called.second
  %called.all = fadd double %called.given, %called.result
  %is.called = fcmp oeq double %called.all, 0.0
  br i1 %is.called, label %float, label %no
floor.float:
  %floor.first = fsub double %a, %a
  %floor.second = fsub double %b, %b
  %floor.given = fadd double %floor.first, %floor.second
  %floor.finite = fcmp oeq double %floor.given, 0.0
  %floor.some = fcmp one double %b, 0.0
  %floor.has = and i1 %floor.finite, %floor.some
  br i1 %floor.has, label %floored.float, label %no
floored.float:
  %fmod = inttoptr i64 %low to ptr
  %mod = call double %fmod(double %a, double %b)
  %mod.zero = fcmp oeq double %mod, 0.0
  %mod.below = fcmp olt double %mod, 0.0
  %b.below = fcmp olt double %b, 0.0
  %mod.differs = xor i1 %mod.below, %b.below
  %mod.some = xor i1 %mod.zero, true
  %mod.moves = and i1 %mod.some, %mod.differs
  %mod.up = fadd double %mod, %b
  %mod.other = select i1 %mod.moves, double %mod.up, double %mod
  %sign.of.b = and i64 %y, -9223372036854775808
  %zero.of.b = bitcast i64 %sign.of.b to double
  %rest.float = select i1 %mod.zero, double %zero.of.b, double %mod.other
  %without = fsub double %a, %mod
  %times = fdiv double %without, %b
  %times.less = fsub double %times, 1.0
  %times.other = select i1 %mod.moves, double %times.less, double %times
  ; A module of kernels may declare LLVM's own floor, and it may not be declared twice.
  %times.not.far = fcmp olt double %times.other, 0x43D0000000000000
  %times.not.below = fcmp ogt double %times.other, 0xC3D0000000000000
  %times.near = and i1 %times.not.far, %times.not.below
  %times.word = fptosi double %times.other to i64
  %times.cut = sitofp i64 %times.word to double
  %times.over = fcmp ogt double %times.cut, %times.other
  %times.down = fsub double %times.cut, 1.0
  %times.near.floor = select i1 %times.over, double %times.down, double %times.cut
  %times.floor = select i1 %times.near, double %times.near.floor, double %times.other
  %times.apart = fsub double %times.other, %times.floor
  %times.far = fcmp ogt double %times.apart, 0.5
  %times.above = fadd double %times.floor, 1.0
  %times.whole = select i1 %times.far, double %times.above, double %times.floor
  %times.none = fcmp oeq double %times.other, 0.0
  %exact.times = fdiv double %a, %b
  %exact.word = bitcast double %exact.times to i64
  %sign.of.times = and i64 %exact.word, -9223372036854775808
  %zero.of.times = bitcast i64 %sign.of.times to double
  %quotient.whole = select i1 %times.none, double %zero.of.times, double %times.whole
  %wants.rest.float = icmp eq i64 %operation, 38
  %either.float = select i1 %wants.rest.float, double %rest.float, double %quotient.whole
  br label %float
to.whole:
  %not.far = fcmp olt double %a, 0x43E0000000000000
  %not.below = fcmp oge double %a, 0xC3E0000000000000
  %is.whole = and i1 %not.far, %not.below
  br i1 %is.whole, label %whole.number, label %no
whole.number:
  %truncated = fptosi double %a to i64
  br label %store
float:
  %result = phi double [ %sum.float, %add.float ], [ %difference.float, %subtract.float ], [ %product.float, %multiply.float ],
    [ %quotient.float, %divided ], [ %converted, %to.float ], [ %negated, %negative.float ], [ %raised, %raise ],
    [ %called.float, %called ], [ %either.float, %floored.float ]
  %bits = bitcast double %result to i64
  br label %store
word.at:
  %word.base = inttoptr i64 %x to ptr
  %word.from = getelementptr i8, ptr %word.base, i64 %low
  %word.read = load i64, ptr %word.from, align 8
  br label %store
byte.at:
  %byte.base = inttoptr i64 %x to ptr
  %byte.from = getelementptr i8, ptr %byte.base, i64 %low
  %byte.read = load i8, ptr %byte.from, align 1
  %byte.true = icmp ne i8 %byte.read, 0
  %byte.word = zext i1 %byte.true to i64
  br label %store
copy:
  br label %store
and.bits:
  %both.bits = and i64 %x, %y
  br label %store
or.bits:
  %either.bits = or i64 %x, %y
  br label %store
xor.bits:
  %differing.bits = xor i64 %x, %y
  br label %store
shift.left:
  %shifts.in.word = icmp ult i64 %y, 63
  br i1 %shifts.in.word, label %shifted.left, label %no
shifted.left:
  %left = shl i64 %x, %y
  %left.back = ashr i64 %left, %y
  %left.fits = icmp eq i64 %left.back, %x
  br i1 %left.fits, label %store, label %no
shift.right:
  %shifts.back = icmp slt i64 %y, 0
  br i1 %shifts.back, label %no, label %shifted.right
shifted.right:
  %shifts.far = icmp sgt i64 %y, 63
  %distance = select i1 %shifts.far, i64 63, i64 %y
  %right = ashr i64 %x, %distance
  br label %store
power:
  %exponent.below = icmp slt i64 %y, 0
  br i1 %exponent.below, label %no, label %power.bit
power.bit:
  %factor = phi i64 [ %x, %power ], [ %factor.square, %power.next ]
  %exponent = phi i64 [ %y, %power ], [ %exponent.rest, %power.next ]
  %power.made = phi i64 [ 1, %power ], [ %power.times, %power.next ]
  %power.over = icmp eq i64 %exponent, 0
  br i1 %power.over, label %store, label %power.factor
power.factor:
  %lowest.bit = and i64 %exponent, 1
  %is.odd = icmp ne i64 %lowest.bit, 0
  %factor.here = select i1 %is.odd, i64 %factor, i64 1
  %power.pair = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %power.made, i64 %factor.here)
  %power.times = extractvalue { i64, i1 } %power.pair, 0
  %power.large = extractvalue { i64, i1 } %power.pair, 1
  %exponent.rest = lshr i64 %exponent, 1
  %is.last = icmp eq i64 %exponent.rest, 0
  br i1 %power.large, label %no, label %power.square
power.square:
  ; The square behind the last factor is not needed, and may be too large.
  %factor.next = select i1 %is.last, i64 1, i64 %factor
  %square.pair = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %factor.next, i64 %factor.next)
  %factor.square = extractvalue { i64, i1 } %square.pair, 0
  %square.large = extractvalue { i64, i1 } %square.pair, 1
  br i1 %square.large, label %no, label %power.next
power.next:
  br label %power.bit
most:
  %above = icmp sgt i64 %x, %y
  %larger = select i1 %above, i64 %x, i64 %y
  br label %store
least:
  %under = icmp slt i64 %x, %y
  %smaller = select i1 %under, i64 %x, i64 %y
  br label %store
less:
  %is.less = icmp slt i64 %x, %y
  br label %truth
less.equal:
  %is.less.equal = icmp sle i64 %x, %y
  br label %truth
equal:
  %is.equal = icmp eq i64 %x, %y
  br label %truth
less.float:
  %is.less.float = fcmp olt double %a, %b
  br label %truth
less.equal.float:
  %is.less.equal.float = fcmp ole double %a, %b
  br label %truth
equal.float:
  %is.equal.float = fcmp oeq double %a, %b
  br label %truth
truth:
  %is.true = phi i1 [ %is.less, %less ], [ %is.less.equal, %less.equal ], [ %is.equal, %equal ],
    [ %is.less.float, %less.float ], [ %is.less.equal.float, %less.equal.float ], [ %is.equal.float, %equal.float ]
  %truth.word = zext i1 %is.true to i64
  br label %store
store:
  %stored = phi i64 [ %value, %whole ], [ %either, %divide ], [ %bits, %float ], [ %x, %copy ], [ %larger, %most ],
    [ %smaller, %least ], [ %truth.word, %truth ], [ %word.read, %word.at ], [ %byte.word, %byte.at ],
    [ %both.bits, %and.bits ], [ %either.bits, %or.bits ], [ %differing.bits, %xor.bits ], [ %left, %shifted.left ],
    [ %right, %shifted.right ], [ %power.made, %power.bit ], [ %truncated, %whole.number ]
  store i64 %stored, ptr %to, align 8
  ret i1 true
to.single:
  %single = fptrunc double %a to float
  store float %single, ptr %to, align 4
  ret i1 true
to.bytes:
  %reaches = icmp sge i64 %x, %low
  %fits = icmp sle i64 %x, %high
  %inside = and i1 %reaches, %fits
  br i1 %inside, label %size, label %no
size:
  switch i64 %operation, label %eight [ i64 14, label %one
                                        i64 15, label %two
                                        i64 16, label %four ]
one:
  %byte = trunc i64 %x to i8
  store i8 %byte, ptr %to, align 1
  ret i1 true
two:
  %half = trunc i64 %x to i16
  store i16 %half, ptr %to, align 2
  ret i1 true
four:
  %word = trunc i64 %x to i32
  store i32 %word, ptr %to, align 4
  ret i1 true
eight:
  store i64 %x, ptr %to, align 8
  ret i1 true
no:
  ret i1 false
}

define void @pytocu.steps(ptr %table, i64 %begin, i64 %end) nounwind {
entry:
  %leads = icmp eq i64 %begin, 0
  br i1 %leads, label %lead, label %help
help:
  %idle = phi i64 [ 0, %entry ], [ 0, %help ], [ %idle.next, %help.wait ]
  %had = call i64 @pytocu.steps.piece(ptr %table)
  switch i64 %had, label %leave [ i64 1, label %help
                                  i64 0, label %help.wait ]
help.wait:
  %idle.next = call i64 @pytocu.steps.wait(ptr %table, i64 %idle)
  br label %help
leave:
  ret void
lead:
  %launches.at = getelementptr i64, ptr %table, i64 16
  %launches = load i64, ptr %launches.at, align 8
  %records.at = getelementptr i64, ptr %table, i64 17
  %records = load i64, ptr %records.at, align 8
  %done = getelementptr i64, ptr %table, i64 8
  %number.at = getelementptr i64, ptr %table, i64 22
  %first = load i64, ptr %number.at, align 8
  br label %launch
launch:
  %made = phi i64 [ 0, %lead ], [ %made.next, %made.one ], [ %made.turned, %turn ]
  %number = phi i64 [ %first, %lead ], [ %number.next, %made.one ], [ %number.turned, %turn ]
  %more = icmp ult i64 %made, %launches
  br i1 %more, label %read, label %finish
read:
  %places = mul i64 %number, 8
  %place = add i64 %places, 24
  %record = getelementptr i64, ptr %table, i64 %place
  %kernel = load ptr, ptr %record, align 8
  %slots.at = getelementptr i64, ptr %record, i64 1
  %slots = load ptr, ptr %slots.at, align 8
  %total.at = getelementptr i64, ptr %record, i64 2
  %total = load i64, ptr %total.at, align 8
  %pieces.at = getelementptr i64, ptr %record, i64 4
  %pieces = load i64, ptr %pieces.at, align 8
  %asks = icmp eq ptr %kernel, null
  br i1 %asks, label %ask, label %which
which:
  %operation = ptrtoint ptr %kernel to i64
  %computes = icmp ult i64 %operation, 64
  br i1 %computes, label %reckon, label %choose
reckon:
  %jumps = icmp ugt i64 %operation, 61
  br i1 %jumps, label %turn, label %compute
turn:
  %count.at = getelementptr i64, ptr %record, i64 2
  %count.from = load ptr, ptr %count.at, align 8
  %count = load i64, ptr %count.from, align 8
  %target.at = getelementptr i64, ptr %record, i64 4
  %target = load i64, ptr %target.at, align 8
  %again = icmp eq i64 %operation, 63
  %one = zext i1 %again to i64
  %left = sub i64 %count, %one
  store i64 %left, ptr %count.from, align 8
  %none = icmp eq i64 %left, 0
  %goes = xor i1 %none, %again
  %number.after = add i64 %number, 1
  %number.turned = select i1 %goes, i64 %target, i64 %number.after
  %made.turned = add i64 %made, 1
  br label %launch
compute:
  %computed = call i1 @pytocu.steps.number(ptr %table, ptr %record, i64 %operation)
  br i1 %computed, label %made.one, label %refused
refused:
  %refused.at = getelementptr i64, ptr %table, i64 20
  store i64 2, ptr %refused.at, align 8
  br label %finish
ask:
  %truth = load i8, ptr %slots, align 1
  %goes.on = icmp ne i8 %truth, 0
  br i1 %goes.on, label %made.one, label %asked
asked:
  %made.last = add i64 %made, 1
  %ended.at = getelementptr i64, ptr %table, i64 20
  store i64 1, ptr %ended.at, align 8
  br label %finish
choose:
  %whole = icmp ult i64 %pieces, 2
  br i1 %whole, label %alone, label %share
alone:
  %nothing = icmp eq i64 %total, 0
  br i1 %nothing, label %made.one, label %launch.whole
launch.whole:
  call void %kernel(ptr %slots, i64 0, i64 %total)
  br label %made.one
share:
  store atomic i64 0, ptr %done monotonic, align 8
  %one.more = add i64 %made, 1
  %kept = and i64 %one.more, 1073741823
  %high = shl i64 %kept, 32
  %middle = shl i64 %number, 16
  %word = or i64 %high, %middle
  store atomic i64 %word, ptr %table release, align 8
  br label %work
work:
  %own = call i64 @pytocu.steps.piece(ptr %table)
  %had.one = icmp eq i64 %own, 1
  br i1 %had.one, label %work, label %await
await:
  %waited = phi i64 [ 0, %work ], [ %waited.next, %await.more ]
  %finished = load atomic i64, ptr %done acquire, align 8
  %all = icmp eq i64 %finished, %pieces
  br i1 %all, label %close, label %await.more
await.more:
  %waited.next = call i64 @pytocu.steps.wait(ptr %table, i64 %waited)
  br label %await
close:
  %behind = shl i64 %records, 16
  %closed = or i64 %high, %behind
  store atomic i64 %closed, ptr %table release, align 8
  fence seq_cst
  br label %made.one
made.one:
  %made.next = add i64 %made, 1
  %number.up = add i64 %number, 1
  %wraps = icmp eq i64 %number.up, %records
  %number.next = select i1 %wraps, i64 0, i64 %number.up
  br label %launch
finish:
  %made.all = phi i64 [ %made, %launch ], [ %made.last, %asked ], [ %made, %refused ]
  store i64 %number, ptr %number.at, align 8
  %made.at = getelementptr i64, ptr %table, i64 19
  store i64 %made.all, ptr %made.at, align 8
  store atomic i64 -1, ptr %table release, align 8
  ret void
}
"""
