//! Where the emulator puts what a program of this folder is to compute with.

/// The first address of the memory for it, and how many bytes there are. Programs use none of it for themselves.
pub const fn place(target: &str) -> (usize, usize) {
    match target.as_bytes() {
        // The upper half of the flash.
        b"thumbv6m-none-eabi" | b"thumbv7m-none-eabi" => (0x2_0000, 0x2_0000),
        // Memory of the board beside that of the chip: 16 MiB.
        b"thumbv7em-none-eabihf" => (0x2100_0000, 0x100_0000),
        b"riscv32imac-unknown-none-elf" => (0x8400_0000, 0x100_0000),
        _ => (0x8000_0000, 0x100_0000),
    }
}
