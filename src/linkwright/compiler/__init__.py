"""From one source to native code: trace the equations of a mechanism, write the flat program as LLVM, C99 or JavaScript.

    graph, program       the traced scalar; the flat program all back ends read, and its interpreter
    tracing, planning    which kernels there are; what numbers must decide before a trace
    derivatives, implicit      a program differentiated; forward dynamics differentiated with the factors it has
    along                the terms with their rates along the motion, for singular passages
    kernels, kernel      all kernels of a mechanism, and one of them as people call it
    schedule, sums, parts, lanes      order of operations, fused sums, like parts of one state in vector lanes
    llvm, sincos, batches, target     machine code for one state and for many
    native, threads, timing, cache    code in memory, on several cores, timed, and on disk
    loops, loop_*, callbacks   plain Python loops as native code; calls back from it
    c99, javascript, statements, export      the same programs as source text, and what a page or a C program needs around

The only room that imports llvmlite, and only when asked.
"""
