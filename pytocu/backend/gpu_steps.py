"""The native function that makes the steps of a loop on a GPU: LLVM IR for the host, the same for every plan.

It is that of `pytocu.backend.cpu_steps`, alone and without pieces: its kernels are two functions of the host, one that
launches a kernel and one that fetches a word from the GPU.  What they take, in words of 8 bytes:

=====  ===============================================================================================
0      address of ``cuLaunchKernelEx``
1      the launch, a ``CUlaunchConfig`` whose blocks and threads are written here
2      the kernel
3      addresses of its parameters, which stand behind these words
4      iterations of a block
5      where the driver's status goes
6..8   columns and rows of threads, and the most columns of a block; the last is 0 where threads lie in a row
9      threads of a block
=====  ===============================================================================================

=====  ===============================================================================================
0, 1   addresses of ``cuMemcpyDtoHAsync`` and ``cuStreamSynchronize``
2      the stream
3      where the host has room for a word
4      where the driver's status goes
5, 6   where the address of the memory stands, and how many bytes behind that the word lies
7      its bytes, 8 or 1: of 1, whether it is none of 0
8      where the word goes
=====  ===============================================================================================
"""

from __future__ import annotations

from pytocu.backend import cpu_steps

TEXT = f"""{cpu_steps.TEXT}
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.umin.i64(i64, i64)

define void @pytocu.steps.launch(ptr %words, i64 %begin, i64 %total) nounwind {{
entry:
  %launch = load ptr, ptr %words, align 8
  %config.at = getelementptr i64, ptr %words, i64 1
  %config = load ptr, ptr %config.at, align 8
  %kernel.at = getelementptr i64, ptr %words, i64 2
  %kernel = load ptr, ptr %kernel.at, align 8
  %parameters.at = getelementptr i64, ptr %words, i64 3
  %parameters = load ptr, ptr %parameters.at, align 8
  %tile.at = getelementptr i64, ptr %words, i64 4
  %tile = load i64, ptr %tile.at, align 8
  %status.at = getelementptr i64, ptr %words, i64 5
  %status.to = load ptr, ptr %status.at, align 8
  %most.at = getelementptr i64, ptr %words, i64 8
  %most = load i64, ptr %most.at, align 8
  %in.a.row = icmp eq i64 %most, 0
  br i1 %in.a.row, label %row, label %tiles
row:
  %less = sub i64 %tile, 1
  %more = add i64 %total, %less
  %blocks = udiv i64 %more, %tile
  %some = call i64 @llvm.umin.i64(i64 %blocks, i64 2147483647)
  %some.word = trunc i64 %some to i32
  store i32 %some.word, ptr %config, align 4
  br label %start
tiles:
  %columns.at = getelementptr i64, ptr %words, i64 6
  %columns = load i64, ptr %columns.at, align 8
  %rows.at = getelementptr i64, ptr %words, i64 7
  %rows = load i64, ptr %rows.at, align 8
  %block.at = getelementptr i64, ptr %words, i64 9
  %block = load i64, ptr %block.at, align 8
  %last = sub i64 %columns, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %last, i1 false)
  %bits = sub i64 64, %zeros
  %power = shl i64 1, %bits
  %width = call i64 @llvm.umin.i64(i64 %power, i64 %most)
  %height = udiv i64 %block, %width
  %width.less = sub i64 %width, 1
  %columns.more = add i64 %columns, %width.less
  %across = udiv i64 %columns.more, %width
  %across.most = call i64 @llvm.umin.i64(i64 %across, i64 2147483647)
  %height.less = sub i64 %height, 1
  %rows.more = add i64 %rows, %height.less
  %down = udiv i64 %rows.more, %height
  %down.most = call i64 @llvm.umin.i64(i64 %down, i64 65535)
  %across.word = trunc i64 %across.most to i32
  store i32 %across.word, ptr %config, align 4
  %down.word = trunc i64 %down.most to i32
  %down.at = getelementptr i32, ptr %config, i64 1
  store i32 %down.word, ptr %down.at, align 4
  %width.word = trunc i64 %width to i32
  %width.at = getelementptr i32, ptr %config, i64 3
  store i32 %width.word, ptr %width.at, align 4
  %height.word = trunc i64 %height to i32
  %height.at = getelementptr i32, ptr %config, i64 4
  store i32 %height.word, ptr %height.at, align 4
  br label %start
start:
  %status = call i32 %launch(ptr %config, ptr %kernel, ptr %parameters, ptr null)
  %status.word = zext i32 %status to i64
  store i64 %status.word, ptr %status.to, align 8
  ret void
}}

define void @pytocu.steps.fetch(ptr %words, i64 %begin, i64 %total) nounwind {{
entry:
  %copy = load ptr, ptr %words, align 8
  %wait.at = getelementptr i64, ptr %words, i64 1
  %wait = load ptr, ptr %wait.at, align 8
  %stream.at = getelementptr i64, ptr %words, i64 2
  %stream = load ptr, ptr %stream.at, align 8
  %room.at = getelementptr i64, ptr %words, i64 3
  %room = load ptr, ptr %room.at, align 8
  %status.at = getelementptr i64, ptr %words, i64 4
  %status.to = load ptr, ptr %status.at, align 8
  %cell.at = getelementptr i64, ptr %words, i64 5
  %cell = load ptr, ptr %cell.at, align 8
  %base = load i64, ptr %cell, align 8
  %offset.at = getelementptr i64, ptr %words, i64 6
  %offset = load i64, ptr %offset.at, align 8
  %from = add i64 %base, %offset
  %size.at = getelementptr i64, ptr %words, i64 7
  %size = load i64, ptr %size.at, align 8
  %to.at = getelementptr i64, ptr %words, i64 8
  %to = load ptr, ptr %to.at, align 8
  store i64 0, ptr %room, align 8
  %copied = call i32 %copy(ptr %room, i64 %from, i64 %size, ptr %stream)
  %refused = icmp ne i32 %copied, 0
  br i1 %refused, label %fail, label %behind
behind:
  %waited = call i32 %wait(ptr %stream)
  %failed = icmp ne i32 %waited, 0
  br i1 %failed, label %fail, label %have
fail:
  %status = phi i32 [ %copied, %entry ], [ %waited, %behind ]
  %status.word = zext i32 %status to i64
  store i64 %status.word, ptr %status.to, align 8
  ret void
have:
  %word = load i64, ptr %room, align 8
  %is.word = icmp eq i64 %size, 8
  %is.true = icmp ne i64 %word, 0
  %truth = zext i1 %is.true to i64
  %value = select i1 %is.word, i64 %word, i64 %truth
  store i64 %value, ptr %to, align 8
  ret void
}}
"""
