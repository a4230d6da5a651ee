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
20     out: 1 where a truth value ended the loop
24..   records of 8 words: kernel, slots, iterations, iterations of a piece, pieces; where the kernel is 0, the
       slots are the address of a truth value, and the loop ends where that is false
=====  ===============================================================================================

A launch in one piece is the leader's alone.  Others take a piece by counting word 0 up, which fails when the launch is
another one by then, so nobody runs a piece of a launch that is over, and no thread has to be there.
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
  br label %launch
launch:
  %made = phi i64 [ 0, %lead ], [ %made.next, %made.one ]
  %number = phi i64 [ 0, %lead ], [ %number.next, %made.one ]
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
  br i1 %asks, label %ask, label %choose
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
  %again = icmp eq i64 %own, 1
  br i1 %again, label %work, label %await
await:
  %waited = phi i64 [ 0, %work ], [ %waited.next, %await.more ]
  %finished = load atomic i64, ptr %done acquire, align 8
  %all = icmp eq i64 %finished, %pieces
  br i1 %all, label %made.one, label %await.more
await.more:
  %waited.next = call i64 @pytocu.steps.wait(ptr %table, i64 %waited)
  br label %await
made.one:
  %made.next = add i64 %made, 1
  %number.up = add i64 %number, 1
  %wraps = icmp eq i64 %number.up, %records
  %number.next = select i1 %wraps, i64 0, i64 %number.up
  br label %launch
finish:
  %made.all = phi i64 [ %made, %launch ], [ %made.last, %asked ]
  %made.at = getelementptr i64, ptr %table, i64 19
  store i64 %made.all, ptr %made.at, align 8
  store atomic i64 -1, ptr %table release, align 8
  ret void
}
"""
