"""From one source to native code: a traced program as LLVM, C99 or JavaScript, and plain Python loops as machine code (see README.md)."""
