// Owns the precompiled header of the folders without LLVM.
