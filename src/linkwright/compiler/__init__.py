"""From one source to native code: trace the equations of a mechanism, write the flat program as LLVM, C99 or JavaScript.

    graph         the traced scalar: run an algorithm on Syms, get its operations
    program       the flat program all back ends read, and its interpreter
    derivatives   a program differentiated
    llvm, sincos, schedule, native, cache      native code in memory and on disk
    c99, javascript                            the same program as source text

The only room that imports llvmlite and numba, and only when asked.
"""
