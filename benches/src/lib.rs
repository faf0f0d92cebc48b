//! Shared by the benchmarks of this folder.
